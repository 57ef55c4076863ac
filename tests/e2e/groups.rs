//! Folders with the files of several clusters are refused with the list of them, or split into a trace for each.

use std::fs;
use std::path::Path;

use crate::support::{Dir, assert_same, sample_history};

/// Two jobs of a machine with four processors.
const SWF: &str =
    "; MaxProcs: 4\n1 0 0 10 2 -1 -1 2 20 -1 1 1 1 1 1 1 -1 -1\n2 5 0 10 4 -1 -1 4 20 -1 1 1 1 1 1 1 -1 -1\n";

/// Copies the sample history to the folder `name`, with these words replaced in names and contents.
fn history(dir: &Dir, name: &str, replaced: &[(&str, &str)]) {
    let replace = |text: String| replaced.iter().fold(text, |text, (old, new)| text.replace(old, new));
    for entry in fs::read_dir(Path::new(&sample_history())).unwrap() {
        let path = entry.unwrap().path();
        let file = replace(path.file_name().unwrap().to_str().unwrap().to_owned());
        dir.write(&format!("{name}/{file}"), replace(fs::read_to_string(path).unwrap()));
    }
}

#[test]
fn a_tree_of_mixed_files_is_refused_or_split() {
    let dir = Dir::new();
    history(&dir, "tree/hadoop/2010", &[]);
    dir.write("tree/swf/a.swf", SWF);
    dir.write("tree/swf/b.swf", SWF);
    dir.write("tree/hadoop/notes.txt", "nothing to read");
    let refused = dir.run(&["ingest", "tree", "--out", "T"]);
    refused.fails(2, &["tree: expected the files of one cluster, found those of 3; ", "--split"]);
    for line in ["  hadoop: 15 files, the first is hadoop/2010/jobtracker_", "  swf-a: swf/a.swf", "  swf-b: swf/b.swf"]
    {
        assert!(refused.stderr.contains(line), "{line}: {refused:?}");
    }
    assert!(!dir.path("T").exists());

    let reported = dir.ok(&["ingest", "tree", "--split", "--out", "T"]);
    assert!(reported.contains("T/hadoop-201003010800: 15 jobs") && reported.contains("T/swf-b: 2 jobs"), "{reported}");
    for (part, source) in
        [("hadoop-201003010800", "tree/hadoop"), ("swf-a", "tree/swf/a.swf"), ("swf-b", "tree/swf/b.swf")]
    {
        dir.ok(&["ingest", source, "--out", "alone"]);
        assert_same(&dir.tree("alone"), &dir.tree(&format!("T/{part}")), part);
    }
    // A folder of one cluster is taken as before, and so are files and folders that are named beside each other.
    dir.ok(&["ingest", "tree/swf/a.swf", "tree/swf/b.swf", "--out", "both"]);
    dir.run(&["ingest", "tree/swf", "--out", "both"]).fails(2, &["tree/swf: ", "those of 2"]);
    dir.run(&["ingest", "tree", "--split", "--out", "alone"]).fails(2, &["alone: ", "found a trace"]);
}

/// Nobody knows of which cluster they are, so the first trace that could be written counts them.
#[test]
fn files_in_no_known_format_are_counted_once_by_a_split() {
    let dir = Dir::new();
    dir.write("tree/0.txt", "Dear reader, these are notes.\n");
    dir.write("tree/a.swf", "; MaxProcs: 4\n1 no job\n");
    dir.write("tree/b.swf", SWF);
    dir.write("tree/c.swf", SWF);
    dir.write("tree/d.log", "");
    dir.ok(&["ingest", "tree", "--split", "--out", "T"]);
    let inspected = |part: &str| dir.json(&["inspect", &format!("T/{part}"), "--json"]);
    assert_eq!(inspected("swf-b")["skipped"], serde_json::json!({"empty-file": 1, "unrecognised-file": 2}));
    assert_eq!(inspected("swf-c")["skipped"], serde_json::json!({}));
}

