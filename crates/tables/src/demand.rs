//! How much a job asks for: what its tasks ask for together.

use std::collections::BTreeMap;

use crate::named::as_text;

/// What tasks that may all run at once ask for together. Unknown is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Demand {
    /// Processor, in thousandths of a core.
    pub cpu: Option<i64>,
    /// Memory, bytes.
    pub memory: Option<i64>,
    /// On how many machines the tasks must lie: the most that one of them asks for.
    pub machines: Option<i64>,
    /// Other resources, by name.
    pub resources: BTreeMap<String, u64>,
}

impl Demand {
    /// Adds a task with so many instances, of which each asks for these amounts.
    pub fn add<'a>(
        &mut self,
        instances: i64,
        [cpu, memory]: [Option<i64>; 2],
        machines: Option<i64>,
        resources: impl IntoIterator<Item = (&'a str, u64)>,
    ) {
        let instances = instances.max(1);
        let more = |sum: &mut Option<i64>, each: Option<i64>| {
            if let Some(each) = each {
                *sum = Some(sum.unwrap_or(0).saturating_add(each.saturating_mul(instances)));
            }
        };
        more(&mut self.cpu, cpu);
        more(&mut self.memory, memory);
        self.machines = self.machines.max(machines);
        for (name, each) in resources {
            let all = each.saturating_mul(instances.unsigned_abs());
            match self.resources.get_mut(name) {
                Some(sum) => *sum = sum.saturating_add(all),
                None => {
                    self.resources.insert(name.to_owned(), all);
                }
            }
        }
    }

    /// Raises each amount to that of another stage of the job, if that asks for more.
    pub fn raise(&mut self, other: Self) {
        self.cpu = self.cpu.max(other.cpu);
        self.memory = self.memory.max(other.memory);
        self.machines = self.machines.max(other.machines);
        for (name, amount) in other.resources {
            let sum = self.resources.entry(name).or_default();
            *sum = amount.max(*sum);
        }
    }

    /// The other resources as one text; `None` for none.
    pub fn resources(&self) -> Option<String> {
        as_text(self.resources.iter().map(|(name, amount)| (name.as_str(), *amount)))
    }
}

/// How many GPUs there are among amounts of named resources, such as `gres/gpu=4`. Models such as `gres/gpu:a100` are parts of the number
/// without a model, if that is given.
pub fn gpus<'a>(amounts: impl IntoIterator<Item = (&'a str, u64)>) -> u64 {
    let (mut all, mut of_models) = (0u64, 0u64);
    for (name, amount) in amounts {
        let name = name.rsplit('/').next().unwrap_or(name);
        match name.split_once(':') {
            None if name == "gpu" => all = all.saturating_add(amount),
            Some(("gpu", _)) => of_models = of_models.saturating_add(amount),
            _ => {}
        }
    }
    all.max(of_models)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::named::amounts;

    #[test]
    fn a_job_asks_for_what_the_tasks_of_its_largest_stage_ask_for_together() {
        let mut first = Demand::default();
        first.add(8, [Some(1_000), Some(5)], Some(2), [("gres/gpu", 1)]);
        first.add(1, [Some(500), None], None, []);
        let mut second = Demand::default();
        second.add(1, [Some(2_000), Some(100)], Some(3), [("bb", 7)]);
        first.raise(second);
        assert_eq!((first.cpu, first.memory, first.machines), (Some(8_500), Some(100), Some(3)));
        assert_eq!(first.resources().as_deref(), Some("bb=7,gres/gpu=8"));
        let mut unknown = Demand::default();
        unknown.add(3, [None, None], None, []);
        assert_eq!(unknown, Demand::default());
    }

    #[test]
    fn gpus_of_a_model_are_not_counted_twice() {
        for (text, expected) in [
            ("gres/gpu=4", 4),
            ("gres/gpu=4,gres/gpu:a100=3,gres/gpu:h100=1", 4),
            ("gres/gpu:a100=3,gres/gpu:h100=1", 4),
            ("nvidia.com/gpu=2,bb=9,gres/gpumem=5", 2),
            ("", 0),
        ] {
            assert_eq!(gpus(amounts(text)), expected, "{text}");
        }
    }
}
