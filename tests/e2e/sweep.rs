//! Sweeps: the same tables for every way of making the cells, and nothing is lost if all processes are killed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::interrupts::signal;
use crate::support::{Dir, Ran, Tree, assert_same};

/// Twelve jobs on ten machines: a cell takes milliseconds.
const WORKLOAD: &str = r#"
name = "sweep"
[cluster]
nodes = 10
racks = 2
[classes.a]
map_mean_s = 20
map_variation = 0.4
reduce_mean_s = 30
[[jobs]]
class = "a"
submit_s = 0
maps = 30
reduces = 2
repeat = 12
every_s = 20
"#;

/// 2 worlds × 5 seeds × 4 settings: 40 cells.
const SWEEP: &str = r#"
name = "small"
workload = "workload.toml"
seeds = 5
baseline = "fifo"
[world]
speedup = [1, 2.0]
[variants.fifo]
[variants.delay]
D = { from = 0, to = 16, steps = 3 }
"#;
pub(crate) const CELLS: usize = 40;

pub(crate) fn dir() -> Dir {
    let dir = Dir::new();
    dir.write("workload.toml", WORKLOAD);
    dir.write("sweep.toml", SWEEP);
    dir
}

/// All files of a sweep.
pub(crate) fn result(dir: &Dir, name: &str) -> Tree {
    let tree = dir.tree(name);
    let hidden = tree.keys().filter(|path| path.file_name().unwrap().to_string_lossy().starts_with('.'));
    assert_eq!(hidden.count(), 0, "something temporary is left in {name}");
    tree
}

pub(crate) fn cells(dir: &Dir, name: &str) -> BTreeSet<PathBuf> {
    let Ok(entries) = fs::read_dir(dir.path(name).join("cells")) else { return BTreeSet::new() };
    let all = entries.map(|entry| PathBuf::from(entry.unwrap().file_name()));
    all.filter(|path| path.extension().is_some_and(|extension| extension == "parquet") && !path.starts_with("."))
        .collect()
}

