//! Rumen topologies (`LoggedNetworkTopology`): the racks of a cluster and the machines in them, as one JSON object.
//!
//! Layout: `docs/formats/topology.md`. This module also cleans the names of racks and hosts, for this format and for
//! the job histories. In every table, a rack starts with a slash (`/default-rack`), and a host is a bare name.

use std::borrow::Cow;
use std::io::BufRead;
use std::path::Path;

use serde::Deserialize;

use super::format::{Format, ReadAs};
use super::json::{Objects, Piece, top_level_keys};
use resched_tables::Error;
use resched_tables::cause;
use resched_tables::model::{NodeChange, NodeRow};
use resched_tables::sink::Sink;

/// Rumen's topology file.
pub const FORMAT: Format = Format {
    name: "rumen-topology",
    title: "Rumen network topology (JSON)",
    time_zero: None,
    system: None,
    has_tasks: true,
    group: super::HADOOP,
    is_whole: false,
    has_times_of_tasks: false,
    folded: false,
    reads: READS,
    sniff,
    read,
};

/// Most bytes of a topology that are read: some millions of machines.
pub(crate) const MAX_BYTES: usize = 1 << 30;

/// A place in the tree: the root, a rack, or a machine. A machine has no children, not even an empty list.
#[derive(Deserialize)]
struct Place {
    name: Option<String>,
    children: Option<Vec<Place>>,
}

/// What its columns are read from.
const READS: &[ReadAs] = &[("nodes.host", &["name"]), ("nodes.rack", &["name"])];

fn sniff(head: &[u8]) -> bool {
    let keys = top_level_keys(head);
    keys.contains(&"children") && keys.contains(&"name")
}

fn read(input: &mut dyn BufRead, path: &str, sink: &mut dyn Sink) -> Result<(), Error> {
    read_up_to(MAX_BYTES, input, path, sink)
}

/// Reads a topology of at most `most` bytes.
pub(super) fn read_up_to(most: usize, input: &mut dyn BufRead, path: &str, sink: &mut dyn Sink) -> Result<(), Error> {
    let mut objects = Objects::new(input, most);
    while let Some(piece) = objects.next().map_err(Error::io(Path::new(path), "read"))? {
        let Piece::Object { line, text } = piece else {
            sink.skip(cause::DAMAGED_TOPOLOGY, 1);
            continue;
        };
        let root: Place = serde_json::from_str(&String::from_utf8_lossy(text)).map_err(|error| Error::Source {
            path: path.to_owned(),
            place: format!("topology at line {line}, "),
            expected: "a tree of names and children".to_owned(),
            found: error.to_string(),
            remedy: "write the topology again with Rumen's TraceBuilder".to_owned(),
        })?;
        for child in root.children.into_iter().flatten() {
            add(child, &mut Vec::new(), sink);
        }
    }
    Ok(())
}

/// Passes on the machines below `place`; `above` are the names between the root and it.
fn add(place: Place, above: &mut Vec<String>, sink: &mut dyn Sink) {
    let Some(name) = place.name else {
        sink.skip(cause::DAMAGED_NODE, 1);
        return;
    };
    let Some(children) = place.children else {
        match host(&name) {
            Some(host) => {
                let rack = rack(&above.join("/"));
                sink.node(NodeRow { host, rack, event: NodeChange::Add, ..NodeRow::default() });
            }
            None => sink.skip(cause::DAMAGED_NODE, 1),
        }
        return;
    };
    above.push(name);
    for child in children {
        add(child, above, sink);
    }
    above.pop();
}

/// A rack's name as tables hold it: with a leading slash, and without the backslashes that early versions of Rumen took
/// over from the text history. `None` if it is empty.
pub(super) fn rack(name: &str) -> Option<String> {
    let name = unescape(name);
    let name = name.trim().trim_matches('/');
    (!name.is_empty()).then(|| ["/", name].concat())
}

/// A host's name as tables hold it: without backslashes and without the address in `name/address`. `None` if it is empty.
pub(super) fn host(name: &str) -> Option<String> {
    let name = unescape(name);
    let name = name.split('/').map(str::trim).find(|part| !part.is_empty())?;
    Some(name.to_owned())
}

