//! The partitions and their machines.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use fixedbitset::FixedBitSet;
use resched_sim::Ms;
use resched_sim::batch::View;

use crate::queues::slurm::SlurmConf;

/// A partition.
#[derive(Debug, Clone, Default)]
pub(super) struct Partition {
    pub(super) tier: u32,
    pub(super) job_factor: u32,
    pub(super) max_time: Option<Ms>,
    pub(super) default_time: Option<Ms>,
    /// True if its jobs have their machines for themselves.
    pub(super) exclusive: bool,
    /// What becomes of its jobs that lose their place; `None`: as the whole cluster says.
    pub(super) preempt_mode: Option<String>,
    /// How long they may run on then, ms.
    pub(super) grace_time: Ms,
    /// The quality of service whose settings hold for its jobs.
    pub(super) qos: Option<String>,
    /// Its machines.
    machines: Rc<FixedBitSet>,
}

/// The partitions. One that the site does not know has all machines.
#[derive(Debug)]
pub(super) struct Partitions {
    all: Vec<Partition>,
    names: BTreeMap<String, usize>,
    /// The place of one that has all machines, for those that the site does not know.
    everything: usize,
    /// The features of each machine; empty if no machine has any.
    features: Vec<Vec<Arc<str>>>,
    /// The machines of a partition that have features.
    with_features: BTreeMap<(usize, Arc<str>), Rc<FixedBitSet>>,
}

impl Partitions {
    pub(super) fn new(conf: &SlurmConf, view: View<'_>) -> Self {
        let features: Vec<Vec<Arc<str>>> = view.nodes().map(|(_, machine)| machine.features.clone()).collect();
        let known = features.iter().any(|feature| !feature.is_empty());
        let mut made = Self {
            all: Vec::new(),
            names: BTreeMap::new(),
            everything: 0,
            features: if known { features } else { Vec::new() },
            with_features: BTreeMap::new(),
        };
        // Clones of a machine are in its partitions.
        let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (node, machine) in view.nodes() {
            places.entry(machine.original()).or_default().push(node.index());
        }
        for partition in &conf.partitions {
            let mut machines = FixedBitSet::with_capacity(view.nodes().len());
            if partition.nodes.is_empty() {
                machines.insert_range(..);
            }
            let listed = partition.nodes.iter().filter_map(|name| places.get(name.as_str()));
            listed.flatten().for_each(|&place| machines.insert(place));
            // A partition none of whose machines are there has all: the log is of another cluster.
            if machines.is_clear() {
                machines.insert_range(..);
            }
            made.names.insert(partition.name.clone(), made.all.len());
            made.all.push(Partition {
                tier: partition.tier,
                job_factor: partition.job_factor,
                max_time: partition.max_time,
                default_time: partition.default_time,
                exclusive: partition.exclusive,
                preempt_mode: partition.preempt_mode.clone(),
                grace_time: partition.grace_time,
                qos: partition.qos.clone(),
                machines: Rc::new(machines),
            });
        }
        let mut everything = FixedBitSet::with_capacity(view.nodes().len());
        everything.insert_range(..);
        let default = conf.partitions.iter().position(|partition| partition.is_default);
        made.names.insert(String::new(), default.unwrap_or(made.all.len()));
        made.everything = made.all.len();
        made.all.push(Partition { tier: 1, job_factor: 1, machines: Rc::new(everything), ..Partition::default() });
        made
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// The place of the partition of this name.
    pub(super) fn of(&mut self, name: &str) -> usize {
        if let Some(&place) = self.names.get(name) {
            return place;
        }
        let unknown = self.all[self.everything].clone();
        self.names.insert(name.to_owned(), self.all.len());
        self.all.push(unknown);
        self.all.len() - 1
    }

    pub(super) fn get(&self, place: usize) -> &Partition {
        &self.all[place]
    }

    /// The machines of a partition.
    pub(super) fn machines(&self, place: usize) -> &FixedBitSet {
        &self.all[place].machines
    }

    /// The machines of a partition that have what a job asks for: `a&b` for both, `a|b` for one of them.
    pub(super) fn with_features(&mut self, place: usize, asked: &Arc<str>) -> Rc<FixedBitSet> {
        let all = Rc::clone(&self.all[place].machines);
        if asked.is_empty() || self.features.is_empty() {
            return all;
        }
        let features = &self.features;
        let found = self.with_features.entry((place, Arc::clone(asked))).or_insert_with(|| {
            let mut machines = all.as_ref().clone();
            for machine in all.ones().filter(|&machine| !satisfies(asked, &features[machine])) {
                machines.set(machine, false);
            }
            Rc::new(machines)
        });
        Rc::clone(found)
    }
}

/// True if a machine has the features of an expression. Counts (`a*2`) and brackets are those of single machines.
fn satisfies(asked: &str, has: &[Arc<str>]) -> bool {
    let plain = |name: &str| {
        let name = name.split('*').next().unwrap_or(name).trim_matches(['[', ']', '(', ')', ' ']);
        name.is_empty() || has.iter().any(|known| **known == *name)
    };
    asked.split('|').any(|one| one.split(['&', ',']).all(plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_asked_for_with_and_and_or() {
        let has: Vec<Arc<str>> = ["fast", "big"].map(Arc::from).to_vec();
        for (asked, expected) in [
            ("fast", true),
            ("slow", false),
            ("fast&big", true),
            ("fast&slow", false),
            ("slow|big", true),
            ("[slow|fast]", true),
            ("fast*2", true),
        ] {
            assert_eq!(satisfies(asked, &has), expected, "{asked}");
        }
    }
}
