//! docs/developers/dependencies.md lists every library that our manifests name, with its licence, and the oldest compiler is the same
//! everywhere.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use toml::Table;

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

fn text(name: &str) -> String {
    fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The manifests of the members of the workspace.
fn members() -> Vec<Table> {
    let crates = fs::read_dir(path("crates")).unwrap().map(|entry| entry.unwrap().path().join("Cargo.toml"));
    let others = ["python", "fuzz"].map(|name| path(name).join("Cargo.toml"));
    let manifests: Vec<Table> = crates
        .filter(|manifest| manifest.is_file())
        .chain(others)
        .map(|manifest| fs::read_to_string(&manifest).unwrap().parse().unwrap())
        .collect();
    assert!(manifests.len() > 10, "found only {} manifests", manifests.len());
    manifests
}

/// The libraries of others that a table of dependencies names.
fn libraries(table: &Table) -> impl Iterator<Item = &str> {
    table.keys().map(String::as_str).filter(|name| *name != "resched" && !name.starts_with("resched-"))
}

/// The libraries that manifests name, with the licence that each states. Cargo knows it from the sources that it has fetched.
fn licences() -> BTreeMap<String, String> {
    let root: Table = text("Cargo.toml").parse().unwrap();
    let mut found: BTreeMap<String, String> = libraries(root["workspace"]["dependencies"].as_table().unwrap())
        .map(|name| (name.to_owned(), String::new()))
        .collect();
    let arguments = ["tree", "--workspace", "--offline", "--locked", "--all-features", "--no-dedupe", "--depth", "1"];
    let shown = ["--prefix", "none", "--format", "{p}|{l}"];
    let tree = Command::new(env!("CARGO")).args(arguments).args(shown).output().unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    for line in String::from_utf8(tree.stdout).unwrap().lines() {
        let parts = line.split_once('|').and_then(|(package, licence)| Some((package.split(' ').next()?, licence)));
        let Some((package, licence)) = parts else { continue };
        if let Some(known) = found.get_mut(package) {
            licence.clone_into(known);
        }
    }
    found
}

/// The libraries of the page, with the last column of their rows.
fn listed() -> BTreeMap<String, String> {
    let page = text("docs/developers/dependencies.md");
    let rows = page.lines().filter_map(|line| {
        let cells: Vec<&str> = line.strip_prefix("| `")?.strip_suffix(" |")?.split(" | ").collect();
        let [name, _, purpose, reason, licence] = cells[..] else { return None };
        assert!(!purpose.is_empty() && !reason.is_empty(), "`{name}` has an empty cell");
        Some((name.strip_suffix('`')?.to_owned(), licence.to_owned()))
    });
    rows.collect()
}

#[test]
fn each_library_that_we_name_is_on_the_page_with_its_licence() {
    let (named, listed) = (licences(), listed());
    let missing: Vec<&String> = named.keys().filter(|name| !listed.contains_key(*name)).collect();
    let gone: Vec<&String> = listed.keys().filter(|name| !named.contains_key(*name)).collect();
    assert!(missing.is_empty() && gone.is_empty(), "the page lacks {missing:?}, and has {gone:?}, which are gone");
    for (name, licence) in &listed {
        assert_eq!(licence, &named[name], "the licence of `{name}`");
    }
}

/// `resched-unify` gives the tests of each crate the libraries of all, so it must name all. `libfuzzer-sys` is built on request only.
#[test]
fn tests_get_every_library() {
    let root: Table = text("Cargo.toml").parse().unwrap();
    let unify: Table = text("crates/unify/Cargo.toml").parse().unwrap();
    let declared: Vec<&str> = libraries(root["workspace"]["dependencies"].as_table().unwrap()).collect();
    let named: Vec<&str> = libraries(unify["dependencies"].as_table().unwrap()).collect();
    let missing: Vec<&&str> =
        declared.iter().filter(|name| !named.contains(name) && **name != "libfuzzer-sys").collect();
    assert!(missing.is_empty(), "crates/unify/Cargo.toml lacks {missing:?}");
}

/// Else the list of the root would not be that of the crates.
#[test]
fn versions_are_declared_in_the_root_and_used_by_a_crate() {
    let root: Table = text("Cargo.toml").parse().unwrap();
    let declared = root["workspace"]["dependencies"].as_table().unwrap();
    let mut unused: Vec<&str> = libraries(declared).collect();
    for manifest in members() {
        let name = manifest["package"]["name"].as_str().unwrap();
        if name == "resched-unify" {
            continue;
        }
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let Some(table) = manifest.get(kind).and_then(|table| table.as_table()) else { continue };
            for (library, value) in table {
                let from_root = value.get("workspace").and_then(toml::Value::as_bool);
                assert_eq!(from_root, Some(true), "`{name}` declares `{library}` itself");
                unused.retain(|known| known != library);
            }
        }
    }
    assert!(unused.is_empty(), "no crate uses {unused:?}");
}

/// The version that follows a word in a text.
fn version_after<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let rest = text.split_once(word)?.1;
    let end = rest.find(|character: char| !character.is_ascii_digit() && character != '.').unwrap_or(rest.len());
    rest.get(..end)
}

/// The oldest compiler is the one that builds the container, and the one of a file for rustup, if there is such a file. So a build with it
/// is not only a promise.
#[test]
fn the_oldest_compiler_is_the_one_that_builds_the_container() {
    let root: Table = text("Cargo.toml").parse().unwrap();
    let oldest = root["workspace"]["package"]["rust-version"].as_str().unwrap();
    assert_eq!(version_after(&text("Containerfile"), "library/rust:"), Some(oldest), "Containerfile");
    for name in ["rust-toolchain", "rust-toolchain.toml"] {
        let Ok(toolchain) = fs::read_to_string(path(name)) else { continue };
        assert!(toolchain.contains(oldest), "{name} names another compiler than `rust-version`, {oldest}");
    }
    for manifest in members() {
        let (name, version) = (&manifest["package"]["name"], &manifest["package"]["rust-version"]);
        assert_eq!(version.get("workspace").and_then(toml::Value::as_bool), Some(true), "{name}");
    }
}
