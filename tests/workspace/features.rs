//! The tests of one crate are built with the libraries of the whole workspace, and the first command of a newcomer with few.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// The most libraries, with our own crates, that the first command may compile.
const MOST_OF_FIRST_COMMAND: usize = 240;

/// The packages of a build with their features. What runs at compile time may have other features than what is linked.
fn packages(selection: &[&str], edges: &str) -> BTreeMap<String, BTreeSet<String>> {
    let shown = ["--offline", "--locked", "--prefix", "none", "--format", "{p}|{f}", "--edges", edges];
    let tree = Command::new(env!("CARGO")).arg("tree").args(selection).args(shown).output().unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in String::from_utf8(tree.stdout).unwrap().lines() {
        // A package that was shown before ends with a star.
        let line = line.strip_suffix(" (*)").unwrap_or(line);
        let Some((package, features)) = line.split_once('|') else { continue };
        let package: Vec<&str> = package.split(' ').take(2).collect();
        found.entry(package.join(" ")).or_default().insert(features.to_owned());
    }
    found
}

#[test]
fn tests_of_one_crate_share_the_libraries_of_the_workspace() {
    let whole = packages(&["--workspace"], "normal,build,dev");
    let members = whole.keys().filter_map(|package| package.split(' ').next());
    let ours: Vec<&str> = members.filter(|name| *name == "resched" || name.starts_with("resched-")).collect();
    assert!(ours.len() > 12, "found only {ours:?}");
    for name in ours.into_iter().filter(|name| *name != "resched-unify") {
        let alone = packages(&["--package", name], "normal,build,dev");
        for (package, features) in &alone {
            let other: Vec<&String> = features.difference(&whole[package]).collect();
            assert!(
                other.is_empty(),
                "`cargo test -p {name}` compiles {package} anew with the features {other:?}; the workspace has {:?}. Add the library \
                 to crates/unify, or the crate of ours with its default features to the development dependencies of {name}",
                whole[package]
            );
        }
    }
}

#[test]
fn the_first_command_compiles_few_libraries() {
    let found = packages(&["--package", "resched", "--no-default-features"], "normal,build");
    assert!(found.len() <= MOST_OF_FIRST_COMMAND, "{} libraries", found.len());
    for heavy in ["polars", "arrow", "object_store", "apache-avro", "tokio", "resched-reproduce", "resched-unify"] {
        assert!(!found.keys().any(|package| package.split(' ').next() == Some(heavy)), "it compiles {heavy}");
    }
}
