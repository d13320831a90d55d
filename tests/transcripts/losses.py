"""What a conversation has in common with the same one composed for an agent: the library's own table, applied.

`gitsession.transcripts.losses` says what each format has no place for. Here is what is left of normal messages, and the
summaries of compactions, when that is lost; and, of each format, what it says in another form.
"""

import copy
import json
import re
from collections.abc import Callable
from typing import Any

from gitsession.transcripts.composing import NO_RESULT, marked_words, signed_thoughts
from gitsession.transcripts.losses import LONG, LOSSES
from gitsession.transcripts.normal import without_files

Talk = list[Any]


def _is(one: Any, *roles: str) -> bool:
    return isinstance(one, dict) and one["role"] in roles


def _is_meta(one: Any) -> bool:
    return isinstance(one, dict) and one.get("meta") is True


def _is_context(one: Any) -> bool:
    return _is(one, "system") or _is_meta(one)


def _without(one: Any, *keys: str) -> Any:
    return {key: value for key, value in one.items() if key not in keys} if isinstance(one, dict) else one


def _marked(one: Any) -> Any:
    """Images become marks in the text."""
    return {**one, "content": marked_words(one)} if isinstance(one.get("content"), list) else one


def _filed(one: Any) -> Any:
    """Files become marks in the text."""
    return without_files(one)


def _addressed(one: Any) -> Any:
    """Images that lie elsewhere become marks in the text."""
    content = one.get("content") if isinstance(one, dict) else None
    if not isinstance(content, list):
        return one
    parts = [
        part if not _url(part) or _url(part).startswith("data:") else {"type": "text", "text": f"[image: {_url(part)}]"}
        for part in content
    ]
    return {**one, "content": parts} if any("text" not in part for part in parts) else _marked(one)


def _url(part: Any) -> str:
    found = part.get("image_url", {}).get("url", "")
    assert isinstance(found, str)
    return found


def _unsigned(one: Any) -> bool:
    return _is(one, "assistant") and bool({"reasoning", "reasoning_details"} & {*one}) and not signed_thoughts(one)


def _alone(one: Any) -> bool:
    return _is(one, "assistant") and "reasoning" in one and not (one.get("content") or "tool_calls" in one)


def _thoughtless(one: Any) -> Any:
    return _without(one, "reasoning", "reasoning_details")


def _is_any(one: Any) -> bool:
    return isinstance(one, dict)


def _details(kind: str, when: Callable[[Any], bool] = _is_any) -> Any:
    """Details of a kind are left out."""

    def change(one: Any) -> Any:
        left = [detail for detail in one.get("reasoning_details", ()) if detail["type"] != kind]
        return {**_without(one, "reasoning_details"), **({"reasoning_details": left} if left else {})}

    return _each(change, when)


def _each(change: Callable[[Any], Any], when: Callable[[Any], bool] = _is_any) -> Any:
    return lambda talk: [change(one) if when(one) else one for one in talk]


def _all_but(gone: Callable[[Any], bool]) -> Any:
    return lambda talk: [one for one in talk if not gone(one)]


def _is_failure(one: Any) -> bool:
    return _is(one, "tool") and one.get("is_error") is True


def _tools_as_text(talk: Talk) -> Talk:
    """Calls and results stand in answers."""
    found: Talk = []
    names: dict[str, str] = {}
    for one in talk:
        if _is(one, "tool"):
            tool = one.get("name") or names.get(one["tool_call_id"], "") or "a tool"
            head = f"[{tool} failed]" if _is_failure(one) else f"[result of {tool}]"
            found.append({"role": "assistant", "content": _titled(head, marked_words(one))})
            continue
        found.append(_without(one, "tool_calls"))
        for call in one.get("tool_calls", ()) if _is(one, "assistant") else ():
            names[call["id"]] = call["function"]["name"]
            words = _titled(f"[call of {names[call['id']]}]", call["function"]["arguments"])
            found.append({"role": "assistant", "content": words})
    return found


def _titled(head: str, words: str) -> str:
    more = f"… [{len(words) - LONG:,} characters more]" if len(words) > LONG else ""
    return f"{head}\n{words[:LONG]}{more}" if words.strip() else head


def _same(talk: Talk) -> Talk:
    return talk


def _unnamed(talk: Talk) -> Talk:
    """Files have no names."""
    found = []
    for one in copy.deepcopy(talk):
        content = one.get("content") if isinstance(one, dict) else None
        for part in content if isinstance(content, list) else ():
            part.get("file", {}).pop("filename", "")
        found.append(one)
    return found


