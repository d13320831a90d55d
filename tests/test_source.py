"""How the code is laid out: which module may import which, and what the library must not touch."""

import ast
import sys
from collections.abc import Callable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from statistics import median

import gitsession

ROOT = Path(__file__).parent.parent
LIBRARY = ROOT / "gitsession"
CLI = ROOT / "cli"
ROOTS = (LIBRARY, CLI, ROOT / "tests")

# Each imports only from those before it. A package counts as one; its modules may import each other, in no circle.
ORDER = [
    "errors",
    "columns",
    "numbering",
    "json_text",
    "model",
    "jsonl",
    "layout",
    "parts",
    "blocks",
    "view",
    "transcripts",
    "few",
    "summary",
    "repo",
    "tree",
    "shared_directories",
    "ids",
    "record_ids",
    "conversation",
    "directory_cache",
    "milestones",
    "commits",
    "reading",
    "inherited",
    "revisions",
    "sides",
    "building",
    "writing",
    "lines",
    "session_store",
    "derived",
    "listing",
    "originals",
    "store",
    "returns",
    "graph",
    "due",
    "finding",
    "history",
    "heads",
    "present_states",
    "verify",
    "repair",
    "secret_rules",
    "secret_escapes",
    "secret_keys",
    "secret_open_keys",
    "secret_looks",
    "secret_words",
    "secret_names",
    "secret_scan",
    "secret_records",
    "scan",
    "compressed",
    "copied",
    "branching",
    "pieces",
    "states",
    "results",
    "import_cache",
    "growth",
    "files",
    "databases",
    "opencode_tables",
    "opencode_database",
    "import_run",
    "importer",
    "exporter",
    "installer",
    "sync",
    "maintenance",
    "aio",
]

# The only module that reads the environment: git gets this process's, less what names another repository.
ENVIRONMENT = LIBRARY / "sync" / "git.py"

# The only package that knows libgit2.
LIBGIT2 = "repo"

MOST_LINES = 400
MEDIAN_LINES = 150


def modules(root: Path) -> list[Path]:
    return sorted(root.rglob("*.py"))


def layer(path: Path) -> str:
    """Returns the name under which a module of the library stands in the order; "" for the package itself."""
    parts = path.relative_to(LIBRARY).with_suffix("").parts
    return "" if parts == ("__init__",) else parts[0]


def imports(tree: ast.AST, package: str) -> Iterator[tuple[str, str | None]]:
    """Yields the module and the name of each import; the name is None for a whole module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*base, *filter(None, [node.module])])
            yield from ((module, alias.name) for alias in node.names)


def imported_layers(path: Path) -> Iterator[str]:
    package = ".".join(path.relative_to(ROOT).parent.parts)
    for module, name in imports(tree_of(path), package):
        top, _, inner = module.partition(".")
        if top == "gitsession":
            yield (inner or name or "").split(".")[0]


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def offences(root: Path, of: Callable[[Path], set[str]]) -> dict[str, set[str]]:
    """Returns what each module has that a rule forbids, for those that have any."""
    return {str(path.relative_to(ROOT)): found for path in modules(root) if (found := of(path))}


def test_each_module_has_its_place_in_the_order() -> None:
    assert {layer(path) for path in modules(LIBRARY)} - {""} == {*ORDER}


def test_a_module_imports_only_from_those_before_it() -> None:
    def later(path: Path) -> set[str]:
        own = layer(path)
        if not own:
            return set()  # the package's own __init__ gathers the public names of all
        allowed = {*ORDER[: ORDER.index(own)], *([own] if path.parent != LIBRARY else [])}
        return set(imported_layers(path)) - allowed

    assert offences(LIBRARY, later) == {}


def test_no_modules_import_each_other_in_a_circle() -> None:
    dotted = {path: ".".join(path.relative_to(ROOT).with_suffix("").parts) for path in modules(LIBRARY)}
    graph = {}
    for path, name in dotted.items():
        found = imports(tree_of(path), name.rpartition(".")[0])
        graph[name] = {
            f"{module}.{item}" if f"{module}.{item}" in dotted.values() else module for module, item in found
        }
    TopologicalSorter(graph).prepare()  # raises and names the circle


def test_no_import_of_the_library_hides_in_a_function() -> None:
    """What Python itself brings may be imported where it is seldom used; the linter asks for the reason."""

    def hidden(path: Path) -> set[str]:
        nodes = ast.walk(tree_of(path))
        functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        found = {module.partition(".")[0] for function in functions for module, _ in imports(function, "gitsession")}
        return found - sys.stdlib_module_names

    assert offences(LIBRARY, hidden) == {}


def test_only_one_package_imports_pygit2_and_none_a_terminal() -> None:
    terminals = {"click", "gitsession_cli", "cli", "argparse", "getpass", "readline"}

    def forbidden(path: Path) -> set[str]:
        imported = {module.split(".")[0] for module, _ in imports(tree_of(path), "gitsession")}
        return imported & (terminals | ({"pygit2"} if layer(path) != LIBGIT2 else set()))

    assert offences(LIBRARY, forbidden) == {}


def attributes(path: Path) -> Iterator[tuple[str, str]]:
    """Yields the attributes that are taken from a name, each with that name: ("os", "environ")."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield node.value.id, node.attr


def test_the_library_neither_prints_nor_reads_the_environment() -> None:
    builtins = {"print", "input", "environ", "getenv", "breakpoint"}
    terminal = {"sys.stdin", "sys.stdout", "sys.stderr", "sys.argv", "sys.exit", "Path.home"}
    environment = {"os.environ", "os.environb", "os.getenv", "os.path.expanduser"}

    def forbidden(path: Path) -> set[str]:
        names = {node.id for node in ast.walk(tree_of(path)) if isinstance(node, ast.Name)}
        used = {".".join(found) for found in attributes(path)}
        return names & builtins | used & (terminal | (environment if path != ENVIRONMENT else set()))

    assert offences(LIBRARY, forbidden) == {}


def test_the_command_uses_public_names_only() -> None:
    def private(path: Path) -> set[str]:
        imported = [*imports(tree_of(path), "gitsession_cli")]
        found = [(module, name) for module, name in imported if module.split(".")[0] == "gitsession"]
        used = {name if module == "gitsession" else f"{module}.{name}" for module, name in found if name}
        used |= {module for module, name in found if name is None and module != "gitsession"}
        if ("gitsession", None) in found:
            used |= {attribute for name, attribute in attributes(path) if name == "gitsession"}
        return used - set(gitsession.__all__)

    assert offences(CLI, private) == {}


def test_no_module_is_longer_than_400_lines() -> None:
    lengths = {path: len(path.read_text("utf-8").splitlines()) for root in ROOTS for path in modules(root)}
    assert {str(path) for path, length in lengths.items() if length > MOST_LINES} == set()


def test_the_median_module_has_at_most_150_lines() -> None:
    lengths = [len(path.read_text("utf-8").splitlines()) for root in (LIBRARY, CLI) for path in modules(root)]
    assert median(lengths) <= MEDIAN_LINES
