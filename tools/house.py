"""How large the house is, and how tidy: python tools/house.py [FOLDER …], by default src/aapi.

Lines and modules; `Any` outside kernels; probes by getattr and hasattr; and, outside of the package that is about that,
tests for how a Q-function is held.
"""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

REPRESENTATIONS = {"Basis", "Linear", "LinearHistory", "LinearPolicy", "LinearTemperature", "QHistory", "Tabular"}


@dataclass
class Count:
    """Of a folder of sources."""

    lines: int = 0
    modules: int = 0
    anys: int = 0
    probes: int = 0
    representation: int = 0


def count(folder: Path) -> Count:
    """Everything that is counted, over all modules below a folder."""
    found = Count()
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        found.lines += text.count("\n")
        found.modules += 1
        tree = ast.parse(text)
        kernels = {id(node) for kernel in _kernels(tree) for node in ast.walk(kernel)}
        for node in ast.walk(tree):
            found.anys += isinstance(node, ast.Name) and node.id == "Any" and id(node) not in kernels
            found.probes += _calls(node, "getattr", "hasattr")
            found.representation += "approximation" not in path.parts and _asks_for_representation(node)
    return found


def _kernels(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Functions that are compiled: their arguments have no types of Python's."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any("kernel" in ast.unparse(each) for each in node.decorator_list):
            yield node


def _calls(node: ast.AST, *names: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


def _asks_for_representation(node: ast.AST) -> bool:
    """isinstance(…, Basis) and the like, has_tables(…), `basis is None`, `space.countable`."""
    if _calls(node, "has_tables"):
        return True
    if _calls(node, "isinstance"):
        named = {each.id for each in ast.walk(node.args[1]) if isinstance(each, ast.Name)}  # type: ignore[attr-defined]
        return bool(named & REPRESENTATIONS)
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot):
        return ast.unparse(node.left).split(".")[-1] == "basis"
    return isinstance(node, ast.Attribute) and node.attr == "countable" and isinstance(node.ctx, ast.Load)


def main() -> None:
    """Print a line for each folder."""
    folders = sys.argv[1:] or ["src/aapi"]
    print(f"{'':24}{'lines':>8}{'modules':>9}{'Any':>6}{'probes':>8}{'table or weights?':>19}")
    for folder in folders:
        found = count(Path(folder))
        print(
            f"{folder[-24:]:24}{found.lines:8,}{found.modules:9}{found.anys:6}{found.probes:8}{found.representation:19}"
        )


if __name__ == "__main__":
    main()
