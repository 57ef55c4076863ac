use resched_policies::PolicySpec;
use resched_replay::{ClusterConfig, Engine};
use resched_workload::Workload;

use super::search::search;
use super::*;

/// One job of `maps` maps of exactly 10 s, all submitted at once, on `nodes` machines of two map slots.
fn source(maps: u32, nodes: u32) -> Source {
    let text = format!(
        "name = \"w\"\n[cluster]\nnodes = {nodes}\n[classes.a]\nmap_mean_s = 10.0\nmap_variation = 0.0\nreads_input = false\n\
         [[jobs]]\nclass = \"a\"\nsubmit_s = 0\nmaps = {maps}\n"
    );
    Source::workload(Workload::parse(&text, "w.toml").unwrap(), text, "w.toml".to_owned())
}

/// Heartbeats come so often that they hardly count.
fn asked(source: Source, cluster: &str, bound: f64) -> Sizing {
    let settings = format!("heartbeat.interval = 10\n{cluster}").parse().unwrap();
    let setup = Setup { cluster: ClusterConfig::of_settings(settings).unwrap(), ..Setup::default() };
    let policy = PolicySpec::parse("fifo").unwrap();
    let metric = Metric::named("makespan").unwrap();
    let bound = Bound::Below(bound);
    Sizing {
        source,
        setup,
        policy,
        metric,
        bound,
        vary: Vary::Nodes,
        partition: None,
        from: 1,
        to: Some(64),
        seeds: 2,
        robust: Level::Quick,
    }
}

fn found(asked: &Sizing) -> Sized {
    size(asked, &Kept::nowhere(), Threads::ONE, &|_| {}).unwrap().found
}

/// 40 maps on N nodes of two slots run in ⌈40 / 2N⌉ waves of 10 s. Four waves, 40 s, need 5 nodes; 4 nodes take five waves.
#[test]
fn the_planted_number_of_nodes_is_found() {
    let asked = asked(source(40, 3), "", 45_000.0);
    let sized = found(&asked);
    assert_eq!((sized.verdict, sized.size, sized.not_monotone), (Verdict::Smallest, Some(5), None));
    let (answer, smaller) = sized.at_answer().unwrap();
    assert_eq!((answer.size, smaller.map(|probe| probe.size)), (5, Some(4)));
    let mean = |probe: &Probe| probe.mean.unwrap().mean;
    assert!((40_000.0..41_000.0).contains(&mean(answer)) && (50_000.0..51_000.0).contains(&mean(smaller.unwrap())));
    let tried: Vec<u32> = sized.probes.iter().map(|probe| probe.size).collect();
    assert_eq!((tried.as_slice(), sized.own), (&[3, 4, 5, 6][..], 3), "from its own size by doubling, then bisection");
    // From 40 machines, by halving: 40, 20, 10, 5, 2; then 3 and 4.
    let tried: Vec<u32> =
        found(&Sizing { source: source(40, 40), ..asked }).probes.iter().map(|probe| probe.size).collect();
    assert_eq!(tried, [2, 3, 4, 5, 10, 20, 40]);
}

#[test]
fn a_bound_that_always_or_never_holds_is_said() {
    let never = found(&Sizing { to: Some(4), ..asked(source(40, 3), "", 45_000.0) });
    assert_eq!((never.verdict, never.size), (Verdict::Never, None));
    let always = found(&Sizing { from: 5, ..asked(source(40, 3), "", 45_000.0) });
    assert_eq!((always.verdict, always.size), (Verdict::Always, Some(5)));
    // One seed shows no spread.
    let one = found(&Sizing { seeds: 1, ..asked(source(40, 3), "", 45_000.0) });
    assert!(one.probes.iter().all(|probe| probe.mean.is_some_and(|found| found.low.is_none())));
}

/// On 4 nodes, S slots each run 40 maps in ⌈40 / 4S⌉ waves: 3 slots need four waves, 2 need five.
#[test]
fn the_planted_number_of_slots_is_found() {
    let sized = found(&Sizing { vary: Vary::Slots, ..asked(source(40, 4), "", 45_000.0) });
    assert_eq!((sized.verdict, sized.size), (Verdict::Smallest, Some(3)));
}

/// Of two machines, the second takes three times as long. Clones are as fast as their originals: in 30 s, a fast machine of one slot
/// runs three maps, and a slow one runs one. Six machines, three of each speed, run 12 maps; five machines, two of them slow, run 11.
#[test]
fn calibrated_machines_are_cloned_with_their_speed() {
    let cluster = "nodes.map_slots = 1\nnodes.alike = true\ncost.host_factors.node-00001 = 3.0\n";
    let sized = found(&asked(source(12, 2), cluster, 35_000.0));
    assert_eq!((sized.verdict, sized.size), (Verdict::Smallest, Some(6)));
    // Four machines, two of each speed, run 8 maps in 30 s.
    let mean = sized.probes.iter().find(|probe| probe.size == 4).and_then(|probe| probe.mean).unwrap().mean;
    assert!((40_000.0..61_000.0).contains(&mean), "{mean}");
}

