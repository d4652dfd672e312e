"""The version of the code that a run uses: a hash that only edits which can change the run change.

A run uses the modules of its algorithm's parts, of its problem and of the loop that executes it, and every module of
the library that these import. Each module counts as parsed code: comments, blank lines, docstrings, type annotations
and imports under `if TYPE_CHECKING:` do not count. A package's `__init__` that only re-exports a name does not count:
the module that defines the name does, and not its neighbours.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import aapi
from aapi.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import FunctionType

PACKAGE = "aapi"
RUN_LOOPS = ("aapi.experiments.compiled_runs", "aapi.experiments.agent_runs")
# Modules and packages of the library that cannot change what a run computes, whoever imports them.
NO_EFFECT = (
    "__main__", "agent.storage", "agent.tensorboard", "cli", "errors", "experiments", "presets", "progress",
    "registration", "registry", "report", "statistics", "theory",
)  # fmt: skip
# Packages whose code is taken to be known by their versions.
KNOWN_PACKAGES = {PACKAGE, "builtins", "gymnasium", "numpy"} | set(sys.stdlib_module_names) - {"__main__"}
IGNORED_FIELDS = {"ctx", "kind", "type_comment", "type_ignores"}  # of syntax trees: redundant, or without effect
SPECIAL = ("ClassVar", "InitVar", "KW_ONLY")  # the ones that change what a dataclass does


class SourceTree:
    """The modules of the package `aapi` in a folder, each parsed when it is first needed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._parsed: dict[str, _Module] = {}
        self._versions: dict[frozenset[str], str] = {}

    def version(self, roots: Iterable[str] = (PACKAGE,)) -> str:
        """A hash of the code of some modules, given by their dotted names, and of all modules that they import.

        The package's own name stands for all of its modules that can change a run.
        """
        key = frozenset(roots)
        if key not in self._versions:
            code = "\0".join(f"{name}\0{self._module(name).code}" for name in self.modules(key))
            self._versions[key] = hashlib.sha256(code.encode()).hexdigest()[:16]
        return self._versions[key]

    def modules(self, roots: Iterable[str]) -> list[str]:
        """The names of these modules and of all that they import, directly or not, in alphabetical order."""
        waiting = [name for root in roots for name in self.defining(root)]
        found: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                imported = (each for reference in self._references(name) for each in self.defining(reference))
                waiting += [each for each in imported if not _has_no_effect(each)]
        return sorted(found)

    def defining(self, reference: str) -> list[str]:
        """The modules behind a dotted name: the one that defines it; of a package as a whole, all modules in it."""
        module, *rest = reference.split(".")
        while rest and self._path(f"{module}.{rest[0]}").is_file():
            module = f"{module}.{rest.pop(0)}"
        path = self._path(module)
        if path.name != "__init__.py":
            return [module]
        if rest:
            home = self._module(module).exports.get(rest[0])
            return [module] if home is None else self.defining(".".join([home, *rest[1:]]))
        below = (each.relative_to(self.folder).with_suffix("").parts for each in path.parent.rglob("*.py"))
        names = [".".join([PACKAGE, *parts]) for parts in below if parts[-1] != "__init__"]
        return [*(RUN_LOOPS if module == PACKAGE else ()), *(name for name in names if not _has_no_effect(name))]

    def _references(self, name: str) -> Iterator[str]:
        """What a module imports from the library, as dotted names; of a package, only what it uses of it."""
        module = self._module(name)
        for local, target in module.imports:
            if self._path(target).name == "__init__.py":
                yield from (f"{target}{attribute}" for attribute in module.uses.get(local, ()))
            else:
                yield target

    def _path(self, module: str) -> Path:
        """The file of a module, whether or not there is one."""
        place = self.folder.joinpath(*module.split(".")[1:])
        return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")

    def _module(self, name: str) -> _Module:
        if name not in self._parsed:
            path = self._path(name)
            package = name if path.name == "__init__.py" else name.rpartition(".")[0]
            self._parsed[name] = _parse(path.read_text(encoding="utf-8"), package)
        return self._parsed[name]


@functools.cache
def library_sources() -> SourceTree:
    """The sources of the library that is running."""
    return SourceTree(Path(aapi.__file__).parent)


