"""SWE-agent's `.traj` and mini-swe-agent's `.traj.json`: one JSON document a run, taken apart as `document` says.

Known from the agents' source. SWE-agent keeps the messages under `history`, beside the same steps under `trajectory`,
which stay in the first record (where there is no history, the steps are the messages); mini-swe-agent keeps them under
`messages`. The document is written anew after each step, with other counts and costs around the messages.

The first words of the user are the task. What it says after the model spoke is what the commands that the model wrote
printed: context that no person typed, or the result of a call, where the model made one. So are demonstrations.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import PurePath
from typing import Any, BinaryIO

from gitsession.blocks import flat_text
from gitsession.model import Message
from gitsession.parts import Part
from gitsession.transcripts import document
from gitsession.transcripts.arrays import find
from gitsession.transcripts.base import Format, Growth, Log, Record
from gitsession.transcripts.fields import changed, items, mapping, one_line, text, time
from gitsession.transcripts.folding import Conversation, fold_each, none_abandoned, shown_together
from gitsession.transcripts.normal import content_of_blocks, damaged, normal_message, titled_by_prompt, tool_call
from gitsession.view import View

_PATHS = (("history",), ("trajectory",), ("messages",))
_MESSAGE = re.compile(rb'\s*\{\s*"role"\s*:')
_NAMES = (".traj", ".traj.json")
_MINI = re.compile(rb'"(?:trajectory_format|mini_version|model_stats|exit_status)"\s*:')


def _recognise(head: bytes, name: str) -> bool:
    if not document.is_document(head, _PATHS):
        return False
    around, *found = islice(document.read(head, _PATHS, _describe), 2)
    value = document.lenient(found[0]).value if found else None
    if _is_step(value) or text(value, "message_type") or (text(value, "role") and text(value, "agent")):
        return True
    extra = mapping(value, "extra")
    # What tells it may stand behind the messages, and is not there yet while the file is being written.
    is_mini = (
        name.endswith(_NAMES)
        or bool(_MINI.search(around.raw))
        or bool(extra.keys() & {"actions", "timestamp", "response"})
    )
    # Its first message may not be whole yet.
    return is_mini and (bool(text(value, "role")) or any(_MESSAGE.match(one.raw) for one in found if one.unfinished))


def _is_step(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and {"action", "observation"} <= value.keys()
        and bool({"response", "thought"} & value.keys())
    )


def _describe(value: dict[str, Any]) -> tuple[str | None, str | None]:
    return None, time(mapping(value, "extra").get("timestamp"))


def _read(stream: BinaryIO) -> Iterator[Record]:
    found = find(stream, _PATHS)
    chosen = min(found, default=None)
    if chosen == 1 and not document.is_sound(stream, found[chosen]):
        # Its history may still come, so the steps before it are not taken for the messages.
        stream.seek(0)
        found = find(stream, _PATHS[2:])
        chosen = min(found, default=None)
    return document.read_elements(stream, None if chosen is None else found[chosen], _describe)


def _now(log: Sequence[Record]) -> Sequence[Record]:
    """Returns the messages as they are now; where they are missing, the steps that stand in what there is."""
    records = document.now(log)
    if len(records) == 1 and document.is_first(records[0]) and records[0].value is None:
        own = records[0].id
        steps = islice(document.read(records[0].raw, _PATHS, _describe), 1, None)
        return [step._replace(id=f"{own}/{number}" if number else own) for number, step in enumerate(steps)]
    return records


def _write(log: Log) -> Iterator[bytes]:
    return document.write(log, _PATHS)


def _growth(_first: Record) -> Growth:
    return "document"


def _header(path: PurePath, first: Record) -> Mapping[str, Any]:
    own = path.name.removesuffix(".json").removesuffix(".traj") or path.stem
    return _learn({"id": own, "created_at": "", "agent": "swe-agent"}, first)


def _learn(header: Mapping[str, Any], record: Record) -> Mapping[str, Any]:
    news: dict[str, Any] = {}
    if not header.get("created_at"):
        news["created_at"] = record.timestamp
    said = _messages(record.value, {}, spoken=False)
    return titled_by_prompt(changed(header, **news), said[0] if said else {})


def _messages(value: Any, names: dict[str, str], *, spoken: bool) -> list[Message]:
    """Returns what a message, or a step, stands for.

    Args:
        value: The message.
        names: The tools' names by their calls; those of its own calls are added.
        spoken: Whether the model has spoken before.
    """
    if not isinstance(value, dict):
        return []
    if _is_step(value):
        answer = normal_message("assistant", text(value, "response") or text(value, "thought"))
        printed = text(value, "observation")
        return [answer, normal_message("user", printed, meta=True)] if printed else [answer]
    content = content_of_blocks(value.get("content"))
    demonstration = value.get("is_demo") is True
    is_output = bool(mapping(value, "extra").keys() & {"returncode", "raw_output"})
    is_output = is_output or flat_text(value.get("content")).lstrip().startswith(("OBSERVATION:", "Observation:"))
    match text(value, "role"):
        case "system":
            return [normal_message("system", content)]
        case "user":
            return [normal_message("user", content, meta=spoken or is_output or demonstration)]
        case "assistant":
            made = [call for call in items(value, "tool_calls") if isinstance(call, dict)]
            calls = [_call(call) for call in made]
            names |= {call["id"]: call["function"]["name"] for call in calls}
            return [
                normal_message(
                    "assistant",
                    content,
                    reasoning=_reasoning(value),
                    tool_calls=calls,
                    model=text(mapping(mapping(value, "extra"), "response"), "model"),
                    meta=demonstration,
                )
            ]
        case "tool":
            ids = [one for one in items(value, "tool_call_ids") if isinstance(one, str)]
            call = text(value, "tool_call_id") or (ids[0] if ids else "")
            failed = mapping(value, "extra").get("returncode") not in (None, 0)
            return [normal_message("tool", content, tool_call_id=call, name=names.get(call, ""), is_error=failed)]
    return []


def _call(call: dict[str, Any]) -> Message:
    function = mapping(call, "function")
    return tool_call(text(call, "id"), text(function, "name"), function.get("arguments"))


def _reasoning(value: dict[str, Any]) -> str:
    thoughts = [text(block, "thinking") for block in items(value, "thinking_blocks")]
    return text(value, "reasoning_content") or "\n".join(filter(None, thoughts))


def _view(record: Record) -> View:
    value = record.value
    if not isinstance(value, dict):
        return damaged(record)
    if (shown := shown_together(_messages(value, {}, spoken=False))) is not None:
        return shown
    about = mapping(value, "info")
    told = [text(about, key) for key in ("exit_status", "mini_version", "swe_agent_version")]
    told.append(text(value, "role") + " " + flat_text(value.get("content")))
    return View("meta", (Part("text", one_line("run: " + " ".join(filter(None, told)), 200)),))


def _fold(log: Sequence[Record]) -> Conversation:
    names: dict[str, str] = {}
    spoken = False
    told = 0  # how much of what the model was asked was said before

    def messages(record: Record) -> list[Message]:
        nonlocal spoken, told
        found: list[Message] = []
        value = record.value
        for one in [*items(value, "query")[told:], value] if _is_step(value) else [value]:
            said = _done(one, names) if _is_step(one) else _messages(one, names, spoken=spoken)
            spoken = spoken or any(each["role"] == "assistant" and not each.get("meta") for each in said)
            found += said
        # The next step asks with this one's answer and what that printed.
        told = max(told, len(items(value, "query")) + 2) if _is_step(value) else told
        return found

    return fold_each(_now(log), messages)


def _done(step: dict[str, Any], names: dict[str, str]) -> list[Message]:
    """Returns what the model answered in a step, the command that it gave, and what that printed."""
    said, action = text(step, "response") or text(step, "thought"), text(step, "action")
    if not action.strip() or action.strip() in said:
        return _messages(step, names, spoken=True)
    call = tool_call(f"step-{len(names) + 1}", "bash", {"command": action})
    names[call["id"]] = "bash"
    printed = normal_message("tool", text(step, "observation"), tool_call_id=call["id"], name="bash")
    return [normal_message("assistant", said, tool_calls=[call]), printed]


SWE_AGENT = Format(
    name="swe-agent",
    title="SWE-agent",
    recognise=_recognise,
    read=_read,
    header=_header,
    learn=_learn,
    view=_view,
    fold=_fold,
    abandoned=none_abandoned,
    write=_write,
    growth=_growth,
    places=(),
)
