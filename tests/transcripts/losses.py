"""What a conversation loses when it is written for another agent, which has no place for it.

Each function takes normal messages, and the summaries of compactions, and returns what is left of them. It leaves alone
what was written for the agent already.
"""

import json
import re
from collections.abc import Callable
from typing import Any

from gitsession.transcripts.composing import NO_RESULT
from gitsession.transcripts.openhands_compose import PROMPT

Talk = list[Any]


def claude_code(talk: Talk) -> Talk:
    """Thoughts that another provider would have to have signed."""
    return [_without(one, "reasoning") for one in _as_context(talk)]


def codex(talk: Talk) -> Talk:
    return _without_notices(talk)


def pi(talk: Talk) -> Talk:
    return _as_context(_without_notices(talk))


def gemini(talk: Talk) -> Talk:
    """Images where only text can be; the order of results, which stand with their calls."""
    talk = _with_results(_reminded(_as_context(_without_notices(talk))))
    talk = [_marked(one) if _is(one, "assistant", "tool") or _is_meta(one) else one for one in talk]
    for one in talk:
        if _is(one, "assistant") and "reasoning" in one:
            one["reasoning"] = one["reasoning"].strip(": ")
    return [re.sub("</?state_snapshot>", "", one).strip() if isinstance(one, str) else one for one in talk]


def opencode(talk: Talk) -> Talk:
    """Images where only text can be; the order of results, which stand with their calls."""
    talk = _with_results(_as_context(_without_notices(talk)))
    return [_marked(one) if _is(one, "assistant", "tool") or _is_meta(one) else one for one in talk]


def copilot(talk: Talk) -> Talk:
    """Images, for which there is a mark in the text."""
    talk = [_without(one, "meta") if _is(one, "system") else one for one in _without_notices(talk)]
    return [_with_arguments(_marked(one)) for one in talk]


def droid(talk: Talk) -> Talk:
    """Thoughts that another provider would have to have signed; images in an answer, or in context."""
    talk = [_without(one, "reasoning") for one in _reminded(_as_context(_without_notices(talk)))]
    return [_marked(one) if _is(one, "assistant") or _is_meta(one) else one for one in talk]


def aider(talk: Talk) -> Talk:
    """All but what was typed and what was answered, as text: which model spoke, where an answer ends."""
    found: list[Any] = []
    for one in talk:
        if isinstance(one, str):
            found.append({"role": "user", "content": f"[Conversation summary]\n{one}"})
        elif _is(one, "user", "assistant") and not _is_meta(one):
            words = _marked(one).get("content", "").encode("utf-8", "replace").decode().replace("\r", "")
            if one["role"] == "user":
                words = "\n".join(line.strip() for line in words.splitlines()).removeprefix("<blank>")
            else:
                words = re.sub(r"\n{2,}", "\n\n", re.sub("^ (?=# |####|> )", "", words.strip(), flags=re.MULTILINE))
            if words and found and found[-1]["role"] == one["role"] == "assistant":
                found[-1]["content"] += f"\n\n{words}"
            elif words:
                found.append({"role": one["role"], "content": words})
    return found


def openhands(talk: Talk) -> Talk:
    """Which model spoke; images in an answer; thoughts that stand alone; the order of results; lone surrogates."""
    talk = _without_notices(json.loads(json.dumps(talk, ensure_ascii=False).encode("utf-8", "replace")))
    told = [one for one in talk[:1] if _is(one, "system") and not _is_meta(one)]
    talk = _answered(_with_results(_as_context(talk[len(told) :])))
    talk = [one for one in talk if not (_is(one, "assistant") and one.keys() <= {"role", "reasoning", "model"})]
    talk = [_without(_marked(one) if _is(one, "assistant") else one, "model") for one in talk]
    # One of its own, where the session began with none.
    return [_marked(one) for one in told if not one["content"].startswith(PROMPT)] + talk


def modular_agent(talk: Talk) -> Talk:
    """Nothing: messages stay in the shape that they have."""
    return talk


def openai_messages(talk: Talk) -> Talk:
    """What was thought, what failed, who spoke; images but those of the user."""
    unknown = ("reasoning", "model", "is_error")
    return [_without(_marked(one) if _is(one, "assistant", "tool") else one, *unknown) for one in _sent(talk)]


def langchain_messages(talk: Talk) -> Talk:
    """Images in an answer."""
    return [_marked(one) if _is(one, "assistant") else one for one in _sent(talk)]


def _sent(talk: Talk) -> Talk:
    """What no provider takes; that something is context; the order of results."""
    talk = _answered(_with_results([_with_arguments(one) for one in _without_notices(talk)]))
    talk = [_without(one, "meta", "name") for one in talk]
    return [one for one in talk if one["role"] == "tool" or one.get("content") or "tool_calls" in one]


def _is(one: Any, *roles: str) -> bool:
    return isinstance(one, dict) and one["role"] in roles


def _is_meta(one: Any) -> bool:
    return isinstance(one, dict) and one.get("meta") is True


def _without(one: Any, *keys: str) -> Any:
    return {key: value for key, value in one.items() if key not in keys} if isinstance(one, dict) else one


def _without_notices(talk: Talk) -> Talk:
    return [one for one in talk if not (_is(one, "assistant") and _is_meta(one))]


def _as_context(talk: Talk) -> Talk:
    """A system prompt becomes context, and the arguments of a call an object."""
    found = []
    for one in talk:
        shown = {**one, "role": "user", "meta": True} if _is(one, "system") else one
        found.append(_with_arguments(shown))
    return found


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
        else:
            found.append(one)
    return found


def _marked(one: Any) -> Any:
    """Images become marks in the text."""
    content = one.get("content") if isinstance(one, dict) else None
    if not isinstance(content, list):
        return one
    return {**one, "content": "\n".join(part.get("text", "[image]") for part in content)}


def _with_results(talk: Talk) -> Talk:
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
            found.append([{"role": "user", "content": one.get("content", ""), "meta": True}])
    return [one for own in found for one in _in_order(own)]


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


def _in_order(own: list[Any]) -> list[Any]:
    first, *results = own
    if not results:
        return own
    order = [call[0] for call in first["tool_calls"]]
    return [first, *sorted(results, key=lambda one: order.index(one["tool_call_id"]))]


def forked(talk: Talk, name: str) -> Talk:
    """What is added where an agent's own session is forked between a call and its result."""
    return _answered(talk) if name == "openhands" else talk


LOSSES: dict[str, Callable[[Talk], Talk]] = {
    "claude-code": claude_code,
    "codex": codex,
    "pi": pi,
    "gemini": gemini,
    "opencode": opencode,
    "copilot": copilot,
    "droid": droid,
    "modular-agent": modular_agent,
    "aider": aider,
    "openhands": openhands,
}

MESSAGES: dict[str, Callable[[Talk], Talk]] = {"openai": openai_messages, "langchain": langchain_messages}