def source_version(roots: Iterable[str] = (PACKAGE,)) -> str:
    """A hash of the code that these modules of the library use; by default, of all that can change any run."""
    return library_sources().version(roots)


def module_hash(thing: type | FunctionType) -> str | None:
    """A hash of the user's modules that a class, its bases or a function are from; None if there are none.

    A module counts as a whole, as parsed code; what it imports from other modules of the user's does not count.
    """
    modules = [base.__module__ for base in inspect.getmro(thing)] if isinstance(thing, type) else [thing.__module__]
    own = [name for name in dict.fromkeys(modules) if name.partition(".")[0] not in KNOWN_PACKAGES]
    if not own:
        return None
    try:
        code = "\0".join(_dump(_clean(ast.parse(inspect.getsource(sys.modules[name])))) for name in own)
    except (OSError, TypeError, KeyError):
        raise InvalidInput(
            f"the source of {thing.__qualname__} cannot be read, so its results could not be told from those of "
            "another version: put it into a file"
        ) from None
    return hashlib.sha256(code.encode()).hexdigest()[:16]


def _has_no_effect(module: str) -> bool:
    inner = module.removeprefix(f"{PACKAGE}.")
    return any(inner == name or inner.startswith(f"{name}.") for name in NO_EFFECT)


@dataclass(frozen=True)
class _Module:
    """A parsed module.

    code: what counts of it. imports: (local name, dotted name) of what it imports from the library. exports: the dotted
    name behind each imported name, those for type checkers included. uses: for each local name, ".attribute" for those
    that are taken of it, and "" if it is used as a whole.
    """

    code: str
    imports: list[tuple[str, str]]
    exports: dict[str, str]
    uses: dict[str, set[str]]


def _parse(source: str, package: str) -> _Module:
    tree = ast.parse(source)
    exports = {local: target for local, target in _imports(tree, package) if target != f"{package}.{local}"}
    tree = _clean(tree)
    nodes = list(ast.walk(tree))
    taken = {id(node.value): f".{node.attr}" for node in nodes if isinstance(node, ast.Attribute)}
    uses: dict[str, set[str]] = {}
    for node in nodes:
        if isinstance(node, ast.Name):
            uses.setdefault(node.id, set()).add(taken.get(id(node), ""))
    return _Module(_dump(tree), list(_imports(tree, package)), exports, uses)


def _imports(tree: ast.Module, package: str) -> Iterator[tuple[str, str]]:
    """(local name, dotted name) of everything imported from the library, wherever the statement stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found = [(each.asname or "", each.name) for each in node.names]
            found += [(PACKAGE, PACKAGE)] if any(name.partition(".")[0] == PACKAGE for _, name in found) else []
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: 1 - node.level or None] if node.level else []
            base = ".".join([*parents, *([node.module] if node.module else [])])
            found = [(each.asname or each.name, f"{base}.{each.name}") for each in node.names]
        else:
            continue
        yield from (each for each in found if each[1].partition(".")[0] == PACKAGE)


class _Cleaner(ast.NodeTransformer):
    """Takes out of a syntax tree what cannot change what a module computes."""

    def visit(self, node: ast.AST) -> ast.AST | list[ast.stmt] | None:
        """Texts that stand alone, as docstrings; imports for type checkers; types of arguments, results, fields."""
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return None
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.FunctionDef):
            node.returns = None
        elif isinstance(node, ast.AnnAssign) and not any(word in ast.unparse(node.annotation) for word in SPECIAL):
            node.annotation = ast.Constant(None)
        self.generic_visit(node)
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            return node.orelse
        return node


def _clean(tree: ast.Module) -> ast.Module:
    _Cleaner().visit(tree)
    return tree


def _dump(node: object) -> str:
    """A syntax tree as text, without positions, and without empty fields, which differ between versions of Python."""
    if isinstance(node, ast.AST):
        fields = [(name, value) for name, value in ast.iter_fields(node) if name not in IGNORED_FIELDS]
        inner = ",".join(f"{name}={_dump(value)}" for name, value in fields if value is not None and value != [])
        return f"{type(node).__name__}({inner})"
    return f"[{','.join(map(_dump, node))}]" if isinstance(node, list) else ascii(node)
