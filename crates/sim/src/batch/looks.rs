//! Whether a stage of Spark looks where the stage ran whose output it reads.
//!
//! Spark does so unless a setting or a library forbids it: readers that fetch from a remote store, such as those of a GPU or a shuffle service,
//! name no places. The log shows it: if a machine held much of the input, tasks that look at it are launched under `NODE_LOCAL` or `ANY`.

use std::collections::BTreeMap;

use super::shuffles;

/// Where a task ran.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Ran {
    /// True if an attempt shows how near it ran to a place that the task prefers.
    shows_level: bool,
    /// The number of the host of its last attempt.
    host: Option<u32>,
}

impl Ran {
    /// Takes an attempt, in the order of the log.
    pub(super) fn see(&mut self, shows_level: bool, host: Option<&str>, looks: &mut Looks) {
        self.shows_level |= shows_level;
        self.host = host.map(|host| looks.number(host)).or(self.host);
    }
}

/// Finds which stages look at places.
#[derive(Debug, Default)]
pub(super) struct Looks {
    hosts: BTreeMap<String, u32>,
}

/// What is seen of a stage.
#[derive(Debug, Clone, Default)]
struct Seen {
    tasks: usize,
    shows_level: bool,
    /// How many tasks ran on each host.
    hosts: BTreeMap<u32, u32>,
}

impl Looks {
    fn number(&mut self, host: &str) -> u32 {
        if let Some(&number) = self.hosts.get(host) {
            return number;
        }
        // Each host is in the trace, so that there are not more than fit.
        let number = self.hosts.len() as u32;
        self.hosts.insert(host.to_owned(), number);
        number
    }

    /// For each stage of a job, whether its tasks look at where its one parent ran; `None` if the log leaves it open. `tasks` has the stage of
    /// each task and where it ran.
    pub(super) fn of(
        &self,
        parents: Vec<Option<usize>>,
        tasks: impl Iterator<Item = (usize, Ran)>,
    ) -> Vec<Option<bool>> {
        if parents.iter().all(Option::is_none) {
            return vec![None; parents.len()];
        }
        let mut seen = vec![Seen::default(); parents.len()];
        for (stage, ran) in tasks {
            let Some(stage) = seen.get_mut(stage) else { continue };
            stage.tasks += 1;
            stage.shows_level |= ran.shows_level;
            if let Some(host) = ran.host {
                *stage.hosts.entry(host).or_default() += 1;
            }
        }
        let look = |(other, parent): (&Seen, &Option<usize>)| {
            let parent = parent.and_then(|parent| seen.get(parent))?;
            if other.shows_level {
                return Some(true);
            }
            let few = [other, parent].iter().all(|stage| stage.tasks < shuffles::MOST_TASKS);
            let all: u32 = parent.hosts.values().sum();
            let is_preferred = parent.hosts.values().any(|&tasks| shuffles::is_enough(tasks, all));
            (few && is_preferred).then_some(false)
        };
        seen.iter().zip(&parents).map(look).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(shows_level: bool, hosts: &[&str]) -> Option<bool> {
        let mut looks = Looks::default();
        let mut tasks = Vec::new();
        for host in hosts {
            let mut ran = Ran::default();
            ran.see(false, Some(host), &mut looks);
            tasks.push((0, ran));
        }
        let mut ran = Ran::default();
        ran.see(shows_level, Some("a"), &mut looks);
        tasks.push((1, ran));
        looks.of(vec![None, Some(0)], tasks.into_iter())[1]
    }

    #[test]
    fn a_stage_that_was_launched_without_preference_although_a_host_held_its_input_does_not_look() {
        assert_eq!(look(true, &["a", "b"]), Some(true));
        assert_eq!(look(false, &["a", "b"]), Some(false));
        assert_eq!(look(false, &["a", "b", "c", "d", "e", "f"]), None, "no host held a fifth");
        assert_eq!(Looks::default().of(vec![None, None], std::iter::empty()), [None, None]);
    }
}
