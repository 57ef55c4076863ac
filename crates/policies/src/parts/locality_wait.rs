//! How long jobs wait for a node, then for a rack, with their data (`docs/model/delay.md`).
//!
//! Algorithm 3 of the delay scheduling paper and Hadoop's Fair Scheduler of 2011 have the same rule: a launch allows
//! further launches at its level, but no farther, and restarts the wait.

use resched_sim::hadoop::{Kind, Offer, Reach};
use resched_sim::{JobId, Ms, Violation};
use resched_tables::model::Locality;

use crate::parts::by_id::ByJob;
use crate::settings::parameter;

/// The longest automatic wait, ms.
const LONGEST_AUTO: Ms = 15_000;

parameter! {
    /// wait for a node with the data; auto: 1.5 heartbeats, 15 s at most
    pub(crate) DELAY_NODE: Option<Ms> = "delay_node" {
        auto: Negative, range: 0..=86_400_000, unit: "ms",
        hadoop: ["mapred.fairscheduler.locality.delay.node", "mapred.fairscheduler.locality.delay"],
    }
}

parameter! {
    /// further wait for a rack with the data; auto: 1.5 heartbeats, 15 s at most
    pub(crate) DELAY_RACK: Option<Ms> = "delay_rack" {
        auto: Negative, range: 0..=86_400_000, unit: "ms",
        hadoop: ["mapred.fairscheduler.locality.delay.rack", "mapred.fairscheduler.locality.delay"],
    }
}

/// How long a job waits for a node, and then for a rack, with its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waits {
    /// For a node (T1), ms.
    pub node: Ms,
    /// For a rack (T2), ms.
    pub rack: Ms,
}

impl Waits {
    /// A wait that is not set is Hadoop's automatic one: 1.5 heartbeat intervals, 15 s at most. All times are in ms.
    pub fn resolve(node: Option<Ms>, rack: Option<Ms>, heartbeat_interval: Ms) -> Self {
        let auto = (heartbeat_interval * 3 / 2).min(LONGEST_AUTO);
        Self { node: node.unwrap_or(auto), rack: rack.unwrap_or(auto) }
    }
}

/// The wait of one job.
#[derive(Debug, Clone, Copy)]
struct Wait {
    /// The level of its last launch.
    last: Locality,
    /// For how long it has waited up to `since`, ms.
    waited: Ms,
    /// From when on it waits without a break, ms; `None` if it does not.
    since: Option<Ms>,
    /// The number of the last consultation at which it was asked.
    asked: u64,
    /// True if it had no map for the node then that it may launch.
    in_vain: bool,
}

impl Default for Wait {
    fn default() -> Self {
        Self { last: Locality::Node, waited: 0, since: None, asked: 0, in_vain: false }
    }
}

/// The waits of all jobs. Between [`LocalityWaits::begin`] and [`LocalityWaits::end`] lies one consultation of a node; a job
/// that was asked for a map there and launched none waits until the next consultation of any node.
#[derive(Debug, Default)]
pub struct LocalityWaits {
    jobs: ByJob<Wait>,
    /// Those that wait; at a consultation also those that have waited since the last one, or did until they launched.
    waiting: Vec<JobId>,
    /// How many jobs this consultation has skipped.
    skipped: usize,
    /// Its number.
    consultation: u64,
    /// Its time, ms.
    now: Ms,
}

impl LocalityWaits {
    /// A node is consulted.
    pub fn begin(&mut self, now: Ms) {
        (self.now, self.skipped) = (now, 0);
        self.consultation += 1;
    }

    /// How far from its data a job may launch now.
    fn reach(&self, job: JobId, waits: Waits) -> Reach {
        let Wait { last, waited, since, .. } = self.jobs[job];
        let waited = waited + since.map_or(0, |since| self.now - since);
        match last {
            Locality::Node if waited >= waits.node + waits.rack => Reach::Any,
            Locality::Node if waited >= waits.node => Reach::Rack,
            Locality::Node => Reach::Node,
            Locality::Rack if waited >= waits.rack => Reach::Any,
            Locality::Rack => Reach::Rack,
            Locality::Off => Reach::Any,
        }
    }

    /// A job is asked for a map.
    #[inline]
    fn visit(&mut self, job: JobId) {
        let wait = &mut self.jobs[job];
        if std::mem::replace(&mut wait.asked, self.consultation) == self.consultation {
            return;
        }
        wait.in_vain = false;
        self.skipped += 1;
        if wait.since.is_none() {
            wait.since = Some(self.now);
            self.waiting.push(job);
        }
    }

    /// The job that was asked launches a map at this level.
    fn launch(&mut self, job: JobId, level: Locality) {
        let wait = &mut self.jobs[job];
        self.skipped -= usize::from(wait.since.take().is_some());
        (wait.last, wait.waited) = (level, 0);
    }

    /// Asks a job for a map, no farther from its data than it may launch; `anywhere` says whether it need not wait, as none does with
    /// maps whose place is unknown. Returns whether it launched one.
    ///
    /// # Errors
    /// As [`Offer::launch`].
    #[inline]
    pub fn launch_map(
        &mut self,
        offer: &mut Offer<'_, '_>,
        job: JobId,
        waits: Waits,
        anywhere: impl FnOnce() -> bool,
    ) -> Result<bool, Violation> {
        self.visit(job);
        // Of a job that was asked in vain at this consultation, nothing has changed since.
        if self.jobs[job].in_vain || !offer.view().job(job).any_ready(Kind::Map) {
            return Ok(false);
        }
        self.ask(offer, job, waits, anywhere())
    }

