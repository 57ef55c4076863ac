//! Delay scheduling by opportunities: how often the requests of a job of one priority are refused a place before they take a farther
//! one (`docs/model/yarn-policies.md`). In 2014, requests that name no place wait like others; in Hadoop 3.4 they do not (rule F2).

use resched_sim::JobId;
use resched_sim::hadoop::{Ask, Reach, View};

use super::YarnFair;

/// The share of the nodes at which a job holds out for a node, and then for a rack, with its data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Thresholds {
    pub(super) node: f64,
    pub(super) rack: f64,
}

/// The opportunities of a job at one priority.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Opportunities {
    /// How far it may go; `None` before its first opportunity.
    allowed: Option<Reach>,
    /// Nodes that were offered at this level, whether it took them or not: Hadoop takes the count back only when it allows the next
    /// level.
    seen: u32,
}

impl Opportunities {
    /// A node is offered.
    pub(super) fn offered(&mut self) {
        self.seen = self.seen.saturating_add(1);
    }

    /// How far from its data the job may launch on the node that is offered.
    pub(super) fn allowed(&mut self, nodes: usize, thresholds: Thresholds) -> Reach {
        let (threshold, next) = match self.allowed {
            None => {
                self.allowed = Some(Reach::Node);
                return Reach::Node;
            }
            Some(Reach::Node) => (thresholds.node, Reach::Rack),
            Some(Reach::Rack) => (thresholds.rack, Reach::Any),
            Some(far) => return far,
        };
        if f64::from(self.seen) > nodes as f64 * threshold {
            (self.allowed, self.seen) = (Some(next), 0);
        }
        self.allowed.unwrap_or(Reach::Node)
    }

    /// The job was given a container at this level: it goes no farther from now on.
    pub(super) fn launched(&mut self, near: Reach) {
        self.allowed = self.allowed.map(|allowed| allowed.min(near));
    }
}

impl YarnFair {
    /// How far from its data a job may use the node that is offered (`FSAppAttempt.getAllowedLocalityLevel`).
    pub(super) fn reach(&mut self, view: View<'_>, job: JobId, ask: Ask) -> Reach {
        let Some(thresholds) = self.thresholds else { return Reach::Any };
        let allowed = self.apps[job].opportunities[ask.index()].allowed(view.node_count(), thresholds);
        let names_places = ask == Ask::Map && view.yarn().app(job).locations() > 0;
        if self.rules.placeless_go_anywhere && !names_places { Reach::Any } else { allowed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(job: &mut Opportunities) -> Reach {
        job.offered();
        job.allowed(10, Thresholds { node: 0.5, rack: 0.5 })
    }

    #[test]
    fn a_job_goes_farther_after_as_many_nodes_as_the_threshold_says() {
        let mut job = Opportunities::default();
        // Ten nodes: five are refused, the sixth may be of a rack with the data; five more, and then any.
        let reaches: Vec<Reach> = (0..13).map(|_| offer(&mut job)).collect();
        let expected = [[Reach::Node; 5].as_slice(), &[Reach::Rack; 6], &[Reach::Any; 2]].concat();
        assert_eq!(reaches, expected);
    }

    #[test]
    fn a_nearer_launch_closes_the_farther_levels() {
        let mut job = Opportunities { allowed: Some(Reach::Any), seen: 3 };
        job.launched(Reach::Any);
        assert_eq!(offer(&mut job), Reach::Any);
        job.launched(Reach::Node);
        assert_eq!(offer(&mut job), Reach::Node);
    }
}
