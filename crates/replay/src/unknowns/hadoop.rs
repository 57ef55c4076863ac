//! What a Hadoop cluster leaves open under either of its systems, and under MapReduce 1.

use resched_sim::cluster_file::{Interval, ReduceModel, SetUp};
use resched_sim::hadoop::{Kind, System};

use super::{Change, Open, SIGMAS, Unknown, setup_with};
use crate::Error;
use crate::facts::starts_decide;
use resched_policies::Engine;

/// If a larger share of the places of input is drawn by the replay, they are not those of the trace.
const MOST_DRAWN: f64 = 0.05;

/// How many times as long a map takes away from its input.
pub(super) const LOCALITY: Unknown = Unknown {
    name: "locality",
    title: "cost of distance",
    from: "from none, as on fast networks, to the factors of Rumen; if fitted, two standard errors to each side",
    variants: |open| {
        if open.engine == Engine::Batch {
            return super::production::distance(open);
        }
        if !open.hadoop()?.loaded.workload.has_places() {
            return Ok(Vec::new());
        }
        let [node, rack, off] = open.config().cost.locality;
        let set = |factors| open.with(|config| config.cost.locality = factors);
        let errors = ["cost.locality.rack", "cost.locality.off"].map(|key| open.error_of(key));
        if errors.iter().any(Option::is_some) {
            let step = errors.map(|error| SIGMAS * error.unwrap_or(0.0));
            let [low, high] = [-1.0, 1.0].map(|sign| {
                let at = |value: f64, step: f64| (value + sign * step).clamp(1e-3, 1e3);
                [node, at(rack, step[0]), at(off, step[1])]
            });
            return Ok(vec![
                ("with the least cost of distance that fits".to_owned(), set(low)),
                ("with the largest cost of distance that fits".to_owned(), set(high)),
            ]);
        }
        if !open.is_open("cost.locality", |config| config.cost.locality) {
            return Ok(Vec::new());
        }
        let half = [node, rack, off].map(|factor| node + (factor - node) / 2.0);
        Ok(vec![
            ("without a cost of distance".to_owned(), set([node; 3])),
            ("with half the cost of distance".to_owned(), set(half)),
        ])
    },
};

/// How often a node calls its master.
pub(super) const HEARTBEAT: Unknown = Unknown {
    name: "heartbeat",
    title: "time between heartbeats",
    from: "1 s, and 3 s, Hadoop's minimum in 2009; if fitted, two standard errors to each side",
    variants: |open| {
        if !open.is_under(System::Slots) {
            return Ok(Vec::new());
        }
        let interval = open.config().heartbeat.interval_of(open.hadoop()?.cluster.nodes().len());
        let every = |ms: i64| {
            let change = open.with(|config| {
                config.heartbeat.interval = Interval::Fixed(ms);
                config.heartbeat.jitter = config.heartbeat.jitter.min((ms - 1) / 2);
            });
            (format!("with heartbeats every {}", seconds(ms)), change)
        };
        if let Some(error) = open.error_of("heartbeat.interval") {
            let at = |sign: f64| ((interval as f64 + sign * SIGMAS * error).round() as i64).max(1);
            return Ok([at(-1.0), at(1.0)].into_iter().filter(|ms| *ms != interval).map(every).collect());
        }
        if !open.is_open("heartbeat.interval", |config| config.heartbeat.interval) {
            return Ok(Vec::new());
        }
        Ok([1_000, 3_000].into_iter().filter(|ms| *ms != interval).map(every).collect())
    },
};

/// How many maps and reduces a node runs at once.
pub(super) const SLOTS: Unknown = Unknown {
    name: "slots",
    title: "slots of a node",
    from: "half and twice the assumed number; for a lower bound, 1.5 times and twice as many; if fitted, two standard errors",
    variants: |open| {
        if !open.is_under(System::Slots) {
            return Ok(Vec::new());
        }
        let hadoop = open.hadoop()?;
        let nodes = &open.config().nodes;
        let [maps, reduces] = nodes.slots();
        let set = |[maps, reduces]: [u32; 2]| {
            let change = open.with(|config| {
                (config.nodes.map_slots, config.nodes.reduce_slots) = (Some(maps), Some(reduces));
            });
            (format!("with {maps} + {reduces} slots on each node"), change)
        };
        let times = |factor: f64| [maps, reduces].map(|slots| (f64::from(slots) * factor).ceil() as u32);
        let kinds = hadoop.kinds();
        let errors = ["nodes.map_slots", "nodes.reduce_slots"].map(|key| open.error_of(key));
        Ok(if hadoop.cluster.assumed(&kinds) > 0 {
            vec![set(times(0.5)), set(times(2.0))]
        } else if nodes.at_least {
            vec![set(times(1.5)), set(times(2.0))]
        } else if errors.iter().any(Option::is_some) {
            let at = |sign: f64| {
                let moved = |slots: u32, error: Option<f64>| {
                    (f64::from(slots) + sign * (SIGMAS * error.unwrap_or(0.0)).ceil()).max(1.0) as u32
                };
                [moved(maps, errors[0]), moved(reduces, errors[1])]
            };
            [at(-1.0), at(1.0)].into_iter().filter(|slots| *slots != [maps, reduces]).map(set).collect()
        } else {
            Vec::new()
        })
    },
};