/// The host and the rack in `/rack/host`, or the host in `host`.
pub(super) fn place(name: &str) -> (Option<String>, Option<String>) {
    let name = name.trim();
    match name.rsplit_once('/') {
        Some((above, last)) if name.starts_with('/') => (host(last), rack(above)),
        _ => (host(name), None),
    }
}

fn unescape(name: &str) -> Cow<'_, str> {
    let Some((start, mut rest)) = name.split_once('\\') else { return name.into() };
    let mut text = String::with_capacity(name.len());
    text.push_str(start);
    loop {
        if !rest.starts_with('.') {
            text.push('\\');
        }
        match rest.split_once('\\') {
            Some((part, after)) => {
                text.push_str(part);
                rest = after;
            }
            None => {
                text.push_str(rest);
                return text.into();
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::golden::{Collected, Found as _, each_damage, read_shared};
    use super::*;

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn names_are_put_in_order() {
        assert_eq!(place("/default-rack/a2118.smile.com"), (some("a2118.smile.com"), some("/default-rack")));
        assert_eq!(place("/dc1/rack2/node3"), (some("node3"), some("/dc1/rack2")));
        assert_eq!(place(r"/192\.30\.63\.0/cluster1\.com"), (some("cluster1.com"), some("/192.30.63.0")));
        assert_eq!(place("node3"), (some("node3"), None));
        assert_eq!(place("localhost/127.0.0.1"), (some("localhost"), None));
        assert_eq!(place(" "), (None, None));
        assert_eq!(place("/"), (None, None));
        assert_eq!(rack("default-rack"), some("/default-rack"));
        assert_eq!(rack("/default-rack"), some("/default-rack"));
        assert_eq!(rack(""), None);
    }

    #[test]
    fn every_real_topology_has_its_racks_and_nodes() {
        let small = "hadoop-mapreduce-2011/rumen-small-trace";
        for (file, racks, nodes) in [
            ("hadoop-mapreduce-2011/mumak/19-jobs.topology.json.gz".to_owned(), 41, 1545),
            (format!("{small}/dispatch-topology-output.json.gz"), 41, 547),
            (format!("{small}/job-tracker-logs-topology-output"), 41, 522),
            ("hadoop-mapreduce-2011/rumen-zombie/input-topology.json".to_owned(), 41, 522),
            (format!("{small}/truncated-topology-output"), 33, 80),
        ] {
            let Some(bytes) = read_shared(&file) else { return };
            assert!(sniff(&bytes[..bytes.len().min(1 << 16)]), "{file}");
            let found = Collected::read(&FORMAT, &bytes).unwrap();
            let names: std::collections::BTreeSet<_> = found.nodes.iter().map(|node| &node.rack).collect();
            assert_eq!((names.len(), found.nodes.len()), (racks, nodes), "{file}");
            for node in &found.nodes {
                assert!(node.rack.as_ref().unwrap().starts_with('/') && !node.host.contains(['\\', '/']), "{node:?}");
            }
            assert!(found.skipped.is_empty());
        }
    }

    #[test]
    fn a_deeper_tree_gives_longer_racks() {
        let text = r#"{"name":"<root>","children":[
            {"name":"dc","children":[{"name":"r1","children":[{"name":"n1","children":null}]}, {"name":"r2","children":[]}]},
            {"name":"lone"}, {"children":null}]}"#;
        let found = Collected::read(&FORMAT, text.as_bytes()).unwrap();
        let places: Vec<_> = found.nodes.iter().map(|node| (node.host.as_str(), node.rack.as_deref())).collect();
        assert_eq!(places, [("n1", Some("/dc/r1")), ("lone", None)]);
        assert_eq!(found.skipped, [("damaged-node".to_owned(), 1)].into());
    }

    #[test]
    fn a_damaged_tree_is_an_error_that_names_the_place() {
        let error = Collected::read(&FORMAT, b"\n{\"name\": \"<root>\", \"children\": [").unwrap_err().to_string();
        assert!(error.contains("topology at line 2"), "{error}");
    }

    #[test]
    fn no_damage_makes_it_panic() {
        let Some(bytes) = read_shared("hadoop-mapreduce-2011/rumen-small-trace/truncated-topology-output") else {
            return;
        };
        each_damage(&bytes, 200, |damaged| {
            sniff(damaged);
            let _ = Collected::read(&FORMAT, damaged);
        });
    }
}
