//! Which jobs lose their machines to a job that finds no room.
//!
//! **Source.** slurm.conf(5), `PreemptType`, `PreemptMode`, `PreemptParameters`; `_run_now` of `select/cons_tres` and the plugins `preempt` of
//! 22.05: candidates are taken away in their order until the job fits, the order is then changed so that fewer of them lose their place,
//! and those go whose machines the job gets.
//!
//! A job with a `GraceTime` runs on for that time. Meanwhile, the job that takes its place waits, and is tried again in each run.
//!
//! **Decisions.** A job runs until the end of its `GraceTime`, although it is asked to end at its beginning. It starts again from its
//! beginning. Jobs are not suspended. Backfill, too, lets a job take the place of others, on machines that no reservation closes.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use fixedbitset::FixedBitSet;
use resched_sim::Ms;
use resched_sim::batch::Then;

use super::cluster::{Cluster, Request};
use super::conf::{PreemptBy, PreemptMode, Settings};
use super::partitions::Partition;
use super::place::Places;
use super::rank::Rank;
use super::running::{Running, Unit, UnitId};
use crate::queues::slurm::SlurmConf;

/// Who takes whose place.
#[derive(Debug)]
pub(super) struct Preemption {
    by: PreemptBy,
    mode: PreemptMode,
    again: Then,
    exempt: Ms,
    youngest_first: bool,
    strict_order: bool,
    passes: u32,
    /// How long a job waits at least that is run again, ms.
    delay: Ms,
    /// The numbers of the qualities of service.
    qos: BTreeMap<String, u32>,
    /// Over which of them each goes.
    over: Vec<Vec<u32>>,
}

/// Room for a job.
#[derive(Debug)]
pub(super) struct Room {
    pub(super) places: Places,
    /// Who leaves for it.
    pub(super) leave: Vec<UnitId>,
}

impl From<Places> for Room {
    fn from(places: Places) -> Self {
        Self { places, leave: Vec::new() }
    }
}

impl Preemption {
    pub(super) fn new(set: &Settings, conf: &SlurmConf) -> Self {
        let qos: BTreeMap<String, u32> = conf.qos.keys().cloned().zip(0..).collect();
        let over = conf.qos.values().map(|qo| qo.preempt.iter().filter_map(|name| qos.get(name).copied()).collect());
        Self {
            by: set.preempt,
            mode: set.preempt_mode,
            again: if set.requeue { Then::Again } else { Then::Gone },
            exempt: set.preempt_exempt_time,
            youngest_first: set.preempt_youngest_first,
            strict_order: set.preempt_strict_order,
            passes: set.preempt_reorder_count,
            delay: set.requeue_delay,
            over: over.collect(),
            qos,
        }
    }

    /// How a job of this partition and QOS stands.
    pub(super) fn rank(&self, partition: &Partition, qos: &str, conf: &SlurmConf) -> Rank {
        let known = conf.qos.get(qos);
        let of_partition = partition.qos.as_ref().and_then(|name| conf.qos.get(name));
        let exempt = [of_partition, known].into_iter().flatten().find_map(|qos| qos.preempt_exempt_time);
        let rank = match self.by {
            PreemptBy::None => None,
            PreemptBy::Partition => partition.preempt_mode.as_deref(),
            PreemptBy::Qos => known.and_then(|qos| qos.preempt_mode.as_deref()),
        };
        // Jobs are not suspended, but keep their place then.
        let mode = rank.map_or(self.mode, |name| PreemptMode::named(name).unwrap_or(PreemptMode::Off));
        Rank {
            tier: partition.tier,
            qos: self.qos.get(qos).copied().unwrap_or(u32::MAX),
            order: match self.by {
                PreemptBy::Qos => known.map_or(0, |qos| qos.priority),
                _ => partition.tier,
            },
            then: match (self.by, mode) {
                (PreemptBy::None, _) | (_, PreemptMode::Off) => None,
                (_, PreemptMode::Requeue) => Some(self.again),
                (_, PreemptMode::Cancel) => Some(Then::Gone),
            },
            exempt: exempt.unwrap_or(self.exempt),
            grace: match self.by {
                PreemptBy::Qos => known.map_or(0, |qos| qos.grace_time),
                _ => partition.grace_time,
            },
        }
    }

