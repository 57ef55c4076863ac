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
/// Its baseline. One timer runs from 0 to T1 and T2, and the paper takes T1 = T2 = 15 s (§II-B): after 15 s a map runs anywhere. A heartbeat
/// gets one map and one reduce at most, as in the Hadoop of 2009.
macro_rules! fair {
    ($more:literal) => {
        concat!("fair:delay_node=15000,delay_rack=0,map_cap=1,reduce_cap=1", $more)
    };
}
pub(super) use fair;
pub(super) const FAIR: &str = fair!("");
/// The baseline of Figs. 10 to 15. There a pool that was below half its share for 8 minutes no longer waits, for good: Hadoop does this with
/// preemption off.
pub(super) const FAIR_OF_FIG_10: &str = fair!(",fair_share_timeout=480000");
/// Its own scheduler, in the same Hadoop: a job is asked once at a heartbeat, and skips it or not (§II-B: "the schedule skips the current heartbeat
/// for the considered job").
macro_rules! coupling {
    ($more:literal) => {
        concat!("coupling:map_cap=1", $more)
    };
}
pub(super) use coupling;
pub(super) const COUPLING: &str = coupling!("");

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
        value: "75 s",
        fixed_by: "Table IV (Fair): with 45 to 90 s the 22 S_F are off by 0.8 to 0.6 minutes (root of the mean square, 200 seeds). \
                   Fig. 1 (Fair), where all ends before 14 minutes: 75 s at most",
    },
    Knob {
        place: "coupling-fig1.toml: maps and reduces",
        value: "311 and 15 of J1, 44 and 8 of J2",
        fixed_by: "Fig. 1 (Fair): J2's maps end at 3.8 minutes (3.8), its reduces start at 11.3 (11.2), and the axis ends at 14 (13.4)",
    },
    Knob {
        place: "classes.wordcount.map_mean_s",
        value: "48.5 s",
        fixed_by: "Fig. 10 (Fair): a local slot ends a map every 48.5 s",
    },
    Knob {
        place: "classes.qmc.map_mean_s",
        value: "18 s",
        fixed_by: "§I-C (Fair): job 3 takes 0.8 minutes if it does not starve; here 0.81 without its starvation (15 s: 0.73; 20 s: 0.85)",
    },
    Knob {
        place: "coupling-table4.toml: cluster",
        value: "Set B",
        fixed_by: "Table IV (Fair): no reduce of jobs 1 and 2 is late, so there are 30 reduce slots; Set A has 14",
    },
    Knob {
        place: "cluster.racks of Set B",
        value: "2, the data in one",
        fixed_by: "No number of Fair: its waits are the same in one rack. Coupling's patience differs there (bands and variants), and its results were known",
    },
    Knob {
        place: "delay_node, delay_rack of Fair",
        value: "15 s, 0 s",
        fixed_by: "§II-B: one timer that runs to T1 and T2, which are both 15 s. Table IV (Fair) agrees: with 15 s more the S_F of jobs 11 to 13 \
                   are 24 minutes instead of 8.4",
    },
    Knob {
        place: "map_cap and reduce_cap of Fair and Coupling",
        value: "1, 1",
        fixed_by: "Hadoop's Fair of 2009 gives a heartbeat one map and one reduce; both schedulers are configured alike (§III), and a job that declines \
                   skips \"the current heartbeat\" (§II-B). Fair's numbers agree: J1 of Fig. 1 holds all slots from 0.84 minutes (0.9; 0.72 \
                   where all free slots are filled), the plateau of Fig. 10 lasts in 14 of 15 runs (6), and S_F are off by 0.7 minutes (0.85)",
    },
    Knob {
        place: "list and slowstart of Coupling",
        value: "fresh, false",
        fixed_by: "No number of Fair. §II-A avoids two reduces of a job on a node \"if possible\", and the ramp takes the place of slow-start. Chosen after the \
                   letter of Algorithm 2 had made Fig. 16's jobs slower than under Fair (variants)",
    },
    Knob {
        place: "fair_share_timeout of Fair in Figs. 10 to 15",
        value: "480 s, once",
        fixed_by: "Fig. 10 (Fair): all slots are used from 8.2 minutes on (8.1), to the end. 28 of 60 slots are less than half a share, and \
                   Hadoop's Fair stops waiting for data when that has lasted for this timeout. The round number below 8.2 minutes; no other was \
                   tried. Left: the maps of Fig. 13 do not fall to 20 (41)",
    },
    Knob {
        place: "classes.sort",
        value: "maps 35 s; reduces 9 MB/s, after a fetch at 5 MB/s",
        fixed_by: "Fig. 12 (Fair): Sort2 alone takes 16.15 to 23.5 minutes (19.8); and Table IV (Fair): S_F are off by 0.7 minutes. Maps of 30 s and \
                   7 MB/s leave 0.8; of 20 and 25 s, 1.0; of 40 s, 0.9; of 45 s, 1.2 (200 seeds)",
    },
    Knob {
        place: "coupling-fig16.toml: arrivals.mix.sizes",
        value: "1.7 times those of Table IV",
        fixed_by: "Fig. 16 (Fair): the longest job takes 35 minutes (34 here; with 1.5: 28; with 1.8: 37)",
    },
    Knob {
        place: "cost.locality",
        value: "1, 1.02, 1.02",
        fixed_by: "64 MiB through Gigabit Ethernet take half a second, and the maps 36 s or more; and Fig. 10 (Fair) ends at about 10 minutes: here at \
                   11.0, and with 1.25 at 11.4. S_F do not decide: with 1.25, and Sort's maps of 25 s at 6 MB/s, they are off by 0.5 minutes instead \
                   of 0.7, but five runs with one setting are off from their own mean by 0.7. Kept with both results known",
    },
];

