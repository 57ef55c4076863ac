//! FLEX: slots by layers, in the order that is best for a metric of your choice (`docs/model/baselines.md`).
//!
//! **What it does.** Each job gets its minimum of slots. The remaining slots go to the jobs in the order of the metric,
//! each up to its maximum. The order is the best order for jobs that run one after the other: for the mean response,
//! the least remaining work first; for the largest lateness, the earliest deadline first; and so on. A free slot goes
//! to the job that is farthest below its target. If no job is below its target, it goes to the first in order. Targets
//! are computed anew whenever a job arrives or a task ends.
//!
//! **Source.** FLEX (Middleware 2010). Decisions: both kinds of slot have one order, by the work of maps and reduces
//! together. A target is never larger than the number of unfinished tasks. If the minimums do not fit, the first jobs
//! in order get theirs. The weights of priorities are those of the Fair Scheduler. `stretch` is the weighted mean with
//! the weight 1/(length alone on the cluster), so its order is by work times that length. `tardy` is Moore and
//! Hodgson's rule on the remaining lengths, alone on the cluster; the jobs that it gives up come last. Traces hold no
//! deadlines. A job's deadline is its submission plus `deadline_factor` times its length alone on the cluster, by its
//! log. So `lateness` and `tardy` make FLEX an oracle, as `profile=logged` does. While no run times are known, jobs go
//! by the number of their tasks. Ties are broken by submission, then by id.

mod metric;

use resched_sim::hadoop::{AttemptEnd, Kind, Offer, Policy, System, View};
use resched_sim::{JobId, Ms, NodeId, TaskId, Violation};

use crate::error::Error;
use crate::info::{ALL_ACT, Build, Family, PolicyInfo};
use crate::parts::by_id::ByJob;
use crate::parts::fair_share::priority_weight;
use crate::parts::job_times::{JobTimes, Source};
use crate::parts::launch::{can_launch, launch_first};
use crate::parts::profile::Profile;
use crate::settings::settings;
use metric::{Metric, Ranked};

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "flex",
    title: "FLEX: slots by layers, in the best order for a metric",
    source: "FLEX (Middleware 2010)",
    family: Family::Reference,
    oracle: false,
    parameters: Settings::PARAMETERS,
    inputs: &[],
    idle: ALL_ACT,
    build: Build::Hadoop(System::Slots, |values, _| Ok(Box::new(Flex::new(Settings::read(values)?)?))),
};

settings! {
    /// What you can set.
    struct Settings {
        /// what is minimised: mean response (also by priority or length), lateness, late jobs, makespan
        metric: Metric = "metric" { choice: Metric::Mean, },
        /// source of run times; learnt: tasks that have ended; logged: the log (oracle)
        profile: Source = "profile" { choice: Source::Learnt, of: [Source::Learnt, Source::Logged] },
        /// slots of each kind that every job gets first
        min_slots: u32 = "min_slots" { default: 1, range: 0..=1_000_000, unit: "slots" },
        /// most slots of each kind for a job
        max_slots: u32 = "max_slots" { default: 1000000, range: 1..=1_000_000, unit: "slots" },
        /// a job's deadline, in lengths of the job alone on the cluster after its submission
        deadline_factor: f64 = "deadline_factor" { default: 2, range: 0..=1_000_000 },
    }
}

/// The policy.
#[derive(Debug)]
struct Flex {
    settings: Settings,
    times: JobTimes,
    logged: JobTimes,
    jobs: ByJob<Job>,
    /// The active jobs in the order of the metric.
    order: Vec<JobId>,
    /// The same, those that are farthest below their targets first.
    asked: Vec<JobId>,
    stale: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Job {
    deadline: Ms,
    target: [u32; 2],
}

/// The slots of each job by layers: the minimums in order while there are slots, then in order up to the maximums. `demands` are the
/// tasks that the jobs could run.
fn layers(demands: &[u32], slots: u32, min: u32, max: u32) -> Vec<u32> {
    let mut left = slots;
    let mut targets = vec![0; demands.len()];
    for bound in [min, max] {
        for (target, &demand) in targets.iter_mut().zip(demands) {
            let more = (demand.min(bound) - *target).min(left);
            *target += more;
            left -= more;
        }
    }
    targets
}

impl Flex {
    fn new(settings: Settings) -> Result<Self, Error> {
        let Settings { min_slots, max_slots, .. } = settings;
        if min_slots > max_slots {
            let problem = format!("min_slots ({min_slots}) is more than max_slots ({max_slots})");
            return Err(Error::Parameter(problem));
        }
        Ok(Self {
            times: JobTimes::new(settings.profile),
            settings,
            logged: JobTimes::new(Source::Logged),
            jobs: ByJob::default(),
            order: Vec::new(),
            asked: Vec::new(),
            stale: false,
        })
    }

