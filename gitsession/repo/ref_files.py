"""The files around the refs, checked by hand: HEAD, the configuration, the packed refs."""

import re
from collections.abc import Iterator
from pathlib import Path

from gitsession.layout import is_ref_name
from gitsession.repo.files import read_file
from gitsession.repo.object_files import Fault

_HEAD = re.compile(rb"ref: refs/heads/[^\0\n]+\n?|[0-9a-f]{40}\n?")
_PACKED_HEADER = re.compile(rb"# pack-refs with:((?: [a-z-]+)*) ?")
_PACKED_LINE = re.compile(rb"([0-9a-f]{40}) (refs/[^\0\n]+)")
_PEELED_LINE = re.compile(rb"\^[0-9a-f]{40}")
_TRAITS = {b"peeled", b"fully-peeled", b"sorted"}

# What `init` writes besides what git needs. A store that lacks one is less safe than it seems.
_SETTINGS = (
    "core.logAllRefUpdates",
    "receive.denyNonFastForwards",
    "receive.denyDeletes",
    "transfer.fsckObjects",
)
_MARK = re.compile(r"^\s*\[gitsession\]", re.MULTILINE)


def repository_faults(path: Path) -> Iterator[Fault]:
    """Yields what is wrong with the files that every git repository has: HEAD, its configuration, the packed refs."""
    head = _read(path / "HEAD")
    if head is None or not _HEAD.fullmatch(head):
        advice = f"write `ref: refs/heads/main` to {path / 'HEAD'}"
        yield Fault(None, "HEAD is damaged, so that git takes the store for no repository", advice)
    yield from _config_faults(path)
    yield from _packed_refs_faults(path)


def _read(path: Path) -> bytes | None:
    try:
        return read_file(path)
    except OSError:
        return None


def _config_faults(path: Path) -> Iterator[Fault]:
    content = _read(path / "config")
    text = (content or b"").decode("utf-8", "replace")
    present = [name for name in _SETTINGS if _setting(text, name) is not None]
    if _setting(text, "core.repositoryformatversion") is None:
        advice = f"run `git -C {path} config core.repositoryformatversion 0`"
        yield Fault(None, "the configuration is damaged: it lacks core.repositoryformatversion", advice)
    # A clone of a store has none of these settings, and is none the worse for it; git writes names in small letters.
    if _MARK.search(text) is None and len(present) < 2 and "logAllRefUpdates" not in text:
        return
    for name in _SETTINGS:
        value = _setting(text, name)
        if value is None or value.lower() not in ("true", "false", "yes", "no", "on", "off", "0", "1", "always"):
            advice = f"run `git -C {path} config {name} true`"
            yield Fault(None, f"the configuration lacks {name}, which every new store has", advice)
    if _setting(text, "core.fsync") != "all":
        problem = "the configuration lacks core.fsync: what git itself writes here may be lost in a power cut"
        yield Fault(None, problem, f"run `git -C {path} config core.fsync all`", damage=False)
    if _MARK.search(text) is None or not re.search(r"^\s*format\s*=", text, re.MULTILINE):
        yield Fault(
            None, "the configuration lacks gitsession.format", f"run `git -C {path} config gitsession.format 1`"
        )


def _setting(text: str, name: str) -> str | None:
    section, _, key = name.partition(".")
    part = re.search(rf"^\s*\[{section}\](.*?)(?=^\s*\[|\Z)", text, re.MULTILINE | re.DOTALL | re.IGNORECASE)
    found = re.search(rf"^\s*{key}\s*=\s*(\S*)\s*$", part[1], re.MULTILINE | re.IGNORECASE) if part else None
    return found[1] if found else None


def _packed_refs_faults(path: Path) -> Iterator[Fault]:
    if not (path / "packed-refs").exists():
        return
    advice = "compare it with the reflogs (in logs/) or with a clone; `gitsession repair` can set the heads again"
    content = _read(path / "packed-refs")
    if not content:
        yield Fault(None, "the file packed-refs is empty or cannot be read", advice)
        return
    if not content.endswith(b"\n"):
        yield Fault(None, "the file packed-refs is cut short", advice)
    previous, is_sorted = b"", False
    for number, line in enumerate(content.removesuffix(b"\n").split(b"\n"), 1):
        header = _PACKED_HEADER.fullmatch(line) if number == 1 else None
        if header is not None:
            is_sorted = b"sorted" in header[1].split()
            if unknown := set(header[1].split()) - _TRAITS:
                text = f"the file packed-refs has traits that are not known here: {sorted(unknown)}"
                yield Fault(None, text, advice, damage=False)
            continue
        match = _PACKED_LINE.fullmatch(line)
        name = match[2] if match else previous
        if match is None and not (previous and _PEELED_LINE.fullmatch(line)):
            yield Fault(None, f"line {number} of the file packed-refs is damaged", advice)
        elif not is_ref_name(name.decode("utf-8", "surrogateescape")):
            yield Fault(None, f"line {number} of the file packed-refs has a name that git does not allow", advice)
        elif is_sorted and match and name <= previous:
            yield Fault(None, f"line {number} of the file packed-refs is not in its order", advice)
        previous = name
