//! `resched forecast` on the bundled sample of Slurm: what it prints, and what it refuses.

use serde_json::Value;

use crate::support::{Dir, repository};

fn sample() -> Dir {
    let dir = Dir::new();
    dir.ok(&["ingest", &repository("traces/sample-slurm/sacct.txt"), "--timezone", "UTC", "--out", "T"]);
    dir.write("conf/slurm.conf", std::fs::read(repository("traces/sample-slurm/conf/slurm.conf")).unwrap());
    dir
}

const FORECAST: &[&str] = &["forecast", "T", "--policy", "slurm", "--site-conf", "conf", "--draws", "10"];

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn a_back_test_says_raw_coverage_first_and_writes_its_table() {
    let dir = sample();
    let args = [FORECAST, &["--backtest", "20", "--beside", "easy", "--out", "F"]].concat();
    let said = dir.ok(&args);
    assert!(dir.path("F/backtest.parquet").is_file());
    let (raw, corrected) = (said.find("raw, all moments").unwrap(), said.find("corrected, second half"));
    assert!(corrected.is_none_or(|corrected| raw < corrected), "{said}");
    dir.run(&args).fails(2, &["backtest.parquet", "--force"]);
    let found = dir.json(&[&args[..args.len() - 2], &["--json"]].concat());
    for level in ["50", "80", "95"] {
        assert!((0.0..=1.0).contains(&number(&found["coverage"]["raw"][level])));
    }
    assert_eq!(found["others"][0]["name"], "easy");
    assert!(found["validity"].as_array().unwrap().iter().any(|fact| fact["about"] == "back-test"));
}

#[test]
fn a_forecast_without_a_back_test_is_assumed() {
    let dir = sample();
    let found = dir.json(&[FORECAST, &["--at", "+120h", "--groups", "--json"]].concat());
    assert_eq!(found["grade"], "assumed");
    let (at, jobs) = (number(&found["at"]), found["jobs"].as_array().unwrap());
    for job in jobs {
        let start: Vec<f64> = job["start"].as_array().unwrap().iter().map(number).collect();
        assert!(start.is_sorted() && start[0] >= at, "{job}");
    }
    assert!(!found["groups"].as_array().unwrap().is_empty());
    let said = dir.ok(&[FORECAST, &["--at", "+120h"]].concat());
    assert!(said.contains("No back-test"), "{said}");
}

#[test]
fn wrong_requests_are_refused() {
    let dir = sample();
    dir.run(FORECAST).fails(2, &["--at", "--backtest", "--history"]);
    dir.run(&[FORECAST, &["--at", "+120h", "--job", "nobody"]].concat()).fails(2, &["job nobody", "--job"]);
    dir.run(&[FORECAST, &["--at", "+120h", "--job", "1", "--what-if", "nodes=2"]].concat()).fails(2, &["limit=2h"]);
    dir.write("now.json", "{\"jobs\": 3}");
    let now = ["forecast", "now.json", "--history", "T", "--policy", "slurm", "--site-conf", "conf"];
    dir.run(&now).fails(2, &["now.json", "squeue --json"]);
    dir.write("now.txt", "JOBID STATE\n1 PENDING\n");
    dir.run(&["forecast", "now.txt", "--history", "T", "--policy", "slurm"]).fails(2, &["now.txt", "--at"]);
}
