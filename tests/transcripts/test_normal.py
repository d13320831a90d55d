"""Building normal messages."""

from gitsession.transcripts.normal import (
    assistant_of_blocks,
    content_of_blocks,
    image_part,
    normal_message,
    text_part,
    titled_by_prompt,
    tool_call,
    user_of_blocks,
)


def test_the_keys_have_one_order_and_are_absent_when_empty() -> None:
    calls = [tool_call("c", "f", {"a": 1})]
    message = normal_message("assistant", "hi", reasoning="hm", tool_calls=calls, model="m", meta=True)
    assert list(message) == ["role", "content", "reasoning", "tool_calls", "model", "meta"]
    assert normal_message("user", "hi") == {"role": "user", "content": "hi"}


def test_content_is_absent_only_beside_calls_and_thoughts() -> None:
    assert normal_message("tool", "", tool_call_id="c") == {"role": "tool", "content": "", "tool_call_id": "c"}
    assert "content" not in normal_message("assistant", tool_calls=[tool_call("c", "f", {})])


def test_content_is_a_list_only_with_something_besides_text() -> None:
    assert normal_message("user", [text_part("a"), text_part("b")])["content"] == "a\nb"
    parts = [text_part("a"), image_part("https://example.com/a.png")]
    assert normal_message("user", parts)["content"] == parts


def test_arguments_are_json_text() -> None:
    assert tool_call("c", "f", {"a": [1, "ä"]})["function"]["arguments"] == '{"a":[1,"ä"]}'
    assert tool_call("c", "f", '{"a": 1}')["function"]["arguments"] == '{"a": 1}'
    assert tool_call("c", "f", None)["function"]["arguments"] == "{}"


def test_blocks_of_any_shape_become_parts() -> None:
    assert content_of_blocks("a") == [text_part("a")]
    assert content_of_blocks([None, 1, "a", {"type": "text"}, {"type": "text", "text": "b"}]) == [
        text_part("a"),
        text_part("b"),
    ]
    assert content_of_blocks([{"type": "image", "source": {"type": "url", "url": "https://example.com/a"}}]) == [
        image_part("https://example.com/a")
    ]
    assert content_of_blocks([{"type": "of-tomorrow"}]) == [text_part('{"type":"of-tomorrow"}')]
    assert content_of_blocks(None) == []


def test_an_answer_without_anything_readable_is_none() -> None:
    assert assistant_of_blocks([{"type": "redacted_thinking", "data": "x"}, {"type": "text", "text": ""}]) is None


def test_a_users_message_without_anything_is_none() -> None:
    assert user_of_blocks([], {}) == []
    assert user_of_blocks(None, {}) == []


def test_the_first_prompt_is_the_title() -> None:
    header = titled_by_prompt({"id": "s"}, {"role": "user", "content": "How\nare  you?"})
    assert header == {"id": "s", "title": "How are you?"}
    assert titled_by_prompt(header, {"role": "user", "content": "And now?"}) is header
    assert titled_by_prompt({"id": "s"}, {"role": "assistant", "content": "Hello"}) == {"id": "s"}
