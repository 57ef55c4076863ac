//! The machines of a gang that ran on several, in one text: `n[01-04]*16;n05*2` are 16 instances on each of four machines and 2 on a fifth.

use std::collections::BTreeMap;

use crate::host_list::{expand, fold};

/// The most machines of a gang that a run or trace lists. Of a gang on more, no machine is listed.
pub const MOST: usize = 1_000;

/// These machines, each with its number of instances, as a text. Machines with the same number stand together, in their order.
pub fn as_text<'a>(places: impl IntoIterator<Item = (&'a str, u32)>) -> String {
    let mut groups: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
    for (host, instances) in places {
        groups.entry(instances).or_default().push(host);
    }
    let groups: Vec<String> =
        groups.iter().rev().map(|(instances, hosts)| format!("{}*{instances}", fold(hosts.iter().copied()))).collect();
    groups.join(";")
}

/// The machines of such a text with their numbers of instances: 1 where none is given, so that all have the same. `None` if it is
/// malformed, or names more than [`MOST`].
pub fn places(text: &str) -> Option<Vec<(String, u32)>> {
    let mut all = Vec::new();
    for group in text.split(';') {
        let (hosts, instances) = match group.rsplit_once('*') {
            Some((hosts, instances)) => (hosts, instances.parse().ok().filter(|&instances| instances > 0)?),
            None => (group, 1),
        };
        let left = MOST.checked_sub(all.len())?;
        all.extend(expand(hosts, left)?.into_iter().map(|host| (host, instances)));
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machines_of_a_gang_read_as_they_were_written() {
        let gang = [("n04", 16), ("n05", 16), ("login", 3), ("n06", 16), ("n09", 3)];
        let text = as_text(gang);
        assert_eq!(text, "n[04-06]*16;login,n09*3");
        let mut read = places(&text).unwrap_or_default();
        read.sort();
        let mut written = gang.map(|(host, instances)| (host.to_owned(), instances));
        written.sort();
        assert_eq!(read, written);
        assert_eq!(places("n[1-2],x"), Some(["n1", "n2", "x"].map(|host| (host.to_owned(), 1)).to_vec()));
        for wrong in ["", "n1*0", "n1*x", "n[1-99999]*2", "n[1-600]*1;m[1-600]*1", "n1;;n2"] {
            assert_eq!(places(wrong), None, "{wrong}");
        }
    }
}
