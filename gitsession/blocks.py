"""The blocks of a message's content, in whatever shape the provider gives them.

A block is looked up by its `type`, or, where it has none (Gemini, Bedrock), by the key that tells what it is. Each
kind has one small function; what no table knows is shown as its JSON. Nothing here raises on a JSON value.
"""

from collections.abc import Callable, Mapping
from typing import Any

from gitsession.parts import Part, Parts, compact, first, first_string, readable_part

# A result may hold blocks that hold blocks; deeper ones than anybody writes are shown as their JSON.
MAX_NESTED_BLOCKS = 8


def content_parts(content: Any, depth: int = 0) -> Parts:
    """Returns the parts of a message's content: a string, one block, or a list of both."""
    if isinstance(content, str):
        return (Part("text", content),) if content else ()
    if content is None:
        return ()
    if isinstance(content, dict):
        return block_parts(content, depth)
    if not isinstance(content, list) or depth > MAX_NESTED_BLOCKS:
        return (Part("text", compact(content)),)
    return tuple(part for item in content if item is not None for part in content_parts(item, depth + 1))


def flat_text(content: Any, depth: int = 0) -> str:
    """Returns content as one text, its blocks one below the other."""
    if isinstance(content, str):
        return content
    return "\n".join(map(readable_part, content_parts(content, depth)))


def block_parts(block: Mapping[str, Any], depth: int = 0) -> Parts:
    """Returns the parts of one block of content."""
    if depth > MAX_NESTED_BLOCKS:
        return (Part("other", compact(block)),)
    kind = first_string(block, "type", "part_kind").replace("-", "_")
    if reader := TYPED.get(kind) or _by_ending(kind):
        return reader(block, depth)
    for key, reader in KEYED.items():
        inner = block.get(key)
        if isinstance(inner, dict):
            return reader(inner, depth)
    if not kind and isinstance(block.get("text"), str):  # Gemini marks its thoughts in the same kind of block
        return (_reasoning if block.get("thought") is True else _text)(block, depth)
    return (Part("other", compact(block)),)


def image_urls(content: Any, depth: int = 0) -> list[str]:
    """Returns the images of content, in the order of the image parts that it has.

    Returns:
        For each its address, or a `data:` URL; "" for one that says neither.
    """
    if isinstance(content, list) and depth <= MAX_NESTED_BLOCKS:
        return [url for item in content for url in image_urls(item, depth + 1)]
    if not isinstance(content, dict) or all(part.kind != "image" for part in block_parts(content, depth)):
        return []
    inner = first(content, "image_url", "source", "inlineData", "inline_data", "image")
    if isinstance(inner, str):
        return [inner]
    block = inner if isinstance(inner, dict) else content
    source = block.get("source")
    held = source if isinstance(source, dict) else block  # Bedrock's, one deeper
    encoded = first_string(held, "data", "bytes", "base64")
    if not encoded or encoded.startswith("data:"):
        return [encoded or first_string(held, "url")]
    media = first_string(block, "media_type", "mimeType", "mime_type")
    media = media or f"image/{first_string(block, 'format') or 'png'}"
    return [f"data:{media};base64,{encoded}"]


def call_part(block: Mapping[str, Any], _depth: int = 0) -> Parts:
    """Returns a tool call; the name and the arguments may lie one level deeper."""
    inner = first(block, "function", "custom")
    source = inner if isinstance(inner, dict) else block
    arguments = first(source, "arguments", "input", "args", "parameters", "action", "code")
    kind = first_string(block, "type").removesuffix("_call")
    return (
        Part(
            "tool_call",
            arguments if isinstance(arguments, str) else "" if arguments is None else compact(arguments),
            first_string(source, "name", "toolName", "tool_name") or kind,
            first_string(block, *_CALL_IDS) or first_string(source, "id"),
        ),
    )


