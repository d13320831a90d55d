"""The normal message: the one shape in which folds give a conversation, whichever agent it comes from.

It is OpenAI's chat message with a few fields more, in this order, each absent when it is empty: `role` (user,
assistant, system, tool), `content` (a string, or a list of parts where there are images or files among the text),
`reasoning`, `reasoning_details` (the same with its provider's signatures), `tool_calls`, `tool_call_id`, `name` (the
tool's), `is_error`, `model`, `meta` (context that no person typed).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gitsession.blocks import flat_text
from gitsession.model import Message
from gitsession.parts import Part, compact, first_string
from gitsession.transcripts.base import Record
from gitsession.transcripts.fields import changed, mapping, one_line, text
from gitsession.view import View, view

_SHOWN_OF_DAMAGED = 400


def normal_message(
    role: str,
    content: Sequence[Mapping[str, Any]] | str = "",
    *,
    reasoning: str = "",
    reasoning_details: Sequence[Mapping[str, Any]] = (),
    tool_calls: Sequence[Mapping[str, Any]] = (),
    tool_call_id: str = "",
    name: str = "",
    is_error: bool = False,
    model: str = "",
    meta: bool = False,
) -> Message:
    """Returns a normal message.

    Args:
        role: user, assistant, system or tool.
        content: Text, or parts as `text_part` and `image_part` make them; parts that are all text become one text.
        reasoning: What the model thought before it spoke.
        reasoning_details: The same as its provider signed it: `{"type": "reasoning.text", "text", "signature"}`, or
            `{"type": "reasoning.encrypted", "data"}`. So does OpenRouter, too.
        tool_calls: As `tool_call` makes them.
        tool_call_id: The call that this is the result of.
        name: The tool whose result it is.
        is_error: The tool failed.
        model: The model that spoke.
        meta: It is context that no person typed.
    """
    if not isinstance(content, str) and all(part.get("type") == "text" for part in content):
        content = "\n".join(part["text"] for part in content)
    message: Message = {"role": role}
    # A message that has calls or thoughts needs no words; any other has them, if only none.
    if content or not (tool_calls or reasoning):
        message["content"] = content if isinstance(content, str) else [dict(part) for part in content]
    rest = {
        "reasoning": reasoning,
        "reasoning_details": [dict(one) for one in reasoning_details],
        "tool_calls": [dict(call) for call in tool_calls],
        "tool_call_id": tool_call_id,
        "name": name,
        "is_error": is_error,
        "model": model,
        "meta": meta,
    }
    return message | {key: value for key, value in rest.items() if value}


def text_part(words: str) -> Message:
    """Returns a part of text."""
    return {"type": "text", "text": words}


def image_part(url: str) -> Message:
    """Returns an image, by its address or as a `data:` URL."""
    return {"type": "image_url", "image_url": {"url": url}}


def file_part(name: str, url: str) -> Message:
    """Returns a file, such as a PDF, by its name, if it has one, and its `data:` URL."""
    return {"type": "file", "file": {"filename": name, "file_data": url} if name else {"file_data": url}}


def tool_call(call_id: str, name: str, arguments: Any) -> Message:
    """Returns a call of a tool; arguments that are no string become JSON text."""
    written = arguments if isinstance(arguments, str) else compact({} if arguments is None else arguments)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": written}}


def content_of_blocks(blocks: Any) -> list[Message]:
    """Returns the parts of Anthropic content: text, images, files; any other block as the text it is shown by."""
    if isinstance(blocks, str):
        return [text_part(blocks)] if blocks else []
    parts = []
    for block in blocks if isinstance(blocks, list) else []:
        kind = text(block, "type")
        if isinstance(block, str):
            parts.append(text_part(block))
        elif kind == "text" and text(block, "text"):
            parts.append(text_part(block["text"]))
        elif kind == "image" and (url := _image_url(mapping(block, "source"))):
            parts.append(image_part(url))
        elif kind == "document" and (url := _file_url(mapping(block, "source"))):
            parts.append(file_part(first_string(block, "title", "filename", "name"), url))
        elif isinstance(block, dict) and kind != "text":
            parts += [text_part(part.text) for part in view({"role": "user", "content": [block]}).parts if part.text]
    return parts


def assistant_of_blocks(blocks: Iterable[Any], *, model: str = "", meta: bool = False) -> Message | None:
    """Returns what a model said from Anthropic blocks; None where that is nothing."""
    blocks = list(blocks)
    said, thoughts, calls = [], [], []
    for block in blocks:
        match text(block, "type"):
            case "thinking":
                thoughts.append(text(block, "thinking"))
            case "redacted_thinking":
                pass
            case "tool_use" | "server_tool_use" | "mcp_tool_use":
                calls.append(tool_call(text(block, "id"), text(block, "name"), block.get("input")))
            case _:
                said += content_of_blocks([block])
    reasoning = "\n".join(filter(None, thoughts))
    if not (said or calls or reasoning):
        return None
    details = signed_blocks(blocks)
    return normal_message(
        "assistant", said, reasoning=reasoning, reasoning_details=details, tool_calls=calls, model=model, meta=meta
    )


def signed_blocks(blocks: Iterable[Any]) -> list[Message]:
    """Returns those of Anthropic blocks that are thoughts with a signature, as `reasoning_details`."""
    details: list[Message] = []
    for block in blocks:
        kind = text(block, "type")
        if kind == "thinking" and (signature := text(block, "signature")):
            details.append({"type": "reasoning.text", "text": text(block, "thinking"), "signature": signature})
        elif kind == "redacted_thinking" and (encrypted := text(block, "data")):
            details.append({"type": "reasoning.encrypted", "data": encrypted})
    return details


def user_of_blocks(content: Any, names: Mapping[str, str], *, meta: bool = False) -> list[Message]:
    """Returns what Anthropic puts into one user message: the tools' results, each its own message, and what was said.

    Args:
        content: Text or blocks.
        names: The tools' names by the ids of their calls.
        meta: What is said was typed by no person.
    """
    messages = []
    said: list[Any] = []
    for block in content if isinstance(content, list) else [content]:
        if text(block, "type").endswith("tool_result"):
            call = text(block, "tool_use_id")
            words = content_of_blocks(block.get("content"))
            failed = block.get("is_error") is True
            messages.append(normal_message("tool", words, tool_call_id=call, name=names.get(call, ""), is_error=failed))
        elif block is not None:
            said.append(block)
    if parts := content_of_blocks(said):
        messages.append(normal_message("user", parts, meta=meta))
    return messages


def _image_url(source: Mapping[str, Any]) -> str:
    if encoded := text(source, "data"):
        return f"data:{text(source, 'media_type') or 'image/png'};base64,{encoded}"
    return text(source, "url")


def _file_url(source: Mapping[str, Any]) -> str:
    media, encoded = text(source, "media_type"), text(source, "data")
    known = text(source, "type") == "base64" and media and ";" not in media and encoded
    return f"data:{media};base64,{encoded}" if known else ""


def words_of(message: Message) -> list[Message]:
    """Returns the text of a message's content as parts, where it is a text."""
    content = message.get("content")
    return [text_part(content)] if content and isinstance(content, str) else []


def without_files(message: Message) -> Message:
    """Returns a message with the text that a file is shown by in its place."""
    content = message.get("content")
    if not isinstance(content, list) or all(text(part, "type") != "file" for part in content):
        return message
    shown = [text_part(flat_text(part)) if text(part, "type") == "file" else part for part in content]
    texts = [part["text"] for part in shown if text(part, "type") == "text"]
    return {**message, "content": "\n".join(texts) if len(texts) == len(shown) else shown}


def damaged(record: Record) -> View:
    """Returns a record without a proper value for reading: what its bytes look like."""
    words = record.raw[:_SHOWN_OF_DAMAGED].decode("utf-8", "replace").strip()
    return View("meta", (Part("text", f"not a record: {words}" if words else "blank line"),))


def titled_by_prompt(header: Mapping[str, Any], message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the header with the first prompt as its title, where it has none."""
    if header.get("title") or not message:
        return header
    shown = view(without_files(dict(message)))
    title = one_line(" ".join(part.text for part in shown.parts if part.kind == "text")) if shown.who == "user" else ""
    return changed(header, title=title or None)
