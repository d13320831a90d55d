"""The public names: complete, sorted, described and annotated."""

import ast
import importlib
import inspect
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import gitsession


def order(name: str) -> tuple[int, str]:
    """Returns the key by which the linter sorts `__all__`: constants, classes, functions."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


def public_classes() -> list[type]:
    return [value for name in gitsession.__all__ if isinstance(value := getattr(gitsession, name), type)]


def members(cls: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yields the public methods and properties that a class defines itself, and its `__init__` if it is written out."""
    for name, value in vars(cls).items():
        plain = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
        if inspect.isfunction(plain) and not name.startswith("_") and plain.__module__ == cls.__module__:
            yield f"{cls.__name__}.{name}", plain
    if "__init__" in vars(cls) and not hasattr(cls, "__dataclass_fields__"):
        yield f"{cls.__name__}.__init__", vars(cls)["__init__"]


def functions() -> list[pytest.param]:
    plain = [(name, getattr(gitsession, name)) for name in gitsession.__all__]
    found = [(name, value) for name, value in plain if inspect.isfunction(value)]
    found += [member for cls in public_classes() for member in members(cls)]
    return [pytest.param(value, id=name) for name, value in found]


def test_all_is_sorted_and_names_nothing_twice() -> None:
    assert sorted(set(gitsession.__all__), key=order) == list(gitsession.__all__)


def test_dir_is_what_all_names() -> None:
    assert [name for name in dir(gitsession) if not name.startswith("__")] == sorted(gitsession.__all__)


def test_the_package_loads_each_name_from_where_a_type_checker_sees_it() -> None:
    tree = ast.parse(Path(gitsession.__file__).read_text("utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.name: node.module for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen == gitsession._MODULES
    assert sorted(seen) == sorted(gitsession.__all__)


def test_each_name_is_what_its_module_has_under_it() -> None:
    for name, module in gitsession._MODULES.items():
        assert getattr(gitsession, name) is getattr(importlib.import_module(module), name)


def test_importing_a_module_does_not_put_it_over_a_function_of_the_same_name() -> None:
    check = "import gitsession.view as _, gitsession.sync; print(gitsession.view.__name__, callable(gitsession.sync))"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout == "view True\n"


def test_a_name_that_the_package_has_not_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'gitsession' has no attribute 'nothing'"):
        gitsession.nothing  # noqa: B018


@pytest.mark.parametrize("cls", public_classes())
def test_a_public_class_has_a_docstring_of_its_own(cls: type) -> None:
    # A dataclass without one gets its signature for a docstring.
    assert not (cls.__doc__ or f"{cls.__name__}(").startswith(f"{cls.__name__}(")


@pytest.mark.parametrize("function", functions())
def test_a_public_function_has_a_docstring(function: Callable[..., Any]) -> None:
    if function.__name__ == "__init__":
        return  # its class says what it takes
    assert inspect.getdoc(function)


@pytest.mark.parametrize("function", functions())
def test_a_public_function_is_fully_annotated(function: Callable[..., Any]) -> None:
    signature = inspect.signature(function)
    bare = [
        name
        for name, parameter in signature.parameters.items()
        if name not in ("self", "cls") and parameter.annotation is inspect.Parameter.empty
    ]
    assert bare == []
    assert signature.return_annotation is not inspect.Signature.empty


@pytest.mark.parametrize("function", functions())
def test_no_signature_names_a_type_of_pygit2(function: Callable[..., Any]) -> None:
    assert "pygit2" not in str(inspect.signature(function))
