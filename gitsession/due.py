"""Whether a store wants maintenance: a look that takes no time, apart from the work, which runs git."""

from gitsession.store import Store


def is_maintenance_due(store: Store) -> bool:
    """Tells whether a store has grown so much since its last maintenance that it wants another; in a moment.

    Never where its git configuration has `gitsession.maintain=false`, and not while one is running.

    Raises:
        Unavailable: The disk could not be read.
    """
    return store.repository.maintains and store.repository.upkeep.is_due()