    /// Computes order and targets.
    fn update(&mut self, view: View<'_>) {
        let mut ranked: Vec<Ranked> = view.jobs().iter().map(|&job| self.ranked(job, view)).collect();
        self.settings.metric.sort(&mut ranked, view.now());
        self.order.clear();
        self.order.extend(ranked.iter().map(|ranked| ranked.job));
        for kind in Kind::BOTH {
            let demand = |&job: &JobId| view.job(job).ready(kind) + view.job(job).running(kind);
            let demands: Vec<u32> = self.order.iter().map(demand).collect();
            let targets = layers(&demands, view.slots(kind), self.settings.min_slots, self.settings.max_slots);
            for (&job, target) in self.order.iter().zip(targets) {
                self.jobs[job].target[kind.index()] = target;
            }
        }
    }

    fn ranked(&self, job: JobId, view: View<'_>) -> Ranked {
        let seen = view.job(job);
        let profile = |tasks: &dyn Fn(Kind) -> u32| self.times.profile(job, tasks);
        let left = profile(&|kind| seen.desired(kind) - seen.finished(kind));
        let alone = |profile: &Profile| profile.alone(|kind| view.slots(kind));
        let weight = match self.settings.metric {
            Metric::Weighted => priority_weight(seen.priority()),
            // A job may have no length: nothing but tasks of 0 ms.
            Metric::Stretch => 1.0 / alone(&profile(&|kind| seen.desired(kind))).max(1.0),
            _ => 1.0,
        };
        Ranked { job, work: left.work(), length: alone(&left), weight, deadline: self.jobs[job].deadline }
    }
}

impl Policy for Flex {
    fn is_oracle(&self) -> bool {
        self.settings.profile == Source::Logged || self.settings.metric.needs_deadlines()
    }

    fn job_submitted(&mut self, job: JobId, view: View<'_>) {
        self.times.job_submitted(job, view);
        self.logged.job_submitted(job, view);
        let profile = self.logged.profile(job, |kind| view.job(job).desired(kind));
        let deadline = profile.deadline(view.job(job).submit(), self.settings.deadline_factor, |kind| view.slots(kind));
        self.jobs[job].deadline = deadline;
        self.stale = true;
    }

    fn job_finished(&mut self, _job: JobId, _view: View<'_>) {
        self.stale = true;
    }

    fn task_finished(&mut self, ended: &AttemptEnd, view: View<'_>) {
        self.times.task_finished(ended, view);
        self.stale = true;
    }

    fn task_waits(&mut self, _task: TaskId, _view: View<'_>) {
        self.stale = true;
    }

