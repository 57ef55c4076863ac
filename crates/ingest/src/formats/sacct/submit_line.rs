//! What somebody asked for on the command line: the options of `sbatch`, `srun` or `salloc`.
//!
//! `SubmitLine` joins the arguments by blanks and quotes nothing, so an argument with a blank ends the list of options. Options inside
//! of a script (`#SBATCH`) are not in it.

/// The options that decide the shape of a job, as far as they are given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) tasks: Option<u32>,
    /// The fewest nodes.
    pub(super) nodes: Option<u32>,
    pub(super) cpus_per_task: Option<u32>,
    /// Whether it wants its nodes for itself.
    pub(super) exclusive: bool,
}

/// The short options that take no value.
const SWITCHES: &str = "EHIKOQVWXZhklsuv";
/// The long options that take no value, or only behind `=`.
const LONG_SWITCHES: [&str; 24] = [
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

/// The options, and the text behind `--dependency`.
pub(super) fn parse(line: &str) -> (Asked, Option<&str>) {
    let mut asked = Asked::default();
    let mut dependency = None;
    let mut words = line.split_ascii_whitespace();
    let program = words.next().and_then(|word| word.rsplit('/').next());
    if !matches!(program, Some("sbatch" | "srun" | "salloc")) {
        return (asked, None);
    }
    while let Some(word) = words.next() {
        let Some((name, value)) = option(word, &mut words) else { break };
        match name {
            "n" | "ntasks" => asked.tasks = number(value),
            "N" | "nodes" => asked.nodes = fewest(value),
            "c" | "cpus-per-task" => asked.cpus_per_task = number(value),
            "exclusive" => asked.exclusive |= matches!(value, "" | "exclusive"),
            "d" | "dependency" => dependency = Some(value),
            _ => {}
        }
    }
    (asked, dependency)
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

/// The jobs that must end first, if these are all that the text asks for, and each is given by a plain number.
pub(super) fn dependencies(text: &str) -> Option<Vec<u64>> {
    let mut ids = Vec::new();
    for clause in text.split(',') {
        let (kind, list) = clause.split_once(':')?;
        matches!(kind, "afterok" | "afterany" | "afternotok").then_some(())?;
        for id in list.split(':') {
            ids.push(super::values::whole(id).and_then(|id| u64::try_from(id).ok())?);
        }
    }
    ids.sort_unstable();
    ids.dedup();
    Some(ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(tasks: u32, nodes: u32, cpus_per_task: u32) -> Asked {
        let given = |number: u32| (number > 0).then_some(number);
        Asked { tasks: given(tasks), nodes: given(nodes), cpus_per_task: given(cpus_per_task), exclusive: false }
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
            assert_eq!(parse(line).0, expected, "{line}");
        }
        let exclusive = |line| parse(line).0.exclusive;
        assert!(exclusive("sbatch --exclusive -n 4") && !exclusive("sbatch --exclusive=user x"));
    }

    #[test]
    fn dependencies_count_if_all_are_ends_of_plain_jobs() {
        assert_eq!(parse("sbatch -n4 -d afterok:11,afterany:12 x").1, Some("afterok:11,afterany:12"));
        assert_eq!(dependencies("afterok:11,afterany:12:9"), Some(vec![9, 11, 12]));
        for other in
            ["after:13", "singleton", "afterok:1?afterok:2", "afterok:15_3", "aftercorr:19", "afterok:1,after:2"]
        {
            assert_eq!(dependencies(other), None, "{other}");
        }
    }
}
