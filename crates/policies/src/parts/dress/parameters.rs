//! Parameters of DRESS on containers and on the machines of a production trace alike.

use resched_sim::Ms;

use super::phases::ReleaseMode;
use crate::settings::parameter;

parameter! {
    /// share that is kept for small jobs at the start (δ)
    pub(crate) DELTA: f64 = "delta" { default: 0.1, range: 0..=1 }
}

parameter! {
    /// large jobs give small jobs no more than these lack; false: all that large jobs do not need
    pub(crate) CAP_TRANSFER: bool = "cap_transfer" { default: false }
}

parameter! {
    /// window in which the starts or ends of a phase are counted
    pub(crate) PW: Ms = "pw" { default: 10000, range: 1..=86_400_000, unit: "ms" }
}

parameter! {
    /// more starts than this in the window begin a phase
    pub(crate) TS: u32 = "ts" { default: 5, range: 0..=1_000_000, unit: "tasks" }
}

parameter! {
    /// more ends than this in the window begin the release of a phase
    pub(crate) TE: u32 = "te" { default: 5, range: 0..=1_000_000, unit: "tasks" }
}

parameter! {
    /// expected releases: of tasks that still run, of the next tick alone, or as the paper prints it
    pub(crate) RELEASE: ReleaseMode = "release" {
        choice: ReleaseMode::Observed,
        of: [ReleaseMode::Observed, ReleaseMode::Incremental, ReleaseMode::Literal],
    }
}
