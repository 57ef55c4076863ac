//! The nodes that a list names.

use resched_tables::host_list::expand;

/// The most nodes of a job; Slurm allows 65,533.
pub(crate) const MOST_HOSTS: usize = 65_536;
/// No part of a list of nodes between two commas is longer (bytes).
const LONGEST_PART: usize = 128;

/// The nodes of a list; `None` if it is damaged.
pub(super) fn hosts(list: &str) -> Option<Vec<String>> {
    // Else few bytes would be many long names.
    list.split(',').all(|part| part.len() <= LONGEST_PART).then(|| expand(list, MOST_HOSTS))?
}

/// True if a list is the name of one node.
pub(super) fn is_one(list: &str) -> bool {
    (1..=LONGEST_PART).contains(&list.len()) && !list.contains(['[', ']', ','])
}

/// How many nodes a list names; `None` if it is damaged.
pub(super) fn count_of_hosts(list: &str) -> Option<u32> {
    if !list.contains(['[', ',']) {
        return Some(1);
    }
    hosts(list).and_then(|hosts| u32::try_from(hosts.len()).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_long_names_is_damage() {
        assert_eq!(hosts("n[1-2]").map(|hosts| hosts.len()), Some(2));
        assert_eq!(hosts(&format!("{}[1-60000]", "n".repeat(200))), None);
    }

    #[test]
    fn a_list_that_is_one_node_expands_to_itself() {
        let long = "n".repeat(LONGEST_PART);
        for (list, expected) in
            [("n1", true), (&long, true), ("", false), ("n1,n2", false), ("n[1]", false), ("n]", false)]
        {
            assert_eq!(is_one(list), expected, "{list}");
            assert!(!expected || hosts(list) == Some(vec![list.to_owned()]));
        }
        assert!(!is_one(&format!("{long}n")) && hosts(&format!("{long}n")).is_none());
    }

    #[test]
    fn the_nodes_of_a_list_are_counted() {
        assert_eq!(["n1", "n[1-3]", "n1,m[2,4]"].map(count_of_hosts), [Some(1), Some(3), Some(3)]);
        assert_eq!(count_of_hosts("n[1-"), None);
    }
}
