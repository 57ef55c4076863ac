//! What somebody asked for on the command line: the options of `sbatch`, `srun` or `salloc`.
//!
//! `SubmitLine` joins the arguments by blanks and quotes nothing, so an argument with a blank ends the list of options. Options inside
//! of a script (`#SBATCH`) are not in it.

use super::gpus::{Gpus, of_gres, of_types};

/// What a command line says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Line<'l> {
    pub(super) asked: Asked,
    /// The text behind `--dependency`.
    pub(super) dependency: Option<&'l str>,
    /// How many tasks of the array may run at once (`--array=0-99%5`).
    pub(super) array_limit: Option<u32>,
    /// What it takes off the priority (`--nice`).
    pub(super) nice: Option<i64>,
    /// True if it names nodes that it wants, or does not want (`--nodelist`, `--exclude`).
    pub(super) names_nodes: bool,
    /// True if backfill may shorten its limit (`--time-min`).
    pub(super) has_time_min: bool,
}

/// The options that decide the shape of a job, as far as they are given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) tasks: Option<u32>,
    /// The fewest nodes.
    pub(super) nodes: Option<u32>,
    pub(super) cpus_per_task: Option<u32>,
    /// True if it wants its nodes for itself.
    pub(super) exclusive: bool,
    pub(super) gpus: Gpus,
}

/// The short options that take no value.
const SWITCHES: &str = "EHIKOQVWXZhklsuv";
/// The long options that take no value, or only behind `=`.
const LONG_SWITCHES: [&str; 25] = [
    "nice",
    "parsable",
    "requeue",
    "no-requeue",
    "hold",
    "wait",
    "spread-job",
    "overcommit",
    "oversubscribe",
    "share",
    "contiguous",
    "quiet",
    "verbose",
    "test-only",
    "no-shell",
    "no-kill",
    "reboot",
    "use-min-nodes",
    "exclusive",
    "get-user-env",
    "propagate",
    "ignore-pbs",
    "pty",
    "label",
    "unbuffered",
];

/// What `--nice` without a number takes off.
const USUAL_NICE: i64 = 100;

/// The options of a line.
pub(super) fn parse(line: &str) -> Line<'_> {
    let mut found = Line::default();
    let mut words = line.split_ascii_whitespace();
    let program = words.next().and_then(|word| word.rsplit('/').next());
    if !matches!(program, Some("sbatch" | "srun" | "salloc")) {
        return found;
    }
    let asked = &mut found.asked;
    while let Some(word) = words.next() {
        let Some((name, value)) = option(word, &mut words) else { break };
        match name {
            "n" | "ntasks" => asked.tasks = number(value),
            "N" | "nodes" => asked.nodes = fewest(value),
            "c" | "cpus-per-task" => asked.cpus_per_task = number(value),
            "G" | "gpus" => asked.gpus.in_all = of_types(value),
            "gpus-per-node" => asked.gpus.per_node = of_types(value),
            "gpus-per-task" => asked.gpus.per_task = of_types(value),
            "gpus-per-socket" => asked.gpus.per_socket = of_types(value),
            "gres" => asked.gpus.per_node = of_gres(value).or(asked.gpus.per_node),
            "exclusive" => asked.exclusive |= matches!(value, "" | "exclusive"),
            "d" | "dependency" => found.dependency = Some(value),
            "a" | "array" => found.array_limit = array_limit(value),
            "w" | "nodelist" | "x" | "exclude" => found.names_nodes = true,
            "time-min" => found.has_time_min = true,
            "nice" => found.nice = if value.is_empty() { Some(USUAL_NICE) } else { value.parse().ok() },
            _ => {}
        }
    }
    found
}

/// How many tasks of an array may run at once: the number behind the `%` of its tasks, as in `0-99%5`.
pub(super) fn array_limit(tasks: &str) -> Option<u32> {
    tasks.split_once('%').and_then(|(_, limit)| number(limit))
}

/// The name and the value of an option; `None` for anything else, which ends the options.
fn option<'l>(word: &'l str, words: &mut impl Iterator<Item = &'l str>) -> Option<(&'l str, &'l str)> {
    if let Some(long) = word.strip_prefix("--") {
        if let Some((name, value)) = long.split_once('=') {
            return (name != "wrap").then_some((name, value));
        }
        if long.is_empty() || long == "wrap" {
            return None;
        }
        let value = if LONG_SWITCHES.contains(&long) { "" } else { words.next().unwrap_or_default() };
        return Some((long, value));
    }
    let short = word.strip_prefix('-')?;
    let letter = short.chars().next()?;
    let (name, value) = short.split_at_checked(letter.len_utf8())?;
    if SWITCHES.contains(letter) {
        return Some((name, ""));
    }
    Some((name, if value.is_empty() { words.next().unwrap_or_default() } else { value.trim_start_matches('=') }))
}

