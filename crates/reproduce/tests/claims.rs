//! The claims that need no hidden calibration (`docs/papers.md`), and rules for every reproduction.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use resched_replay::Threads;
use resched_reproduce::{EXPERIMENTS, Progress, Published, Reproduced, Role, Row, Verdict, find, reproduce, write};

fn run(names: &[&str], seeds: u64, threads: usize, drawn: bool) -> Vec<Reproduced> {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let threads = Threads::from(NonZeroUsize::new(threads).unwrap());
    reproduce(&find(&names).unwrap(), seeds, threads, drawn, &|_| {}).unwrap()
}

fn rows(name: &str, seeds: u64) -> Vec<Row> {
    run(&[name], seeds, 2, false).remove(0).rows
}

#[track_caller]
fn row<'a>(rows: &'a [Row], quantity: &str) -> &'a Row {
    let mut found = rows.iter().filter(|row| row.quantity.starts_with(quantity));
    let row = found.next().unwrap_or_else(|| panic!("no row `{quantity}`"));
    assert!(found.next().is_none(), "`{quantity}` is not the only one");
    row
}

#[track_caller]
fn agrees(rows: &[Row], quantity: &str) {
    let row = row(rows, quantity);
    assert!(row.verdict.agrees(), "{row:?}");
}

#[test]
fn fig10_has_its_plateau_and_its_jump_and_fig11_its_order_and_sizes() {
    let rows = rows("coupling-fig10", 5);
    for quantity in [
        "Eq. 2",
        "Fair: running maps most of the time",
        "Fair: running maps after the jump",
        "Fair: the jump",
        "Fair: end, if all 60 slots are used from 8.2",
        "Processing time, β = 0.5 (Fig. 11)",
        "Processing time, β = 0.5 against β = 0.1",
        "Processing time, β = 0.5: 38.7 % less",
    ] {
        agrees(&rows, quantity);
    }
}

/// The signs that follow from the numbers of tasks (`docs/papers/coupling.md`), but for jobs 17 and 20, whose signs hang on the times of
/// Sort's tasks. The paper's others are on the page.
#[test]
fn table4_has_its_signs() {
    let rows = rows("coupling-table4", 15);
    for (jobs, published) in [(&[3, 4, 5, 6, 7, 11, 12, 13][..], Published::Above), (&[8], Published::Below)] {
        for job in jobs {
            let found = row(&rows, &format!("Job {job}: S_F − S_C"));
            assert_eq!(found.published, published);
            let above = found.replay.is_some_and(|replay| replay.value > 0.0);
            assert_eq!(above, published == Published::Above, "{found:?}");
        }
    }
}

#[test]
fn fig15_has_its_order() {
    let rows = rows("coupling-table3", 5);
    agrees(&rows, "Local maps, β = 0.1 less Fair");
    agrees(&rows, "Local maps, Fair less β = 0.5");
    agrees(&rows, "Local maps, β = 0.1 less β = 0.5");
}

/// Reduces that wait for maps: the paper's account of Figs. 1 and 2.
#[test]
fn fig1_has_a_job_that_holds_its_slots_for_nothing() {
    let rows = rows("coupling-fig1", 5);
    for quantity in
        ["Fair: J2's maps end", "Fair: J2's reduces start", "Coupling: J2 starves", "J1's", "J2's proc", "Reduce slot"]
    {
        agrees(&rows, quantity);
    }
}

#[test]
fn fig16_has_coupling_ahead_of_fair_at_every_load() {
    let reproduced = run(&["coupling-fig16"], 3, 2, false).remove(0);
    let is_below = |row: &Row| row.replay.is_some_and(|replay| replay.value < 0.0);
    assert!(is_below(row(&reproduced.rows, "Mean processing time")));
    assert!(is_below(row(&reproduced.rows, "Median processing time")));
    let points: Vec<_> = reproduced.bands.iter().flat_map(|band| &band.points).collect();
    assert_eq!(points.len(), 8, "mean and median at four loads");
    assert!(points.iter().all(|(_, row)| is_below(row)), "{points:?}");
}

/// Small jobs gain at every share of them, and at every time of theirs that is tried.
#[test]
fn small_jobs_gain_under_dress_at_every_share() {
    let reproduced = run(&["dress-mixed"], 4, 2, false).remove(0);
    for share in [10, 20, 30, 40] {
        let found = row(&reproduced.rows, &format!("{share} %: completion of the small jobs"));
        assert!(found.replay.is_some_and(|replay| replay.high < 0.0), "{found:?}");
    }
    let mut points = reproduced.bands.iter().flat_map(|band| &band.points);
    assert!(points.all(|(_, row)| row.replay.is_some_and(|replay| replay.value < 0.0)), "{:?}", reproduced.bands);
}

