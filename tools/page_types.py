"""Write the types of the page's data as TypeScript, for `make js`: one definition, report/*_data.py, for both."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Literal, NotRequired, TypeAlias, Union, get_args, get_origin, get_type_hints, is_typeddict

from aapi.report import page_data, theory_data

Hint: TypeAlias = object
WORDS: dict[Hint, str] = {int: "number", float: "number", str: "string", bool: "boolean", types.NoneType: "null"}


def typescript(hint: Hint) -> str:
    """A type of Python in the words of TypeScript."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return f"({' | '.join(dict.fromkeys(map(typescript, arguments)))})"
    if origin is Literal:
        return " | ".join(f'"{value}"' for value in arguments)
    if origin is list:
        return f"{typescript(arguments[0])}[]"
    if origin is dict:
        return f"Record<{typescript(arguments[0])}, {typescript(arguments[1])}>"
    return hint.__name__ if isinstance(hint, type) and is_typeddict(hint) else WORDS[hint]


def interface(kind: type) -> str:
    """A TypedDict as an interface."""
    lines = [f"interface {kind.__name__} {{"]
    for name, hint in get_type_hints(kind, include_extras=True).items():
        optional = get_origin(hint) is NotRequired
        lines.append(f"  {name}{'?' if optional else ''}: {typescript(get_args(hint)[0] if optional else hint)};")
    return "\n".join([*lines, "}\n"])


def main(path: str) -> None:
    """Write all of them into a file."""
    found = {**vars(theory_data), **vars(page_data)}.values()
    kinds = [kind for kind in found if isinstance(kind, type) and is_typeddict(kind)]
    head = (
        f"// Made by tools/page_types.py from report/page_data.py.\ntype Numbers = {typescript(page_data.Numbers)};\n"
    )
    Path(path).write_text("\n".join([head, *map(interface, kinds)]))


if __name__ == "__main__":
    main(*sys.argv[1:])
