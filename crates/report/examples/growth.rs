//! Draws how the time per task of each policy grows with the trace and the cluster, from a kept result of the benchmark `scaling`.
//!
//! `growth RESULT.json FOLDER`; `benches/suite figure` builds it and calls it with the newest result. The worlds of that benchmark are `base` and three that have ten times as many tasks, nodes or jobs: the first two have
//! ten times the tasks of `base`, the third has the same tasks in ten times as many jobs.
#![allow(clippy::print_stderr, reason = "an example is a program")]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::{env, fs};

use resched_report::{Figure, HeatMap, HeatPanel, draw_heat_map};
use serde::Deserialize;

/// The worlds beside `base`: the name of each, what it is called, and how many times the tasks of `base` it has.
const WORLDS: [(&str, &str, f64); 3] = [("tasks", "tasks", 10.0), ("nodes", "nodes", 10.0), ("jobs", "jobs", 1.0)];

/// A file under `benches/results`.
#[derive(Deserialize)]
struct Results {
    /// The median of each row of each benchmark, seconds. The rows of `scaling` are called `world/policy`.
    medians: BTreeMap<String, BTreeMap<String, f64>>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let [result, folder] =
        env::args().skip(1).collect::<Vec<_>>().try_into().map_err(|_| "usage: growth RESULT.json FOLDER")?;
    let Results { medians } = serde_json::from_slice(&fs::read(&result)?)?;
    let rows = medians.get("scaling").ok_or_else(|| format!("{result}: holds no result of `scaling`"))?;
    let policies: Vec<String> = rows.keys().filter_map(|row| row.strip_prefix("base/")).map(str::to_owned).collect();
    let growth = |policy: &String| {
        let time = |world: &str| rows.get(&format!("{world}/{policy}")).copied();
        WORLDS.iter().map(|(world, _, tasks)| Some(time(world)? / time("base")? / tasks)).collect()
    };
    let panel = HeatPanel { title: String::new(), values: policies.iter().map(growth).collect() };
    let chart = HeatMap {
        name: "growth",
        x: "Ten times as many",
        y: "Policy",
        value: "Growth, ×",
        columns: &WORLDS.map(|(_, title, _)| title.to_owned()),
        rows: &policies,
        panels: &[panel],
    };
    let svg =
        draw_heat_map(&chart)?.ok_or_else(|| format!("{result}: `scaling` has no row, or more than 40 policies"))?;
    let figure = Figure { name: "growth".to_owned(), svg, ..Figure::default() };
    for (name, content) in figure.files()?.into_iter().filter(|(name, _)| name.ends_with(".png")) {
        fs::write(Path::new(&folder).join(&name), content)?;
        eprintln!("written: {folder}/{name}");
    }
    Ok(())
}