/// The assumptions of every experiment of the paper.
macro_rules! assumptions {
    ($($further:expr),* $(,)?) => {
        &[
            $($further,)*
            "One rack, but for Set B; heartbeats every 3 s; jobs that read the same file read the same blocks; slow-start 0.05 under Fair, where Coupling has its ramp; all jobs in one pool; one seed draws task times, block places and heartbeats.",
            "But for rows on shared nodes, tasks on a node do not slow each other down, and reduces fetch as if alone.",
        ]
    };
}
pub(super) use assumptions;

/// A bundled workload under Fair and under Coupling.
pub(super) fn fair_and_coupling(workload: Bundled) -> Result<Vec<Case>, Error> {
    cases(workload, &[("fair", FAIR), ("coupling", COUPLING)])
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
    range: "The paper does not say how its machines are placed in racks; 15 of them fill one to a few racks.",
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

/// The times of a map away from its data that are tried, as multiples of a local one's, and that of the rows.
pub(super) const COSTS: [f64; 4] = [CHOSEN_COST, 1.1, 1.25, 1.5];
pub(super) const CHOSEN_COST: f64 = 1.02;
pub(super) const COST_UNKNOWN: Unknown = Unknown {
    name: "Time of a map away from its data / of a local one",
    range: "The paper says that a map with local data is faster, but not by how much.",
    chosen: CHOSEN_COST,
};

/// Why Coupling may gain more, which runs more maps away from their data.
pub(super) const AWAY: &str = "\"Running a MapTask with local data can greatly improve the performance\" (§II-B): by how much is not said \
                               (the band).";

/// The label of a case in which maps away from their data take so much longer.
pub(super) fn with_cost(cost: f64, label: &str) -> String {
    if cost == CHOSEN_COST { label.to_owned() } else { format!("away {cost}: {label}") }
}

/// A bundled workload under these policies (label, policy), with each other time of maps away from their data.
pub(super) fn other_costs(workload: Bundled, policies: &[(&str, &str)]) -> Result<Vec<Case>, Error> {
    let (workload, mut rules) = (workload.workload()?, CLUSTER.cluster()?);
    let mut all = Vec::new();
    for cost in COSTS.into_iter().filter(|cost| *cost != CHOSEN_COST) {
        rules.cost.locality = [1.0, cost, cost];
        for (label, policy) in policies {
            all.push(Case::new(&with_cost(cost, label), policy, workload.clone(), &rules)?.with_few_seeds());
        }
    }
    Ok(all)
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

/// The report's chart `chart` of the first seed of some cases, as a figure: its name, its title, and what it shows.
pub(super) fn figure(
    replays: &Replays<'_>,
    labels: &[&str],
    chart: &str,
    (name, title, caption): (&str, &str, &str),
) -> Result<Option<Figure>, Error> {
    let drawn = CHARTS
        .iter()
        .find(|known| known.name == chart)
        .ok_or_else(|| Error::Defect(format!("there is no chart `{chart}`")))?;
    let svg = drawn.of_runs(&replays.shown(labels))?;
    let caption = format!("{caption} Seed 1.");
    Ok(svg.map(|svg| Figure { name: name.to_owned(), title: title.to_owned(), caption, svg }))
}

/// The figures that could be drawn.
pub(super) fn figures<const N: usize>(all: [Result<Option<Figure>, Error>; N]) -> Result<Vec<Figure>, Error> {
    all.into_iter().filter_map(Result::transpose).collect()
}
