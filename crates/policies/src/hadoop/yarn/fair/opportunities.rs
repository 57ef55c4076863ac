//! Delay scheduling by opportunities: how often the maps of a job may be refused a place before it takes a farther one
//! (policies B.5c).

use resched_sim::hadoop::Reach;
use resched_trace::model::Locality;

/// The share of the nodes at which a job holds out for a node, and then for a rack, with its data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Thresholds {
    pub(super) node: f64,
    pub(super) rack: f64,
}

/// The opportunities of one job's maps.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Opportunities {
    /// How far it may go; `None` before its first opportunity.
    allowed: Option<Locality>,
    /// Nodes that were offered at this level, whether it took them or not: Hadoop takes the count back only when it allows the next
    /// level.
    seen: u32,
}

impl Opportunities {
    /// A node is offered: how far from its data the job may launch there.
    pub(super) fn offered(&mut self, nodes: usize, thresholds: Thresholds) -> Reach {
        self.seen = self.seen.saturating_add(1);
        let Some(allowed) = self.allowed else {
            self.allowed = Some(Locality::Node);
            return Reach::Node;
        };
        let (threshold, next) = match allowed {
            Locality::Node => (thresholds.node, Locality::Rack),
            Locality::Rack => (thresholds.rack, Locality::Off),
            Locality::Off => return Reach::Any,
        };
        if f64::from(self.seen) > nodes as f64 * threshold {
            (self.allowed, self.seen) = (Some(next), 0);
        }
        match self.allowed {
            Some(Locality::Node) | None => Reach::Node,
            Some(Locality::Rack) => Reach::Rack,
            Some(Locality::Off) => Reach::Any,
        }
    }

    /// The job has launched a map at this level: it goes no farther from now on.
    pub(super) fn launched(&mut self, level: Locality) {
        self.allowed = self.allowed.map(|allowed| allowed.min(level));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF: Thresholds = Thresholds { node: 0.5, rack: 0.5 };

    #[test]
    fn b5c_a_job_goes_farther_after_as_many_nodes_as_the_threshold_says() {
        let mut job = Opportunities::default();
        // Ten nodes: five are refused, the sixth may be of a rack with the data; five more, and then any.
        let reaches: Vec<Reach> = (0..13).map(|_| job.offered(10, HALF)).collect();
        let expected = [[Reach::Node; 5].as_slice(), &[Reach::Rack; 6], &[Reach::Any; 2]].concat();
        assert_eq!(reaches, expected);
    }

    #[test]
    fn b5c_a_nearer_launch_closes_the_farther_levels() {
        let mut job = Opportunities { allowed: Some(Locality::Off), seen: 3 };
        job.launched(Locality::Off);
        assert_eq!(job.offered(10, HALF), Reach::Any);
        job.launched(Locality::Node);
        assert_eq!(job.offered(10, HALF), Reach::Node);
    }
}
