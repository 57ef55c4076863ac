//! The schedules of Hadoop's own schedulers, from source files to the tables of a run, only through the binary.

use std::collections::BTreeMap;
use std::io::Read;

use flate2::read::MultiGzDecoder;
use resched_tables::model::{AttemptRow, Locality, Outcome};
use resched_tables::store::{Rows, read_table};

use crate::support::{Dir, repository, shared};

/// When, on which host and at which level an attempt started, and when and how it ended; `None` for an attempt that ran when
/// the golden schedule stopped.
type Attempt = (i64, String, i64, Option<(i64, Outcome)>);

#[test]
fn s1_under_fifo_and_fair() {
    let (Some(trace), Some(topology)) = (shared("oracle/s1.trace.json.gz"), shared("oracle/s1.topology.json.gz"))
    else {
        return;
    };
    let dir = Dir::new();
    dir.ok(&["ingest", &trace, &topology, "--out", "T"]);
    let cluster = repository("traces/clusters/mumak.toml");
    dir.ok(&["replay", "T", "--assume", "--cluster", &cluster, "--policy", "fifo", "--policy", "fair", "--out", "R"]);
    let mut found = Vec::new();
    for policy in ["fifo", "fair"] {
        let golden = golden(&shared(&format!("oracle/s1-{policy}.csv.gz")).unwrap());
        let run = run(&dir, policy);
        let differ: Vec<_> = golden
            .keys()
            .chain(run.keys())
            .filter(|name| golden.get(*name) != run.get(*name))
            .map(|name| format!("{name}: expected {:?}, found {:?}", golden.get(name), run.get(name)))
            .collect();
        assert!(differ.is_empty(), "{policy}: {} differ, such as {:#?}", differ.len(), &differ[..differ.len().min(5)]);
        assert!(run.len() > 100);
        found.push(run);
    }
    assert!(found[0] != found[1], "the goldens tell the policies apart");
}

/// The rows A and F of a golden schedule.
fn golden(path: &str) -> BTreeMap<String, Attempt> {
    let mut text = String::new();
    MultiGzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    let mut attempts: BTreeMap<String, Attempt> = BTreeMap::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split(',').collect();
        match fields[..] {
            ["A", at, attempt, host, level, ..] => {
                let host = host.replace("\\.", ".");
                attempts.insert(attempt.to_owned(), (at.parse().unwrap(), host, level.parse().unwrap(), None));
            }
            ["F", at, attempt, state, ..] => {
                let outcome = Outcome::from_name(state.replace("SUCCEEDED", "SUCCESS").as_str()).unwrap();
                attempts.get_mut(attempt).unwrap().3 = Some((at.parse().unwrap(), outcome));
            }
            _ => {}
        }
    }
    attempts
}

/// The attempts of a run, under the names and levels of the golden schedules.
fn run(dir: &Dir, policy: &str) -> BTreeMap<String, Attempt> {
    let at = dir.path("R").join(policy);
    let rows = Rows::<AttemptRow, _>::new(
        read_table::<AttemptRow>(&at, &resched_tables::run::read(&at).unwrap().files).unwrap().batches(),
    );
    let named = rows.map(Result::unwrap).map(|row| {
        let level = match row.locality {
            None => -1,
            Some(Locality::Node) => 0,
            Some(Locality::Rack) => 1,
            Some(Locality::Off) => 2,
        };
        let name = format!("{}_{}", row.task_id.replacen("task_", "attempt_", 1), row.attempt);
        (name, (row.start.unwrap(), row.host.unwrap(), level, row.finish.map(|finish| (finish, row.outcome))))
    });
    named.collect()
}
