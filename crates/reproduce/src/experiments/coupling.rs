//! Shared by the experiments of the Coupling paper: the two schedulers on its testbed, and its knobs.

use crate::Error;
use crate::case::{Bundled, Case, bundled};
use crate::experiment::Knob;
use crate::replays::Replays;
use resched_report::Figure;
use resched_report::charts::CHARTS;

/// The rules of its testbed.
pub(super) const CLUSTER: Bundled = bundled!("clusters/coupling.toml");
/// Its baseline. The paper waits 15 s for a node and as long for a rack (its reference 12). A pool that was below half its share for
/// 8 minutes no longer waits. Fig. 10 (Fair) shows this, and Hadoop does it with a `fairSharePreemptionTimeout` and preemption off.
pub(super) const FAIR: &str = "fair:delay_node=15000,delay_rack=15000,fair_share_timeout=480000";

/// The knobs of the testbed, set once for all experiments of the paper.
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        place: "classes.grep.map_mean_s",
        value: "36 s",
        fixed_by: "Fig. 5 (Fair): 4,270 maps on 32 slots in about 80 minutes",
    },
    Knob {
        place: "classes.grep.map_variation",
        value: "0.3",
        fixed_by: "Fig. 7 (Fair): the longest of the 4,270 maps takes about 100 s",
    },
    Knob {
        place: "classes.grep.reduce_mean_s",
        value: "100 s",
        fixed_by: "Fig. 5 (Fair): job 1 gives its reduce slots back at 16.0 minutes",
    },
    Knob {
        place: "classes.wordcount.map_mean_s",
        value: "48.5 s",
        fixed_by: "Fig. 10 (Fair): a local slot ends a map every 48.5 s",
    },
    Knob {
        place: "coupling-table4.toml: cluster",
        value: "Set B",
        fixed_by: "Table IV (Fair): no reduce of jobs 1 and 2 is late, so there are 30 reduce slots; Set A has 14",
    },
    Knob {
        place: "cluster.racks of Set B",
        value: "2, the data in one",
        fixed_by: "Fig. 10 (Fair): the 28 local slots alone are used until the jump; in one rack the first wave of maps ends that after 15 s \
                   in many runs (a variant)",
    },
    Knob {
        place: "fair_share_timeout of Fair",
        value: "480 s",
        fixed_by: "Fig. 10 (Fair): all slots are used from 8.2 minutes on, to the end. 28 of 60 slots are less than half a share, and Hadoop's \
                   Fair stops to wait for data when that has lasted for this timeout (for good where preemption is off: \
                   MAPREDUCE-4986). The round number below 8.2 minutes; no other was tried",
    },
    Knob {
        place: "classes.sort",
        value: "maps 20 s, reduces 280 s, 5 MB/s",
        fixed_by: "Fig. 12 (Fair): Sort2 alone takes 16.15 to 23.5 minutes",
    },
    Knob {
        place: "cost.locality",
        value: "1, 1, 1",
        fixed_by: "Fig. 10 (Fair): the maps left at 8.2 minutes are over at about 10",
    },
];

/// The assumptions of every experiment of the paper.
macro_rules! assumptions {
    ($($own:expr),* $(,)?) => {
        &[
            $($own,)*
            "One rack, but for Set B; heartbeats every 3 s; slow-start 0.05; all jobs in one pool; one seed draws task times, block places and heartbeats.",
            "But for rows on shared nodes, tasks on a node do not slow each other down, and reduces fetch as if alone.",
        ]
    };
}
pub(super) use assumptions;

/// A bundled workload under Fair and under Coupling.
pub(super) fn fair_and_coupling(workload: Bundled) -> Result<Vec<Case>, Error> {
    cases(workload, &[("fair", FAIR), ("coupling", "coupling")])
}

/// A bundled workload under these policies (label, policy).
pub(super) fn cases(workload: Bundled, policies: &[(&str, &str)]) -> Result<Vec<Case>, Error> {
    let (workload, rules) = (workload.workload()?, CLUSTER.cluster()?);
    policies.iter().map(|(label, policy)| Case::new(label, policy, workload.clone(), &rules)).collect()
}

/// The report's chart `chart` of the first seed of some cases, as the figure `name`.
pub(super) fn figure(
    replays: &Replays<'_>,
    labels: &[&str],
    chart: &str,
    (name, title): (&str, &str),
) -> Result<Option<Figure>, Error> {
    let drawn = CHARTS
        .iter()
        .find(|known| known.name == chart)
        .ok_or_else(|| Error::Defect(format!("there is no chart `{chart}`")))?;
    let svg = drawn.of_runs(&replays.shown(labels))?;
    Ok(svg.map(|svg| Figure {
        name: name.to_owned(),
        title: title.to_owned(),
        caption: format!("{} Seed 1.", drawn.caption),
        svg,
    }))
}

/// The figures that could be drawn.
pub(super) fn figures<const N: usize>(all: [Result<Option<Figure>, Error>; N]) -> Result<Vec<Figure>, Error> {
    all.into_iter().filter_map(Result::transpose).collect()
}
