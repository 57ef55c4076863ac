//! How much processor and memory a machine of a production cluster offers.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use resched_tables::model::{AttemptRow, Outcome, TaskRow};
use resched_tables::store::Rows;
use resched_tables::store::columns::Row;
use serde::Serialize;

use crate::runs::tables::checked;
use crate::runs::times::MAX_TIME;
use crate::statistics::distribution::Distribution;
use crate::{Error, Origin};

/// The share of the time in which a machine runs anything that its largest load is held for. What is held for less is taken for a
/// difference of clocks.
const HELD: f64 = 0.001;
/// The size of a machine is that of the machine at this place of all, in order of their largest loads.
const PLACE: f64 = 0.95;
/// A machine whose largest load is at least this share of the size was full.
const FULL: f64 = 0.9;
/// The share of the machines that must have been full.
const MOST: f64 = 0.5;
/// The fewest machines.
const LEAST: usize = 5;

/// A resource of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Offer {
    /// What a machine offers, in the unit of the column; null if the trace does not show it.
    pub size: Option<f64>,
    /// The largest load of nearly all machines: at least that much is offered. Null if no load is known.
    pub at_least: Option<f64>,
    /// Machines whose largest load was at least nine tenths of it.
    pub full: u64,
    /// Machines with a known load.
    pub machines: u64,
}

/// The machines of a production cluster as their loads show them.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Machines {
    /// Processor, in thousandths of a core or of the trace's unit.
    pub cpu: Offer,
    /// Memory, in bytes or the trace's unit.
    pub memory: Offer,
}

/// The sizes of machines from what ran on them at once: for each machine the largest sum of the requests of its attempts that it
/// carried for at least a thousandth of its busy time. If machines are alike and were full, these loads crowd below one bound. So the
/// size is the load of the 95th of a hundred machines, provided that at least half of them carried nine tenths of it. Otherwise the load
/// is only a lower bound, and the size stays unknown.
///
/// # Errors
/// [`Error::Trace`] if a table is missing or damaged.
pub fn machines(dir: &Path, origin: &Origin) -> Result<Machines, Error> {
    if !origin.rows().contains_key(TaskRow::TABLE) {
        return Ok(Machines::default());
    }
    let mut loads = Loads::default();
    let mut tasks = Rows::<TaskRow, _>::new(checked::<TaskRow>(dir, origin)?);
    let mut task = tasks.next().transpose()?;
    for attempt in Rows::<AttemptRow, _>::new(checked::<AttemptRow>(dir, origin)?) {
        let attempt = attempt?;
        // Attempts stand in the order of their tasks.
        while task.as_ref().is_some_and(|task| task.task_id != attempt.task_id) {
            task = tasks.next().transpose()?;
        }
        let Some(task) = &task else { break };
        loads.add(&attempt, [task.cpu_request, task.memory_request]);
    }
    let [cpu, memory] = loads.peaks().map(offer);
    Ok(Machines { cpu, memory })
}

/// Changes of the load of machines.
#[derive(Default)]
struct Loads {
    numbers: HashMap<String, usize>,
    /// For each machine and resource: (time in ms, change).
    changes: Vec<[Vec<(i64, i64)>; 2]>,
}

impl Loads {
    fn add(&mut self, attempt: &AttemptRow, requests: [Option<i64>; 2]) {
        let known = |time: Option<i64>| time.filter(|time| (-MAX_TIME..=MAX_TIME).contains(time));
        let (Some(host), Some(start)) = (&attempt.host, known(attempt.start)) else { return };
        let finish = known(attempt.finish);
        // What had not ended with the trace is carried to its end.
        if finish.map_or(attempt.outcome != Outcome::Incomplete, |finish| finish <= start) {
            return;
        }
        let number = match self.numbers.get(host) {
            Some(&number) => number,
            None => {
                self.numbers.insert(host.clone(), self.changes.len());
                self.changes.push(Default::default());
                self.changes.len() - 1
            }
        };
        let Some(changes) = self.changes.get_mut(number) else { return };
        for (changes, request) in changes.iter_mut().zip(requests) {
            if let Some(request) = request.filter(|request| (1..=1 << 52).contains(request)) {
                changes.push((start, request));
                changes.extend(finish.map(|finish| (finish, -request)));
            }
        }
    }

    /// The largest load of each machine, by resource. Machines without a load are left out.
    fn peaks(self) -> [Distribution; 2] {
        let mut peaks = [Vec::new(), Vec::new()];
        for changes in self.changes {
            for (peaks, changes) in peaks.iter_mut().zip(changes) {
                peaks.extend(peak(changes));
            }
        }
        peaks.map(Distribution::new)
    }
}

/// The largest load that is held for long enough.
fn peak(mut changes: Vec<(i64, i64)>) -> Option<f64> {
    changes.sort_unstable();
    let (mut load, mut busy) = (0i64, 0i64);
    let mut held: BTreeMap<i64, i64> = BTreeMap::new();
    for pair in changes.windows(2) {
        let &[(at, change), (next, _)] = pair else { continue };
        load = load.saturating_add(change);
        if load > 0 && next > at {
            *held.entry(load).or_default() += next - at;
            busy += next - at;
        }
    }
    let enough = (busy as f64 * HELD).ceil() as i64;
    let mut above = 0;
    held.into_iter().rev().find_map(|(load, time)| {
        above += time;
        (above >= enough).then_some(load as f64)
    })
}

fn offer(peaks: Distribution) -> Offer {
    let all = peaks.values();
    let Some(bound) = peaks.quantile(PLACE) else { return Offer::default() };
    let full = all.iter().filter(|&&peak| peak >= FULL * bound).count();
    let crowded = all.len() >= LEAST && full as f64 >= MOST * all.len() as f64;
    Offer { size: crowded.then_some(bound), at_least: Some(bound), full: full as u64, machines: all.len() as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(host: usize, start: i64, finish: i64) -> AttemptRow {
        AttemptRow { host: Some(format!("m{host}")), start: Some(start), finish: Some(finish), ..AttemptRow::default() }
    }

    /// Ten machines of 8 cores: each carries four tasks of 2 cores at once, one of them only half as many; an overlap of 1 ms in 10 s does
    /// not count.
    #[test]
    fn full_machines_crowd_below_their_size() {
        let mut loads = Loads::default();
        for host in 0..10 {
            let tasks = if host == 3 { 2 } else { 4 };
            for task in 0..tasks {
                loads.add(&attempt(host, task, 10_000), [Some(2_000), None]);
            }
            loads.add(&attempt(host, 9_999, 20_000), [Some(2_000), None]);
        }
        let [cpu, memory] = loads.peaks().map(offer);
        assert_eq!(cpu, Offer { size: Some(8_000.0), at_least: Some(8_000.0), full: 9, machines: 10 });
        assert_eq!(memory, Offer::default());
    }

    #[test]
    fn machines_that_were_never_full_show_only_a_lower_bound() {
        let mut loads = Loads::default();
        for host in 0..20 {
            for task in 0..=host {
                loads.add(&attempt(host, 0, 10_000 + task as i64), [Some(1_000), Some(1 << 30)]);
            }
        }
        let [cpu, memory] = loads.peaks().map(offer);
        assert_eq!((cpu.size, memory.size), (None, None));
        assert!(cpu.at_least.is_some_and(|load| load >= 19_000.0), "{cpu:?}");
    }
}