/// How long jobs wait until they are initialised, if the log cannot tell that from the wait for a master's container.
pub(super) const STARTS: Unknown = Unknown {
    name: "starts",
    title: "waits before initialisation",
    from: "the shortest of the trace",
    variants: |open| {
        if open.engine != Engine::Hadoop || !starts_decide(open.config(), open.hadoop()?.loaded.starts) {
            return Ok(Vec::new());
        }
        let change = setup_with(open, |setup| setup.cluster.jobs.setup = SetUp::Quickest);
        Ok(vec![("if all jobs are initialised as soon as the quickest".to_owned(), change)])
    },
};

/// Where the input of maps is, if that is drawn.
pub(super) const PLACES: Unknown = Unknown {
    name: "places",
    title: "places of input",
    from: "two other draws",
    variants: |open| {
        if open.engine != Engine::Hadoop {
            return super::production::places(open);
        }
        let of_rule = open.manifest().is_some_and(|manifest| manifest.made.contains_key("splits.host"));
        let skipped = &open.hadoop()?.loaded.skipped;
        let splits = open.manifest().and_then(|manifest| manifest.rows.get("splits")).copied().unwrap_or(0);
        let drawn = skipped.get("split-host-drawn-anew").copied().unwrap_or(0) as f64;
        if !of_rule && (splits == 0 || drawn < MOST_DRAWN * splits as f64) {
            return Ok(Vec::new());
        }
        let seed = open.setup().seed;
        let moved = |step: u64| {
            let seed = seed.wrapping_add(step);
            (format!("with other places of input (seed {seed})"), Change::Places(seed))
        };
        Ok([1, 2].map(moved).into())
    },
};

/// When the reduces of a job may start.
pub(super) const SLOWSTART: Unknown = Unknown {
    name: "slow-start",
    title: "maps done before reduces start",
    from: "half of the maps and all of them; if fitted, two standard errors to each side",
    variants: |open| {
        if open.engine != Engine::Hadoop || !has_reduces(open)? {
            return Ok(Vec::new());
        }
        let slowstart = open.config().jobs.slowstart;
        let set = |share: f64| {
            let change = open.with(|config| config.jobs.slowstart = share);
            (format!("with reduces from {:.0} % of the maps on", share * 100.0), change)
        };
        if let Some(error) = open.error_of("jobs.slowstart") {
            let at = |sign: f64| (slowstart + sign * SIGMAS * error).clamp(0.0, 1.0);
            return Ok([at(-1.0), at(1.0)].into_iter().filter(|share| *share != slowstart).map(set).collect());
        }
        let is_open = open.is_open("jobs.slowstart", |config| config.jobs.slowstart);
        Ok(if is_open { vec![set(0.5), set(1.0)] } else { Vec::new() })
    },
};

/// How the time of a reduce comes about. A model is no knowledge, so it is open even if the cluster file names one.
pub(super) const RUN_TIMES: Unknown = Unknown {
    name: "run-times",
    title: "model of reduces",
    from: "the other models of a reduce's input",
    variants: |open| {
        let cost = &open.config().cost;
        if open.engine != Engine::Hadoop || cost.contention.is_some() || !has_reduces(open)? {
            return Ok(Vec::new());
        }
        let has_bytes = open.hadoop()?.loaded.workload.jobs().iter().any(|job| job.shuffle_bytes.is_some());
        let models = [
            (ReduceModel::R0, "if reduces get their input at once", true),
            (ReduceModel::R1, "if reduces fetch for as long as in the log", true),
            (ReduceModel::R2, "if reduces fetch at a fixed rate", has_bytes),
        ];
        let others = models.into_iter().filter(|(model, _, is_possible)| *is_possible && *model != cost.reduce);
        Ok(others.map(|(model, says, _)| (says.to_owned(), open.with(|config| config.cost.reduce = model))).collect())
    },
};

fn has_reduces(open: &Open<'_>) -> Result<bool, Error> {
    Ok(open.hadoop()?.kinds().contains(&Kind::Reduce))
}

/// A time in seconds, or in ms if it is no whole number of seconds.
pub(super) fn seconds(ms: i64) -> String {
    if ms % 1_000 == 0 { format!("{} s", ms / 1_000) } else { format!("{ms} ms") }
}
