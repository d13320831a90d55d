"""What OpenHands' own SDK makes of a conversation that was exported: run where `openhands-tools` is installed.

It needs Python 3.12 and some 190 packages, so it is none of those that the tests need. A server on the loopback device
stands for the model, and notes what it is asked.
"""

import json
import logging
import threading
import uuid
import warnings
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gitsession import (
    ImportResult,
    MessageEntry,
    Store,
    export_transcript,
    import_transcripts,
    install_transcript,
)
from gitsession.transcripts.composing import NO_RESULT
from gitsession.transcripts.openhands_events import PROMPT

FIXTURES = Path(__file__).parents[1] / "fixtures"
CONVERSATION = FIXTURES / "openhands" / "conversations" / "3f0b8c527a414d7e9c1d2b6f5e8a9041"
NEXT = "And now?"
# Transcripts of other agents, and of OpenHands' older generation.
OTHERS = [
    *("claude-code/tools.jsonl", "claude-code/images.jsonl", "claude-code/compaction-kept.jsonl", "codex/tools.jsonl"),
    *("pi/compaction.jsonl", "gemini/tools.jsonl", "opencode/export.json", "droid/tools.jsonl", "chat/responses.json"),
    *("openhands/trajectory.json", "langchain/messages.json", "swe-agent/demo__demo-1.traj"),
]

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def sdk() -> Any:
    """Returns the SDK, with the tools of its command registered."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = pytest.importorskip("openhands.sdk")
        preset = pytest.importorskip("openhands.tools.preset.default")
    logging.getLogger("openhands").setLevel(logging.CRITICAL)
    preset.register_default_tools(enable_browser=False)
    return found


class _Model(BaseHTTPRequestHandler):
    asked: list[dict[str, Any]]

    def do_POST(self) -> None:
        self.asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        message = {"role": "assistant", "content": "That is all."}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        answer = {"id": "a", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        content = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


@pytest.fixture
def model() -> Iterator[SimpleNamespace]:
    """Serves a model that always answers the same; `asked` is what it was asked."""
    handler = type("_Asked", (_Model,), {"asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield SimpleNamespace(url=f"http://127.0.0.1:{server.server_address[1]}/v1", asked=handler.asked)
    server.shutdown()
    thread.join()
    server.server_close()


def take(store: Store, path: Path) -> str:
    found = [one for one in import_transcripts(store, [path]) if isinstance(one, ImportResult)]
    return found[0].session


def resumed(sdk: Any, model: SimpleNamespace, store: Store, session: str, home: Path, **how: Any) -> list[Any]:
    """Installs a session, goes on with it, and returns the messages that the model was sent."""
    made = export_transcript(store, session, "openhands", cwd=str(home), **how)
    assert install_transcript(made, home / made.path)
    own = uuid.UUID(made.resume(made.path)[-1])
    llm = sdk.LLM(model="openai/gpt-4o", api_key="none", base_url=model.url, usage_id="agent", num_retries=0)
    agent = sdk.Agent(llm=llm, tools=[sdk.Tool(name="terminal")])
    found = sdk.Conversation(
        agent=agent, workspace=str(home), persistence_dir=str(home), conversation_id=own, visualizer=None
    )
    found.send_message(NEXT)
    found.run()
    found.close()
    (asked,) = model.asked
    return list(asked["messages"])


def words(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "\n".join(part.get("text", "[image]") for part in content)


def check(messages: list[Any]) -> None:
    """Checks that a provider would take these: each call has its result right behind it, and something is said."""
    waiting: set[str] = set()
    for place, message in enumerate(messages):
        if message["role"] == "tool":
            waiting.remove(message["tool_call_id"])
            continue
        assert waiting == set()
        calls = message.get("tool_calls") or []
        waiting = {call["id"] for call in calls}
        assert all(isinstance(json.loads(call["function"]["arguments"]), dict) for call in calls)
        assert calls or words(message)
        assert (message["role"] == "system") == (place == 0)
    assert waiting == set()
    assert words(messages[-1]).endswith(NEXT)


@pytest.mark.parametrize("name", OTHERS)
def test_a_session_of_another_agent_is_resumed(
    sdk: Any, model: SimpleNamespace, store: Store, tmp_path: Path, name: str
) -> None:
    check(resumed(sdk, model, store, take(store, FIXTURES / name), tmp_path / "c"))


def test_the_model_is_sent_the_session(sdk: Any, model: SimpleNamespace, store: Store, tmp_path: Path) -> None:
    session = take(store, FIXTURES / "claude-code" / "tools.jsonl")
    system, *sent, _ = resumed(sdk, model, store, session, tmp_path / "c")
    assert words(system).startswith(PROMPT)
    before = list(store.messages(session))
    # Results come in the order of their calls.
    order = [call["id"] for one in before for call in one.get("tool_calls") or []]
    results = sorted((one for one in before if one["role"] == "tool"), key=lambda one: order.index(one["tool_call_id"]))
    before = [results.pop(0) if one["role"] == "tool" else one for one in before]
    assert [one["role"] for one in sent] == [one["role"] for one in before]
    assert [call["function"]["name"] for one in sent for call in one.get("tool_calls") or []] == [
        call["function"]["name"] for one in before for call in one.get("tool_calls") or []
    ]
    for one, other in zip(sent, before, strict=True):
        assert words(one).endswith(other.get("content", ""))


@pytest.mark.parametrize("at", [None, "~1", "~2", "~3"])
def test_a_conversation_of_its_own_is_resumed(
    sdk: Any, model: SimpleNamespace, store: Store, tmp_path: Path, at: str | None
) -> None:
    sent = resumed(sdk, model, store, take(store, CONVERSATION), tmp_path / "c", at=at)
    check(sent)
    assert words(sent[0]).startswith("You are OpenHands agent, a helpful AI assistant.")
    assert any("Call Ada." in words(one) or "call Ada." in words(one) for one in sent)


def test_a_fork_runs_no_command_that_its_origin_ran(
    sdk: Any, model: SimpleNamespace, store: Store, tmp_path: Path
) -> None:
    session = take(store, CONVERSATION)
    for at, unknown in (("#4", 2), ("#5", 1)):
        model.asked.clear()
        sent = resumed(sdk, model, store, session, tmp_path / at, at=at)
        check(sent)
        assert [words(one) for one in sent].count(NO_RESULT) == unknown


def test_what_was_added_is_sent_too(sdk: Any, model: SimpleNamespace, store: Store, tmp_path: Path) -> None:
    fork = store.fork(take(store, CONVERSATION), "f")
    store.append(fork, MessageEntry({"role": "assistant", "content": "A friend."}, timestamp="2026-03-06T09:00:00Z"))
    sent = resumed(sdk, model, store, fork, tmp_path / "c")
    check(sent)
    assert words(sent[-2]) == "A friend."