    /// Asks a job that has maps to launch.
    fn ask(&mut self, offer: &mut Offer<'_, '_>, job: JobId, waits: Waits, anywhere: bool) -> Result<bool, Violation> {
        let anywhere = anywhere || offer.view().job(job).has_unplaced_maps();
        let reach = if anywhere { Reach::Any } else { self.reach(job, waits) };
        let level = offer.launch_map(job, reach)?;
        match level {
            Some(level) => self.launch(job, level),
            None => self.jobs[job].in_vain = true,
        }
        Ok(level.is_some())
    }

    /// The consultation is over.
    pub fn end(&mut self) {
        // Mostly those wait that waited before.
        if self.skipped == self.waiting.len() {
            return;
        }
        let Self { jobs, consultation, now, .. } = self;
        self.waiting.retain(|&job| {
            let wait = &mut jobs[job];
            if wait.asked != *consultation {
                wait.waited += wait.since.take().map_or(0, |since| *now - since);
            }
            wait.since.is_some()
        });
    }

    /// True if a job waits because of the last consultation: then the next one matters, whatever it finds.
    pub fn any_skipped(&self) -> bool {
        !self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::some_job;

    const PAPER: Waits = Waits { node: 15_000, rack: 15_000 };

    /// One job, asked in vain once a second for so many seconds.
    struct Lone {
        waits: LocalityWaits,
        job: JobId,
        now: Ms,
    }

    impl Lone {
        fn new() -> Self {
            Self::of(some_job())
        }

        fn of(job: JobId) -> Self {
            Self { waits: LocalityWaits::default(), job, now: 0 }
        }

        fn consult(&mut self, launches: Option<Locality>) {
            self.waits.begin(self.now);
            self.waits.visit(self.job);
            if let Some(level) = launches {
                self.waits.launch(self.job, level);
            }
            self.waits.end();
        }

        fn wait(&mut self, seconds: u32) -> Reach {
            for _ in 0..seconds {
                self.consult(None);
                self.now += 1_000;
            }
            self.waits.begin(self.now);
            self.waits.reach(self.job, PAPER)
        }
    }

    #[test]
    fn automatic_waits() {
        assert_eq!(Waits::resolve(None, None, 3_000), Waits { node: 4_500, rack: 4_500 });
        assert_eq!(Waits::resolve(None, None, 620), Waits { node: 930, rack: 930 });
        assert_eq!(Waits::resolve(None, Some(0), 60_000), Waits { node: 15_000, rack: 0 });
    }

    #[test]
    fn reach_grows_with_the_time_skipped() {
        let mut job = Lone::new();
        assert_eq!(job.wait(14), Reach::Node);
        assert_eq!(job.wait(1), Reach::Rack);
        assert_eq!(job.wait(14), Reach::Rack);
        assert_eq!(job.wait(1), Reach::Any);
    }

    #[test]
    fn a_rack_launch_keeps_the_rack_open() {
        let mut job = Lone::new();
        assert_eq!(job.wait(16), Reach::Rack);
        job.consult(Some(Locality::Rack));
        job.now += 1_000;
        assert_eq!(job.wait(14), Reach::Rack);
        assert_eq!(job.wait(1), Reach::Any);
    }

    #[test]
    fn only_skipped_time_counts() {
        let mut job = Lone::new();
        for _ in 0..100 {
            job.waits.begin(job.now);
            job.waits.end();
            job.now += 1_000;
        }
        assert_eq!(job.wait(14), Reach::Node);
    }

    /// Algorithm 3 of the paper, as it is written (`docs/model/delay.md`).
    #[derive(Debug, Clone, Copy, Default)]
    struct AsWritten {
        level: u8,
        wait: Ms,
        skipped: bool,
    }

    impl AsWritten {
        /// A heartbeat of a node with one free slot, so long after the one before; `nearest` is how near to the node the
        /// job has input. Returns whether the job launches a map.
        fn heartbeat(&mut self, since: Ms, nearest: Locality) -> bool {
            if std::mem::take(&mut self.skipped) {
                self.wait += since;
            }
            let (w1, w2) = (PAPER.node, PAPER.rack);
            let opened = if nearest == Locality::Node {
                0
            } else if nearest == Locality::Rack && (self.level >= 1 || self.wait >= w1) {
                1
            } else if self.level == 2 || self.level == 1 && self.wait >= w2 || self.level == 0 && self.wait >= w1 + w2 {
                2
            } else {
                self.skipped = true;
                return false;
            };
            (self.wait, self.level) = (0, opened);
            true
        }
    }

    #[test]
    fn with_one_slot_a_heartbeat_the_paper_and_hadoop_say_the_same() {
        // Every course of five heartbeats, each so long after the one before, with input so near.
        let steps: Vec<(Ms, Locality)> = [1_000, 15_000, 30_000]
            .into_iter()
            .flat_map(|since| [Locality::Node, Locality::Rack, Locality::Off].map(|nearest| (since, nearest)))
            .collect();
        let job = some_job();
        for course in 0..steps.len().pow(5) {
            let (mut written, mut hadoop) = (AsWritten::default(), Lone::of(job));
            for heartbeat in 0..5 {
                let (since, nearest) = steps[course / steps.len().pow(heartbeat) % steps.len()];
                hadoop.now += since;
                hadoop.waits.begin(hadoop.now);
                let launches = match hadoop.waits.reach(job, PAPER) {
                    Reach::Node => nearest == Locality::Node,
                    Reach::Rack => nearest <= Locality::Rack,
                    Reach::Any | Reach::OffRack => true,
                };
                hadoop.consult(launches.then_some(nearest));
                assert_eq!(launches, written.heartbeat(since, nearest), "course {course}, heartbeat {heartbeat}");
            }
        }
    }
}
