//! The crates depend on each other only downwards, and the heavy libraries stay where they belong.
//!
//! [`LAYERS`] says which crate may depend on which, and docs/developers/tree.md says what each crate is for. Development
//! dependencies count, too: a test that reaches upwards ties the crates together just as well. So do those of one
//! target.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use toml::Table;

/// Each crate with the crates of ours that it may depend on, from the bottom up.
const LAYERS: &[(&str, &[&str])] = &[
    ("resched-tables", &[]),
    ("resched-workload", &["resched-tables"]),
    ("resched-objects", &[]),
    ("resched-kubernetes", &[]),
    ("resched-ingest", &["resched-kubernetes", "resched-objects", "resched-workload", "resched-tables"]),
    ("resched-sim", &["resched-tables"]),
    ("resched-policies", &["resched-kubernetes", "resched-sim", "resched-tables"]),
    ("resched-replay", &["resched-policies", "resched-sim", "resched-workload", "resched-tables"]),
    ("resched-analysis", &["resched-tables"]),
    ("resched-report", &["resched-analysis", "resched-tables"]),
    ("resched-compare", &["resched-analysis", "resched-replay", "resched-policies", "resched-sim", "resched-tables"]),
    ("resched-forecast", &["resched-replay", "resched-policies", "resched-sim", "resched-tables"]),
    (
        "resched-kit",
        &[
            "resched-analysis",
            "resched-replay",
            "resched-policies",
            "resched-sim",
            "resched-workload",
            "resched-tables",
        ],
    ),
    (
        "resched-sweep",
        &[
            "resched-compare",
            "resched-report",
            "resched-analysis",
            "resched-replay",
            "resched-policies",
            "resched-sim",
            "resched-workload",
            "resched-objects",
            "resched-tables",
        ],
    ),
    (
        "resched-reproduce",
        &[
            "resched-report",
            "resched-analysis",
            "resched-replay",
            "resched-policies",
            "resched-sim",
            "resched-workload",
            "resched-tables",
        ],
    ),
    (
        "resched",
        &[
            "resched-reproduce",
            "resched-sweep",
            "resched-compare",
            "resched-forecast",
            "resched-report",
            "resched-analysis",
            "resched-replay",
            "resched-policies",
            "resched-sim",
            "resched-ingest",
            "resched-workload",
            "resched-objects",
            "resched-tables",
        ],
    ),
];

/// The crates that only tests, benchmarks and examples of the crates above them use: two make jobs, the kit is for policies outside, and the
/// last one gives tests their libraries.
const FOR_TESTS: &[&str] = &["resched-workload", "resched-ingest", "resched-kit", UNIFY];

/// It names every library, and no program depends on it.
const UNIFY: &str = "resched-unify";

/// Crates that know tables and no source, and what their own build must do without: the libraries of readers. (`report` writes CSV itself,
/// and its SVG renderer reads XML.)
const LEAN: &[(&str, &[&str])] = &[
    ("resched-tables", READERS),
    ("resched-sim", READERS),
    ("resched-analysis", READERS),
    (
        // `csv` comes with the lists of GPU pods that the rules of Kubernetes are tried on.
        "resched-kit",
        &["apache-avro", "quick-xml", "lz4_flex", "object_store", "plotters", "resvg", "clap", "polars"],
    ),
    ("resched-report", &["apache-avro", "quick-xml", "lz4_flex", "snap", "hmac", "object_store"]),
];

/// The libraries of the readers of sources.
const READERS: &[&str] = &[
    "apache-avro",
    "quick-xml",
    "roxmltree",
    "lz4_flex",
    "snap",
    "csv",
    "csv-core",
    "hmac",
    "object_store",
    "resched-ingest",
];

/// Libraries that one crate alone may use.
const OWNED: &[(&str, &str)] = &[
    ("polars", "resched-analysis"),
    ("plotters", "resched-report"),
    ("clap", "resched"),
    ("indicatif", "resched"),
    ("object_store", "resched-objects"),
];

/// What a crate depends on, by the names of the packages.
#[derive(Debug, Default)]
struct Dependencies {
    /// What its build and its programs use.
    normal: BTreeSet<String>,
    /// What only its tests, benchmarks and examples use.
    dev: BTreeSet<String>,
}

