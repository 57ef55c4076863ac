//! ARIA: earliest deadline first, where each job gets the fewest slots that meet its deadline (`docs/model/baselines.md`).
//!
//! **What it does.** Each job has a deadline and a profile: how many maps and reduces it has, and how long they take.
//! The profile gives bounds on its completion time for any number of slots. From these bounds follows the fewest slots,
//! of maps and reduces together, with which it ends in time. Jobs are served by deadline, and each gets that many
//! slots. Spare slots go to jobs in the same order.
//!
//! **Source.** ARIA (ICAC 2011); the names of the allocations are those of SimMR (CLUSTER 2011): `max` is plain
//! earliest deadline first, `min` gives no job more than its slots, `min-wc` also gives spare slots away
//! (work-conserving). Decisions: traces hold no deadlines. A job's deadline is its submission plus `deadline_factor`
//! times the lower bound of its length alone on the cluster, by its log. So the policy is an oracle, even with a learnt
//! profile. Slots are computed at submission, for the whole job. With a learnt profile, they are computed again
//! whenever a task of the job has ended, and a kind without known run times gets all slots. A job that cannot meet its
//! deadline gets all slots.

use resched_sim::hadoop::{AttemptEnd, Kind, Offer, Policy, System, View};
use resched_sim::{JobId, Ms, Violation};
use resched_tables::model::Reason;

use crate::info::{ALL_ACT, Build, Family, PolicyInfo};
use crate::parts::by_id::ByJob;
use crate::parts::job_times::{JobTimes, Source};
use crate::parts::launch::launch_first;
use crate::parts::profile::{Profile, Stage};
use crate::settings::{choices, settings};

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "aria",
    title: "ARIA: earliest deadline first, with the fewest slots that meet each deadline (oracle: knows run times)",
    source: "ARIA (ICAC 2011), SimMR (CLUSTER 2011)",
    family: Family::Reference,
    oracle: true,
    parameters: Settings::PARAMETERS,
    inputs: &[],
    idle: ALL_ACT,
    build: Build::Hadoop(System::Slots, |values, _| Ok(Box::new(Aria::new(Settings::read(values)?)))),
};

choices! {
    /// The slots that a job gets.
    enum Allocation {
        /// All that it can use.
        Most = "max",
        /// The least that meet its deadline.
        Least = "min",
        /// Those, and spare ones.
        LeastAndSpare = "min-wc",
    }
}

settings! {
    /// What you can set.
    struct Settings {
        /// slots of a job; max: all it can use; min: the least that meet its deadline; min-wc: these and spare ones
        allocation: Allocation = "allocation" { choice: Allocation::LeastAndSpare, },
        /// estimate of a job's length: the lower bound, the mean of both bounds, or the upper bound
        bound: Bound = "bound" { choice: Bound::Average, },
        /// source of run times; logged: the log; learnt: tasks that have ended
        profile: Source = "profile" { choice: Source::Logged, },
        /// a job's deadline, in lengths of the job alone on the cluster after its submission
        deadline_factor: f64 = "deadline_factor" { default: 2, range: 0..=1_000_000 },
    }
}

/// The policy.
#[derive(Debug)]
struct Aria {
    settings: Settings,
    logged: JobTimes,
    learnt: JobTimes,
    jobs: ByJob<Job>,
    order: Vec<JobId>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Job {
    deadline: Ms,
    /// Slots that it gets before others get spare ones, a kind each.
    slots: [u32; 2],
}

impl Aria {
    fn new(settings: Settings) -> Self {
        Self {
            settings,
            logged: JobTimes::new(Source::Logged),
            learnt: JobTimes::new(Source::Learnt),
            jobs: ByJob::default(),
            order: Vec::new(),
        }
    }

    /// True if run times are learnt from tasks that have ended.
    fn learns(&self) -> bool {
        self.settings.profile == Source::Learnt
    }

    /// Computes the slots of a job.
    fn allocate(&mut self, job: JobId, view: View<'_>) {
        let learns = self.learns();
        let times = if learns { &self.learnt } else { &self.logged };
        let profile = times.profile(job, |kind| view.job(job).desired(kind));
        let state = &mut self.jobs[job];
        let least = least_slots(&profile, self.settings.bound, (state.deadline - view.job(job).submit()) as f64);
        let saves = self.settings.allocation != Allocation::Most;
        state.slots = Kind::BOTH.map(|kind| match least {
            Some(least) if saves && (times.knows(job, kind) || !learns) => least[kind.index()],
            _ => u32::MAX,
        });
    }

    /// Gives what nobody needs to meet a deadline to jobs in order. From now on each of them waits only for its turn.
    fn give_spare(&self, offer: &mut Offer<'_, '_>, kind: Kind) -> Result<(), Violation> {
        if offer.free(kind) > 0 && offer.view().wants_reasons() {
            self.order.iter().for_each(|&job| offer.view().pass_over(job, kind, Reason::None));
        }
        while launch_first(offer, kind, self.order.iter().copied(), |_, _| Ok(()))?.is_some() {}
        Ok(())
    }
}

impl Policy for Aria {
    fn is_oracle(&self) -> bool {
        true
    }

