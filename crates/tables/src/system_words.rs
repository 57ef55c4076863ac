//! How people of a system call what it has: the one place for the words in texts about a trace or a run.
//!
//! Texts are written for Hadoop and batch systems, and asked for by [`System::says`] wherever a reader of Spark expects other words. A
//! text that is not in the list stays as it is.

use crate::engine::System;

/// The usual texts, and those for Spark. `{its}` stands for whose, as in the usual ones.
const SPARK: &[(&str, &str)] = &[
    // Columns and titles.
    ("queue", "pool"),
    ("Queue", "Pool"),
    ("by queue", "by pool"),
    ("node", "worker"),
    ("nodes", "workers"),
    ("machines", "workers"),
    ("Maps", "Tasks"),
    ("Maps (%)", "Tasks (%)"),
    ("launched maps", "launched tasks"),
    ("Maps by locality", "Tasks by locality"),
    ("By queue", "By pool"),
    ("Maps of the job", "Tasks of the job with known hosts"),
    ("Nodes", "Workers"),
    ("Nodes over time", "Workers over time"),
    ("Running maps and reduces", "Running tasks"),
    ("successful maps", "successful tasks"),
    // Levels of locality. PROCESS_LOCAL is no level of its own here: no trace says what executors hold in memory.
    ("node-local", "NODE_LOCAL"),
    ("rack-local", "RACK_LOCAL"),
    ("off-rack", "ANY"),
    ("On the node (%)", "NODE_LOCAL (%)"),
    ("In the rack (%)", "RACK_LOCAL or NODE_LOCAL (%)"),
    ("Maps node-local", "Tasks at NODE_LOCAL"),
    ("Maps rack-local", "Tasks at RACK_LOCAL"),
    ("Maps off-rack", "Tasks at ANY"),
    ("maps launched on a node with the input", "tasks launched at NODE_LOCAL"),
    ("  in its rack", "  at RACK_LOCAL"),
    ("  elsewhere", "  at ANY"),
    ("in the rack of its input", "at RACK_LOCAL"),
    ("elsewhere", "at ANY"),
    ("from their input as beside it", "from their hosts as on them"),
    (
        "The places of input are drawn at random, so all numbers of locality depend on the draw; they are made",
        "Preferred hosts that the log does not show are drawn at random, so all numbers of locality depend on the draw; they are made",
    ),
    (
        "map run times, places of maps and running tasks cover all jobs in both runs, because failed jobs also held slots",
        "levels of locality cover all jobs in both runs, because failed jobs also held cores",
    ),
    // What a job waits for.
    ("waiting for a dependency", "waiting for an earlier stage"),
    ("waiting for free resources", "waiting for a core of an executor"),
    ("waiting for a machine that fits", "waiting for an executor that fits"),
    ("holding out for locality", "holding out for locality (spark.locality.wait)"),
    ("being held back by a limit of its user or queue", "being held back by a limit of its user or pool"),
    ("running on a machine that was lost", "running on an executor that was lost"),
    ("for jobs or stages that must end first", "for {its} earlier stages"),
    ("for free resources", "for a core of an executor"),
    (
        "for a machine nearer to {its} input, although others were free",
        "for an executor at a nearer level, such as NODE_LOCAL: its stage did not yet accept the free cores of others \
         (spark.locality.wait)",
    ),
    (
        "for a machine with enough room; the free resources were spread over several",
        "for an executor with enough room; the free cores were spread over several",
    ),
    (
        "for another place, after a machine with its tasks was lost",
        "for another core, after an executor with its tasks was lost",
    ),
    ("a slot was free or its node was down", "a core was free or its executor was lost"),
    ("what it needs", "a core"),
    ("its node was down", "its executor was lost"),
];

/// The usual texts, and those for batch systems.
const BATCH: &[(&str, &str)] = &[
    ("Running maps and reduces", "CPUs held"),
    ("a slot was free or its node was down", "processors were free, or its machine was down"),
];