/// As above.
#[test]
fn links_that_a_split_leaves_out_are_counted_once() {
    let dir = Dir::new();
    dir.write("tree/a.swf", "; MaxProcs: 4\n1 no job\n");
    dir.write("tree/b.swf", SWF);
    dir.write("tree/c.swf", SWF);
    dir.write("elsewhere/d.swf", SWF);
    std::os::unix::fs::symlink(dir.path("elsewhere/d.swf"), dir.path("tree/d.swf")).unwrap();
    std::os::unix::fs::symlink("/nowhere/at/all", dir.path("tree/e.swf")).unwrap();
    let reported = dir.ok(&["ingest", "tree", "--split", "--out", "T"]);
    assert_eq!(reported.matches("link-out-of-folder").count(), 1, "{reported}");
    let skipped = |part: &str| dir.json(&["inspect", &format!("T/{part}"), "--json"])["skipped"].clone();
    let expected = serde_json::json!({"link-out-of-folder": 1, "unreadable-entry": 1, "unrecognised-file": 1});
    assert_eq!(skipped("swf-b"), expected);
    assert_eq!(skipped("swf-c"), serde_json::json!({}));
    assert!(!dir.path("T/swf-a").exists() && !dir.path("T/swf-d").exists());
}

#[test]
fn two_hadoop_clusters_in_one_folder_are_distinguished() {
    let dir = Dir::new();
    let others = [("201003010800", "201003010801"), ("node-", "host-")];
    history(&dir, "two/a", &[]);
    history(&dir, "two/b", &others);
    let refused = dir.run(&["ingest", "two", "--out", "T"]);
    refused.fails(2, &["two/b/jobtracker_", "another master accepted at the same time", "--split"]);
    let reported = dir.ok(&["ingest", "two", "--split", "--out", "T"]);
    for part in ["T/hadoop-201003010800: 15 jobs", "T/hadoop-201003010801: 15 jobs"] {
        assert!(reported.contains(part), "{reported}");
    }
    // After a restart, the master has another number and the same machines.
    dir.ok(&["ingest", "two/a", "--out", "alone"]);
    history(&dir, "restarted/a", &[]);
    let later = [("201003010800", "201103010800"), ("=\"12674", "=\"12984")];
    history(&dir, "restarted/b", &later);
    assert!(dir.ok(&["ingest", "restarted", "--out", "R"]).contains(" 30 jobs"));
    assert!(dir.ok(&["ingest", "restarted", "--split", "--out", "S"]).contains("S/hadoop-201003010800: 30 jobs"));
    // Another cluster, at another time: the masters share no machine.
    history(&dir, "mixed/a", &[]);
    history(&dir, "mixed/b", &[later[0], later[1], others[1]]);
    let refused = dir.run(&["ingest", "mixed", "--out", "M"]);
    refused.fails(2, &["mixed: expected the jobs of one cluster, found those of 2, which share no machine", "\n  a/"]);
    assert!(!dir.path("M").exists());
    assert!(dir.ok(&["ingest", "mixed", "--split", "--out", "M"]).contains("M/hadoop-201103010800: 15 jobs"));
    // A pattern of the shell names the files one by one.
    let named = |folder: &str| -> Vec<String> {
        let files = fs::read_dir(dir.path(folder)).unwrap();
        files.map(|file| format!("{folder}/{}", file.unwrap().file_name().into_string().unwrap())).collect()
    };
    let ingest = |files: &[String], more: &[&str]| {
        let files = files.iter().map(String::as_str);
        dir.run(&["ingest"].into_iter().chain(files).chain(more.iter().copied()).collect::<Vec<_>>())
    };
    for (folder, found) in [("two", "at the same time"), ("mixed", "the named files: expected the jobs of one cluster")]
    {
        let files = [named(&format!("{folder}/a")), named(&format!("{folder}/b"))].concat();
        ingest(&files, &["--out", "N"]).fails(2, &[found, "--merge"]);
        assert!(!dir.path("N").exists());
    }
    let merged = ingest(&[named("two/a"), named("two/b")].concat(), &["--merge", "--out", "N"]);
    assert!(merged.stdout.contains(" 30 jobs"), "{merged:?}");
}
