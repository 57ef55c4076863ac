//! The workflow that makes a release runs scripts that exist, with the oldest compiler that we promise, and makes what `release/all` makes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use toml::Table;

const WORKFLOW: &str = ".github/workflows/release.yml";

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

fn text(name: &str) -> String {
    fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The scripts of `release/` that a text names, each once.
fn scripts(text: &str) -> Vec<&str> {
    let is_of_name = |character: char| character.is_ascii_lowercase() || character == '-';
    let mut found: Vec<&str> = text
        .match_indices("release/")
        // `out/release/` is a folder of results.
        .filter(|(at, _)| !text[..*at].ends_with('/'))
        .map(|(at, word)| {
            let rest = &text[at + word.len()..];
            &text[at..at + word.len() + rest.find(|character| !is_of_name(character)).unwrap_or(rest.len())]
        })
        .filter(|name| name.len() > "release/".len())
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

#[test]
fn each_script_of_a_release_exists_and_can_be_run() {
    let scripts_of_all = text("release/all");
    for file in [WORKFLOW, "release/all", "release/README.md"] {
        let text = text(file);
        let found = scripts(&text);
        assert!(found.len() >= 4, "{file} names only {found:?}");
        for name in found {
            let mode = fs::metadata(path(name)).unwrap_or_else(|error| panic!("{file}: {name}: {error}")).permissions();
            assert!(mode.mode() & 0o111 != 0, "{file}: {name} cannot be run");
        }
    }
    for part in ["release/binaries", "release/wheels", "release/sbom", "release/image", "release/checksums"] {
        assert!(text(WORKFLOW).contains(part) && scripts_of_all.contains(part), "{part} is made in one way only");
    }
}

#[test]
fn a_release_is_built_with_the_oldest_compiler() {
    let root: Table = text("Cargo.toml").parse().unwrap();
    let oldest = root["workspace"]["package"]["rust-version"].as_str().unwrap();
    let workflow = text(WORKFLOW);
    assert!(workflow.contains(&format!("RUSTUP_TOOLCHAIN: \"{oldest}\"")), "{WORKFLOW} names no Rust {oldest}");
}

#[test]
fn the_workflow_builds_each_target_that_the_scripts_build() {
    let workflow = text(WORKFLOW);
    for (script, targets) in [("release/binaries", 4), ("release/wheels", 2)] {
        let script_text = text(script);
        let words: Vec<&str> =
            script_text.lines().find_map(|line| line.split_once("|| set -- ")).unwrap().1.split(' ').collect();
        assert_eq!(words.len(), targets, "{script}");
        for target in words {
            assert!(workflow.contains(target), "{WORKFLOW} does not build {target}");
        }
    }
}

#[test]
fn names_of_scripts_are_found() {
    assert_eq!(
        scripts("run: release/all out/release/x # release/container-check."),
        ["release/all", "release/container-check"]
    );
}