/// The usual texts, and those for Slurm, with the reasons that `squeue` shows.
const SLURM: &[(&str, &str)] = &[
    ("Running maps and reduces", "CPUs held"),
    ("a slot was free or its node was down", "processors were free, or its node was down"),
    ("queue", "partition"),
    ("Queue", "Partition"),
    ("by queue", "by partition"),
    ("By queue", "By partition"),
    ("machines", "nodes"),
    ("Job processing time", "Time from submission to end"),
    ("Distribution of processing times of jobs", "Distribution of the times from submission to end"),
    ("waiting for a dependency", "waiting for other jobs (Dependency)"),
    ("waiting for free resources", "waiting for free resources (Resources)"),
    ("waiting for a machine that fits", "waiting for nodes that fit (Resources)"),
    ("waiting behind a job that found no room", "waiting behind a job that found no room (Priority)"),
    (
        "being held back by a limit of its user or queue",
        "being held back by a limit of its QOS or account (QOSMax…, AssocGrp…)",
    ),
    ("running on a machine that was lost", "running on a node that was lost (NodeDown)"),
    (
        "for a machine with enough room; the free resources were spread over several",
        "for nodes with enough room (Resources); the free resources were spread over several",
    ),
    ("because {its} user was at the limit for one user", "because of a limit on {its} user (QOSMax…PerUserLimit)"),
    ("because {its} queue was at its limit", "because of a limit of {its} QOS or account (QOSGrp…, AssocGrp…)"),
];

/// Phrases of captions, and those for Spark, in the order in which they are replaced.
const PHRASES: &[(&str, &str)] = &[
    ("on a node that holds their input, in the rack of one, and elsewhere", "at NODE_LOCAL, RACK_LOCAL and ANY"),
    (
        "on a node that holds their input, and the share in the rack of one or nearer",
        "at NODE_LOCAL, and the share at RACK_LOCAL or nearer",
    ),
    (
        "on a node that holds their input, and in the rack of one or nearer",
        "at NODE_LOCAL, and at RACK_LOCAL or nearer",
    ),
    ("whose input has no known place", "whose hosts are not known"),
    ("of the map slots, of the reduce slots, or of the processor", "of the cores"),
    ("a line of its node", "a line of its worker"),
    ("neighbouring nodes", "neighbouring workers"),
    ("Launched maps", "Launched tasks"),
    ("Maps whose", "Tasks whose"),
    ("the maps", "the tasks"),
    ("of maps", "of tasks"),
    ("slots", "cores"),
    ("slot time", "core time"),
    ("queue", "pool"),
];

/// The shares of tasks at the three levels of locality, as columns: the usual ones, and those for Spark.
const LEVELS: [[&str; 3]; 2] = [["node", "rack", "off"], ["NODE_LOCAL", "RACK_LOCAL", "ANY"]];

impl System {
    /// A text in the words of this system.
    pub fn says(self, usual: &str) -> &str {
        let is_usual = |(known, _): &&(&str, &str)| *known == usual;
        match self {
            Self::Spark => SPARK.iter().find(is_usual).map_or(usual, |(_, word)| *word),
            Self::Slurm => SLURM.iter().find(is_usual).map_or(usual, |(_, word)| *word),
            Self::Kubernetes | Self::Batch => BATCH.iter().find(is_usual).map_or(usual, |(_, word)| *word),
            Self::MapReduce1 | Self::Yarn => usual,
        }
    }

    /// A caption in the words of this system.
    pub fn caption(self, usual: &str) -> String {
        let phrases = if self == Self::Spark { PHRASES } else { &[] };
        phrases.iter().fold(usual.to_owned(), |text, (usual, phrase)| text.replace(usual, phrase))
    }

    /// The headings of the shares of tasks at the three levels of locality, the nearest first.
    pub fn levels(self) -> [&'static str; 3] {
        LEVELS[usize::from(self == Self::Spark)]
    }

    /// The system whose words a text about several runs takes: theirs, if it is the same for all.
    pub fn of_all(systems: impl IntoIterator<Item = Self>) -> Self {
        let mut systems = systems.into_iter();
        let first = systems.next().unwrap_or_default();
        if systems.all(|system| system == first) { first } else { Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spark_and_slurm_have_words_of_their_own_and_each_text_one() {
        assert_eq!((System::Spark.says("queue"), System::Yarn.says("queue")), ("pool", "queue"));
        assert_eq!((System::Spark.says("user"), System::Spark.says("Maps off-rack")), ("user", "Tasks at ANY"));
        assert_eq!(System::Slurm.says("Job processing time"), "Time from submission to end");
        for words in [SPARK, SLURM] {
            let mut known: Vec<&str> = words.iter().map(|word| word.0).collect();
            known.sort_unstable();
            assert!(known.windows(2).all(|pair| pair[0] != pair[1]));
        }
        assert_eq!(System::of_all([System::Spark, System::Spark]), System::Spark);
        assert_eq!(System::of_all([System::Spark, System::Batch]), System::MapReduce1);
    }
}