# What is left of a conversation when one of these is lost, by their names in the library's table, one after the other.
LOST: dict[str, Callable[[Talk], Talk]] = {
    "notices of the agent": _all_but(lambda one: _is(one, "assistant") and _is_meta(one)),
    "thoughts": _each(lambda one: _without(one, "reasoning")),
    "redacted thoughts": _details("reasoning.encrypted"),
    "signatures of thoughts": _details("reasoning.text"),
    "redacted thoughts that are not Claude's": _details("reasoning.encrypted", _unsigned),
    "signatures that are not Claude's": _details("reasoning.text", _unsigned),
    "thoughts without Claude's signature": _each(_thoughtless, _unsigned),
    "thoughts without an answer": _all_but(_alone),
    "images in prompts": _each(_marked, lambda one: _is(one, "user") and not _is_meta(one)),
    "images in answers": _each(_marked, lambda one: _is(one, "assistant")),
    "images in results": _each(_marked, lambda one: _is(one, "tool") and not _is_failure(one)),
    "images in failed results": _each(_marked, _is_failure),
    "images in context": _each(_marked, _is_context),
    "images by address": _each(_addressed, lambda one: not _is(one, "assistant")),
    "files in prompts": _each(_filed, lambda one: _is(one, "user") and not _is_meta(one)),
    "files elsewhere": _each(
        _filed, lambda one: isinstance(one, dict) and not (_is(one, "user") and not _is_meta(one))
    ),
    "names of files": _unnamed,
    "tool calls": _tools_as_text,
    "tool results": _same,  # with the calls
    "results without a call": _same,  # where results stand with their calls: see `_with_results`
    "names of tools in results without a call": _same,  # names are not compared here
    "ends of long calls and results": _same,  # with the calls
    "marks of failed results": _each(lambda one: _without(one, "is_error")),
    "compactions": _each(
        lambda one: {"role": "user", "content": f"[Conversation summary]\n{one}"}, lambda one: isinstance(one, str)
    ),
    "messages that compactions kept": _same,  # is not compared here
    "names of models": _each(lambda one: _without(one, "model")),
    "times of messages": _same,  # are not compared here
    "pieces of injected context": _all_but(_is_context),
    "marks of injected context": _each(lambda one: _without(one, "meta")),
    "entries of other kinds": _same,  # are no messages
    "lone surrogates": lambda talk: json.loads(json.dumps(talk, ensure_ascii=False).encode("utf-8", "replace")),
}


def _as_context(talk: Talk) -> Talk:
    """A system prompt becomes context, and the arguments of a call an object."""
    return [_with_arguments({**one, "role": "user", "meta": True} if _is(one, "system") else one) for one in talk]


def _with_arguments(one: Any) -> Any:
    if _is(one, "assistant") and "tool_calls" in one:
        return {**one, "tool_calls": [_call(call) for call in one["tool_calls"]]}
    return one


def _call(call: Any) -> Any:
    if isinstance(call, tuple):
        return call
    written = call["function"]["arguments"]
    try:
        value = json.loads(written)
    except ValueError:
        value = None
    value = value if isinstance(value, dict) else {"input": written}
    return call["id"], call["function"]["name"], value


def _reminded(talk: Talk) -> Talk:
    """Context is marked as the reminders of the agent."""
    mark = re.compile(r"\A<system-reminder>\n(.*)\n</system-reminder>\Z", re.DOTALL)
    found = []
    for one in talk:
        if _is_meta(one) and isinstance(one.get("content"), str):
            found.append({**one, "content": mark.sub(r"\1", one["content"])})
        elif _is_meta(one):
            parts = [
                {**part, "text": mark.sub(r"\1", part["text"])} if "text" in part else part for part in one["content"]
            ]
            found.append({**one, "content": [part for part in parts if part.get("text") != ""]})
        else:
            found.append(one)
    return found


def _images_last(talk: Talk) -> Talk:
    """Images stand behind the text."""
    found = []
    for one in talk:
        content = one.get("content") if isinstance(one, dict) else None
        if isinstance(content, list):
            words = "\n".join(part["text"] for part in content if "text" in part)
            texts = [{"type": "text", "text": words}] if words else []
            found.append({**one, "content": [*texts, *(part for part in content if "text" not in part)]})
        else:
            found.append(one)
    return found


