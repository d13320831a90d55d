"""What opencode's messages and their parts say, as `opencode export` and its storage have them alike.

Known from the agent's published types. A user's message holds text, files, and text that the agent put in
(`synthetic`); an answer holds text, reasoning, and calls of tools together with their results.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from gitsession.model import CompactionEntry, Message
from gitsession.parts import Part, compact
from gitsession.transcripts import bundle, document
from gitsession.transcripts.base import Record
from gitsession.transcripts.fields import items, mapping, one_line, text, time
from gitsession.transcripts.normal import file_part, image_part, normal_message, text_part, tool_call
from gitsession.view import View, Who


def is_info(value: Any) -> bool:
    """Tells whether a value says what a message is: who spoke, in which session."""
    return bool(text(value, "id")) and text(value, "role") in ("user", "assistant") and "sessionID" in value


def is_part(value: Any) -> bool:
    """Tells whether a value is a part of a message."""
    return bool(text(value, "messageID")) and bool(text(value, "type"))


def is_session(value: Any) -> bool:
    """Tells whether a value says what a session is."""
    return text(value, "id").startswith("ses") and ("directory" in value or "projectID" in value) and "time" in value


def session_of(value: Any) -> dict[str, Any]:
    """Returns what a record says of the session: the first one of an export, or the session's own file."""
    inner = bundle.content(value) if bundle.is_file(value) else value
    return mapping(inner, "info") if "info" in inner and "messages" in inner else inner


def messages_now(log: Sequence[Record]) -> list[Record]:
    """Returns the messages of a log as they are now, without those that a revert hides.

    They are records of an export: those of a folder are put together, each under the id of the record that begins it.
    """
    found = document.now(log)
    messages = _put_together(found) if found and bundle.is_file(found[0].value) else found
    session = session_of(found[0].value) if found and isinstance(found[0].value, dict) else {}
    reverted = text(mapping(session, "revert"), "messageID")
    names = [text(mapping(record.value, "info"), "id") for record in messages]
    return messages[: names.index(reverted)] if reverted and reverted in names else messages


def _put_together(files: Sequence[Record]) -> list[Record]:
    parts: dict[str, list[dict[str, Any]]] = {}
    infos: list[tuple[dict[str, Any], Record]] = []
    for record in files:
        inner = bundle.content(record.value)
        if is_part(inner):
            parts.setdefault(inner["messageID"], []).append(inner)
        elif is_info(inner):
            infos.append((inner, record))
    made = []
    for info, record in sorted(infos, key=lambda pair: str(pair[0]["id"])):
        own = sorted(parts.get(info["id"], ()), key=lambda part: text(part, "id"))
        made.append(Record(b"", {"info": info, "parts": own}, id=record.id, timestamp=info_time(info)))
    return made


def info_time(value: Any) -> str | None:
    """Returns when a session, a message or a part was made, as far as it says."""
    moment = mapping(value, "time") or mapping(mapping(value, "state"), "time")
    return time(moment.get("created", moment.get("start")))


def messages_of(
    info: dict[str, Any], parts: Iterable[Any], *, attached: bool = False
) -> list[Message] | CompactionEntry:
    """Returns what a message with its parts stands for.

    Args:
        info: The message.
        parts: Its parts.
        attached: Whether it is to have files, and the images of results, and what the agent put in before a prompt
            before it. The text of its commit has none of it, for good.
    """
    known = [part for part in parts if isinstance(part, dict)]
    if text(info, "role") == "user":
        return _typed(known, attached=attached)
    if info.get("summary") is True or text(info, "mode") == "compaction":
        words = "\n".join(text(part, "text") for part in known if text(part, "type") == "text")
        if words:
            return CompactionEntry(words, None, None)
    return _answered(info, known, attached=attached)


def times_of(parts: Iterable[Any]) -> dict[str, str]:
    """Returns when the results that stand among the parts of a message came, by the ids of their calls."""
    ends = {text(part, "callID"): time(mapping(mapping(part, "state"), "time").get("end")) for part in parts}
    return {call: at for call, at in ends.items() if at}


