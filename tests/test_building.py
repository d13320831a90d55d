from dataclasses import replace

from gitsession import SessionMeta
from gitsession.building import NewDelta, build
from gitsession.repo.codec import decode_commit
from gitsession.view import Part, View

META = SessionMeta("s", created_at="2026-01-05T10:00:00Z")


def delta(number: int, timestamp: str | None = None) -> NewDelta:
    view = View("user", (Part("text", f"Hello {number}"),))
    return NewDelta(f"c{number}", b'{"n":%d}\n' % number, lambda: [view], timestamp)


def test_a_first_delta_comes_with_the_header_in_one_commit() -> None:
    built = build(None, delta(0), META, now=100)

    assert [made.kind for made in built.objects] == ["blob", "blob", "tree", "tree", "tree", "commit"]
    assert built.state.commit.parents == ()
    assert (built.state.tree.count, built.state.head) == (1, "c0")


def test_a_header_alone_is_a_commit_too() -> None:
    built = build(None, None, META, subject="Begin", now=100)

    assert [made.kind for made in built.objects] == ["blob", "tree", "commit"]
    assert None is built.state.head
    assert built.state.commit.message == "Begin\n\nSession: s\n"


def test_a_later_delta_writes_the_header_only_when_it_changed() -> None:
    first = build(None, delta(0), META, now=100).state

    same = build(first, delta(1), META, now=101)
    titled = build(first, delta(1), replace(META, title="T"), now=101)

    assert [sum(made.kind == "blob" for made in built.objects) for built in (same, titled)] == [1, 2]
    assert titled.state.meta.title == "T"
    assert (first.oid,) == same.state.commit.parents


def test_the_last_object_is_the_commit_of_the_state() -> None:
    built = build(None, delta(0), META, now=100)

    last = built.objects[-1]
    assert built.state.oid == last.oid
    assert built.state.commit == decode_commit(last.content, last.oid)
    assert len(built.objects) == len({made.oid for made in built.objects})


class TestTimes:
    def test_of_a_live_commit_are_the_clocks_and_the_entrys(self) -> None:
        commit = build(None, delta(0, "1970-01-01T00:01:00Z"), META, now=100).state.commit

        assert (commit.author.time, commit.committer.time) == (60, 100)

    def test_of_a_live_commit_without_a_time_are_the_clocks(self) -> None:
        commit = build(None, delta(0), META, now=100).state.commit

        assert (commit.author.time, commit.committer.time) == (100, 100)

    def test_of_an_import_are_the_transcripts(self) -> None:
        state, times = None, []
        for number, stamp in enumerate([None, "1970-01-01T00:01:00Z", None, "no time", "1970-01-01T00:00:30Z"]):
            state = build(state, delta(number, stamp), META, now=None).state
            times.append((state.commit.author.time, state.commit.committer.time))

        assert times == [(0, 0), (60, 60), (60, 60), (60, 60), (30, 30)]


def test_a_fork_keeps_the_tag_of_its_source() -> None:
    first = build(None, delta(0), META, now=100).state
    forked = build(first, None, replace(META, id="other"), subject="Fork", now=101).state

    assert first.tree.tag == forked.tree.tag
    assert first.tree.top == forked.tree.top