#[test]
fn wrong_questions_are_refused() {
    let error = |asked: &Sizing| size(asked, &Kept::nowhere(), Threads::ONE, &|_| {}).unwrap_err();
    let asked = || asked(source(4, 2), "", 1.0);
    for wrong in
        [Sizing { from: 0, ..asked() }, Sizing { from: 9, to: Some(8), ..asked() }, Sizing { seeds: 0, ..asked() }]
    {
        assert!(error(&wrong).is_request());
    }
    let reversed = error(&Sizing { from: 5, to: Some(3), ..asked() }).to_string();
    assert!(reversed.contains("--from 5 --to 3: ") && reversed.contains("exchange them"), "{reversed}");
    let batch = Sizing { policy: PolicySpec::parse("batch-fifo").unwrap(), vary: Vary::Slots, ..asked() };
    assert!(error(&batch).to_string().contains("vary nodes"));
}

/// Every threshold in every range is found, with few probes.
#[test]
fn every_threshold_is_found() {
    for (from, to) in [(1, 40), (7, 29), (5, 5)] {
        for (threshold, start) in (1..=to + 1).flat_map(|threshold| (1..=to + 2).map(move |start| (threshold, start))) {
            let mut tried = 0;
            let probe = |size: u32| {
                tried += 1;
                let holds = size >= threshold;
                Ok::<_, std::convert::Infallible>(Probe { size, holds, ..Probe::default() })
            };
            let (verdict, size, probes) = search((from, to), start, probe).unwrap();
            let expected = match threshold {
                _ if threshold > to => (Verdict::Never, None),
                _ if threshold <= from => (Verdict::Always, Some(from)),
                _ => (Verdict::Smallest, Some(threshold)),
            };
            assert_eq!((verdict, size), expected, "{from}..={to}, {threshold} from {start}");
            assert!(tried <= 12 && probes.len() == tried, "no size twice");
        }
    }
}

#[test]
fn a_larger_size_that_is_surely_worse_is_named() {
    let metric = Metric::named("makespan").unwrap();
    let probe = |size, mean: f64| Probe {
        size,
        mean: Some(MeanInterval { mean, low: Some(mean - 1.0), high: Some(mean + 1.0) }),
        ..Probe::default()
    };
    assert_eq!(worse(&[probe(1, 10.0), probe(2, 11.5), probe(4, 5.0)], &metric), None, "the intervals overlap");
    assert_eq!(worse(&[probe(1, 10.0), probe(2, 12.5), probe(4, 5.0)], &metric), Some((1, 2)));
    let locality = Metric::named("node_locality").unwrap();
    assert_eq!(worse(&[probe(1, 10.0), probe(2, 12.5)], &locality), None, "more is better");
}

/// A search that ends with an error after some replays leaves them; another one goes on with them, and makes none of them again.
#[test]
fn kept_replays_are_not_made_again() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let dir = tempfile::tempdir().unwrap();
    let made = AtomicUsize::new(0);
    let count = |step: Step<'_>| {
        if matches!(step, Step::Replayed { .. }) {
            made.fetch_add(1, Ordering::Relaxed);
        }
    };
    let sized = |asked: &Sizing, dir: &std::path::Path| {
        size(asked, &Kept::inside(dir, asked).unwrap(), Threads::ONE, &count).unwrap()
    };
    let asked = || asked(source(40, 3), "", 45_000.0);
    let whole = sized(&asked(), dir.path());
    let text = std::fs::read(dir.path().join(MARKER)).unwrap();
    assert_eq!(made.swap(0, Ordering::Relaxed), 2 * whole.found.probes.len());
    assert_eq!(sized(&asked(), dir.path()), whole);
    assert_eq!(made.swap(0, Ordering::Relaxed), 0, "all were kept");
    assert_eq!(std::fs::read(dir.path().join(MARKER)).unwrap(), text);
    // Another bound asks for other sizes, and keeps those that it shares.
    let other = Sizing { bound: Bound::Below(25_000.0), ..asked() };
    assert_eq!(sized(&other, dir.path()).found.size, Some(10));
    assert!(made.swap(0, Ordering::Relaxed) > 0);
    // Probes of another question are not mixed with them.
    let refused = |asked: &Sizing| Kept::inside(dir.path(), asked).unwrap_err().to_string();
    let policy = PolicySpec::parse("fair").unwrap();
    assert!(refused(&Sizing { policy, ..asked() }).contains("another policy; name another --out"));
    assert!(refused(&Sizing { source: source(41, 3), ..asked() }).contains("another trace;"));
    let metric = Metric::named("mean_waiting").unwrap();
    assert!(
        refused(&Sizing { metric, vary: Vary::Slots, ..asked() })
            .contains("another metric, another --vary or --partition;")
    );
    // Any changed byte is noticed.
    std::fs::write(dir.path().join(MARKER), [&text[..text.len() / 2], b"}"].concat()).unwrap();
    assert!(refused(&asked()).contains("damaged"));
}

