"""The command ``resched``: ``python -m resched`` does the same."""

from __future__ import annotations

import sys

from . import _native, _program


def main() -> int:
    """Run the command line with the arguments of this process, and return its exit status."""
    _program.announce()
    return _native.main(["resched", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
