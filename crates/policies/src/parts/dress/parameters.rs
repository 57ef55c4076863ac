//! Parameters of DRESS on containers and on the machines of a production trace alike.

use crate::parameter::Parameter;

pub(crate) const DELTA: Parameter =
    Parameter::number("delta", "0.1", 0.0, 1.0, "", "share kept for small jobs at the start (δ)");

pub(crate) const CAP_TRANSFER: Parameter = Parameter::boolean(
    "cap_transfer",
    "false",
    "large jobs give small ones no more than they lack; false: all that they do not need",
);

pub(crate) const PW: Parameter =
    Parameter::integer("pw", "10000", 1, 86_400_000, "ms", "window in which starts and ends make a phase");

pub(crate) const TS: Parameter =
    Parameter::integer("ts", "5", 0, 1_000_000, "tasks", "more starts than this in the window begin a phase");

pub(crate) const TE: Parameter =
    Parameter::integer("te", "5", 0, 1_000_000, "tasks", "more ends than this in the window begin its release");

pub(crate) const RELEASE: Parameter = Parameter::choice(
    "release",
    "observed",
    &["observed", "incremental", "literal"],
    "expected releases: of what still runs, of the next tick alone, or as printed",
);
