//! The crates depend on each other only downwards, and the heavy libraries stay where they belong.
//!
//! [`LAYERS`] says which crate may depend on which, and CONTRIBUTING.md says what each crate is for. Development
//! dependencies count, too: a test that reaches upwards ties the crates together just as well. So do those of one
//! target.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use toml::Table;

/// Each crate with the crates of ours that it may depend on, from the bottom up.
const LAYERS: &[(&str, &[&str])] = &[
    ("resched-trace", &[]),
    ("resched-sim", &["resched-trace"]),
    ("resched-policies", &["resched-sim", "resched-trace"]),
    ("resched-replay", &["resched-policies", "resched-sim", "resched-trace"]),
    ("resched-analysis", &["resched-trace"]),
    ("resched-report", &["resched-analysis", "resched-trace"]),
    ("resched-robust", &["resched-analysis", "resched-replay", "resched-policies", "resched-sim", "resched-trace"]),
    (
        "resched-sweep",
        &[
            "resched-robust",
            "resched-report",
            "resched-analysis",
            "resched-replay",
            "resched-policies",
            "resched-sim",
            "resched-trace",
        ],
    ),
    (
        "resched-reproduce",
        &["resched-report", "resched-analysis", "resched-replay", "resched-policies", "resched-sim", "resched-trace"],
    ),
    (
        "resched",
        &[
            "resched-reproduce",
            "resched-sweep",
            "resched-robust",
            "resched-report",
            "resched-analysis",
            "resched-replay",
            "resched-policies",
            "resched-sim",
            "resched-trace",
        ],
    ),
];

/// Libraries that one crate alone may use.
const OWNED: &[(&str, &str)] =
    &[("polars", "resched-analysis"), ("plotters", "resched-report"), ("clap", "resched"), ("indicatif", "resched")];

/// What is wrong with a crate's dependencies.
fn problems(name: &str, dependencies: &BTreeSet<String>) -> Vec<String> {
    let Some((_, allowed)) = LAYERS.iter().find(|(layer, _)| *layer == name) else {
        return vec![format!("`{name}` has no place in LAYERS")];
    };
    let is_ours = |dependency: &str| dependency == "resched" || dependency.starts_with("resched-");
    let upwards = dependencies
        .iter()
        .filter(|dependency| is_ours(dependency) && !allowed.contains(&dependency.as_str()))
        .map(|dependency| format!("`{name}` must not depend on `{dependency}`"));
    let owned = OWNED
        .iter()
        .filter(|(library, owner)| *owner != name && dependencies.iter().any(|found| is_of(found, library)))
        .map(|(library, owner)| format!("`{name}` must not depend on `{library}`: only `{owner}` may"));
    upwards.chain(owned).collect()
}

/// Whether a dependency is a library or one of its parts, as `polars-core` is of `polars`.
fn is_of(dependency: &str, library: &str) -> bool {
    dependency.strip_prefix(library).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_']))
}

/// All dependencies that a manifest names, of every kind and target, by the name of the package.
fn dependencies(manifest: &Table) -> BTreeSet<String> {
    let table = |of: &Table, key: &str| of.get(key).and_then(|value| value.as_table()).cloned().unwrap_or_default();
    let targets = table(manifest, "target");
    let targets = targets.values().filter_map(|target| target.as_table());
    [manifest]
        .into_iter()
        .chain(targets)
        .flat_map(|part| ["dependencies", "dev-dependencies", "build-dependencies"].map(|kind| table(part, kind)))
        .flatten()
        .map(|(key, value)| value.get("package").and_then(|name| name.as_str()).map_or(key, str::to_owned))
        .collect()
}

fn read(path: &Path) -> Table {
    fs::read_to_string(path).unwrap().parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The crates of the workspace with what they depend on.
fn crates() -> BTreeMap<String, BTreeSet<String>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let manifests = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path().join("Cargo.toml"));
    manifests
        .filter(|path| path.is_file())
        .map(|path| {
            let manifest = read(&path);
            (manifest["package"]["name"].as_str().unwrap().to_owned(), dependencies(&manifest))
        })
        .collect()
}

#[test]
fn crates_depend_downwards_only() {
    let crates = crates();
    assert!(crates.contains_key("resched") && crates.len() >= 6, "found only {:?}", crates.keys());
    let found: Vec<String> = crates.iter().flat_map(|(name, dependencies)| problems(name, dependencies)).collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn no_crate_is_drawn_above_itself() {
    for (place, (name, allowed)) in LAYERS.iter().enumerate() {
        for dependency in *allowed {
            assert!(LAYERS[..place].iter().any(|(below, _)| below == dependency), "{name} -> {dependency}");
        }
    }
}

#[test]
fn the_workspace_renames_none_of_its_crates() {
    let root = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml"));
    for (key, value) in root["workspace"]["dependencies"].as_table().unwrap() {
        assert!(value.get("package").is_none(), "`{key}` has another name here, so that its edges would go unseen");
    }
}

#[test]
fn an_edge_that_must_not_be_is_found() {
    let found = |name: &str, manifest: &str| problems(name, &dependencies(&manifest.parse().unwrap()));
    assert_eq!(found("resched-sim", "[dependencies]\nresched-trace.workspace = true\nserde = '1'"), [""; 0]);
    assert_eq!(
        found("resched-sim", "[dev-dependencies]\nresched-policies.workspace = true"),
        ["`resched-sim` must not depend on `resched-policies`"]
    );
    assert_eq!(
        found("resched-trace", "[target.'cfg(unix)'.dependencies]\nframes = { package = 'polars-core' }"),
        ["`resched-trace` must not depend on `polars`: only `resched-analysis` may"]
    );
    assert_eq!(
        found("resched-analysis", "[build-dependencies]\nresched-tools = { path = '../tools' }\npolars = '1'"),
        ["`resched-analysis` must not depend on `resched-tools`"]
    );
    assert_eq!(found("resched-tools", ""), ["`resched-tools` has no place in LAYERS"]);
}
