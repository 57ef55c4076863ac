"""What would your cluster have done under another scheduler?

>>> import resched
>>> trace = resched.generate("traces/sample-history.toml", out=folder / "T")
>>> runs = resched.replay(trace, policy=["fifo", "fair"], assume=True)
>>> runs["fair"].metrics("mean(completion)")["mean(completion)"] > 0
True

The functions are the commands of the command line, with the same names, defaults and texts. Tables go to polars, pandas, duckdb and
pyarrow without a copy. Your own schedulers are classes: see :mod:`resched.policy`.
"""

from __future__ import annotations

from . import errors
from ._call import ReschedWarning
from ._commands import (
    anonymise,
    calibrate,
    diff,
    explain,
    export,
    forecast,
    generate,
    ingest,
    inspect,
    policies,
    replay,
    report,
    reproduce,
    scale,
    size,
    sweep,
    tune,
    validate,
    verify,
)
from ._frames import from_frames
from ._native import __version__
from ._open import compare, metrics, open
from ._results import Replays, Report, Result, Run, Trace
from ._tables import Table, Tables
from .errors import (
    DefectError,
    ForkError,
    Interrupted,
    PolicyError,
    PolicyViolation,
    RequestError,
    ReschedError,
    TraceError,
)
from .policy import BatchPolicy, Bool, Choice, File, Float, HadoopPolicy, Int

__all__ = [
    "BatchPolicy",
    "Bool",
    "Choice",
    "DefectError",
    "File",
    "Float",
    "ForkError",
    "HadoopPolicy",
    "Int",
    "Interrupted",
    "PolicyError",
    "PolicyViolation",
    "Replays",
    "Report",
    "RequestError",
    "ReschedError",
    "ReschedWarning",
    "Result",
    "Run",
    "Table",
    "Tables",
    "Trace",
    "TraceError",
    "__version__",
    "anonymise",
    "calibrate",
    "compare",
    "diff",
    "errors",
    "explain",
    "export",
    "forecast",
    "from_frames",
    "generate",
    "ingest",
    "inspect",
    "metrics",
    "open",
    "policies",
    "replay",
    "report",
    "reproduce",
    "scale",
    "size",
    "sweep",
    "tune",
    "validate",
    "verify",
]