/// What is wrong with a crate's dependencies.
fn problems(name: &str, dependencies: &Dependencies) -> Vec<String> {
    let Some((_, allowed)) = LAYERS.iter().find(|(layer, _)| *layer == name) else {
        return vec![format!("`{name}` has no place in LAYERS")];
    };
    let is_ours = |dependency: &str| dependency == "resched" || dependency.starts_with("resched-");
    let is_allowed =
        |dependency: &str, dev: bool| allowed.contains(&dependency) || dev && FOR_TESTS.contains(&dependency);
    let of = |names: &'_ BTreeSet<String>, dev: bool| -> Vec<String> {
        let wrong = names.iter().filter(|found| is_ours(found) && !is_allowed(found, dev));
        wrong.map(|found| format!("`{name}` must not depend on `{found}`")).collect()
    };
    let upwards = of(&dependencies.normal, false).into_iter().chain(of(&dependencies.dev, true));
    let owned = OWNED
        .iter()
        .filter(|(library, owner)| {
            *owner != name && dependencies.normal.union(&dependencies.dev).any(|found| is_of(found, library))
        })
        .map(|(library, owner)| format!("`{name}` must not depend on `{library}`: only `{owner}` may"));
    upwards.chain(owned).collect()
}

/// Whether a dependency is a library or one of its parts, as `polars-core` is of `polars`.
fn is_of(dependency: &str, library: &str) -> bool {
    dependency.strip_prefix(library).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_']))
}

/// All dependencies that a manifest names, of every target.
fn dependencies(manifest: &Table) -> Dependencies {
    let table = |of: &Table, key: &str| of.get(key).and_then(|value| value.as_table()).cloned().unwrap_or_default();
    let targets = table(manifest, "target");
    let parts: Vec<&Table> =
        std::iter::once(manifest).chain(targets.values().filter_map(|target| target.as_table())).collect();
    let of = |kind: &str| {
        let all = parts.iter().flat_map(|part| table(part, kind));
        all.map(|(key, value)| value.get("package").and_then(|name| name.as_str()).map_or(key, str::to_owned)).collect()
    };
    let normal: BTreeSet<String> = of("dependencies");
    Dependencies { normal: &normal | &of("build-dependencies"), dev: of("dev-dependencies") }
}

fn read(path: &Path) -> Table {
    fs::read_to_string(path).unwrap().parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The crates of the workspace with what they depend on.
fn crates() -> BTreeMap<String, Dependencies> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let manifests = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path().join("Cargo.toml"));
    manifests
        .filter(|path| path.is_file())
        .map(|path| {
            let manifest = read(&path);
            (manifest["package"]["name"].as_str().unwrap().to_owned(), dependencies(&manifest))
        })
        .filter(|(name, _)| name != UNIFY)
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
    assert_eq!(found("resched-sim", "[dependencies]\nresched-tables.workspace = true\nserde = '1'"), [""; 0]);
    assert_eq!(
        found("resched-sim", "[dev-dependencies]\nresched-policies.workspace = true"),
        ["`resched-sim` must not depend on `resched-policies`"]
    );
    assert_eq!(
        found("resched-tables", "[target.'cfg(unix)'.dependencies]\nframes = { package = 'polars-core' }"),
        ["`resched-tables` must not depend on `polars`: only `resched-analysis` may"]
    );
    assert_eq!(
        found("resched-analysis", "[build-dependencies]\nresched-tools = { path = '../tools' }\npolars = '1'"),
        ["`resched-analysis` must not depend on `resched-tools`"]
    );
    assert_eq!(found("resched-sim", "[dev-dependencies]\nresched-workload.workspace = true"), [""; 0]);
    assert_eq!(
        found("resched-sim", "[dependencies]\nresched-workload.workspace = true"),
        ["`resched-sim` must not depend on `resched-workload`"]
    );
    assert_eq!(found("resched-sim", "[dev-dependencies]\nresched-unify.workspace = true"), [""; 0]);
    assert_eq!(
        found("resched-sim", "[dependencies]\nresched-unify.workspace = true"),
        ["`resched-sim` must not depend on `resched-unify`"]
    );
    assert_eq!(found("resched-tools", ""), ["`resched-tools` has no place in LAYERS"]);
}

#[test]
fn what_knows_no_source_builds_without_the_libraries_of_readers() {
    for (name, without) in LEAN {
        let arguments =
            ["tree", "--offline", "--locked", "--edges", "normal,build", "--prefix", "none", "--format", "{p}"];
        let tree = Command::new(env!("CARGO")).args(arguments).args(["--package", name]).output().unwrap();
        assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
        let tree = String::from_utf8(tree.stdout).unwrap();
        let packages: BTreeSet<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
        assert!(packages.contains("parquet"), "{name}: {packages:?}");
        let found: Vec<&&str> = without.iter().filter(|library| packages.contains(**library)).collect();
        assert!(found.is_empty(), "{name} builds with {found:?}");
    }
}
