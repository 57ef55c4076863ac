//! Wrong requests and damaged files: a status, one helpful message, and nothing left behind.

use std::fs;

use crate::support::{Dir, assert_same, gzip, repository, sample_history};

/// Runs `args`, which must fail with this status and these words and change nothing.
fn refused(dir: &Dir, args: &[&str], code: i32, parts: &[&str]) {
    let before = dir.tree("");
    dir.run(args).fails(code, parts);
    assert_same(&before, &dir.tree(""), &format!("{args:?}"));
}

#[test]
fn sources_that_hold_no_history() {
    let dir = Dir::new();
    let history = fs::read_dir(sample_history()).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap());
    let packed = gzip(&history.max_by_key(Vec::len).unwrap());
    dir.write("empty", "");
    dir.write("folder/readme.txt", "nothing here");
    fs::create_dir(dir.path("bare")).unwrap();
    dir.write("cut.gz", &packed[..20]);
    dir.write("no-zip.gz", [&packed[..10], &[0xff; 500]].concat());
    dir.write("binary", (0..200_000u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect::<Vec<u8>>());
    for (file, code, parts) in [
        ("empty", 1, &["empty: expected job history, found an empty file; "][..]),
        ("folder", 1, &["folder: ", "found 1 file", "known formats", "; name another folder"]),
        ("bare", 1, &["bare: ", "found 0 files"]),
        ("cut.gz", 1, &["cut.gz: ", "cut or damaged", "copy it"]),
        ("no-zip.gz", 1, &["no-zip.gz: ", "cut or damaged"]),
        ("binary", 1, &["binary: ", "known formats", "--format"]),
        ("missing", 2, &["missing: ", "found nothing of that name", "check the path"]),
        ("/dev/null", 2, &["/dev/null: ", "device"]),
    ] {
        refused(&dir, &["ingest", file, "--out", "a/b/X"], code, parts);
    }
    refused(&dir, &["ingest", "binary", "--format", "jhist", "--out", "X"], 1, &["binary: "]);
    refused(&dir, &["ingest", "binary", "--format", "nope", "--out", "X"], 2, &["nope: ", "text-history, jhist"]);
}

/// The records before the cut are read, and the cut is counted.
#[test]
fn a_history_cut_in_the_middle_is_counted() {
    let dir = Dir::new();
    let history = fs::read_dir(sample_history()).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap());
    let packed = gzip(&history.max_by_key(Vec::len).unwrap());
    dir.write("cut.gz", &packed[..packed.len() / 2]);
    assert!(dir.ok(&["ingest", "cut.gz", "--out", "X"]).contains("1 × cut-file"));
    assert_eq!(dir.json(&["inspect", "X", "--json"])["skipped"]["cut-file"], 1);
}

#[test]
fn wrong_flags_and_policies() {
    let dir = Dir::with_sample();
    refused(&dir, &["inspect", "T", "--jason"], 2, &["--jason", "--json"]);
    refused(&dir, &["ingest", "T"], 2, &["--out"]);
    refused(&dir, &["replay", "T", "--assume", "--policy", "fifo", "--out", "R", "--seed", "x"], 2, &["--seed", "x"]);
    refused(&dir, &["policies", "nope"], 2, &["`nope`"]);
    for (policy, parts) in [
        ("fiffo", &["`fiffo`", "resched policies"][..]),
        ("delay:Z=1", &["`Z`", "did you mean `D`?"]),
        ("delay:D=x", &["D: expected 0..", "found `x`"]),
        ("delay:D=-1", &["D: expected 0..", "found `-1`"]),
        ("delay:D", &["`delay`"]),
        ("delay:D=1,D=2", &["D"]),
        ("", &["policy"]),
        ("fair:allocations=/no/such/file", &["/no/such/file"]),
    ] {
        refused(&dir, &["replay", "T", "--assume", "--policy", policy, "--out", "R"], 2, parts);
    }
    let twice = ["replay", "T", "--assume", "--policy", "fifo", "--policy", "fifo", "--out", "R"];
    refused(&dir, &twice, 2, &["`fifo` is listed twice"]);
    refused(&dir, &["report", "T", "--out", "P", "--format", "png,bmp"], 2, &["bmp", "png, svg, "]);
    refused(&dir, &["report", "T", "--out", "P", "--format", ""], 2, &["png, svg, "]);
}

