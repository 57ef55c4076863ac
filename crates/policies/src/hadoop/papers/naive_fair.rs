//! Naive fair sharing: Algorithm 1 of the delay scheduling paper (`docs/model/naive-fair.md`).
//!
//! **What it does.** Each free slot goes to the job that runs the fewest tasks of its kind. The job at once runs a map
//! with input on the node, or else any other map. So small jobs run far from their data, and a job gets the same slot
//! back again and again.
//!
//! **Source.** Delay scheduling (EuroSys 2010), Algorithm 1. Ties are broken by submission, then by id. After each
//! launch, the jobs are ordered anew.

use resched_sim::Violation;
use resched_sim::hadoop::{Kind, Offer, Policy, System};

use crate::info::{ALL_ACT, Build, Family, PolicyInfo};
use crate::parts::equal_order::EqualOrder;

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "naive-fair",
    title: "Naive fair sharing (no pools, no delay)",
    source: "Delay Scheduling, Algorithm 1",
    family: Family::Paper,
    oracle: false,
    parameters: &[],
    inputs: &[],
    idle: ALL_ACT,
    build: Build::Hadoop(System::Slots, |_, _| Ok(Box::new(NaiveFair::default()))),
};

/// The policy.
#[derive(Debug, Default)]
struct NaiveFair {
    order: EqualOrder,
}

impl Policy for NaiveFair {
    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        for kind in Kind::BOTH {
            self.order.launch(offer, kind)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Scenario, job, map};

    #[test]
    fn each_slot_goes_to_the_job_that_runs_the_fewest() {
        // A takes all seven slots at 0. Two of its maps are over at 3,000: B and C get one slot each. Two more are over at
        // 6,000: A runs three, B and C one each, and all have maps that wait. All data lies on the last node, which is busy.
        let runs = [1_000, 1_000, 4_000, 4_000, 600_000, 600_000, 600_000, 600_000, 600_000];
        let waiting = || map(600_000).on(&[6]);
        let launches = Scenario::nodes(7, 1, 0)
            .job(job("job_1_0001").each_map(runs.map(|run| map(run).on(&[6])).to_vec()))
            .job(job("job_1_0002").at(500).maps(3, waiting()))
            .job(job("job_1_0003").at(600).maps(3, waiting()))
            .launches("naive-fair");
        let at = |at: i64| -> Vec<(&str, usize)> {
            let then = launches.iter().filter(|launch| launch.at == at);
            then.map(|launch| (launch.job.as_str(), launch.node)).collect()
        };
        assert_eq!(at(3_000), [("job_1_0002", 0), ("job_1_0003", 1)]);
        assert_eq!(at(6_000), [("job_1_0002", 2), ("job_1_0003", 3)]);
    }

    #[test]
    fn the_poorer_job_launches_far_from_its_data() {
        // A has data on node 0 and runs two maps; B has none there, runs none, and gets the slot all the same.
        let launches = Scenario::nodes(2, 3, 0)
            .racks(2)
            .job(job("job_1_0001").maps(2, map(60_000).on(&[0])))
            .job(job("job_1_0002").at(10).maps(1, map(1_000).on(&[1])))
            .launches("naive-fair");
        let b = launches.iter().find(|launch| launch.job == "job_1_0002");
        assert!(
            b.is_some_and(|b| b.node == 0 && b.level == Some(resched_tables::model::Locality::Off)),
            "{launches:?}"
        );
    }

    #[test]
    fn a_job_gets_the_slot_back_that_it_gave() {
        // Ten jobs share a hundred slots; whoever finishes a map is the only one with nine, and gets that slot back.
        let mut world = Scenario::nodes(100, 1, 0).first_heartbeat(10).heartbeat(100);
        for number in 0..10 {
            let id = format!("job_1_{:04}", number + 1);
            let hosts: Vec<usize> = (0..100).collect();
            let spread = (0..40).map(|task: usize| map(10_000 + 13 * i64::from(number)).on(&[hosts[(task * 7) % 100]]));
            world = world.job(job(&id).each_map(spread.collect()));
        }
        let launches = world.launches("naive-fair");
        let mut owner = vec![None; 100];
        let (mut same, mut all) = (0, 0);
        for launch in launches.iter().filter(|launch| launch.at < 30_000) {
            if let Some(before) = owner[launch.node].replace(launch.job.clone()) {
                all += 1;
                same += usize::from(before == launch.job);
            }
        }
        assert!(all >= 100 && same * 10 >= all * 9, "{same} of {all} slots went back to the job that had them");
    }
}
