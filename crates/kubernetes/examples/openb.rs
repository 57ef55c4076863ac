//! All runs of the FGD paper beside its stored results: `openb FOLDER [LIST…]`. See `resched_kubernetes::gpu::openb`.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program to be run by hand")]

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use flate2::read::GzDecoder;
use resched_kubernetes::gpu::Policy;
use resched_kubernetes::gpu::openb::{Curve, Experiment, read_nodes, read_pods};

type Results = BTreeMap<(String, String), BTreeMap<i64, Curve>>;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap();
    let folder = Path::new(&folder);
    let only: Vec<String> = arguments.collect();
    let open = |name: &str| GzDecoder::new(File::open(folder.join(name)).unwrap());
    let expected = expected(open("expected_allo_discrete.csv.gz"));
    let nodes = read_nodes(open("openb_node_list_gpu_node.csv.gz"), "nodes").unwrap();
    let start = Instant::now();
    let mut tasks = Vec::new();
    let mut experiments = BTreeMap::new();
    for (list, policy) in expected.keys() {
        if only.is_empty() || only.iter().any(|only| list.ends_with(only.as_str()) || policy.ends_with(only.as_str())) {
            let pods = || read_pods(open(&format!("{list}.csv.gz")), list).unwrap();
            experiments.entry(list.clone()).or_insert_with(|| Experiment::new(nodes.clone(), pods()));
            tasks.extend((42..52).map(|seed| (list.clone(), policy.clone(), seed)));
        }
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((list, policy, seed)) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
            let curve = experiments[list].run(policy_of(policy), 130, *seed).unwrap();
            done.push(((list.clone(), policy.clone()), *seed, curve));
        }
        done
    };
    let mut ours: Results = BTreeMap::new();
    std::thread::scope(|scope| {
        let threads = [scope.spawn(work), scope.spawn(work)];
        for (key, seed, curve) in threads.into_iter().flat_map(|thread| thread.join().unwrap()) {
            ours.entry(key).or_default().insert(seed, curve);
        }
    });
    report(&ours, &expected);
    println!("{} runs in {:.1} s", tasks.len(), start.elapsed().as_secs_f64());
}

fn policy_of(name: &str) -> Policy {
    match name {
        "01-Random" => Policy::Random,
        "02-DotProd" => Policy::DotProduct,
        "03-GpuClustering" => Policy::GpuClustering,
        "04-GpuPacking" => Policy::GpuPacking,
        "05-BestFit" => Policy::BestFit,
        _ => Policy::Fgd,
    }
}

fn expected(text: impl std::io::Read) -> Results {
    let mut results: Results = BTreeMap::new();
    for row in csv::Reader::from_reader(text).into_records() {
        let row = row.unwrap();
        let curve = row.iter().skip(5).map(|value| value.parse().unwrap()).collect();
        results.entry((row[0].to_owned(), row[1].to_owned())).or_default().insert(row[3].parse().unwrap(), curve);
    }
    results
}

fn mean(curves: &BTreeMap<i64, Curve>, point: usize) -> f64 {
    curves.values().map(|curve| curve[point]).sum::<f64>() / curves.len() as f64
}

fn report(ours: &Results, expected: &Results) {
    println!("list policy theirs ours largest-difference-of-means at equal-curves largest-difference-of-a-run");
    let (mut within, mut equal) = (0, 0);
    for (key, curves) in ours {
        let theirs = &expected[key];
        let points = 0..131;
        let difference = |point: &usize| (mean(curves, *point) - mean(theirs, *point)).abs();
        let worst = points.clone().max_by(|a, b| difference(a).total_cmp(&difference(b))).unwrap();
        let apart = |a: &Curve, b: &Curve| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let runs: Vec<f64> = curves.iter().map(|(seed, curve)| apart(curve, &theirs[seed])).collect();
        let same = runs.iter().filter(|apart| **apart < 0.0051).count();
        within += usize::from(difference(&worst) <= 0.5);
        equal += same;
        println!(
            "{} {} {:.2} {:.2} {:.3} {worst} {same} {:.2}",
            key.0.trim_start_matches("openb_pod_list_"),
            key.1,
            mean(theirs, 130),
            mean(curves, 130),
            difference(&worst),
            runs.iter().fold(0.0_f64, |most, apart| most.max(*apart))
        );
    }
    println!("{within} of {} means within 0.5; {equal} runs equal", ours.len());
}