    fn node_lost(&mut self, _node: NodeId, _view: View<'_>) {
        self.stale = true;
    }

    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        if !can_launch(offer) {
            return Ok(());
        }
        if std::mem::take(&mut self.stale) {
            self.update(offer.view());
        }
        for kind in Kind::BOTH {
            loop {
                let (jobs, view) = (&self.jobs, offer.view());
                let missing =
                    |job: JobId| i64::from(jobs[job].target[kind.index()]) - i64::from(view.job(job).running(kind));
                self.asked.clone_from(&self.order);
                self.asked.sort_by_key(|&job| -missing(job).max(0));
                if launch_first(offer, kind, self.asked.iter().copied(), |_, _| Ok(()))?.is_none() {
                    break;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Launch, Scenario, job, map};

    #[test]
    fn layers_of_ten_slots() {
        assert_eq!(layers(&[20, 100], 10, 1, 10), [9, 1]);
        assert_eq!(layers(&[100], 10, 1, 10), [10]);
        assert_eq!(layers(&[3, 100, 100], 10, 1, 5), [3, 5, 2], "no more than a job can use, no more than its maximum");
        assert_eq!(layers(&[5, 5, 5], 2, 1, 10), [1, 1, 0], "the first in order get their minimum");
    }

    /// Launches of (job, job) at an instant.
    fn launched(launches: &[Launch], at: Ms) -> [usize; 2] {
        let of = |job: &str| launches.iter().filter(|launch| launch.at == at && launch.job == job).count();
        [of("job_1_0001"), of("job_1_0002")]
    }

    #[test]
    fn the_shorter_job_has_nine_of_ten_slots_until_it_is_done() {
        // 100 s and 20 s of work in maps of 0.1 s: 9 and 1 slots until 20/9 = 2.22 s, then 10.
        let world = Scenario::nodes(1, 10, 0)
            .first_heartbeat(10)
            .heartbeat(100)
            .job(job("job_1_0001").maps(1_000, map(100).on(&[0])))
            .job(job("job_1_0002").maps(200, map(100).on(&[0])));
        for policy in ["flex:profile=logged", "flex"] {
            let launches = world.launches(policy);
            let rounds: Vec<[usize; 2]> = (0..30).map(|round| launched(&launches, 10 + 100 * round)).collect();
            assert!(rounds[..22].iter().all(|&round| round == [1, 9]), "{policy}: {rounds:?}");
            assert_eq!(rounds[22..25], [[8, 2], [10, 0], [10, 0]], "{policy}");
        }
    }

    #[test]
    fn a_free_slot_goes_to_the_job_farthest_below_its_target() {
        // A runs ten maps when B comes, which is shorter and may have nine slots. Two of A's maps are over at 3,010, and B
        // gets both slots; at most one would be A's.
        let runs = (0..10).map(|number| map(if number < 2 { 2_000 } else { 9_000 }).on(&[0]));
        let waiting = std::iter::repeat_n(map(9_000).on(&[0]), 20);
        let world = Scenario::nodes(1, 10, 0)
            .first_heartbeat(10)
            .job(job("job_1_0001").each_map(runs.chain(waiting).collect()))
            .job(job("job_1_0002").at(500).maps(15, map(9_000).on(&[0])));
        assert_eq!(launched(&world.launches("flex:profile=logged"), 3_010), [0, 2]);
        assert_eq!(launched(&world.launches("flex:profile=logged,min_slots=5,max_slots=5"), 3_010), [0, 2]);
        assert_eq!(launched(&world.launches("flex:profile=logged,metric=makespan,min_slots=0"), 3_010), [2, 0]);
    }

    #[test]
    fn minimum_and_maximum_must_agree() {
        let error = crate::PolicySpec::parse("flex:min_slots=3,max_slots=2").err();
        assert!(error.is_some_and(|error| error.to_string().contains("min_slots (3) is more than max_slots (2)")));
    }

    #[test]
    fn each_metric_has_an_order_of_its_own() {
        // One slot. A: 30 s, high priority; B: 20 s, deadline first; C: 25 s. Deadlines are three lengths of the job alone.
        let one = |number: u32, seconds: i64| job(&format!("job_1_{number:04}")).maps(1, map(1_000 * seconds).on(&[0]));
        let world = Scenario::nodes(1, 1, 0)
            .first_heartbeat(10)
            .heartbeat(1_000)
            .job(one(1, 30).priority(resched_tables::model::Priority::VeryHigh))
            .job(one(2, 20))
            .job(one(3, 25));
        let order = |metric: &str, factor: &str| -> Vec<char> {
            let policy = format!("flex:profile=logged,metric={metric},deadline_factor={factor}");
            world.launches(&policy).iter().filter_map(|launch| launch.job.chars().last()).collect()
        };
        assert_eq!(order("mean", "2"), ['2', '3', '1']);
        assert_eq!(order("weighted", "2"), ['1', '2', '3']);
        assert_eq!(order("stretch", "2"), ['2', '3', '1']);
        assert_eq!(order("lateness", "2"), ['2', '3', '1']);
        assert_eq!(order("tardy", "1.4"), ['2', '3', '1']);
        assert_eq!(order("makespan", "2"), ['1', '2', '3']);
    }
}
