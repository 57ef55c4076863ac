//! Shortest remaining processing time first, with known run times: a reference, not a scheduler (`docs/model/baselines.md`).
//!
//! **What it does.** A free slot goes to the job with the least work left, a map near its input first. It knows from
//! the log how long each task will take. On one slot, if all jobs arrive at once, no schedule without preemption has a
//! lower mean response time. In other cases it is a reference for comparison.
//!
//! **Source.** Schrage, 1968. Decisions: a job's work is the sum of the logged run times of its maps and reduces that
//! have not ended, so a running task counts in full. A task without a logged success counts 0. Running tasks are not
//! preempted. With `order=total`, a job's work stays what it was at submission: shortest job first. Ties are broken by
//! submission, then by id.

use resched_sim::hadoop::{AttemptEnd, Kind, Offer, Policy, System, View};
use resched_sim::{JobId, Ms, TaskId, Violation};
use resched_tables::model::Outcome;

use crate::info::{ALL_ACT, Build, Family, PolicyInfo};
use crate::parts::by_id::{ByJob, ByTask};
use crate::parts::launch::launch_first;
use crate::settings::{choices, settings};

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "srpt",
    title: "Shortest remaining processing time first (oracle: knows run times)",
    source: "Schrage 1968",
    family: Family::Reference,
    oracle: true,
    parameters: Settings::PARAMETERS,
    inputs: &[],
    idle: ALL_ACT,
    build: Build::Hadoop(System::Slots, |values, _| Ok(Box::new(Srpt::new(Settings::read(values)?)))),
};

choices! {
    /// What comes first.
    enum Order {
        /// The least work that is left.
        Remaining = "remaining",
        /// The least work at the submission.
        Total = "total",
    }
}

settings! {
    /// What you can set.
    struct Settings {
        /// which job comes first; remaining: the least work left; total: the least work at submission (shortest job
        /// first)
        order: Order = "order" { choice: Order::Remaining, },
    }
}

/// The policy.
#[derive(Debug)]
struct Srpt {
    counts_down: bool,
    /// The work of each job, ms.
    work: ByJob<Ms>,
    /// Which tasks it no longer counts.
    ended: ByTask<bool>,
    order: Vec<JobId>,
}

impl Srpt {
    fn new(settings: Settings) -> Self {
        Self {
            counts_down: settings.order == Order::Remaining,
            work: ByJob::default(),
            ended: ByTask::default(),
            order: Vec::new(),
        }
    }
}

impl Srpt {
    /// Counts a task, or counts it no longer.
    fn count(&mut self, task: TaskId, counts: bool, view: View<'_>) {
        if std::mem::replace(&mut self.ended[task], !counts) == counts {
            let time = view.oracle().and_then(|oracle| oracle.run_time(task)).unwrap_or(0);
            self.work[view.job_of(task)] += if counts { time } else { -time };
        }
    }
}

impl Policy for Srpt {
    fn is_oracle(&self) -> bool {
        true
    }

    fn job_submitted(&mut self, job: JobId, view: View<'_>) {
        let oracle = view.oracle();
        let times =
            Kind::BOTH.into_iter().flat_map(|kind| oracle.into_iter().flat_map(move |o| o.run_times(job, kind)));
        self.work[job] = times.flatten().fold(0, Ms::saturating_add);
    }

    fn task_finished(&mut self, ended: &AttemptEnd, view: View<'_>) {
        if self.counts_down && ended.outcome == Outcome::Success {
            self.count(ended.task, false, view);
        }
    }

    fn task_waits(&mut self, task: TaskId, view: View<'_>) {
        // The output of a map that had ended may be lost.
        self.count(task, true, view);
    }

    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        self.order.clear();
        self.order.extend_from_slice(offer.view().jobs());
        self.order.sort_by_key(|&job| (self.work[job], job));
        for kind in Kind::BOTH {
            while launch_first(offer, kind, self.order.iter().copied(), |_, _| Ok(()))?.is_some() {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::cases::cases;
    use crate::testing::{JobSpec, Scenario, job, map};
    use proptest::prelude::*;
    use resched_sim::Ms;

    /// The first heartbeat, when all jobs have arrived.
    const FIRST: Ms = 10;

    /// A job that arrives at 0 with maps of so many seconds, on the only node.
    fn maps(number: usize, seconds: &[u32]) -> JobSpec {
        let maps = seconds.iter().map(|&seconds| map(1_000 * Ms::from(seconds)).on(&[0])).collect();
        job(&format!("job_1_{number:04}")).each_map(maps)
    }

    fn one_slot(jobs: &[Vec<u32>]) -> Scenario {
        let world = Scenario::nodes(1, 1, 0).first_heartbeat(FIRST).heartbeat(1_000);
        jobs.iter().enumerate().fold(world, |world, (number, seconds)| world.job(maps(number + 1, seconds)))
    }

    fn total_response(world: &Scenario, policy: &str) -> Ms {
        world.finishes(policy).iter().map(|(_, finish)| finish - FIRST).sum()
    }

    /// The least sum of completion times of jobs that run one after the other, over all their orders.
    fn least_total(lengths: &[Ms], clock: Ms) -> Ms {
        let of_first = |first: usize| {
            let mut others = lengths.to_vec();
            let end = clock + others.remove(first);
            end + least_total(&others, end)
        };
        (0..lengths.len()).map(of_first).min().unwrap_or(0)
    }

    proptest! {
        #![proptest_config(cases(100))]

        #[test]
        fn on_one_slot_no_order_has_a_lower_mean_response(
            jobs in prop::collection::vec(prop::collection::vec(1..=9_u32, 1..=4), 1..=5)
        ) {
            let world = one_slot(&jobs);
            let srpt = total_response(&world, "srpt");
            let lengths: Vec<Ms> = jobs.iter().map(|maps| 1_000 * Ms::from(maps.iter().sum::<u32>())).collect();
            prop_assert_eq!(srpt, least_total(&lengths, 0));
            prop_assert_eq!(srpt, total_response(&world, "srpt:order=total"), "nothing arrives later");
            for other in ["fifo", "naive-fair"] {
                prop_assert!(srpt <= total_response(&world, other), "{} is better", other);
            }
        }
    }

    #[test]
    fn the_shorter_job_goes_first_though_it_has_more_tasks() {
        let world = one_slot(&[vec![9], vec![2, 2, 2]]);
        assert_eq!(total_response(&world, "srpt"), 6_000 + 15_000);
        assert_eq!(total_response(&world, "fifo"), 9_000 + 15_000);
    }

    #[test]
    fn what_is_left_decides_and_not_what_there_was() {
        // At 9,010 the first job has one map of four left, 3 s; the second has come with 4 s.
        let world = one_slot(&[vec![3, 3, 3, 3]]).job(maps(2, &[4]).at(8_500));
        let second_starts = |policy: &str| {
            let launches = world.launches(policy);
            launches.iter().find(|launch| launch.job == "job_1_0002").map(|launch| launch.at)
        };
        assert_eq!(second_starts("srpt"), Some(12_010));
        assert_eq!(second_starts("srpt:order=total"), Some(9_010));
    }

    #[test]
    fn reduces_count() {
        let world = Scenario::nodes(1, 1, 1)
            .first_heartbeat(FIRST)
            .heartbeat(1_000)
            .job(job("job_1_0001").maps(1, map(1_000).on(&[0])).reduces(1, 50_000))
            .job(job("job_1_0002").maps(1, map(8_000).on(&[0])));
        assert_eq!(world.launches("srpt")[0].job, "job_1_0002");
    }
}
