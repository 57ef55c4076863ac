//! `resched new-policy` makes a folder of each kind, complete or not at all. `crates/kit/tests/templates.rs` runs the policies in Rust, and
//! `python/tests/test_new_policy.py` those in Python.

use std::path::PathBuf;

use crate::support::{Dir, repository};

/// The jobs that a kind of cluster replays.
const KINDS: [(&str, &[&str]); 3] =
    [("slots", &["workload.toml"]), ("containers", &["cluster.toml", "workload.toml"]), ("requests", &["jobs.swf"])];

/// The files of a folder, in order.
fn files(dir: &Dir, folder: &str) -> Vec<String> {
    let is_file = |(path, bytes): (PathBuf, Option<Vec<u8>>)| bytes.is_some().then(|| path.display().to_string());
    dir.tree(folder).into_iter().filter_map(is_file).collect()
}

/// The names of files in order.
fn in_order(names: &[&[&str]]) -> Vec<String> {
    let mut names: Vec<String> = names.concat().into_iter().map(str::to_owned).collect();
    names.sort();
    names
}

#[test]
fn each_kind_has_its_files_and_its_name_in_them() {
    let dir = Dir::new();
    for (kind, data) in KINDS {
        let python = format!("py-{kind}");
        let printed = dir.ok(&["new-policy", &python, &format!("--{kind}")]);
        assert!(
            printed.contains(&format!("cd {python}\n")) && printed.contains("resched sweep sweep.toml"),
            "{printed}"
        );
        let code = ["README.md", "policy.py", "sweep.toml", "test_policy.py"];
        assert_eq!(files(&dir, &python), in_order(&[&code, data]));
        let class = format!("Py{}{}Policy", kind[..1].to_uppercase(), &kind[1..]);
        assert!(dir.read(&format!("{python}/policy.py")).contains(&format!("class {class}(")));
        assert!(dir.read(&format!("{python}/sweep.toml")).contains(&format!("policy = \"policy.py:{class}\"")));

        let rust = format!("rs-{kind}");
        let printed = dir.ok(&["new-policy", &rust, "--rust", &format!("--{kind}"), "--kit", &repository(".")]);
        assert!(printed.contains("cargo run"), "{printed}");
        let code = [".gitignore", "Cargo.lock", "Cargo.toml", "README.md", "src/main.rs", "src/policy.rs"];
        assert_eq!(files(&dir, &rust), in_order(&[&code, data]));
        let manifest: toml::Table = dir.read(&format!("{rust}/Cargo.toml")).parse().unwrap();
        assert_eq!(manifest["package"]["name"].as_str(), Some(format!("{rust}-policy").as_str()));
        let kit = manifest["dependencies"]["resched-kit"]["path"].as_str().unwrap();
        assert_eq!(kit, repository("crates/kit"));
        for (path, bytes) in dir.tree(&rust).into_iter().chain(dir.tree(&python)) {
            let text = String::from_utf8(bytes.unwrap_or_default()).unwrap();
            for word in ["my-policy", "MyPolicy", "PACKAGE", "KIT"] {
                assert!(path.ends_with("Cargo.lock") || !text.contains(word), "{}: {word} stayed", path.display());
            }
        }
    }
}

#[test]
fn the_jobs_of_each_kind_can_be_replayed() {
    let dir = Dir::new();
    for (kind, _) in KINDS {
        dir.ok(&["new-policy", kind, &format!("--{kind}")]);
    }
    dir.ok(&["ingest", "requests/jobs.swf", "--out", "requests/trace"]);
    for (folder, cluster, policies) in [
        ("slots/workload.toml", None, ["fifo", "fair"]),
        ("containers/workload.toml", Some("containers/cluster.toml"), ["yarn-fifo", "yarn-fair"]),
        ("requests/trace", None, ["fifo", "easy"]),
    ] {
        let mut args =
            vec!["replay", folder, "--policy", policies[0], "--policy", policies[1], "--out", "R", "--robust", "off"];
        args.extend(cluster.into_iter().flat_map(|file| ["--cluster", file]));
        dir.ok(&args);
        std::fs::remove_dir_all(dir.path("R")).unwrap();
    }
}

#[test]
fn a_folder_that_is_there_stays() {
    let dir = Dir::new();
    dir.write("mine/notes.md", "mine");
    dir.write("file", "mine");
    std::os::unix::fs::symlink("nowhere", dir.path("link")).unwrap();
    for name in ["mine", "file", "link"] {
        dir.run(&["new-policy", name]).fails(2, &[name, "choose another name"]);
    }
    dir.ok(&["new-policy", "own"]);
    dir.run(&["new-policy", "own"]).fails(2, &["own", "choose another name"]);
    assert_eq!((dir.read("mine/notes.md"), dir.read("file")), ("mine".to_owned(), "mine".to_owned()));
    assert_eq!(files(&dir, "mine"), ["notes.md"]);
}

#[test]
fn what_is_no_name_is_refused() {
    let dir = Dir::new();
    for name in ["../mine", "/tmp/mine", "a/b", ".", "..", "Mine", "two words", "mine_", "2nd", ""] {
        dir.run(&["new-policy", name]).fails(2, &["small letters", "shortest-job"]);
    }
    for name in ["fifo", "fair", "drf", "yarn-fair"] {
        dir.run(&["new-policy", name]).fails(2, &[name, "is a policy of resched"]);
    }
    assert!(files(&dir, ".").is_empty());
}

#[test]
fn a_kit_is_that_of_the_clone_around() {
    let dir = Dir::new();
    dir.write("clone/crates/kit/Cargo.toml", "");
    dir.write("clone/work/notes.md", "");
    let ran = dir.command(&["new-policy", "mine", "--rust"]).current_dir(dir.path("clone/work")).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let manifest: toml::Table = dir.read("clone/work/mine/Cargo.toml").parse().unwrap();
    let kit = manifest["dependencies"]["resched-kit"]["path"].as_str().unwrap().to_owned();
    assert_eq!(kit, dir.path("clone/crates/kit").canonicalize().unwrap().display().to_string());
    assert!(!dir.path("clone/work/mine/Cargo.lock").exists(), "that clone has none");
}

#[test]
fn a_kit_is_a_clone_or_an_address() {
    let dir = Dir::new();
    dir.write("elsewhere/README.md", "");
    dir.run(&["new-policy", "mine", "--rust", "--kit", "elsewhere"]).fails(2, &["elsewhere", "crates/kit", "clone"]);
    dir.run(&["new-policy", "mine", "--kit", "."]).fails(2, &["--rust"]);
    assert!(!dir.path("mine").exists());
    dir.ok(&["new-policy", "mine", "--rust", "--kit", "https://example.org/a\"b.git"]);
    let manifest: toml::Table = dir.read("mine/Cargo.toml").parse().unwrap();
    assert_eq!(manifest["dependencies"]["resched-kit"]["git"].as_str(), Some("https://example.org/a\"b.git"));
    assert!(!dir.path("mine/Cargo.lock").exists(), "a repository has its own versions");
}
