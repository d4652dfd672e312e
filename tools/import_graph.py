"""Draw docs/pictures/imports.svg: the packages of aapi in their layers, and which imports which. `make diagram`.

Small modules that everybody may import are left out, and so are arrows that others imply.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

import grimp

ROOT = Path(__file__).parent.parent
ROW, BOX, GAP, CHAR, MARGIN, WIDTH = 56, 32, 60, 8.2, 16, 560
WORDS = {
    "cli": "the command", "report": "tables, page, figures", "experiments": "studies, store, engines",
    "agent": "for Gymnasium", "theory": "regret and its bounds", "registry": "a word for every part",
    "batch": "run", "presets": "defaults", "result": "what came of it", "learners": "init, act, update; play",
    "improvement": "η, M", "evaluation": "G", "exploration": "excursions", "memory": "D_1 … D_k",
    "schedules": "τ", "simulation": "step loops", "approximation": "how Q is held", "features": "φ",
    "environments": "problems", "kernels": "compiled, pure", "mdp": "exact theory",
}  # fmt: skip


@dataclass(frozen=True)
class Box:
    """A package in the picture."""

    x: float
    y: float
    width: float

    @property
    def middle(self) -> float:
        """Across."""
        return self.x + self.width / 2


def layers() -> list[list[str]]:
    """The layers of pyproject.toml, the top one first; what stands side by side in a row."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    rows = [[name.strip() for name in row.split("|")] for row in contracts[0]["layers"]]
    return [row for row in rows if any(name in WORDS for name in row)]


def edges() -> set[tuple[str, str]]:
    """Which package imports which, at run time."""
    graph = grimp.build_graph("aapi", exclude_type_checking_imports=True)
    found = set()
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            pair = tuple(name.split(".")[1] if "." in name else "" for name in (module, imported))
            if all(pair) and pair[0] != pair[1]:
                found.add(pair)
    return {pair for pair in found if not _is_implied(pair, found)}


def _is_implied(pair: tuple[str, str], every: set[tuple[str, str]]) -> bool:
    """Whether there is a longer way from the one to the other."""
    start, end = pair
    waiting, seen = [after for before, after in every if before == start and after != end], set()
    while waiting:
        name = waiting.pop()
        if name == end:
            return True
        if name not in seen:
            seen.add(name)
            waiting += [after for before, after in every if before == name]
    return False


def boxes(rows: list[list[str]]) -> dict[str, Box]:
    """A place for every package, each row in the middle."""
    found = {}
    for i, row in enumerate(rows):
        widths = [CHAR * max(len(name), 0.8 * len(WORDS.get(name, ""))) + 18 for name in row]
        x = (WIDTH - sum(widths) - GAP * (len(row) - 1)) / 2
        for name, width in zip(row, widths, strict=True):
            found[name] = Box(x, MARGIN + i * ROW, width)
            x += width + GAP
    return found


def drawn(rows: list[list[str]]) -> str:
    """The picture."""
    places = boxes(rows)
    parts = []
    for start, end in sorted(edges()):
        if start in places and end in places:
            a, b = places[start], places[end]
            bend = (a.y + BOX + b.y) / 2
            parts.append(
                f'<path d="M{a.middle:.0f} {a.y + BOX:.0f} C{a.middle:.0f} {bend:.0f} {b.middle:.0f} {bend:.0f} '
                f'{b.middle:.0f} {b.y:.0f}" fill="none" stroke="#0072b2" stroke-opacity=".7" stroke-width="1.4"/>'
            )
    for name, box in places.items():
        parts.append(
            f'<rect x="{box.x:.0f}" y="{box.y:.0f}" width="{box.width:.0f}" height="{BOX}" rx="5" fill="#fff" '
            'stroke="#444"/>'
        )
        word = WORDS.get(name, "")
        parts.append(
            f'<text x="{box.middle:.0f}" y="{box.y + (13 if word else 19):.0f}" text-anchor="middle" font-size="13" '
            f'font-weight="600">{name}</text>'
        )
        if word:
            parts.append(
                f'<text x="{box.middle:.0f}" y="{box.y + 25:.0f}" text-anchor="middle" font-size="10.5" '
                f'fill="#555">{word}</text>'
            )
    height = 2 * MARGIN + ROW * (len(rows) - 1) + BOX
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'font-family="Helvetica, Arial, sans-serif"><rect width="100%" height="100%" fill="#fff"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


if __name__ == "__main__":
    path = ROOT / "docs/pictures/imports.svg"
    path.write_text(drawn(layers()), encoding="utf-8")
    print(path.relative_to(ROOT))
