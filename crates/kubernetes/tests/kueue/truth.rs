//! Every row of the shared worlds that the real code decided.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use resched_kubernetes::kueue::Kueue;

use crate::driver::{Row, run};
use crate::shared::shared;
use crate::world::{World, read, rows, text};

/// Worlds that are draws from some second on, or wholly: ties-a by intent, fairtree-b after its first equal shares.
const DRAWS: [(&str, i64); 2] = [("ties-a", 0), ("fairtree-b", 1551)];

fn expected(folder: &Path) -> Vec<Row> {
    let take = |row: &mut BTreeMap<String, String>, name: &str| row.remove(name).unwrap_or_default();
    let row = |mut row: BTreeMap<String, String>| Row {
        time: row["time"].parse().unwrap(),
        event: row["event"].chars().next().unwrap(),
        workload: take(&mut row, "workload"),
        queue: take(&mut row, "cluster_queue"),
        flavors: take(&mut row, "flavors"),
        reason: take(&mut row, "reason"),
        by: take(&mut row, "by"),
        detail: take(&mut row, "detail"),
    };
    rows(&folder.join("truth/decisions.csv")).into_iter().map(row).collect()
}

/// How many rows are equal, as a multiset, and the first that are not.
fn compare(mut ours: Vec<Row>, mut theirs: Vec<Row>) -> (usize, usize, Vec<String>) {
    ours.sort();
    theirs.sort();
    let (mut a, mut b, mut equal) = (0, 0, 0);
    let mut differences = Vec::new();
    while a < ours.len() || b < theirs.len() {
        match (ours.get(a), theirs.get(b)) {
            (Some(mine), Some(other)) if mine == other => (a, b, equal) = (a + 1, b + 1, equal + 1),
            (Some(mine), other) if other.is_none_or(|other| mine < other) => {
                differences.push(format!("only ours:   {mine:?}"));
                a += 1;
            }
            (_, Some(other)) => {
                differences.push(format!("only theirs: {other:?}"));
                b += 1;
            }
            _ => unreachable!("one of the two is left"),
        }
    }
    (equal, theirs.len(), differences)
}

/// How many cycles the real code ran, idle ones included.
fn cycles(folder: &Path) -> u64 {
    let summary = text(&folder.join("truth/summary.json"));
    let after = summary.split("\"cycles\":").nth(1).unwrap();
    after.trim_start().split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
}

fn check(kind: &str, name: &str, world: &World, folder: &Path, report: &mut String) -> bool {
    let machine = Kueue::new(world.model.clone()).unwrap();
    let (mut ours, machine) = run(world, machine, true).unwrap();
    let mut theirs = expected(folder);
    let until = DRAWS.iter().find(|(world, _)| *world == name).map_or(i64::MAX, |(_, until)| *until);
    ours.retain(|row| row.time < until);
    theirs.retain(|row| row.time < until);
    let split = |rows: &[Row], wanted: bool| {
        rows.iter().filter(|row| (row.event == 'Q') == wanted).cloned().collect::<Vec<_>>()
    };
    let (equal, of, differences) = compare(split(&ours, false), split(&theirs, false));
    let (equal_q, of_q, differences_q) = compare(split(&ours, true), split(&theirs, true));
    let (cycles, real) = (machine.cycles(), cycles(folder));
    writeln!(report, "{kind}/{name}: {equal} of {of} rows, {equal_q} of {of_q} Q rows, {cycles} of {real} cycles")
        .unwrap();
    for difference in differences.iter().take(6).chain(differences_q.iter().take(4)) {
        writeln!(report, "    {difference}").unwrap();
    }
    differences.is_empty() && differences_q.is_empty() && (cycles == real || until < i64::MAX)
}

fn check_all(kind: &str, prepare: impl Fn(&Path, &mut World)) {
    let Some(folder) = shared(&format!("truth/k8s/{kind}")) else { return };
    let mut names: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    let mut report = String::new();
    let mut good = true;
    for name in names.iter().filter_map(|name| name.to_str()).filter(|name| !name.starts_with("topology")) {
        let folder = folder.join(name);
        let mut world = read(&folder);
        prepare(&folder, &mut world);
        good &= check(kind, name, &world, &folder, &mut report);
    }
    println(&report);
    assert!(good, "some rows differ");
}

#[allow(clippy::print_stdout, reason = "the table of agreement")]
fn println(report: &str) {
    println!("{report}");
}

#[test]
fn micro_worlds_are_decided_as_by_the_real_code() {
    check_all("micro", |_, _| {});
}

#[test]
fn kueue_worlds_are_decided_as_by_the_real_code() {
    check_all("kueue", |_, _| {});
}

/// There kube-scheduler decides when work begins, so the ends are those of the truth.
#[test]
fn combined_worlds_are_admitted_as_by_the_real_code() {
    check_all("combined", |folder, world| {
        let ends = expected(folder).into_iter().filter(|row| row.event == 'F').map(|row| (row.workload, row.time));
        world.ends = Some(ends.collect());
    });
}