def _with_results(talk: Talk, *, meta: bool = True) -> Talk:
    """Results stand behind their calls; those without a call are context."""
    found: list[Any] = []
    calls: dict[str, list[Any]] = {}
    for one in talk:
        if not _is(one, "tool"):
            own: list[Any] = [one]
            found.append(own)
            calls.update(
                {call[0]: own for call in one["tool_calls"]} if _is(one, "assistant") and "tool_calls" in one else {}
            )
        elif own := calls.pop(one.get("tool_call_id", ""), []):
            own.append(one)
        else:
            context = {"role": "user", "content": one.get("content", "")}
            found.append([{**context, "meta": True} if meta else context])
    return [one for own in found for one in _in_order(own)]


def _is_made_up(one: Any) -> bool:
    return _is(one, "tool") and one.get("content") == NO_RESULT


def _in_order(own: list[Any]) -> list[Any]:
    first, *results = own
    if not results:
        return own
    order = [call[0] for call in first["tool_calls"]]
    return [first, *sorted(results, key=lambda one: order.index(one["tool_call_id"]))]


def _answered(talk: Talk) -> Talk:
    """Results stand behind their calls; a call without one has a result that says so."""
    results = {one["tool_call_id"]: one for one in talk if _is(one, "tool")}
    found: list[Any] = []
    for one in talk:
        if not _is(one, "tool"):
            found.append(one)
        calls = one.get("tool_calls", ()) if _is(one, "assistant") else ()
        for own in (call[0] if isinstance(call, tuple) else call["id"] for call in calls):
            unknown = {"role": "tool", "content": NO_RESULT, "tool_call_id": own, "is_error": True}
            found.append(results.get(own, unknown))
    return found


def _gemini(talk: Talk) -> Talk:
    talk = copy.deepcopy(talk)
    talk = _images_last(_reminded(_with_results(_as_context(talk))))
    for one in talk:
        if _is(one, "assistant") and "reasoning" in one:
            one["reasoning"] = one["reasoning"].strip(": ")
    return [re.sub("</?state_snapshot>", "", one).strip() if isinstance(one, str) else one for one in talk]


def _copilot(talk: Talk) -> Talk:
    return [_with_arguments(_without(one, "meta") if _is(one, "system") else one) for one in _images_last(talk)]


def _aider(talk: Talk) -> Talk:
    """Nothing tells where an answer ends, and some of its lines would be marks; notices tell the model."""
    found: list[Any] = []
    for one in talk:
        if isinstance(one, str) or isinstance(one.get("content"), list):
            found.append(one)
            continue
        words = marked_words(one).replace("\r", "")
        if one["role"] == "user":
            words = "\n".join(line.strip() for line in words.splitlines()).removeprefix("<blank>")
        else:
            words = re.sub(r"\n{2,}", "\n\n", re.sub("^ (?=# |####|> )", "", words.strip(), flags=re.MULTILINE))
        if words and _is(one, "assistant") and found and _is(found[-1], "assistant"):
            found[-1]["content"] += f"\n\n{words}"
        elif words or one.keys() - {"role", "content", "model"}:
            found.append({**_without(one, "model"), "content": words})
    return found


def _openhands(talk: Talk) -> Talk:
    """A system prompt at the beginning, said only once."""
    talk = copy.deepcopy(talk)
    told = [one for one in talk[:1] if _is(one, "system") and not _is_meta(one) and isinstance(one["content"], str)]
    return told + _answered(_with_results(_as_context([one for one in talk if one not in told])))


def _sent(talk: Talk) -> Talk:
    """What no provider takes, and the order of results."""
    talk = _answered(_with_results([_with_arguments(one) for one in talk], meta=False))
    talk = [_without(one, "name") for one in talk]
    return [one for one in talk if one["role"] == "tool" or one.get("content") or {"tool_calls", "reasoning"} & {*one}]


# What each format says in another form.
FORMS: dict[str, Callable[[Talk], Talk]] = {
    "claude-code": _as_context,
    "codex": _same,
    "pi": _as_context,
    "gemini": _gemini,
    "opencode": lambda talk: _images_last(_with_results(_as_context(talk))),
    "copilot": _copilot,
    "droid": lambda talk: _reminded(_as_context(talk)),
    "modular-agent": _same,
    "aider": _aider,
    "openhands": _openhands,
    "openai": lambda talk: [_without(one, "is_error") if _is_made_up(one) else one for one in _sent(talk)],
    "langchain": _sent,
}


def left(talk: Talk, name: str) -> Talk:
    """Returns what a format holds of a conversation."""
    for what, lose in LOST.items():
        talk = lose(talk) if what in LOSSES[name] else talk
    return FORMS[name](talk)


def forked(talk: Talk, name: str) -> Talk:
    """What is added where an agent's own session is forked between a call and its result."""
    return _answered(talk) if name == "openhands" else talk
