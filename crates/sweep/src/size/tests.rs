use resched_policies::PolicySpec;
use resched_replay::ClusterConfig;
use resched_trace::workload::Workload;

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
    Sizing { source, setup, policy, metric, bound, vary: Vary::Nodes, from: 1, to: 64, seeds: 2 }
}

fn found(asked: &Sizing) -> Sized {
    size(asked, Threads::ONE, &|_| {}).unwrap()
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
    assert_eq!(tried, [1, 2, 4, 5, 6, 8], "doubling, then bisection");
}

#[test]
fn a_bound_that_always_or_never_holds_is_said() {
    let never = found(&Sizing { to: 4, ..asked(source(40, 3), "", 45_000.0) });
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
    // One machine is the fast one: it runs all maps one after another.
    let mean = sized.probes.first().and_then(|probe| probe.mean).unwrap().mean;
    assert!((120_000.0..121_000.0).contains(&mean), "{mean}");
}

#[test]
fn wrong_questions_are_refused() {
    let error = |asked: &Sizing| size(asked, Threads::ONE, &|_| {}).unwrap_err();
    let asked = || asked(source(4, 2), "", 1.0);
    for wrong in [Sizing { from: 0, ..asked() }, Sizing { from: 9, to: 8, ..asked() }, Sizing { seeds: 0, ..asked() }] {
        assert!(error(&wrong).is_request());
    }
    let batch = Sizing { policy: PolicySpec::parse("batch-fifo").unwrap(), vary: Vary::Slots, ..asked() };
    assert!(error(&batch).to_string().contains("vary nodes"));
}

#[test]
fn bounds_are_read_in_the_unit_of_the_metric() {
    let number = |text: &str, metric: &str| Bound::number(text, &Metric::named(metric).unwrap());
    assert_eq!(number("30s", "mean_waiting"), Ok(30_000.0));
    assert_eq!(number("1h 30m", "makespan"), Ok(5_400_000.0));
    assert_eq!(number("90%", "node_locality"), Ok(0.9));
    assert_eq!(number("0.9", "node_locality"), Ok(0.9));
    for (text, metric, expected) in
        [("30", "mean_waiting", "30s or 5min"), ("30s", "node_locality", "0.9 or 90%"), ("nan", "fairness", "a number")]
    {
        assert!(number(text, metric).unwrap_err().contains(expected), "{text}");
    }
}

/// Every threshold in every range is found, with few probes.
#[test]
fn every_threshold_is_found() {
    for (from, to) in [(1, 40), (7, 29), (5, 5)] {
        for threshold in 1..=to + 1 {
            let mut tried = 0;
            let probe = |size: u32| {
                tried += 1;
                let holds = size >= threshold;
                Ok::<_, std::convert::Infallible>(Probe { size, values: vec![], mean: None, holds, problem: None })
            };
            let (verdict, size, probes) = search(from, to, probe).unwrap();
            let expected = match threshold {
                _ if threshold > to => (Verdict::Never, None),
                _ if threshold <= from => (Verdict::Always, Some(from)),
                _ => (Verdict::Smallest, Some(threshold)),
            };
            assert_eq!((verdict, size), expected, "{from}..={to}, {threshold}");
            assert!(tried <= 12 && probes.len() == tried, "no size twice");
        }
    }
}

#[test]
fn a_larger_size_that_is_surely_worse_is_named() {
    let metric = Metric::named("makespan").unwrap();
    let probe = |size, mean: f64| Probe {
        size,
        values: vec![],
        mean: Some(Interval { mean, low: Some(mean - 1.0), high: Some(mean + 1.0) }),
        holds: false,
        problem: None,
    };
    assert_eq!(worse(&[probe(1, 10.0), probe(2, 11.5), probe(4, 5.0)], &metric), None, "the intervals overlap");
    assert_eq!(worse(&[probe(1, 10.0), probe(2, 12.5), probe(4, 5.0)], &metric), Some((1, 2)));
    let locality = Metric::named("node_locality").unwrap();
    assert_eq!(worse(&[probe(1, 10.0), probe(2, 12.5)], &locality), None, "more is better");
}
