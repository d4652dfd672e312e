"""`python -m aapi` is the `aapi` command."""

import sys

from aapi.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