#[test]
fn arithmetic_and_formulas_agree() {
    let all = run(&["dress-toy", "dress-mixed", "delay-locality", "triple-queue"], 1, 2, false);
    let exact: Vec<&Row> =
        all.iter().flat_map(|of| &of.rows).filter(|row| row.seeds == 0 && row.replay.is_some()).collect();
    assert!(exact.len() >= 13, "{exact:?}");
    for row in exact {
        // No schedule reaches the published wait of the toy.
        let expected = if row.quantity == "Packed: mean wait" { Verdict::Differs } else { Verdict::Agrees };
        assert_eq!(row.verdict, expected, "{row:?}");
    }
}

#[test]
fn rows_are_whole() {
    let mut silent = Vec::new();
    for reproduced in run(&[], 1, 2, true) {
        let name = reproduced.experiment.name;
        assert!(!reproduced.rows.is_empty(), "{name}");
        for row in &reproduced.rows {
            assert_eq!(row.experiment, name);
            assert_eq!(row.verdict.agrees(), row.cause.is_none(), "{row:?}");
            if matches!(row.verdict, Verdict::Differs | Verdict::CannotBeReplayed) && row.why.is_empty() {
                silent.push(format!("{name}: {}", row.quantity));
            }
            assert_eq!(row.source.is_empty(), row.role == Role::Check, "where is it from? {row:?}");
            let claims = matches!(row.role, Role::Claim | Role::Variant | Role::Arithmetic | Role::Check);
            assert!(claims || !row.quantity.starts_with("Coupling") && !row.quantity.starts_with("DRESS"), "{row:?}");
        }
    }
    assert!(silent.is_empty(), "these do not say why they differ: {silent:#?}");
}

#[test]
fn any_number_of_threads_writes_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let read = |threads: usize| {
        let out = dir.path().join(threads.to_string());
        let files = write(
            &run(&["coupling-fig10", "dress-spark"], 2, threads, true),
            resched_tables::store::Claim::new(&out, resched_reproduce::MARKER).unwrap(),
        )
        .unwrap();
        files
            .iter()
            .map(|file| (file.file_name().unwrap().to_owned(), std::fs::read(file).unwrap()))
            .collect::<Vec<_>>()
    };
    let (one, three) = (read(1), read(3));
    assert!(one == three);
    let page = String::from_utf8(one[0].1.clone()).unwrap();
    assert!(page.contains("<svg") && page.contains("Eq. 2") && page.contains("Knob"));
}

#[test]
fn every_replay_is_reported_and_unknown_names_are_refused() {
    let reported = std::sync::Mutex::new(Vec::new());
    let names = ["dress-spark".to_owned()];
    reproduce(&find(&names).unwrap(), 2, Threads::default(), false, &|progress| {
        reported.lock().unwrap().push(match progress {
            Progress::Begin(replays) => replays,
            Progress::Done(_) => 1,
        });
    })
    .unwrap();
    let reported = reported.into_inner().unwrap();
    assert_eq!(reported[0] as usize, reported.len() - 1);
    let error = find(&["coupling-fig11".to_owned()]).err().unwrap();
    assert!(error.is_request() && error.to_string().contains(EXPERIMENTS[0].name), "{error}");
}

/// One calibration per testbed: a class has the same times in all files of its paper. Jobs with other times are of another class.
#[test]
fn a_testbed_is_calibrated_once() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces");
    for prefix in ["coupling-", "dress-", "triple-queue", "delay-locality"] {
        let (mut known, mut known_reduces) = (BTreeMap::new(), BTreeMap::new());
        let mut paths: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        let has_prefix = |path: &&std::path::PathBuf| path.file_name().unwrap().to_string_lossy().starts_with(prefix);
        for path in paths.iter().filter(has_prefix) {
            let workload = resched_workload::Workload::read(path).unwrap();
            for (name, class) in &workload.classes {
                let maps = (class.map_mean_s, class.map_variation);
                assert_eq!(*known.entry(name.clone()).or_insert(maps), maps, "maps of {name} in {}", path.display());
                if class.reduce_mean_s > 0.0 || class.reduce_rate.is_some() {
                    let reduces = (class.reduce_mean_s, class.reduce_rate, class.shuffle_rate);
                    assert_eq!(
                        *known_reduces.entry(name.clone()).or_insert(reduces),
                        reduces,
                        "reduces of {name} in {}",
                        path.display()
                    );
                }
            }
        }
        assert!(!known.is_empty(), "{prefix}");
    }
}