#[test]
fn the_knee_is_far_from_the_chord() {
    let metric = Metric::named("makespan").unwrap();
    let curve = |values: &[(u32, f64)]| -> Vec<Probe> {
        let probe = |&(size, mean)| Probe {
            size,
            mean: Some(MeanInterval { mean, low: None, high: None }),
            ..Probe::default()
        };
        values.iter().map(probe).collect()
    };
    let knee = |values: &[(u32, f64)]| super::knee::knee(&curve(values), &metric);
    assert_eq!(knee(&[(1, 100.0), (2, 52.0), (4, 12.0), (8, 10.0), (16, 9.0), (32, 8.5)]), Some(4));
    assert_eq!(knee(&[(1, 30.0), (2, 20.0), (4, 10.0), (8, 0.0)]), None, "a straight line");
    assert_eq!(knee(&[(1, 30.0), (2, 20.0)]), None);
    assert_eq!(knee(&[(1, 10.0), (2, 20.0), (4, 30.0)]), None, "it gets worse");
    let hours = [(2, 600.0), (4, 317.0), (8, 28.0), (12, 11.0), (16, 1.4)];
    assert_eq!(knee(&hours), None, "from 12 to 16, 11 hours become 1.4");
    assert_eq!(knee(&[(6, 11.2), (9, 3.3), (10, 2.5), (12, 2.0)]), Some(10), "from 9 to 12, it still falls by 39 %");
}

/// Jobs of one node of four cores, and one job that asks for three nodes: on fewer nodes it cannot run, whatever the others wait.
fn requests() -> Source {
    use resched_tables::model::{AttemptRow, JobRecord, JobRow, NodeChange, NodeRow, Outcome, TaskRecord, TaskRow};
    let job = |number: i64, nodes: i64| {
        let (job_id, task_id) = (format!("j{number}"), format!("t{number}"));
        let times = AttemptRow {
            job_id: job_id.clone(),
            task_id: task_id.clone(),
            start: Some(1_000 * number),
            finish: Some(1_000 * number + 10_000),
            outcome: Outcome::Success,
            ..AttemptRow::default()
        };
        let row = TaskRow {
            job_id: job_id.clone(),
            task_id,
            cpu_request: Some(4_000),
            instances: Some(nodes),
            gang: Some(nodes > 1),
            ..TaskRow::default()
        };
        let job = JobRow { job_id, submit: Some(1_000 * number), ..JobRow::default() };
        let task = TaskRecord { task: row, splits: Vec::new(), attempts: vec![times] };
        JobRecord { job, tasks: vec![task], ..JobRecord::default() }
    };
    let node = |number: usize| NodeRow {
        host: format!("n{number}"),
        event: NodeChange::Add,
        cpu: Some(4_000),
        ..NodeRow::default()
    };
    let tables = resched_tables::sink::Collected {
        jobs: (0..20).map(|number| job(number, if number == 7 { 3 } else { 1 })).collect(),
        nodes: (0..6).map(node).collect(),
        engine: Engine::Batch,
        ..Default::default()
    };
    let named = resched_tables::run::RunTrace { path: "w".to_owned(), sha256: "0".to_owned(), ..Default::default() };
    Source::tables(tables, named)
}

#[test]
fn a_size_on_which_a_job_cannot_run_is_no() {
    let policy = PolicySpec::parse("batch-fifo").unwrap();
    let asked = |from| Sizing { from, policy: policy.clone(), seeds: 1, ..asked(requests(), "", 1e9) };
    let sized = found(&asked(1));
    assert_eq!(
        (sized.verdict, sized.size),
        (Verdict::Smallest, Some(3)),
        "the bound holds everywhere, but one job asks for three"
    );
    let two = sized.probes.iter().find(|probe| probe.size == 2).unwrap();
    assert!(!two.holds && two.mean.is_none());
    assert_eq!(two.problem.as_deref(), Some("no: 1 job of the log cannot run (j7)"));
    let words =
        |asked: &Sizing| in_words(asked, &size(asked, &Kept::nowhere(), Threads::ONE, &|_| {}).unwrap()).join("\n");
    let said = words(&asked(1));
    assert!(said.contains("Smaller sizes do not do: with 2 nodes, 1 job of the log cannot run (j7)."), "{said}");
    assert!(words(&asked(3)).contains("the smallest size to try; lower --from"));
}

#[test]
fn no_size_is_smaller_than_one() {
    let asked = asked(source(2, 3), "", 1e9);
    let said = in_words(&asked, &size(&asked, &Kept::nowhere(), Threads::ONE, &|_| {}).unwrap()).join("\n");
    assert!(said.contains("with 1 node, and no size is smaller."), "{said}");
}
