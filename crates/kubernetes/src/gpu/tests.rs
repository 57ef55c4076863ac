//! Small clusters, with scores by hand.

use super::policy::{self, Pair};
use super::{Cluster, Demand, GpuNode, Place, Policy, Shape, Typical, Wrong};

fn node(name: &str, cpu: i64, devices: usize, model: &str) -> GpuNode {
    GpuNode { name: name.to_owned(), cpu, memory: 1000, devices, model: model.to_owned() }
}

fn demand(cpu: i64, devices: usize, milli: u16) -> Demand {
    Demand { cpu, memory: 10, devices, milli, models: Vec::new() }
}

fn cluster(nodes: &[GpuNode]) -> Cluster {
    let ranks = (0..).take(nodes.len()).collect();
    Cluster::new(nodes, ranks).expect("the nodes are valid")
}

fn never(_: usize) -> usize {
    0
}

#[test]
fn names_stand_for_policies() {
    for policy in Policy::ALL {
        assert_eq!(policy.to_string().parse(), Ok(policy));
    }
    assert!("first-fit".parse::<Policy>().is_err());
}

#[test]
fn scores_are_those_of_the_formulas() {
    // By hand: free 64 cores and 4 devices, asked 16 and 2: 1 − ½·(48 ÷ 128) − ½·(2 ÷ 8) = 0.6875.
    let (free, asked) = (Pair { cpu: 64_000, gpu: 4000 }, Pair { cpu: 16_000, gpu: 2000 });
    assert_eq!(policy::best_fit(free, asked), 68);
    // 1 − (½·⅛ + ½·¼) ÷ 2 = 0.90625.
    assert_eq!(policy::dot_product(free, asked), 90);
    // A quarter is for fullness: 25·(8000 − 2000) ÷ 8000 = 18.
    assert_eq!(policy::clustering(2000, &[(1, 3)], 1), 93);
    assert_eq!(policy::clustering(2000, &[(1, 3), (0, 1)], 1), 68);
    assert_eq!(policy::clustering(2000, &[], 1), 43);
    assert_eq!(policy::clustering(2000, &[(0, 1)], 1), 18);
    // An empty node; a whole device of a used one; a device in use with 400 left.
    assert_eq!(policy::packing(&[1000; 4], 1, 300), 29);
    assert_eq!(policy::packing(&[200, 1000], 1, 300), 49);
    assert_eq!(policy::packing(&[400, 1000], 1, 300), 96);
}

#[test]
fn parts_share_the_fullest_device_that_takes_them() {
    let mut cluster = cluster(&[node("a", 8000, 3, "T4")]);
    let large = cluster.shape(&demand(100, 1, 700)).expect("it is valid");
    let small = cluster.shape(&demand(100, 1, 200)).expect("it is valid");
    let mut places = Vec::new();
    for shape in [&large, &small, &large, &small, &small] {
        let place = cluster.choose(Policy::BestFit, shape, &mut never).expect("it fits");
        cluster.book(shape, place);
        places.push(place.devices);
    }
    assert_eq!(places, [0b001, 0b001, 0b010, 0b010, 0b100]);
    assert_eq!(cluster.free_gpu(), 3000 - 2 * 700 - 3 * 200);
}

#[test]
fn what_is_freed_can_be_booked_again() {
    let mut cluster = cluster(&[node("a", 8000, 2, "T4"), node("b", 8000, 0, "")]);
    let whole = cluster.shape(&demand(1000, 2, 1000)).expect("it is valid");
    let place = cluster.choose(Policy::GpuPacking, &whole, &mut never).expect("it fits");
    assert_eq!(place, Place { node: 0, devices: 0b11 });
    cluster.book(&whole, place);
    assert_eq!(cluster.choose(Policy::GpuPacking, &whole, &mut never), None);
    cluster.free(&whole, place);
    assert_eq!(cluster.choose(Policy::GpuClustering, &whole, &mut never), Some(place));
    assert_eq!(cluster.free_gpu(), 2000);
}

#[test]
fn models_and_memory_keep_pods_away() {
    let mut cluster = cluster(&[node("a", 8000, 2, "T4"), node("b", 8000, 2, "A100")]);
    let models = vec!["A100".to_owned(), "H100".to_owned()];
    let shape = cluster.shape(&Demand { models, ..demand(100, 1, 500) }).expect("it is valid");
    assert_eq!(cluster.choose(Policy::BestFit, &shape, &mut never).map(|place| place.node), Some(1));
    let shape = cluster.shape(&Demand { memory: 1001, ..demand(100, 1, 500) }).expect("it is valid");
    assert_eq!(cluster.choose(Policy::BestFit, &shape, &mut never), None);
}

#[test]
fn fragmentation_steers_a_part_to_the_device_that_is_useless_already() {
    // The typical pod is one whole device, so 500 that are left of one are a fragment, and taking them adds none.
    let nodes = [node("a", 8000, 1, "T4"), node("b", 8000, 2, "T4")];
    let mut cluster = cluster(&nodes);
    let typical =
        |cluster: &mut Cluster| -> Vec<Shape> { vec![cluster.shape(&demand(1000, 1, 1000)).expect("it is valid"); 10] };
    let pods = typical(&mut cluster);
    cluster.expect(Typical::of(&pods.iter().collect::<Vec<_>>(), 95));
    let half = cluster.shape(&demand(100, 1, 500)).expect("it is valid");
    cluster.book(&half, Place { node: 1, devices: 0b10 });
    assert!((cluster.fragments() - 500.0).abs() < 1e-9);
    assert_eq!(cluster.choose(Policy::Fgd, &half, &mut never), Some(Place { node: 1, devices: 0b10 }));
    // A whole device of node b leaves its half useless as before; node a is as good, and its rank is lower.
    let whole = cluster.shape(&demand(1000, 1, 1000)).expect("it is valid");
    assert_eq!(cluster.choose(Policy::Fgd, &whole, &mut never), Some(Place { node: 0, devices: 0b1 }));
}

#[test]
fn nonsense_is_refused() {
    let ranks = vec![0];
    assert!(matches!(Cluster::new(&[node("a", 1, 17, "T4")], ranks.clone()), Err(Wrong::Devices(_))));
    assert!(matches!(Cluster::new(&[node("a", -1, 1, "T4")], ranks), Err(Wrong::Amount(_))));
    assert!(matches!(Cluster::new(&[node("a", 1, 1, "T4")], Vec::new()), Err(Wrong::Amount(_))));
    let mut cluster = cluster(&[node("a", 8000, 2, "T4")]);
    assert!(matches!(cluster.shape(&demand(1, 2, 500)), Err(Wrong::Parts { milli: 500, devices: 2 })));
    assert!(matches!(cluster.shape(&demand(1, 1, 0)), Err(Wrong::Parts { .. })));
    assert!(cluster.shape(&demand(-1, 0, 0)).is_err());
    let models = (0..70).map(|model| format!("m{model}")).collect();
    assert!(matches!(cluster.shape(&Demand { models, ..demand(1, 1, 1000) }), Err(Wrong::Models(_))));
}
