"""How this package starts the command line again, for programs that it runs beside itself."""

from __future__ import annotations

import os
import sys
import sysconfig

from . import _native


def announce() -> None:
    """Say how: by the command that stands beside this Python, if there is one, and else by ``python -m resched``."""
    script = os.path.join(sysconfig.get_path("scripts"), "resched")
    if os.access(script, os.X_OK):
        _native.set_program([script])
    else:
        _native.set_program([sys.executable, "-m", "resched"])