#[test]
fn slips_in_files_written_by_hand() {
    let dir = Dir::with_sample();
    for (text, parts) in [
        ("[nodes]\nmap_slot = 3\n", &["c.toml: line 2, ", "unknown field `map_slot`", "did you mean `map_slots`?"][..]),
        ("[nodes]\nmap_slots = \"x\"\n", &["c.toml: line 2, ", "expected", "found string \"x\"", "correct it"]),
        ("[nodes]\nmap_slots = 0\n", &["no map slot"]),
        ("[cost]\nreduce = \"r7\"\n", &["c.toml: line 2, ", "`r7`", "`r0`"]),
        ("[jobs]\nslowstart = 2.0\n", &["c.toml: jobs.slowstart", "from 0 to 1", "found 2"]),
        ("[nodes\n", &["c.toml: line 1, "]),
        ("[nodes]\ncount = 1000000\nmap_slots = 100000\n", &["100000000000 map slots", "at most"]),
    ] {
        dir.write("c.toml", text);
        refused(&dir, &["replay", "T", "--assume", "--policy", "fifo", "--cluster", "c.toml", "--out", "R"], 2, parts);
    }
    refused(
        &dir,
        &["replay", "T", "--assume", "--policy", "fifo", "--cluster", "d.toml", "--out", "R"],
        2,
        &["d.toml: ", "--cluster"],
    );

    let table3 = fs::read_to_string(repository("traces/coupling-table3.toml")).unwrap();
    let slip = table3.replacen("map_slots", "map_slot", 1);
    for (text, parts) in [
        (slip.as_str(), &["w.toml: line 12, ", "unknown field `map_slot`", "did you mean `map_slots`?"][..]),
        ("name = \"x\"\n[cluster]\nnodes = 3\n", &["w.toml: ", "a job", "[[jobs]]"]),
        ("name = 3\n", &["w.toml: line 1, "]),
        ("", &["w.toml: ", "`name`"]),
    ] {
        dir.write("w.toml", text);
        refused(&dir, &["generate", "w.toml", "--out", "W"], 2, parts);
        refused(&dir, &["replay", "w.toml", "--assume", "--policy", "fifo", "--out", "new/R"], 2, parts);
    }
    refused(&dir, &["generate", "v.toml", "--out", "W"], 2, &["v.toml: cannot read the workload"]);
    dir.write("rules.toml", "split_byte = 3\n");
    let rules = ["ingest", &sample_history(), "--tasks", "rules.toml", "--out", "X"];
    refused(&dir, &rules, 2, &["rules.toml: line 1, ", "did you mean `split_bytes`?"]);
}

#[test]
fn traces_that_are_none() {
    let dir = Dir::new();
    dir.write("foreign/notes.txt", "mine");
    for (trace, problem) in
        [("missing", "no such trace"), ("foreign", "is not a trace"), ("foreign/notes.txt", "is not a trace")]
    {
        for args in [&["inspect", trace][..], &["replay", trace, "--assume", "--policy", "fifo", "--out", "R"]] {
            refused(&dir, args, 2, &[&format!("{trace}: "), problem, "resched ingest"]);
        }
        refused(&dir, &["report", trace, "--out", "P"], 2, &[&format!("{trace}: "), "run"]);
    }
}

#[test]
fn traces_that_are_damaged() {
    let dir = Dir::with_sample();
    // With hashes, all of this is noticed before (`integrity`).
    dir.without_hashes("T/trace.json");
    let whole = dir.tree("T");
    let bytes = |file: &str| fs::read(dir.path("T").join(file)).unwrap();
    let (attempts, manifest) = (bytes("attempts.parquet"), dir.read("T/trace.json"));
    let end = attempts.len() - 8;
    let flipped = |at: usize| -> Vec<u8> {
        attempts.iter().enumerate().map(|(place, byte)| byte ^ u8::from(place == at)).collect()
    };
    let damages: [(&str, Vec<u8>, &[&str]); 8] = [
        ("attempts.parquet", attempts[..attempts.len() / 2].to_vec(), &["attempts.parquet: ", "make its folder"]),
        ("attempts.parquet", Vec::new(), &["attempts.parquet: "]),
        ("attempts.parquet", b"PAR1 is not what follows PAR1".to_vec(), &["attempts.parquet: "]),
        ("attempts.parquet", [&attempts[..end], &[0xff; 4], b"PAR1"].concat(), &["attempts.parquet: "]),
        ("attempts.parquet", bytes("tasks.parquet"), &["attempts.parquet: ", "column `"]),
        (
            "trace.json",
            manifest.replace("\"format_version\": 1", "\"format_version\": 9").into(),
            &["trace.json: ", "version 1", "version 9", "ingest the sources again"],
        ),
        ("trace.json", manifest[..manifest.len() / 2].into(), &["trace.json: ", "damaged", "ingest the sources again"]),
        (
            "trace.json",
            manifest.replace("\"attempts\": 239", "\"attempts\": 238").into(),
            &["attempts.parquet: ", "expected 238 rows", "found 239"],
        ),
    ];
    for (file, damaged, parts) in &damages {
        dir.write(&format!("T/{file}"), damaged);
        refused(&dir, &["inspect", "T"], 1, parts);
        refused(&dir, &["replay", "T", "--assume", "--policy", "fifo", "--out", "new/R"], 1, parts);
        refused(&dir, &["report", "T", "--out", "P"], 1, &parts[..1]);
        dir.write(&format!("T/{file}"), whole[std::path::Path::new(file)].as_ref().unwrap());
    }
    // A flipped bit may hide in a value, but must never be a panic.
    for at in (0..attempts.len()).step_by(attempts.len() / 40) {
        dir.write("T/attempts.parquet", flipped(at));
        for args in [&["inspect", "T"][..], &["replay", "T", "--assume", "--policy", "fifo", "--out", "R"]] {
            let ran = dir.run(args);
            assert!(matches!(ran.code, Some(0 | 1)) && !ran.stderr.contains("panicked"), "byte {at}: {ran:?}");
        }
    }
}