    fn job_submitted(&mut self, job: JobId, view: View<'_>) {
        self.logged.job_submitted(job, view);
        self.learnt.job_submitted(job, view);
        let profile = self.logged.profile(job, |kind| view.job(job).desired(kind));
        let deadline = profile.deadline(view.job(job).submit(), self.settings.deadline_factor, |kind| view.slots(kind));
        self.jobs[job].deadline = deadline;
        self.allocate(job, view);
        let jobs = &self.jobs;
        let place = self.order.partition_point(|&other| (jobs[other].deadline, other) < (deadline, job));
        self.order.insert(place, job);
    }

    fn job_finished(&mut self, job: JobId, _view: View<'_>) {
        self.order.retain(|&other| other != job);
    }

    fn task_finished(&mut self, ended: &AttemptEnd, view: View<'_>) {
        if self.learns() {
            self.learnt.task_finished(ended, view);
            self.allocate(ended.job, view);
        }
    }

    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let spare = self.settings.allocation == Allocation::LeastAndSpare;
        for kind in Kind::BOTH {
            let jobs = &self.jobs;
            let within = |job: JobId, view: View<'_>| {
                let is_within = view.job(job).running(kind) < jobs[job].slots[kind.index()];
                if is_within { Ok(()) } else { Err(Reason::Reserve) }
            };
            let order = || self.order.iter().copied();
            while launch_first(offer, kind, order(), within)?.is_some() {}
            if spare {
                self.give_spare(offer, kind)?;
            }
        }
        Ok(())
    }
}

choices! {
    /// Which estimate of a job's length: the lower bound, the upper one, or their mean.
    enum Bound {
        Low = "low",
        Average = "average",
        Up = "up",
    }
}

impl Bound {
    /// How much of the upper bound is in it.
    fn share(self) -> f64 {
        match self {
            Bound::Low => 0.0,
            Bound::Average => 0.5,
            Bound::Up => 1.0,
        }
    }

    /// A stage lasts `work/slots + rest` on so many slots, ms: (work, rest).
    fn split(self, stage: &Stage) -> (f64, f64) {
        if stage.tasks == 0 {
            return (0.0, 0.0);
        }
        ((f64::from(stage.tasks) - self.share()) * stage.mean, self.share() * stage.longest)
    }
}

/// The least slots of each kind with which a job ends within so many ms; `None` if no number is enough. A kind that the job has gets
/// one slot at least, and no more than it has tasks.
fn least_slots(profile: &Profile, bound: Bound, within: f64) -> Option<[u32; 2]> {
    let (a, rest_a) = bound.split(&profile.maps);
    let (b, rest_b) = bound.split(&profile.reduces);
    let left = within - profile.first_shuffle - rest_a - rest_b;
    let least = (left > 0.0).then(|| fewest(a, b, left))?;
    let whole = |slots: f64, tasks: u32| (slots.ceil() as u32).clamp(1, tasks.max(1));
    Some([whole(least.0, profile.maps.tasks), whole(least.1, profile.reduces.tasks)])
}