    /// True if any job may take the place of another.
    pub(super) fn is_possible(&self) -> bool {
        self.by != PreemptBy::None
    }

    /// From when on a job may start that is run again.
    pub(super) fn eligible(&self, now: Ms) -> Ms {
        now.saturating_add(self.delay)
    }

    fn goes_over(&self, rank: Rank, other: Rank) -> bool {
        other.then.is_some()
            && match self.by {
                PreemptBy::None => false,
                PreemptBy::Partition => other.tier < rank.tier,
                PreemptBy::Qos => self.over.get(rank.qos as usize).is_some_and(|over| over.contains(&other.qos)),
            }
    }

    /// Where a job finds room on these machines if others leave.
    pub(super) fn find(
        &self,
        (rank, request): (Rank, &Request),
        open: &FixedBitSet,
        running: &Running,
        cluster: &mut Cluster,
        now: Ms,
    ) -> Option<Room> {
        if !self.is_possible() || !cluster.may_hold(request, open) {
            return None;
        }
        let is_candidate = |unit: &Unit| {
            let ran = now.saturating_sub(unit.start);
            !unit.is_over && ran > 0 && ran >= unit.rank.exempt && self.goes_over(rank, unit.rank) && is_on(unit, open)
        };
        let mut units: Vec<(UnitId, &Unit)> = running.units().filter(|(_, unit)| is_candidate(unit)).collect();
        units.sort_by_key(|(_, unit)| (self.order(unit), unit.start, unit.run));
        let mut places = Places::new();
        for pass in 0..=self.passes {
            let (count, found) = fewest(&units, (request, open), cluster)?;
            places = found;
            units.truncate(count);
            if count <= 1 || pass == self.passes {
                break;
            }
            self.reorder(&mut units, &places);
        }
        units.retain(|(_, unit)| overlap(unit, &places) > 0);
        Some(Room { places, leave: units.into_iter().map(|(id, _)| id).collect() })
    }

    /// Who loses its place first.
    fn order(&self, unit: &Unit) -> (Reverse<Ms>, u32, usize) {
        let youngest = Reverse(if self.youngest_first { unit.start } else { 0 });
        let order = if self.youngest_first { 0 } else { unit.rank.order };
        (youngest, order, unit.held.places.len())
    }

    /// The one that was needed last comes first; the others by how many of their machines the job gets.
    fn reorder(&self, units: &mut [(UnitId, &Unit)], places: &Places) {
        units.rotate_right(1);
        if let Some(others) = units.get_mut(1..).filter(|_| !self.strict_order) {
            others.sort_by_key(|(_, unit)| Reverse(overlap(unit, places)));
        }
    }
}

/// How many of these units, from the first on, must leave for a job to find room, and where that is.
fn fewest(
    units: &[(UnitId, &Unit)],
    (request, open): (&Request, &FixedBitSet),
    cluster: &mut Cluster,
) -> Option<(usize, Places)> {
    cluster.look_ahead(request);
    let mut gain = cluster.gain(request, open);
    for (count, (_, unit)) in (1..).zip(units) {
        let more = cluster.end_ahead((&unit.request, &unit.held), (request, open)).unwrap_or_default();
        gain = gain.plus(more);
        if request.asked.may_fit(gain)
            && let Some(places) = cluster.place(request, open)
        {
            return Some((count, places));
        }
    }
    None
}

fn is_on(unit: &Unit, machines: &FixedBitSet) -> bool {
    unit.held.places.iter().any(|(node, _)| machines.contains(node.index()))
}

/// On how many of these machines a unit runs.
fn overlap(unit: &Unit, places: &Places) -> usize {
    let is_there = |machine: usize| places.iter().any(|part| part.range().contains(&machine));
    unit.held.places.iter().filter(|(node, _)| is_there(node.index())).count()
}