/// A table with its rows in the order of another trace.
#[test]
fn traces_whose_rows_are_swapped() {
    let dir = Dir::new();
    let job = |number: u32| {
        format!(
            r#"{{"jobID":"job_1_000{number}","submitTime":1000,"outcome":"SUCCESS","mapTasks":[{{"taskID":"task_1_000{number}_m_000000",
            "taskType":"MAP","taskStatus":"SUCCESS","startTime":2000,"finishTime":5000,"attempts":[{{"result":"SUCCESS","startTime":2000,
            "attemptID":"attempt_1_000{number}_m_000000_0","finishTime":5000,"hostName":"/r/h"}}]}}]}}"#
        )
    };
    for (name, order) in [("A", [1, 2]), ("B", [2, 1])] {
        dir.write(&format!("{name}.json"), order.map(job).join("\n"));
        dir.ok(&["ingest", &format!("{name}.json"), "--out", name]);
    }
    for table in ["tasks", "attempts"] {
        let file = format!("{table}.parquet");
        dir.without_hashes("A/trace.json");
        let bytes = fs::read(dir.path("A").join(&file)).unwrap();
        fs::copy(dir.path("B").join(&file), dir.path("A").join(&file)).unwrap();
        let replay = ["replay", "A", "--assume", "--policy", "fifo", "--out", "R"];
        refused(&dir, &replay, 1, &[".parquet: the rows are not grouped", "ingest the sources again"]);
        dir.write(&format!("A/{file}"), bytes);
    }
}

#[test]
fn outputs_that_cannot_be_written() {
    let dir = Dir::with_sample();
    dir.write("file", "mine");
    let (history, workload) = (sample_history(), repository("traces/coupling-table3.toml"));
    let commands: [&[&str]; 4] = [
        &["ingest", &history],
        &["replay", "T", "--assume", "--policy", "fifo", "--policy", "fair"],
        &["report", "T"],
        &["generate", &workload],
    ];
    for command in commands {
        for out in ["file/below", "file/far/below", "/proc/x", "/sys/x", "/dev/full/x"] {
            let args = [command, &["--out", out]].concat();
            refused(&dir, &args, 2, &["name another --out"]);
        }
        let args = [command, &["--out", "/dev/full"]].concat();
        refused(&dir, &args, 2, &["/dev/full", "name another --out"]);
    }
}

#[test]
fn folders_with_other_things_are_left_alone() {
    let dir = Dir::with_sample();
    dir.ok(&["replay", "T", "--assume", "--policy", "fifo", "--out", "R"]);
    dir.write("mine/notes.txt", "mine");
    dir.write("mine/fifo/notes.txt", "mine");
    let (history, workload) = (sample_history(), repository("traces/coupling-table3.toml"));
    let ingest = ["ingest", &history, "--out"];
    let report = ["report", "R", "--out"];
    let generate = ["generate", &workload, "--out"];
    let replay = ["replay", "T", "--assume", "--policy", "fair", "--policy", "fifo", "--out"];
    for command in [&ingest[..], &report, &generate, &replay, &["demo", "--out"]] {
        refused(&dir, &[command, &["mine"]].concat(), 2, &["mine", "is not an earlier result"]);
    }
    // A run or a report cannot replace a trace, and a trace cannot replace a run.
    refused(&dir, &[&replay[..], &["T"]].concat(), 2, &["T: ", "found a trace"]);
    refused(&dir, &[&replay[..], &["R/fifo"]].concat(), 2, &["R/fifo: "]);
    refused(&dir, &[&report[..], &["T"]].concat(), 2, &["T: "]);
    refused(&dir, &[&report[..], &["R/fifo"]].concat(), 2, &["R/fifo: "]);
    refused(&dir, &[&ingest[..], &["R/fifo"]].concat(), 2, &["R/fifo: "]);
    refused(&dir, &["ingest", "T", "--out", "T"], 1, &["T: "]);
    // A file that was added to a trace is not lost.
    dir.write("T/notes.txt", "mine");
    refused(&dir, &[&ingest[..], &["T"]].concat(), 2, &["T: ", "`notes.txt`", "name another --out"]);
}

/// A history must not be its own output folder.
#[test]
fn the_input_is_no_output() {
    let dir = Dir::new();
    for entry in fs::read_dir(sample_history()).unwrap().map(Result::unwrap) {
        dir.write(&format!("H/{}", entry.file_name().to_str().unwrap()), fs::read(entry.path()).unwrap());
    }
    refused(&dir, &["ingest", "H", "--out", "H"], 2, &["H: ", "is not an earlier result"]);
    dir.write("w.toml", fs::read(repository("traces/coupling-table3.toml")).unwrap());
    refused(&dir, &["generate", "w.toml", "--out", "w.toml"], 2, &["w.toml: "]);
}