/// Waits until `ready`, two minutes at most.
pub(crate) fn wait_until(what: &str, mut ready: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !ready() {
        assert!(begun.elapsed() < Duration::from_secs(120), "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_sweep_is_the_same_on_any_number_of_threads_and_resumed() {
    let dir = dir();
    dir.ok(&["sweep", "sweep.toml", "--out", "one", "--threads", "1"]);
    let one = result(&dir, "one");
    assert_eq!(cells(&dir, "one").len(), CELLS);
    for name in ["index.html", "results.csv", "summary.csv", "comparisons.csv", "dominance.csv", "measurements.parquet"]
    {
        assert!(one.contains_key(Path::new(name)), "{name}");
    }
    dir.ok(&["sweep", "sweep.toml", "--out", "two", "--threads", "2"]);
    assert_same(&one, &result(&dir, "two"), "two threads");
    // Killed after its first cells, and again.
    for least in [3, 10] {
        let mut child = dir.command(&["sweep", "sweep.toml", "--out", "killed", "--threads", "1"]);
        let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_until("cells", || cells(&dir, "killed").len() >= least || child.try_wait().unwrap().is_some());
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let before = cells(&dir, "killed");
    let times = |name: &Path| fs::metadata(dir.path("killed/cells").join(name)).unwrap().modified().unwrap();
    let stamps: Vec<_> = before.iter().map(|name| times(name)).collect();
    dir.ok(&["sweep", "sweep.toml", "--out", "killed"]);
    assert_same(&one, &result(&dir, "killed"), "killed and resumed");
    assert_eq!(
        stamps,
        before.iter().map(|name| times(name)).collect::<Vec<_>>(),
        "a cell that was done was made again"
    );
}

#[test]
fn an_interrupted_sweep_says_how_far_it_came() {
    let dir = dir();
    dir.write("sweep.toml", SWEEP.replace("seeds = 5", "seeds = 500"));
    let args = ["sweep", "sweep.toml", "--out", "S", "--threads", "1"];
    let child = dir.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("cells", || cells(&dir, "S").len() >= 3);
    signal(&child, "-INT");
    let ran = Ran::of(&args, child.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(130), ""), "{ran:?}");
    assert!(ran.stderr.contains(" of 4000 cells are done and kept in ") && ran.stderr.contains("to resume"), "{ran:?}");
    // It counts what is kept. A cell that was written at the very end may not be counted.
    let reported: usize = ran.stderr.split(' ').find_map(|word| word.parse().ok()).unwrap();
    let kept = cells(&dir, "S").len();
    assert!((kept.saturating_sub(16)..=kept).contains(&reported) && kept < 4_000, "{reported} of {kept}: {ran:?}");
}

/// Six seeds and sixteen comparisons: no corrected test can be significant. The headline counts the verdicts of the table, and says how
/// many seeds a test would need.
#[test]
fn the_headline_of_a_sweep_agrees_with_its_table() {
    let dir = dir();
    let many = "D = { from = 0, to = 16, steps = 9 }";
    dir.write(
        "sweep.toml",
        SWEEP
            .replace("seeds = 5", "seeds = 6")
            .replace("D = { from = 0, to = 16, steps = 3 }", many)
            .replace("[1, 2.0]", "[1, 8.0]"),
    );
    let reported = dir.ok(&["sweep", "sweep.toml", "--out", "S"]);
    let page = dir.read("S/index.html");
    let table = dir.read("S/comparisons.csv");
    let mut rows = csv_rows(&table).into_iter().filter(|row| row["metric"] == "mean_completion").peekable();
    assert!(rows.peek().is_some());
    let (mut decided, mut all) = (0, 0);
    for row in rows {
        all += 1;
        decided += usize::from(row["verdict"].starts_with("smaller by") || row["verdict"].starts_with("larger by"));
        assert!(row["wilcoxon_p_holm"].parse::<f64>().unwrap() > 0.05, "{row:?}");
    }
    assert_eq!(all, 18);
    let headline =
        reported.lines().find(|line| line.starts_with("Of the 18 settings")).unwrap_or_else(|| panic!("{reported}"));
    let parts = headline.split(", ").flat_map(|part| part.split(" and "));
    let counted: usize = parts
        .filter(|part| part.contains("by more than 5 %"))
        .map(|part| part.split(' ').find_map(|word| word.parse::<usize>().ok()).unwrap())
        .sum();
    assert_eq!(counted, decided, "{headline}\n{table}");
    let needed = "With 6 seeds and 18 comparisons, no test can be significant: the least corrected p-value is 0.56; 10 seeds would \
                  suffice.";
    for text in [&reported, &page] {
        assert!(text.contains(headline) && text.contains(needed) && !text.contains("no significant"), "{text}");
    }
    // The page shows its answer first, and folds long tables.
    assert!(page.contains("<details class=\"folded\" open><summary>All settings</summary>"));
}

fn csv_rows(text: &str) -> Vec<std::collections::BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.deserialize().map(Result::unwrap).collect()
}

/// What a key of the world sets, and no task is held up by, is named with the reason.
#[test]
fn a_key_that_changes_nothing_is_said_to_be_so() {
    let dir = dir();
    dir.write("c.toml", "[cost]\nreduce = \"r2\"\n[cost.contention]\ncores = 4\ndisk = 1e9\nnetwork = 1e9\n");
    let disks = "cluster = \"c.toml\"\n[world]\n\"cluster.cost.contention.disk\" = [0.9e9, 1e9]\n";
    let text = SWEEP.replace("[world]\nspeedup = [1, 2.0]\n", disks).replace("seeds = 5", "seeds = 2");
    dir.write("sweep.toml", text);
    let reported = dir.ok(&["sweep", "sweep.toml", "--out", "S"]);
    let expected = "`cluster.cost.contention.disk` had no effect, whatever its value; never the bottleneck: the disk (";
    assert!(reported.contains(expected), "{reported}");
    let replay = ["replay", "workload.toml", "--policy", "fifo", "--cluster", "c.toml", "--out", "R"];
    let reported = dir.ok(&replay);
    let line =
        reported.lines().find(|line| line.starts_with("Never the bottleneck")).unwrap_or_else(|| panic!("{reported}"));
    assert!(line.contains("the disk (") && line.contains("the network ("), "{line}");
    // A disk that is slow enough binds, and slows jobs.
    dir.write("c.toml", "[cost]\nreduce = \"r2\"\n[cost.contention]\ncores = 4\ndisk = 2e6\nnetwork = 1e9\n");
    let reported = dir.ok(&replay);
    assert!(!reported.contains("the disk ("), "{reported}");
    let info: serde_json::Value = serde_json::from_str(&dir.read("R/fifo/run.json")).unwrap();
    let disk = &info["bound"]["disk"];
    assert!(disk["bound_ms"].as_u64() > Some(0) && disk["bound_ms"].as_u64() <= disk["of_ms"].as_u64(), "{info}");
    assert!(disk["most"].as_u64() > Some(1_000), "{info}");
}

/// A sweep that mixes the engines compares replays that know different things of a trace.
#[test]
fn engines_are_not_mixed_in_a_sweep() {
    let dir = dir();
    dir.write("sweep.toml", SWEEP.to_owned() + "[variants.batch]\npolicy = \"batch-fifo\"\n");
    dir.run(&["sweep", "sweep.toml", "--out", "S"]).fails(2, &["[variants.delay] and [variants.batch]", "one engine"]);
}

#[test]
fn a_changed_sweep_makes_the_new_cells_only() {
    let dir = dir();
    dir.ok(&["sweep", "sweep.toml", "--out", "S"]);
    let before = cells(&dir, "S");
    dir.write("sweep.toml", SWEEP.replace("seeds = 5", "seeds = 6"));
    let again = dir.ok(&["sweep", "sweep.toml", "--out", "S"]);
    assert!(again.contains("index.html"));
    let after = cells(&dir, "S");
    assert!(after.is_superset(&before) && after.len() == CELLS + CELLS / 5);
    // Another comment leaves the sweep the same; another workload makes it another.
    dir.write("workload.toml", format!("# a word\n{WORKLOAD}"));
    dir.ok(&["sweep", "sweep.toml", "--out", "S"]);
    assert_eq!(cells(&dir, "S"), after);
    dir.write("workload.toml", WORKLOAD.replace("maps = 30", "maps = 31"));
    dir.ok(&["sweep", "sweep.toml", "--out", "S"]);
    assert_eq!(cells(&dir, "S").len(), 2 * after.len());
}

#[test]
fn a_batch_script_makes_the_same_cells() {
    let dir = dir();
    dir.ok(&["sweep", "sweep.toml", "--out", "one"]);
    dir.ok(&["sweep", "sweep.toml", "--out", "array", "--engine", "slurm", "--chunk", "7"]);
    let script = dir.read("array/slurm/array.sh");
    assert!(script.contains("#SBATCH --array=0-5\n"), "{script}");
    let missing = dir.run(&["sweep", "merge", "array"]);
    assert_eq!(missing.code, Some(1));
    assert!(missing.stderr.contains("40 of 40 cells are missing (number 0, 1, 2, …)"), "{missing:?}");
    // As Slurm would, in any order, and one task twice.
    for task in [3, 0, 5, 1, 4, 2, 3] {
        let run = Command::new("sh")
            .arg(dir.path("array/slurm/array.sh"))
            .env("SLURM_ARRAY_TASK_ID", task.to_string())
            .output();
        assert!(run.unwrap().status.success());
    }
    dir.ok(&["sweep", "merge", "array"]);
    let mut array = result(&dir, "array");
    array.retain(|path, _| !path.starts_with("slurm"));
    assert_same(&result(&dir, "one"), &array, "array");
}

/// The check of `replay`, for each cell and on every engine.
#[test]
fn a_check_passes_and_changes_no_byte() {
    let dir = dir();
    dir.ok(&["sweep", "sweep.toml", "--out", "plain"]);
    dir.ok(&["sweep", "sweep.toml", "--out", "checked", "--check"]);
    assert_same(&result(&dir, "plain"), &result(&dir, "checked"), "checked");
    for (out, more, last) in [("array", None, " --threads 1\n"), ("checks", Some("--check"), " --threads 1 --check\n")]
    {
        let args = ["sweep", "sweep.toml", "--out", out, "--engine", "slurm"];
        dir.ok(&args.into_iter().chain(more).collect::<Vec<_>>());
        let script = dir.read(&format!("{out}/slurm/array.sh"));
        assert!(script.ends_with(last), "{script}");
    }
    dir.ok(&["sweep", "cell", "--manifest", "checks", "--index", "3", "--count", "5", "--check"]);
    assert_eq!(cells(&dir, "checks").len(), 5);
}

#[test]
fn precision_adds_seeds_until_the_intervals_are_narrow() {
    let dir = dir();
    dir.write("sweep.toml", SWEEP.replace("seeds = 5", "seeds = 2"));
    let ranked = dir.json(&["sweep", "sweep.toml", "--out", "S", "--precision", "5%", "--json"]);
    let rows = ranked.as_array().unwrap();
    assert!(rows.len() == 8 && rows.iter().any(|row| row["seeds"].as_u64() > Some(2)));
    for row in rows {
        let [mean, low, high] = ["mean", "low", "high"].map(|key| row[key].as_f64().unwrap());
        assert!((high - low) / 2.0 <= 0.05 * mean, "{row}");
    }
}

#[test]
fn a_search_reports_its_front_and_goes_on_where_it_was() {
    let dir = dir();
    let tune = "[tune]\nobjective = { mean_completion = 1 }\nbounds = [{ metric = \"makespan\", at_most = 2 }]\ncandidates = 9\n";
    dir.write("sweep.toml", SWEEP.replace("[world]\nspeedup = [1, 2.0]", "").replace("steps = 3", "steps = 9") + tune);
    let found = dir.json(&["tune", "sweep.toml", "--out", "S", "--json"]);
    let candidates = found["candidates"].as_array().unwrap();
    assert_eq!(candidates.len(), 9);
    assert!(candidates[0]["on_front"].as_bool().unwrap());
    assert!(candidates[0]["objective"]["mean"].as_f64() <= candidates[8]["objective"]["mean"].as_f64());
    let intervals = found["intervals"].as_str().unwrap();
    assert!(intervals.contains("over draws") && intervals.contains("makes its jobs with each seed"), "{intervals}");
    assert!(dir.read("S/index.html").contains(intervals));
    assert!(dir.ok(&["tune", "sweep.toml", "--out", "S"]).contains(intervals));
    let before = cells(&dir, "S");
    assert_eq!(dir.json(&["tune", "sweep.toml", "--out", "S", "--json"]), found);
    assert_eq!(cells(&dir, "S"), before);
}

#[test]
fn wrong_requests_name_the_place_and_the_remedy() {
    let dir = dir();
    let reported = |text: &str| {
        dir.write("wrong.toml", text);
        let ran = dir.run(&["sweep", "wrong.toml", "--out", "W"]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(!dir.path("W").exists());
        ran.stderr
    };
    assert!(reported(&SWEEP.replace("seeds", "sseds")).contains("wrong.toml: line 4, column 1: unknown field `sseds`"));
    assert!(
        reported(&SWEEP.replace("D =", "DD ="))
            .contains("line 10, column 1: `delay` has no parameter `DD`; did you mean `D`?")
    );
    assert!(
        reported(&SWEEP.replace("speedup", "cluster.heartbeat.jitter"))
            .contains("line 7, column 1: `cluster`: expected a whole path in quotes")
    );
    assert!(reported(&SWEEP.replace("speedup", "\"cluster.heartbeat.jiter\"")).contains("unknown field `jiter`"));
    assert!(reported(&SWEEP.replace("speedup = [1, 2.0]", "nodes = 0")).contains("with [world] nodes = 0: "));
    assert!(reported(&SWEEP.replace("workload.toml", "none.toml")).contains("none.toml"));
    assert!(reported("").contains("missing field"));
    dir.write("full/file", "x");
    let ran = dir.run(&["sweep", "sweep.toml", "--out", "full"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("name another --out"), "{ran:?}");
    dir.ok(&["sweep", "plan", "sweep.toml", "--out", "P"]);
    dir.write("workload.toml", WORKLOAD.replace("maps = 30", "maps = 31"));
    let ran = dir.run(&["sweep", "cell", "--manifest", "P", "--index", "0"]);
    assert!(ran.code == Some(1) && ran.stderr.contains("has changed since the plan"), "{ran:?}");
    let ran = dir.run(&["sweep", "cell", "--manifest", "P", "--index", "40"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("the plan has 40 cells"), "{ran:?}");
    dir.write("P/cells/x", "");
    dir.write("P/sweep.json", "{");
    let ran = dir.run(&["sweep", "merge", "P"]);
    assert!(ran.code == Some(1) && ran.stderr.contains("plan the sweep again"), "{ran:?}");
}
