from pathlib import Path

import processes
import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run_and_are_short(path):
    assert len(path.read_text().splitlines()) <= 40
    done = processes.python(path, check=True)
    assert done.stdout
    assert done.stderr == ""
