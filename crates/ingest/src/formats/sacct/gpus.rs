//! The GPUs that a job asked for, where its trackable resources have none.
//!
//! Slurm counts them in TRES only if the site lists `gres/gpu` in `AccountingStorageTRES`, which is not the default. Then they are in the
//! command line (`--gpus`, `--gres=gpu:4`), or in lists of versions up to 20.02 in `ReqGRES` and `AllocGRES`.

/// GPUs that options ask for, in the form that they have there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Gpus {
    pub(super) in_all: Option<u32>,
    /// `--gpus-per-node`, and `--gres`.
    pub(super) per_node: Option<u32>,
    pub(super) per_task: Option<u32>,
    /// Of sockets, only that there is one on each node is known.
    pub(super) per_socket: Option<u32>,
}

impl Gpus {
    /// All its numbers.
    pub(super) fn all(self) -> [Option<u32>; 4] {
        [self.in_all, self.per_node, self.per_task, self.per_socket]
    }

    /// The GPUs of these numbers.
    pub(super) fn of_all([in_all, per_node, per_task, per_socket]: [Option<u32>; 4]) -> Self {
        Self { in_all, per_node, per_task, per_socket }
    }
}

/// All GPUs that a job of so many tasks on so many nodes asked for by its options, or by the columns of older versions.
pub(super) fn in_all(gpus: Gpus, [req, alloc]: [&str; 2], nodes: u32, tasks: u32) -> Option<u64> {
    let Gpus { in_all, per_node, per_task, per_socket } = gpus;
    let of_each = |each: u32, of: u32| u64::from(each) * u64::from(of.max(1));
    in_all
        .map(u64::from)
        .or_else(|| per_node.map(|each| of_each(each, nodes)))
        .or_else(|| per_task.map(|each| of_each(each, tasks)))
        .or_else(|| per_socket.map(|each| of_each(each, nodes)))
        .or_else(|| of_gres(req).or_else(|| of_gres(alloc)).map(|each| of_each(each, nodes)))
}

/// The GPUs of a list of generic resources: `gpu:4`, `gpu:a100:2(IDX:0-1)`, `gres:gpu:1,nvme:1`, `gpu`.
pub(super) fn of_gres(list: &str) -> Option<u32> {
    let gpus = split(list).filter_map(|gres| {
        let gres = gres.strip_prefix("gres:").or_else(|| gres.strip_prefix("gres/")).unwrap_or(gres);
        let gres = gres.split('(').next().unwrap_or(gres);
        let rest = gres.strip_prefix("gpu")?;
        if rest.is_empty() {
            return Some(1);
        }
        let rest = rest.strip_prefix([':', '='])?;
        let last = rest.rsplit([':', '=']).next().unwrap_or(rest);
        // A type without a number is one.
        if last.starts_with(|first: char| first.is_ascii_digit()) { last.parse().ok() } else { Some(1_u32) }
    });
    gpus.reduce(u32::saturating_add).filter(|&gpus| gpus > 0)
}

/// The number of `4` or `a100:4`, or the sum of `a100:2,v100:1`.
pub(super) fn of_types(list: &str) -> Option<u32> {
    let of = |one: &str| one.rsplit(':').next()?.parse::<u32>().ok();
    list.split(',').filter_map(of).reduce(u32::saturating_add).filter(|&gpus| gpus > 0)
}

/// The parts of a list between commas outside of parentheses.
fn split(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    list.split(move |letter: char| {
        depth += match letter {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        letter == ',' && depth <= 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generic_resources_are_read_in_the_forms_of_all_versions() {
        for (list, gpus) in [
            ("gpu:4", Some(4)),
            ("gpu:4(IDX:0-3)", Some(4)),
            ("gpu:a100:2(IDX:0,2),gpu:v100:1", Some(3)),
            ("gres:gpu:2", Some(2)),
            ("gpu", Some(1)),
            ("gpu:a100", Some(1)),
            ("gres/gpu=2", Some(2)),
            ("nvme:1,gpu:2", Some(2)),
            ("gpu:0", None),
            ("gpumem:4", None),
            ("craynetwork:0", None),
            ("", None),
        ] {
            assert_eq!(of_gres(list), gpus, "{list}");
        }
        assert_eq!(
            [of_types("4"), of_types("a100:2,v100:1"), of_types("0"), of_types("x")],
            [Some(4), Some(3), None, None]
        );
    }

    #[test]
    fn gpus_are_of_the_job_its_nodes_or_its_tasks() {
        let of = |gpus, tasks| in_all(gpus, ["", ""], 2, tasks);
        let each = Some(3);
        assert_eq!(of(Gpus { in_all: each, ..Gpus::default() }, 1), Some(3));
        assert_eq!(of(Gpus { per_node: each, ..Gpus::default() }, 1), Some(6));
        assert_eq!(of(Gpus { per_task: each, ..Gpus::default() }, 4), Some(12));
        assert_eq!(of(Gpus { per_socket: each, ..Gpus::default() }, 1), Some(6));
        assert_eq!(of(Gpus::default(), 1), None);
        assert_eq!(in_all(Gpus::default(), ["gpu:4", "gpu:4(IDX:0-3)"], 2, 1), Some(8));
        assert_eq!(in_all(Gpus::default(), ["", "gpu:4(IDX:0-3)"], 1, 1), Some(4));
    }
}