def show_part(part: dict[str, Any]) -> View:
    """Returns a part for reading, as it stands in a file of its own, which does not say who spoke."""
    kind = text(part, "type")
    if kind == "tool":
        call, result = _call(part), _result(part)
        function = call["function"]
        shown = [Part("tool_call", function["arguments"], function["name"], call["id"])]
        if result is not None:
            words = result.get("content", "")
            said = words if isinstance(words, str) else compact(words)
            shown.append(Part("tool_result", said, function["name"], call["id"], error=bool(result.get("is_error"))))
        return View("assistant", tuple(shown))
    if kind == "reasoning":
        return View("assistant", (Part("reasoning", text(part, "text")),))
    if kind == "text":
        # Only what a model says takes time.
        who: Who = "assistant" if "start" in mapping(part, "time") else "user"
        return View("meta" if part.get("synthetic") is True else who, (Part("text", text(part, "text")),))
    if kind == "file":
        return View("user", (Part("text", _file(part)),))
    return View("meta", (Part("text", one_line(f"{kind}: {gist(part)}".rstrip(": "), 200)),))


def gist(part: dict[str, Any]) -> str:
    """Returns the little that is worth reading in what is no part of the conversation."""
    return text(part, "hash") or text(part, "reason") or text(part, "name") or text(part, "prompt")


def _typed(parts: list[dict[str, Any]], *, attached: bool) -> list[Message]:
    said: list[Message] = []
    before: list[Message] = []
    after: list[Message] = []
    for part in parts:
        kind = text(part, "type")
        if kind == "text" and text(part, "text"):
            beside = after if said or not attached else before
            (beside if part.get("synthetic") is True else said).append(text_part(part["text"]))
        elif kind == "file":
            said.append(_attached(part, files=attached))
        elif kind == "subtask" and text(part, "prompt"):
            said.append(text_part(part["prompt"]))
    made = ((before, True), (said, False), (after, True))
    return [normal_message("user", content, meta=meta) for content, meta in made if content]


def _answered(info: dict[str, Any], parts: list[dict[str, Any]], *, attached: bool) -> list[Message]:
    said = [text_part(part["text"]) for part in parts if text(part, "type") == "text" and text(part, "text")]
    thoughts = [text(part, "text") for part in parts if text(part, "type") == "reasoning"]
    tools = [part for part in parts if text(part, "type") == "tool"]
    model = text(info, "modelID")
    reasoning = "\n".join(filter(None, thoughts))
    calls = [_call(part) for part in tools]
    if not (said or reasoning or calls):
        error = mapping(info, "error")
        words = text(mapping(error, "data"), "message") or text(error, "name")
        return [normal_message("assistant", words, model=model, meta=True)] if words else []
    answer = normal_message("assistant", said, reasoning=reasoning, tool_calls=calls, model=model)
    return [answer, *(result for part in tools if (result := _result(part, attached=attached)) is not None)]


def _call(part: dict[str, Any]) -> Message:
    return tool_call(text(part, "callID"), text(part, "tool"), mapping(part, "state").get("input"))


def _result(part: dict[str, Any], *, attached: bool = False) -> Message | None:
    state = mapping(part, "state")
    status = text(state, "status")
    if status not in ("completed", "error"):
        return None
    words = text(state, "error") if status == "error" else text(state, "output")
    failed = status == "error"
    content: list[Message] = [text_part(words)] if words else []
    content += [image_part(url) for one in items(state, "attachments") if attached and (url := _image(one))]
    return normal_message("tool", content, tool_call_id=text(part, "callID"), name=text(part, "tool"), is_error=failed)


def _attached(part: dict[str, Any], *, files: bool) -> Message:
    if url := _image(part):
        return image_part(url)
    url = text(part, "url")
    held = files and url.startswith("data:") and ";base64," in url[:200]
    return file_part(text(part, "filename"), url) if held else text_part(_file(part))


def _image(part: Any) -> str:
    """Returns where the image lies that a file is; "" for any other file."""
    url = text(part, "url")
    return url if text(part, "mime").startswith("image/") and url.startswith(("data:", "http")) else ""


def _file(part: dict[str, Any]) -> str:
    url = text(part, "url")
    name = text(part, "filename") or ("" if url.startswith("data:") else url)
    return f"[{', '.join(filter(None, (name, text(part, 'mime')))) or 'file'}]"