fn number(text: &str) -> Option<u32> {
    text.parse().ok().filter(|&number| number > 0)
}

/// The fewest nodes of `2`, `2-4` or `2,4-6`; `None` for other forms, such as `2k`.
fn fewest(text: &str) -> Option<u32> {
    text.split(['-', ',', ':']).next().and_then(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(tasks: u32, nodes: u32, cpus_per_task: u32) -> Asked {
        let given = |number: u32| (number > 0).then_some(number);
        Asked { tasks: given(tasks), nodes: given(nodes), cpus_per_task: given(cpus_per_task), ..Asked::default() }
    }

    #[test]
    fn options_stand_in_all_forms() {
        for (line, expected) in [
            ("sbatch -n 8 -t 1 --wrap sleep -n 4", asked(8, 0, 0)),
            ("/usr/bin/sbatch -N1 -n1 -c8 job.sh -n 3", asked(1, 1, 8)),
            ("srun --ntasks=4 --nodes 2-3 --cpus-per-task=2 a.out", asked(4, 2, 2)),
            ("sbatch --parsable -H -n4 -t 0 x", asked(4, 0, 0)),
            ("salloc --requeue -n=2", asked(2, 0, 0)),
            ("sbatch -J a name with blanks -n 4", asked(0, 0, 0)),
            ("sbatch -n x -N 2k", asked(0, 0, 0)),
            ("scrun -n 4", asked(0, 0, 0)),
            ("", asked(0, 0, 0)),
        ] {
            assert_eq!(parse(line).asked, expected, "{line}");
        }
        let exclusive = |line| parse(line).asked.exclusive;
        assert!(exclusive("sbatch --exclusive -n 4") && !exclusive("sbatch --exclusive=user x"));
    }

    #[test]
    fn gpus_are_read_in_all_forms() {
        let of = |line| parse(line).asked.gpus;
        let none = Gpus::default();
        for (line, expected) in [
            ("sbatch --gpus 4 --ntasks 1 x", Gpus { in_all: Some(4), ..none }),
            ("sbatch -G4 x", Gpus { in_all: Some(4), ..none }),
            ("sbatch --gpus=a100:2 x", Gpus { in_all: Some(2), ..none }),
            ("sbatch --gres=gpu:4 x", Gpus { per_node: Some(4), ..none }),
            ("sbatch --gres gpu:a100:2,nvme:1 x", Gpus { per_node: Some(2), ..none }),
            ("sbatch --gpus-per-node=4 x", Gpus { per_node: Some(4), ..none }),
            ("sbatch --gpus-per-task 1 -n 8 x", Gpus { per_task: Some(1), ..none }),
            ("sbatch --gpus-per-socket=2 x", Gpus { per_socket: Some(2), ..none }),
            ("sbatch --gres=nvme:1 x --gpus 4", none),
        ] {
            assert_eq!(of(line), expected, "{line}");
        }
    }

    #[test]
    fn other_options_are_found_as_well() {
        let of = |line| {
            let Line { dependency, array_limit, nice, .. } = parse(line);
            (dependency, array_limit, nice)
        };
        for (line, expected) in [
            ("sbatch -n4 -d afterok:11,afterany:12 x", (Some("afterok:11,afterany:12"), None, None)),
            ("sbatch -a 0-11%3 --nice=-50 x", (None, Some(3), Some(-50))),
            ("sbatch --array=0-40:8%2 --nice x -d after:1", (None, Some(2), Some(100))),
            ("sbatch -a 1-9 --nice=much x", (None, None, None)),
            ("sbatch -a 1-9%0 x", (None, None, None)),
        ] {
            assert_eq!(of(line), expected, "{line}");
        }
        for (line, expected) in [
            ("sbatch -w n5 -N1 x", (true, false)),
            ("sbatch --exclude=n[1-3] --time-min=5 x", (true, true)),
            ("sbatch --time-min 10 -t 60 x -w n1", (false, true)),
        ] {
            let Line { names_nodes, has_time_min, .. } = parse(line);
            assert_eq!((names_nodes, has_time_min), expected, "{line}");
        }
    }
}
