//! Shared by the experiments of the Coupling paper: the two schedulers on its testbed, and its knobs.

use crate::Error;
use crate::band::Unknown;
use crate::case::{Bundled, Case, bundled};
use crate::experiment::Knob;
use crate::replays::Replays;
use resched_report::Figure;
use resched_report::charts::CHARTS;

/// The rules of its testbed.
pub(super) const CLUSTER: Bundled = bundled!("clusters/coupling.toml");
/// Its baseline. The paper waits 15 s for a node and as long for a rack (its reference 12). A pool that was below half its share for
/// as long no longer waits, until it has half its share again: so the running maps swing, as in Fig. 13 (Fair). Hadoop does this with
/// a `fairSharePreemptionTimeout` and `preemption.only.log`.
pub(super) const FAIR: &str =
    "fair:delay_node=15000,delay_rack=15000,fair_share_timeout=15000,preemption=true,only_log=true";
/// The baseline of Figs. 10 and 11. There a pool that was below half its share for 8 minutes no longer waits, for good: Hadoop does this
/// with preemption off.
pub(super) const FAIR_OF_FIG_10: &str = "fair:delay_node=15000,delay_rack=15000,fair_share_timeout=480000";

/// The knobs of the testbed: a kind of job has the same numbers in all experiments, unless its own figure gives others.
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        place: "classes.grep.map_mean_s (and wiki, grep-fig5)",
        value: "36 s",
        fixed_by: "Fig. 5 (Fair): 4,270 maps on 32 slots in about 80 minutes",
    },
    Knob {
        place: "classes.grep.map_variation (and wiki, grep-fig5)",
        value: "0.3",
        fixed_by: "Fig. 8 (Fair): the longest of the 4,270 maps takes about 100 s",
    },
    Knob {
        place: "classes.grep-fig5.reduce_mean_s",
        value: "125 s",
        fixed_by: "Fig. 5 (Fair): job 1 gives its reduce slots back at 16.0 minutes (100 s: 15.5)",
    },
    Knob {
        place: "classes.grep.reduce_mean_s",
        value: "240 s",
        fixed_by: "Table IV (Fair): S_F of jobs 3 to 9, which follow the reduces of the Greps of random numbers. Of 150, 175, … 275 s, those \
                   around 250 s fit best; with more, job 9 starves, whose S_F is 0",
    },
    Knob {
        place: "classes.wiki.reduce_mean_s",
        value: "380 s",
        fixed_by: "Table IV (Fair): S_F of jobs 11 to 13 is 8.4 minutes in the mean (360 s: 8.2; 380 s: 8.5; 395 s: 8.7)",
    },
    Knob {
        place: "classes.grep-fig1, jobs.init_delay",
        value: "maps 12.5 s, reduces 680 s, 38 s until a job is initialised",
        fixed_by: "Fig. 1 (Fair): J1 holds all reduce slots from 0.9 minutes, J2's maps end at 3.8, its reduces start at 11.3: three numbers, \
                   three knobs. The Greps of the other figures take other times",
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
        value: "15 s, and it starts anew",
        fixed_by: "Fig. 13 (Fair): the running maps of jobs 1, 5 and 9 swing between 20 and 60, which takes a wait that starts anew once half of \
                   the share is used. Of 3, 5, 10, 15, … 120 s all give swings from 20–22 to 58–60; the end of all jobs reports for short ones, as \
                   the axis of Fig. 14 (Fair) ends at 25 minutes (15 s: 25.4; 60 s: 27.4). 15 s is the paper's number for both other waits",
    },
    Knob {
        place: "fair_share_timeout of Fair in Figs. 10 and 11",
        value: "480 s, once",
        fixed_by: "Fig. 10 (Fair): all slots are used from 8.2 minutes on, to the end. 28 of 60 slots are less than half a share, and Hadoop's \
                   Fair stops to wait for data when that has lasted for this timeout (for good where preemption is off: \
                   MAPREDUCE-4986). The round number below 8.2 minutes; no other was tried. One wait cannot give both this plateau and the \
                   swings of Fig. 13 on the same machines",
    },
    Knob {
        place: "classes.sort",
        value: "maps 50 s, reduces 50 s, 5 MB/s",
        fixed_by: "Fig. 12 (Fair): Sort2 alone takes 16.15 to 23.5 minutes; and Table IV (Fair): S_F of jobs 10, 14, 17 and 20. Of the \
                   pairs tried, from 20 to 50 s and from 50 to 280 s, this one fits best among those whose Sort2 takes about 20 minutes",
    },
    Knob {
        place: "coupling-fig16.toml: arrivals.mix.sizes",
        value: "1.25 times those of Table IV",
        fixed_by: "Fig. 16 (Fair): the longest job takes 35 minutes (with 1.25: 34.2; with 1: 25.6)",
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
            "One rack, but for Set B; heartbeats every 3 s; slow-start 0.05 under Fair, where Coupling has its ramp; all jobs in one pool; one seed draws task times, block places and heartbeats.",
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

/// The numbers of racks of Set B that are tried, and that of the rows.
pub(super) const RACKS: [u32; 4] = [1, 2, 3, 5];
pub(super) const CHOSEN_RACKS: u32 = 2;
pub(super) const RACKS_UNKNOWN: Unknown = Unknown {
    name: "Racks of the 15 machines",
    range: "The paper does not say how its machines stand; 15 of them fill one to a few racks.",
    chosen: CHOSEN_RACKS as f64,
};

/// The label of a case with so many racks.
pub(super) fn with_racks(racks: u32, label: &str) -> String {
    match racks {
        CHOSEN_RACKS => label.to_owned(),
        1 => format!("one rack: {label}"),
        _ => format!("{racks} racks: {label}"),
    }
}

/// A bundled workload under these policies (label, policy), with each other number of racks. The cases of one rack have rows of their
/// own.
pub(super) fn other_racks(workload: Bundled, policies: &[(&str, &str)]) -> Result<Vec<Case>, Error> {
    let (workload, rules) = (workload.workload()?, CLUSTER.cluster()?);
    let mut all = Vec::new();
    for racks in RACKS.into_iter().filter(|racks| *racks != CHOSEN_RACKS) {
        let mut workload = workload.clone();
        workload.cluster.get_mut().racks = racks;
        for (label, policy) in policies {
            let case = Case::new(&with_racks(racks, label), policy, workload.clone(), &rules)?;
            all.push(if racks == 1 { case } else { case.with_few_seeds() });
        }
    }
    Ok(all)
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