def result_part(block: Mapping[str, Any], depth: int = 0) -> Parts:
    """Returns a tool's result, its nested blocks as one text."""
    result = first(block, "content", "output", "result", "response", "parts", "text")
    if isinstance(result, dict) and len(result) == 1:
        result = first(result, "output", "result", "content") or result
    failed = block.get("is_error") is True or block.get("isError") is True or block.get("status") in ("error", "failed")
    return (
        Part(
            "tool_result",
            flat_text(result, depth + 1),
            first_string(block, "name", "toolName", "tool_name"),
            first_string(block, *_CALL_IDS),
            failed,
        ),
    )


_CALL_IDS = ("tool_call_id", "tool_use_id", "call_id", "toolCallId", "toolUseId", "callID", "id")


def _by_ending(kind: str) -> "Reader | None":
    if kind.endswith(("_output", "tool_result", "tool_return")):
        return result_part
    return call_part if kind.endswith(("_call", "tool_use")) else None


def _text(block: Mapping[str, Any], depth: int) -> Parts:
    text = flat_text(first(block, "text", "content", "refusal"), depth + 1)
    return (Part("text", text),) if text else ()


def _reasoning(block: Mapping[str, Any], depth: int) -> Parts:
    # Without a text it is encrypted or redacted, and still a part.
    text = first(block, "thinking", "text", "reasoning", "content", "summary", "reasoningText")
    return (Part("reasoning", flat_text(text, depth + 1)),)


def _image(block: Mapping[str, Any], _depth: int) -> Parts:
    return (Part("image", _describe(block)),)


def _document(block: Mapping[str, Any], depth: int) -> Parts:
    source = block.get("source")
    if isinstance(source, dict) and source.get("type") in ("text", "content"):
        return content_parts(first(source, "data", "content"), depth + 1)
    return (Part("other", f"[{_describe(block) or first_string(block, 'type') or 'file'}]"),)


def _search_result(block: Mapping[str, Any], _depth: int) -> Parts:
    return (Part("text", f"{first_string(block, 'title')} {first_string(block, 'url')}".strip()),)


def _describe(block: Mapping[str, Any]) -> str:
    """Says what a file is: its name, media type, size in bytes, or where it lies."""
    inner = first(block, "source", "image_url", "file", "input_audio")
    source = inner if isinstance(inner, dict) else {"url": inner} if isinstance(inner, str) else block
    media = first_string(source, "media_type", "mimeType", "mime_type", "mediaType", "format")
    url = first_string(source, "url", "fileUri", "file_uri", "file_url", "file_id")
    encoded = first_string(source, "data", "bytes", "file_data")
    if url.startswith("data:"):
        url, encoded = "", url
    if encoded.startswith("data:"):
        declared, _, encoded = encoded[5:].partition(",")
        media = media or declared.partition(";")[0]
    size = f"{len(encoded.rstrip('=')) * 3 // 4} bytes" if encoded else ""
    name = first_string(block, "title", "filename", "name") or first_string(source, "filename")
    return ", ".join(filter(None, (name, media, size, url)))


Reader = Callable[[Mapping[str, Any], int], Parts]

TYPED: Mapping[str, Reader] = {
    **dict.fromkeys(("text", "input_text", "output_text", "summary_text", "refusal"), _text),
    **dict.fromkeys(("user_prompt", "system_prompt"), _text),
    **dict.fromkeys(("thinking", "redacted_thinking", "reasoning", "reasoning_text"), _reasoning),
    **dict.fromkeys(("toolCall", "function"), call_part),
    **dict.fromkeys(("toolResult", "retry_prompt"), result_part),
    **dict.fromkeys(("image", "image_url", "input_image"), _image),
    **dict.fromkeys(("document", "file", "input_file", "audio", "input_audio", "video"), _document),
    **dict.fromkeys(("web_search_result", "search_result"), _search_result),
}

KEYED: Mapping[str, Reader] = {
    "functionCall": call_part,
    "function_call": call_part,
    "functionResponse": result_part,
    "function_response": result_part,
    "toolUse": call_part,
    "toolResult": result_part,
    "executableCode": call_part,
    "codeExecutionResult": result_part,
    "inlineData": _image,
    "inline_data": _image,
    "fileData": _document,
    "file_data": _document,
    "image": _image,
    "reasoningContent": _reasoning,
}
