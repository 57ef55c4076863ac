//! A row of `sacct` about a job, whatever it was printed as.

use resched_tables::model::Outcome;

use super::hosts::count_of_hosts;
use super::id::Id;
use super::state::{Standing, State};
use super::times::Time;
use super::tres::Tres;
use super::values::Memory;

/// A try at a job.
#[derive(Debug)]
pub(super) struct Row<'a> {
    pub(super) id: Id,
    /// The ranges of tasks that have no id yet.
    pub(super) pending: &'a str,
    /// How many tasks of its array may run at once, if it says it.
    pub(super) array_limit: Option<u32>,
    pub(super) name: &'a str,
    pub(super) user: &'a str,
    pub(super) account: &'a str,
    pub(super) partition: &'a str,
    pub(super) qos: &'a str,
    pub(super) reservation: &'a str,
    pub(super) constraints: &'a str,
    pub(super) priority: Option<i64>,
    /// True if the backfill scheduler started it, and not the main loop.
    pub(super) by_backfill: bool,
    /// The limit of its run time, ms.
    pub(super) limit: Option<i64>,
    pub(super) times: Times,
    pub(super) standing: Standing,
    pub(super) req_cpus: Option<u32>,
    pub(super) alloc_cpus: Option<u32>,
    pub(super) req_nodes: Option<u32>,
    pub(super) alloc_nodes: Option<u32>,
    /// `NNodes`: the nodes that it got, or asked for.
    pub(super) any_nodes: Option<u32>,
    pub(super) req: Tres,
    pub(super) alloc: Tres,
    pub(super) req_mem: Option<Memory>,
    pub(super) node_list: Option<&'a str>,
    pub(super) submit_line: &'a str,
    /// `ReqGRES` and `AllocGRES` of versions up to 20.02.
    pub(super) old_gres: [&'a str; 2],
    /// Why it waited last, if Slurm says it.
    pub(super) reason: &'a str,
    /// How often it was started again.
    pub(super) restarts: u32,
    /// Its cluster.
    pub(super) cluster: &'a str,
}

/// The QOS of a row. Since 24.11, a job may ask for several, of which the one that it ran under counts, or else the first.
pub(super) fn one_qos<'a>(given: &'a str, asked: &'a str) -> &'a str {
    let all = if given.is_empty() { asked } else { given };
    all.split(',').next().unwrap_or_default()
}

/// The times of a row, ms.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Times {
    pub(super) submit: i64,
    pub(super) eligible: Option<i64>,
    pub(super) start: Option<i64>,
    pub(super) end: Option<i64>,
    pub(super) elapsed: Option<i64>,
}

impl Times {
    /// The instants in their order, each the first that is not before those before it.
    pub(super) fn in_order(submit: Time, rest: [Option<Time>; 3], elapsed: Option<i64>) -> Self {
        let submit = submit.after(None);
        let [eligible, start, end] = rest;
        let eligible = eligible.map(|time| time.after(Some(submit)));
        let start = start.map(|time| time.after(Some(eligible.unwrap_or(submit))));
        let ran = elapsed.unwrap_or(0);
        let end = end.map(|time| time.after(Some(start.map_or(submit, |start| start.saturating_add(ran)))));
        Self { submit, eligible, start, end, elapsed }
    }
}

impl<'a> Row<'a> {
    /// The CPUs that it asked for, as far as the row has them.
    pub(super) fn cpus(&self) -> Option<u32> {
        self.req_cpus.or(self.req.cpus).or(self.alloc_cpus).or(self.alloc.cpus)
    }

    /// How many nodes it got; 0: unknown.
    pub(super) fn nodes(&self) -> u32 {
        let listed = || self.hosts().and_then(count_of_hosts);
        let asked = || self.any_nodes.filter(|_| self.ran());
        self.alloc_nodes.or(self.alloc.nodes).or_else(listed).or_else(asked).unwrap_or(0)
    }

    /// True if it has both its start and its end.
    pub(super) fn has_run(times: &Times) -> bool {
        let Times { start, end, elapsed, .. } = *times;
        let run = elapsed.or(start.zip(end).map(|(start, end)| end.saturating_sub(start)));
        start.is_some() && end.is_some() && run.is_some_and(|run| run > 0)
    }

    /// The nodes that it ran on.
    pub(super) fn hosts(&self) -> Option<&'a str> {
        self.node_list.filter(|list| !list.is_empty() && !list.starts_with("None") && *list != "(null)")
    }

    /// True if it ran: it started, and was not cancelled before it had a node.
    pub(super) fn ran(&self) -> bool {
        let Times { start, end, elapsed, .. } = self.times;
        let run = elapsed.or(start.zip(end).map(|(start, end)| end.saturating_sub(start)));
        let is_cancelled = self.standing.state == State::Ended(Outcome::Killed);
        let is_idle = run == Some(0) && self.hosts().is_none() && (self.node_list.is_some() || is_cancelled);
        self.standing.state != State::Pending && (start.is_some() || run.is_some_and(|run| run > 0)) && !is_idle
    }
}
