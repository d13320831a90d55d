"""Large stores, built as an import builds them: many commits in memory, written as packs."""

import json
import random
import string
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gitsession import SessionMeta, Store
from gitsession.building import NewDelta, build
from gitsession.growth import with_bases
from gitsession.repo.batch import GrowingBatch
from gitsession.repo.repository import Move
from gitsession.view import view

if TYPE_CHECKING:
    from gitsession.reading import State

_BEGUN = 1_750_000_000


def messages(seed: int, size: int = 800) -> Iterator[dict[str, Any]]:
    """Yields messages of so many bytes, of made-up words that compress as prose does."""
    chance = random.Random(seed)
    words = ["".join(chance.choices(string.ascii_lowercase, k=chance.randint(2, 11))) for _ in range(2000)]
    number = 0
    while True:
        role = "assistant" if number % 2 else "user"
        text = " ".join(chance.choices(words, k=size // 6))[:size]
        yield {"role": role, "content": text}
        number += 1


def fill(store: Store, sizes: dict[str, int], *, size: int = 800) -> None:
    """Adds sessions of so many deltas, each of one message."""
    source = messages(1, size)
    batch = GrowingBatch(store.repository.objects)
    moves = []
    for place, (session, count) in enumerate(sizes.items()):
        meta = SessionMeta(session, created_at="2025-06-15T15:06:40Z")
        state: State | None = None
        for number in range(count):
            message = next(source)
            content = b'{"type":"message","message":%b}\n' % json.dumps(message, separators=(",", ":")).encode()
            delta = NewDelta(f"c{number}", content, lambda said=message: [view(said)])
            built = build(state, delta, meta, now=_BEGUN + place + number)
            batch.add(with_bases(built, state))
            state = built.state
            if batch.size > 200_000_000:
                batch.store()
                batch.close()
                batch = GrowingBatch(store.repository.objects)
        if state is not None:
            moves.append(Move(session, None, state.oid, "benchmark"))
    store.repository.move_all(moves, batch)
    batch.close()