/// The `x` and `y` of the smallest sum with `a/x + b/y = time`, by Lagrange's method: `√a(√a + √b)/time` and
/// `√b(√a + √b)/time`. Multiplied out, so that a whole number is not rounded up to the next.
fn fewest(a: f64, b: f64, time: f64) -> (f64, f64) {
    let between = (a * b).sqrt();
    ((a + between) / time, (b + between) / time)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::testing::{Launch, Scenario, job, map};

    #[test]
    fn the_fewest_slots_that_meet_a_deadline() {
        assert_eq!(fewest(1_600.0, 400.0, 60.0), (40.0, 20.0));
    }

    #[test]
    fn the_fewest_slots_are_fewer_than_any_others_that_meet_it() {
        let (a, b, time) = (1_600.0, 400.0, 60.0);
        let (x, y) = fewest(a, b, time);
        for other in 1..400 {
            let other = f64::from(other) / 4.0;
            let needed = b / (time - a / other);
            assert!(needed <= 0.0 || other + needed >= x + y - 1e-9, "{other} and {needed}");
        }
    }

    #[test]
    fn with_the_slots_of_a_bound_the_bound_is_the_deadline() {
        let stage = |tasks, mean, longest| Stage { tasks, mean, longest };
        let profile = Profile { maps: stage(60, 10.0, 16.0), reduces: stage(30, 20.0, 25.0), first_shuffle: -3.0 };
        for (bound, share) in [(Bound::Low, 0.0), (Bound::Average, 0.5), (Bound::Up, 1.0)] {
            let (a, rest_a) = bound.split(&profile.maps);
            let (b, rest_b) = bound.split(&profile.reduces);
            let (x, y) = fewest(a, b, 200.0 + 3.0 - rest_a - rest_b);
            let length = |stage: &Stage, slots: f64| {
                let low = f64::from(stage.tasks) * stage.mean / slots;
                let up = f64::from(stage.tasks - 1) * stage.mean / slots + stage.longest;
                low + share * (up - low)
            };
            let total = length(&profile.maps, x) + length(&profile.reduces, y) + profile.first_shuffle;
            assert!((total - 200.0).abs() < 1e-9, "{bound:?}: {total}");
        }
    }

    #[test]
    fn a_deadline_that_cannot_be_met_has_no_slots() {
        let profile = Profile { maps: Stage { tasks: 3, mean: 10.0, longest: 30.0 }, ..Profile::default() };
        assert_eq!(least_slots(&profile, Bound::Up, 30.0), None);
        assert_eq!(least_slots(&profile, Bound::Up, 40.0), Some([2, 1]));
        assert_eq!(least_slots(&profile, Bound::Low, 1.0), Some([3, 1]), "no more than it has tasks");
    }

    /// How many tasks of a job are launched at an instant: (maps, reduces).
    fn launched(launches: &[Launch], job: &str, at: Ms) -> (usize, usize) {
        let then = launches.iter().filter(|launch| launch.job == job && launch.at == at);
        let (maps, reduces): (Vec<_>, Vec<_>) = then.partition(|launch| launch.task.contains("_m_"));
        (maps.len(), reduces.len())
    }

    /// 80 map slots, 40 reduce slots; alone on them, the job takes 160·10/80 + 40·10/40 = 30 s, so it has 60 s.
    fn w_world() -> Scenario {
        let all: Vec<usize> = (0..40).collect();
        Scenario::nodes(40, 2, 1)
            .heartbeat(1_000)
            .job(job("job_1_0001").maps(160, map(10_000).on(&all)).reduces(40, 10_000))
    }

    #[test]
    fn a_job_gets_exactly_its_slots() {
        let launches = w_world().launches("aria:allocation=min,bound=low,deadline_factor=2");
        assert_eq!([0, 10_000, 20_000, 30_000].map(|at| launched(&launches, "job_1_0001", at).0), [40; 4]);
        let reduces: usize = (0..40_000).step_by(1_000).map(|at| launched(&launches, "job_1_0001", at).1).sum();
        assert_eq!(reduces, 20, "20 wait for the others");
        let finish = w_world().finishes("aria:allocation=min,bound=low,deadline_factor=2")[0].1;
        assert!((60_000..=62_000).contains(&finish), "{finish}");
        assert_eq!(launched(&w_world().launches("aria"), "job_1_0001", 0).0, 80, "spare slots are given away");
        assert_eq!(launched(&w_world().launches("aria:allocation=max"), "job_1_0001", 0).0, 80);
    }

    #[test]
    fn slots_beyond_those_of_a_job_are_kept_unless_they_are_spare() {
        let is_kept = |allocation: &str| {
            let policy = format!("aria:allocation={allocation},bound=low,deadline_factor=2");
            w_world().reasons(&policy, "job_1_0001").iter().any(|&(_, reason, _)| reason == Reason::Reserve)
        };
        assert_eq!(["min", "min-wc", "max"].map(is_kept), [true, false, false]);
    }

    #[test]
    fn the_earlier_deadline_goes_first_and_what_is_left_to_later_jobs() {
        // Four slots. A has 12 maps of 10 s, 30 s alone; B has 2, 10 s alone. With a factor of 3 A has until 90,000 and needs
        // two slots (1.33), B has until 30,500 and needs one.
        let world = || {
            Scenario::nodes(1, 4, 0)
                .first_heartbeat(1_000)
                .heartbeat(1_000)
                .job(job("job_1_0001").maps(12, map(10_000).on(&[0])))
                .job(job("job_1_0002").at(500).maps(2, map(10_000).on(&[0])))
        };
        let first = |policy: &str| {
            let launches = world().launches(policy);
            ["job_1_0001", "job_1_0002"].map(|job| launched(&launches, job, 1_000).0)
        };
        let aria = |allocation: &str| first(&format!("aria:deadline_factor=3,bound=low,allocation={allocation}"));
        assert_eq!(aria("max"), [2, 2]);
        assert_eq!(aria("min"), [2, 1]);
        assert_eq!(aria("min-wc"), [2, 2], "B's deadline is earlier, so the spare slot is B's");
        assert_eq!(first("fifo"), [4, 0]);
    }

    #[test]
    fn a_learnt_profile_starts_with_all_slots_and_shrinks() {
        // Nothing is known at first: eight maps. Then maps are known to take 10 s: a = 400 s, within 100 s, are four slots.
        let world = Scenario::nodes(1, 8, 0).heartbeat(1_000).job(job("job_1_0001").maps(40, map(10_000).on(&[0])));
        let launches = world.launches("aria:profile=learnt,allocation=min,bound=low,deadline_factor=2");
        let at = |at| launched(&launches, "job_1_0001", at).0;
        assert_eq!([0, 10_000, 20_000, 30_000].map(at), [8, 4, 4, 4]);
    }
}
