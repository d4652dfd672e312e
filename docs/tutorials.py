"""Write docs/tutorials/: the templates, with what their code and commands print.

make tutorials, or: python docs/tutorials.py [queue stock machine]

In a template, a block that begins ```python shop.py is a file that the reader makes; ```python is code to run, and
```console holds commands, each after "$ ". What they print is put below them. All of it runs in one folder, and the
pictures that are left there are kept beside the page.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HERE = Path(__file__).parent / "tutorials"
BLOCK = re.compile(r"```(python|console)( \S+)?\n(.*?)```\n", re.S)
STEPS = re.compile(r"(?<=--steps )\d+|(?<=learn\()[\d_]+|(?<=num_steps=)[\d_]+")


def played(template: str, folder: Path, run: Callable[[list[str], Path], str], *, shorter: int = 1) -> str:
    """The page of a template, run in a folder.

    run: what Python prints in a folder with these arguments, ["-c", code] or ["-m", "aapi", …]. shorter: what numbers
    of steps are divided by.
    """

    def block(found: re.Match[str]) -> str:
        language, file, text = found[1], (found[2] or "").strip(), found[3]
        if file:
            (folder / file).write_text(text)
            return f"`{file}`:\n\n```python\n{text}```\n"
        if language == "console":
            lines = [f"{line}\n{run(['-m', *shlex.split(line[2:])], folder)}" for line in text.splitlines()]
            return "```console\n" + "\n".join(lines) + "```\n"
        output = run(["-c", text], folder)
        return f"```python\n{text}```\n" + (f"\n```text\n{output}```\n" if output else "")

    fewer = template if shorter == 1 else STEPS.sub(lambda steps: str(int(steps[0]) // shorter), template)
    return BLOCK.sub(block, fewer)


def in_python(arguments: list[str], folder: Path) -> str:
    """What Python prints, in a process of its own; or an end with all that it said."""
    done = subprocess.run(  # noqa: S603 - the templates' own code
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False, timeout=1800
    )
    if done.returncode:
        raise SystemExit(f"{arguments}\nended with status {done.returncode}:\n{done.stdout}{done.stderr}")
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


def main(names: Sequence[str]) -> None:
    """Write the pages of these tutorials, or of all, and their pictures."""
    every = [path.name.removesuffix(".template.md") for path in sorted(HERE.glob("*.template.md"))]
    for name in names or every:
        path = HERE / f"{name}.template.md"
        with tempfile.TemporaryDirectory() as folder:
            page = played(path.read_text(), Path(folder), in_python)
            for picture in Path(folder).glob("*.png"):
                shutil.copy(picture, HERE / picture.name)
        (HERE / f"{name}.md").write_text(page)
        print(f"docs/tutorials/{name}.md")


if __name__ == "__main__":
    main(sys.argv[1:])
