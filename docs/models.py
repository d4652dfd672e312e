"""Write docs/models.md: the text of docs/models.template.md, with the table of benchmarks/estimated.py.

make models, or, from what it printed: python docs/models.py FILE
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent


def main(printed: str) -> None:
    """Fill the template in."""
    text = (HERE / "models.template.md").read_text()
    (HERE / "models.md").write_text(text.replace("<!-- coverage -->", Path(printed).read_text().strip()))


if __name__ == "__main__":
    main(*sys.argv[1:])
