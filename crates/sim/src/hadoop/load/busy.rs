//! How many tasks the nodes of a log ran at once.

use hashbrown::HashMap;

use super::log::Attempt;
use crate::hadoop::kind::Kind;
use crate::ids::Ms;

/// One node in a hundred may seem to have run more: clocks jump, and a node may receive a kill late.
const ODD_NODES: usize = 100;

/// When the nodes of a log ran tasks.
#[derive(Default)]
pub(super) struct Busy {
    nodes: HashMap<String, usize>,
    /// For each node: when a task of a kind began (1) or ended (-1). At one instant ends come first.
    changes: Vec<Vec<(Ms, i32, Kind)>>,
}

impl Busy {
    /// Takes note of an attempt.
    pub(super) fn saw(&mut self, kind: Kind, attempt: Attempt<'_>) {
        let (Some(host), Some(start), Some(finish)) = (attempt.host(), attempt.start(), attempt.finish()) else {
            return;
        };
        if start >= finish {
            return;
        }
        let place = match self.nodes.get(host) {
            Some(&place) => place,
            None => {
                self.nodes.insert(host.to_owned(), self.changes.len());
                self.changes.push(Vec::new());
                self.changes.len() - 1
            }
        };
        self.changes[place].extend([(start, 1, kind), (finish, -1, kind)]);
    }

    /// The most maps, the most reduces and the most of both that nearly all nodes ran at once.
    pub(super) fn at_once(self) -> [u32; 3] {
        let mut most: Vec<[i32; 3]> = self.changes.into_iter().map(most_at_once).collect();
        let place = (most.len() / ODD_NODES).saturating_sub(1);
        [0, 1, 2].map(|which| {
            most.sort_unstable_by_key(|busy| std::cmp::Reverse(busy[which]));
            most.get(place).map_or(0, |busy| busy[which].unsigned_abs())
        })
    }
}

fn most_at_once(mut changes: Vec<(Ms, i32, Kind)>) -> [i32; 3] {
    changes.sort_unstable_by_key(|&(at, by, _)| (at, by));
    let (mut now, mut most) = ([0; 3], [0; 3]);
    for (_, by, kind) in changes {
        for which in [kind.index(), 2] {
            now[which] += by;
            most[which] = most[which].max(now[which]);
        }
    }
    most
}
