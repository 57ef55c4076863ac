//! A second implementation of filters, scores and preemption, as plain as it can be, beside the scheduler on random worlds.
//!
//! It keeps a list of pods and looks at everything anew for each decision. Amounts are powers of two, so that the fractions of the
//! scheduler are exact and those here, in whole numbers, must be equal.

use std::collections::BTreeMap;

use resched_kubernetes::kube::{
    Decision, Effect, Fit, NodeId, NodeSpec, Operator, PodId, PodSpec, Point, Profile, Requirement, Scheduler,
    Strategy, Taint, Tie, Toleration,
};

/// Numbers without a pattern (a linear generator's upper bits).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % n
    }

    fn one<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }
}

/// A pod as the twin knows it.
struct Twin {
    spec: PodSpec,
    node: Option<usize>,
    started: i64,
    nominated: Option<usize>,
    gone: bool,
}

struct World {
    profile: Profile,
    nodes: Vec<Option<NodeSpec>>,
    pods: Vec<Twin>,
}

fn asked(spec: &PodSpec, name: &str) -> i64 {
    spec.requests.iter().filter(|(known, _)| known == name).map(|(_, amount)| *amount).sum()
}

fn counted(spec: &PodSpec, name: &str) -> i64 {
    asked(spec, name)
        + match name {
            "cpu" => 100 * i64::from(spec.without_cpu),
            "memory" => (200 << 20) * i64::from(spec.without_memory),
            _ => 0,
        }
}

fn capacity(node: &NodeSpec, name: &str) -> i64 {
    node.allocatable.iter().find(|(known, _)| known == name).map_or(0, |(_, amount)| *amount)
}

fn tolerates(spec: &PodSpec, taint: &Taint) -> bool {
    spec.tolerations.iter().any(|toleration| toleration.key == taint.key && toleration.value == taint.value)
}

impl World {
    fn on(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.pods.len()).filter(move |&pod| self.pods[pod].node == Some(node) && !self.pods[pod].gone)
    }

    /// True if `pod` fits with `there` on the node.
    fn fits_with(&self, pod: usize, node: usize, there: &[usize]) -> bool {
        let (spec, node) = (&self.pods[pod].spec, self.nodes[node].as_ref().expect("it is there"));
        let room = spec.requests.iter().all(|(name, amount)| {
            let used: i64 = there.iter().map(|&other| asked(&self.pods[other].spec, name)).sum();
            *amount == 0 || used + amount <= capacity(node, name)
        });
        room && there.len() < usize::try_from(node.pods).expect("few pods")
    }

    fn suits(&self, pod: usize, node: &NodeSpec) -> bool {
        let spec = &self.pods[pod].spec;
        let holds = |requirement: &Requirement| {
            let value = node.labels.get(&requirement.key);
            match requirement.operator {
                Operator::In => value.is_some_and(|value| requirement.values.contains(value)),
                Operator::NotIn => value.is_none_or(|value| !requirement.values.contains(value)),
                _ => unreachable!("the worlds have no other"),
            }
        };
        node.taints.iter().all(|taint| taint.effect == Effect::PreferNoSchedule || tolerates(spec, taint))
            && spec.selector.iter().all(|(key, value)| node.labels.get(key) == Some(value))
            && (spec.required.is_empty() || spec.required.iter().any(|term| term.iter().all(holds)))
    }

    fn promised(&self, pod: usize, node: usize) -> Vec<usize> {
        let at_least = |&other: &usize| {
            other != pod
                && self.pods[other].nominated == Some(node)
                && self.pods[other].spec.priority >= self.pods[pod].spec.priority
        };
        (0..self.pods.len()).filter(at_least).collect()
    }

    fn fits(&self, pod: usize, node: usize) -> bool {
        let Some(spec) = &self.nodes[node] else { return false };
        let mut there: Vec<usize> = self.on(node).collect();
        let without = self.fits_with(pod, node, &there);
        there.extend(self.promised(pod, node));
        self.suits(pod, spec) && without && self.fits_with(pod, node, &there)
    }

    fn feasible(&self, pod: usize) -> Vec<usize> {
        if let Some(node) = self.pods[pod].nominated.filter(|&node| self.fits(pod, node)) {
            return vec![node];
        }
        (0..self.nodes.len()).filter(|&node| self.fits(pod, node)).collect()
    }

    fn used(&self, node: usize, of: impl Fn(&PodSpec) -> i64) -> i64 {
        self.on(node).map(|pod| of(&self.pods[pod].spec)).sum()
    }

    fn score(&self, pod: usize, node: usize, feasible: &[usize]) -> i64 {
        let spec = |node: usize| self.nodes[node].as_ref().expect("it is feasible");
        let soft = |node: usize| {
            let taints = spec(node).taints.iter();
            let soft = taints
                .filter(|taint| taint.effect == Effect::PreferNoSchedule && !tolerates(&self.pods[pod].spec, taint));
            i64::try_from(soft.count()).expect("few taints")
        };
        let preferred = |node: usize| -> i64 {
            let holds = |(weight, term): &(i32, Vec<Requirement>)| {
                let all = term
                    .iter()
                    .all(|part| spec(node).labels.get(&part.key).is_some_and(|value| part.values.contains(value)));
                if all { i64::from(*weight) } else { 0 }
            };
            self.pods[pod].spec.preferred.iter().map(holds).sum()
        };
        let most = |of: &dyn Fn(usize) -> i64| feasible.iter().map(|&node| of(node)).max().unwrap_or(0);
        let taints = if most(&soft) == 0 { 100 } else { 100 - 100 * soft(node) / most(&soft) };
        let affinity = if most(&preferred) == 0 { 0 } else { 100 * preferred(node) / most(&preferred) };
        let weights = self.profile.weights;
        weights.fit * self.fit(pod, node)
            + weights.balanced * self.balance(pod, node)
            + weights.taints * taints
            + weights.affinity * affinity
    }

    fn fit(&self, pod: usize, node: usize) -> i64 {
        let (mut sum, mut weights) = (0, 0);
        for (name, weight) in &self.profile.fit.resources {
            let all = capacity(self.nodes[node].as_ref().expect("it is feasible"), name);
            let more = counted(&self.pods[pod].spec, name);
            if all == 0 || name.contains('/') && more == 0 {
                continue;
            }
            let used = self.used(node, |spec| counted(spec, name)) + more;
            let score = match &self.profile.fit.strategy {
                Strategy::LeastAllocated => (all - used).max(0) * 100 / all,
                Strategy::MostAllocated => used.min(all) * 100 / all,
                Strategy::RequestedToCapacityRatio(line) => {
                    between(line, if used > all { 100 } else { used * 100 / all })
                }
            };
            if score == 0 && matches!(self.profile.fit.strategy, Strategy::RequestedToCapacityRatio(_)) {
                continue;
            }
            (sum, weights) = (sum + score * weight, weights + weight);
        }
        match self.profile.fit.strategy {
            _ if weights == 0 => 0,
            Strategy::RequestedToCapacityRatio(_) => sum / weights + i64::from(sum % weights * 2 >= weights),
            _ => sum / weights,
        }
    }

    /// 100 − 50·|cpu − memory|, cut, in whole numbers.
    fn balance(&self, pod: usize, node: usize) -> i64 {
        let spec = self.nodes[node].as_ref().expect("it is feasible");
        if ["cpu", "memory"].iter().all(|name| asked(&self.pods[pod].spec, name) == 0) {
            return 0;
        }
        let part = |name: &str| {
            let used = self.used(node, |spec| asked(spec, name)) + asked(&self.pods[pod].spec, name);
            (i128::from(used), i128::from(capacity(spec, name)))
        };
        let ((a, b), (c, d)) = (part("cpu"), part("memory"));
        let score = (100 * b * d - 50 * (a * d - c * b).abs()).div_euclid(b * d);
        i64::try_from(score).expect("at most 100")
    }

    /// All nodes on which preemption costs least, with the victims.
    fn preemption(&self, pod: usize) -> BTreeMap<usize, Vec<usize>> {
        let mut found: Vec<(Vec<i64>, usize, Vec<usize>)> = Vec::new();
        for node in 0..self.nodes.len() {
            let Some(spec) = &self.nodes[node] else { continue };
            if !self.suits(pod, spec) || !self.fits_with(pod, node, &[]) {
                continue;
            }
            let Some(victims) = self.victims(pod, node) else { continue };
            let priority = |&victim: &usize| i64::from(self.pods[victim].spec.priority);
            let top = victims.iter().map(priority).max().expect("there are victims");
            let starts =
                victims.iter().filter(|victim| priority(victim) == top).map(|&victim| self.pods[victim].started);
            let count = i64::try_from(victims.len()).expect("few pods");
            let sum = victims.iter().map(|victim| priority(victim) + (1 << 31)).sum();
            found.push((vec![top, sum, count, -starts.min().expect("there are victims")], node, victims));
        }
        let best = found.iter().map(|(cost, ..)| cost.clone()).min();
        found
            .into_iter()
            .filter(|(cost, ..)| Some(cost) == best.as_ref())
            .map(|(_, node, victims)| (node, victims))
            .collect()
    }

    fn victims(&self, pod: usize, node: usize) -> Option<Vec<usize>> {
        let priority = self.pods[pod].spec.priority;
        let (mut lower, stay): (Vec<usize>, Vec<usize>) =
            self.on(node).partition(|&other| self.pods[other].spec.priority < priority);
        let mut there = stay;
        there.extend(self.promised(pod, node));
        if lower.is_empty() || !self.fits_with(pod, node, &there) {
            return None;
        }
        lower.sort_by_key(|&other| (-self.pods[other].spec.priority, self.pods[other].started));
        let mut victims = Vec::new();
        for other in lower {
            there.push(other);
            if !self.fits_with(pod, node, &there) {
                there.pop();
                victims.push(other);
            }
        }
        Some(victims)
    }
}

fn between(line: &[Point], at: i64) -> i64 {
    let mut score = 10 * line[0].score;
    for pair in line.windows(2) {
        if at > pair[0].utilization {
            let (from, to) = (pair[0], pair[1]);
            let along = (at - from.utilization).min(to.utilization - from.utilization);
            score = 10 * from.score + 10 * (to.score - from.score) * along / (to.utilization - from.utilization);
        }
    }
    score
}

fn some_profile(numbers: &mut Numbers) -> Profile {
    let mut profile = Profile::default();
    let line = [(0, 3), (40, 10), (60, 1), (100, 8)].map(|(utilization, score)| Point { utilization, score });
    let strategy = numbers.one(&[
        Strategy::LeastAllocated,
        Strategy::MostAllocated,
        Strategy::RequestedToCapacityRatio(line.to_vec()),
    ]);
    let names = [("cpu", 1), ("memory", 2), ("nvidia.com/gpu", 3)];
    let resources = names[..2 + numbers.below(2)].iter().map(|&(name, weight)| (name.to_owned(), weight)).collect();
    profile.fit = Fit { strategy, resources };
    profile.weights.taints = numbers.one(&[0, 3]);
    profile
}

fn some_node(numbers: &mut Numbers, place: usize) -> NodeSpec {
    let mut node = NodeSpec { name: format!("n{place}"), pods: numbers.one(&[3, 110]), ..NodeSpec::default() };
    node.allocatable =
        vec![("cpu".to_owned(), numbers.one(&[4096, 8192])), ("memory".to_owned(), numbers.one(&[1 << 33, 1 << 34]))];
    if numbers.below(2) == 0 {
        node.allocatable.push(("nvidia.com/gpu".to_owned(), 4));
    }
    node.labels.insert("zone".to_owned(), numbers.one(&["a", "b", "c"]).to_owned());
    for (key, effect) in
        [("hard", Effect::NoSchedule), ("soft", Effect::PreferNoSchedule), ("softer", Effect::PreferNoSchedule)]
    {
        if numbers.below(4) == 0 {
            node.taints.push(Taint { key: key.to_owned(), value: String::new(), effect });
        }
    }
    node
}

fn some_pod(numbers: &mut Numbers) -> PodSpec {
    let mut pod = PodSpec { priority: numbers.one(&[-5, 0, 0, 10, 100]), ..PodSpec::default() };
    match numbers.below(5) {
        0 => (pod.without_cpu, pod.without_memory) = (1, 1),
        _ => {
            pod.requests.push(("cpu".to_owned(), numbers.one(&[256, 512, 1024, 2048, 4096])));
            pod.requests.push(("memory".to_owned(), numbers.one(&[1 << 30, 1 << 31, 1 << 32])));
        }
    }
    if numbers.below(3) == 0 {
        pod.requests.push(("nvidia.com/gpu".to_owned(), numbers.one(&[0, 1, 2])));
    }
    let zone = |operator, values: &[&str]| {
        let values = values.iter().map(|&value| value.to_owned()).collect();
        vec![Requirement { key: "zone".to_owned(), of_name: false, operator, values }]
    };
    match numbers.below(6) {
        0 => pod.selector.push(("zone".to_owned(), "a".to_owned())),
        1 => pod.required = vec![zone(Operator::In, &["b"]), zone(Operator::NotIn, &["a", "b"])],
        2 => pod.preferred = vec![(30, zone(Operator::In, &["a", "b"])), (7, zone(Operator::In, &["b"]))],
        _ => {}
    }
    for key in ["hard", "soft"] {
        if numbers.below(3) == 0 {
            pod.tolerations.push(Toleration {
                key: key.to_owned(),
                value: String::new(),
                any_value: false,
                effect: None,
            });
        }
    }
    pod
}

/// Checks one decision, and makes it the twin's own. Returns whether it was a preemption.
fn check(world: &mut World, scheduler: &Scheduler, decision: Decision, ties: &[(Tie, Vec<usize>)], now: i64) -> bool {
    let place = |node: NodeId| usize::try_from(node.0).expect("few nodes");
    match decision {
        Decision::Bound { pod, node, feasible: count, score } => {
            let pod = usize::try_from(pod.0).expect("few pods");
            let feasible = world.feasible(pod);
            assert_eq!(count, feasible.len());
            let scored = |&node: &usize| world.score(pod, node, &feasible);
            let most = feasible.iter().map(scored).max();
            assert_eq!(score, if feasible.len() == 1 { None } else { most }, "pod {pod}");
            let all: Vec<usize> =
                feasible.iter().copied().filter(|node| feasible.len() == 1 || Some(scored(node)) == most).collect();
            assert_eq!(scheduler.best().iter().map(|&node| place(node)).collect::<Vec<_>>(), all);
            let pod = &mut world.pods[pod];
            (pod.node, pod.started, pod.nominated) = (Some(place(node)), now, None);
            false
        }
        Decision::Failed { pod, nominated } => {
            let pod = usize::try_from(pod.0).expect("few pods");
            assert_eq!(world.feasible(pod), []);
            let found = world.preemption(pod);
            assert_eq!(nominated.is_some(), !found.is_empty(), "pod {pod}");
            world.pods[pod].nominated = nominated.map(place);
            let Some(node) = nominated.map(place) else { return false };
            if let Some((_, drawn)) = ties.iter().find(|(tie, _)| *tie == Tie::Preemption) {
                assert_eq!(drawn, &found.keys().copied().collect::<Vec<_>>());
            }
            let mut victims: Vec<usize> =
                scheduler.victims().iter().map(|pod| usize::try_from(pod.0).expect("few pods")).collect();
            let mut expected = found[&node].clone();
            victims.sort_unstable();
            expected.sort_unstable();
            assert_eq!(victims, expected, "pod {pod} on node {node}");
            let priority = world.pods[pod].spec.priority;
            for (other, twin) in world.pods.iter_mut().enumerate() {
                if other != pod && twin.nominated == Some(node) && twin.spec.priority < priority {
                    twin.nominated = None;
                }
            }
            true
        }
    }
}

/// Runs a world; returns how many decisions and preemptions were checked.
fn run(seed: u64) -> (usize, usize) {
    let mut numbers = Numbers(seed);
    let profile = some_profile(&mut numbers);
    let mut scheduler = Scheduler::new(profile.clone()).expect("few resources");
    let mut world = World { profile, nodes: Vec::new(), pods: Vec::new() };
    let (mut decisions, mut preemptions) = (0, 0);
    let mut ending: Vec<(i64, PodId)> = Vec::new();
    for step in 0..60_i64 {
        let now = step * 700;
        // Each decision has its own time, so that no two pods start together.
        let mut at = now;
        for pod in ending.extract_if(.., |(at, _)| *at <= now).map(|(_, pod)| pod).collect::<Vec<_>>() {
            scheduler.end(pod, now);
            let twin = &mut world.pods[usize::try_from(pod.0).expect("few pods")];
            (twin.gone, twin.nominated) = (true, None);
        }
        if step < 6 || numbers.below(15) == 0 {
            let node = some_node(&mut numbers, world.nodes.len());
            world.nodes.push(Some(node.clone()));
            scheduler.add_node(node, now).expect("few resources");
        }
        if numbers.below(25) == 0 {
            let node = numbers.below(world.nodes.len());
            world.nodes[node] = None;
            let lost = scheduler.remove_node(NodeId(u32::try_from(node).expect("few nodes")));
            for (pod, twin) in world.pods.iter_mut().enumerate() {
                twin.nominated = twin.nominated.filter(|&promised| promised != node);
                if twin.node == Some(node) && !twin.gone {
                    twin.gone = true;
                    assert!(lost.contains(&PodId(u32::try_from(pod).expect("few pods"))));
                }
            }
        }
        for _ in 0..numbers.below(3) {
            let spec = some_pod(&mut numbers);
            let kind = scheduler.kind(spec.clone()).expect("few resources");
            scheduler.submit(kind, now);
            world.pods.push(Twin { spec, node: None, started: 0, nominated: None, gone: false });
        }
        loop {
            let mut ties = Vec::new();
            let choice = numbers.below(1000);
            let mut draw = |tie: Tie, nodes: &[NodeId]| {
                ties.push((tie, nodes.iter().map(|node| usize::try_from(node.0).expect("few nodes")).collect()));
                choice % nodes.len()
            };
            at += 1;
            let Some(decision) = scheduler.decide(at, &mut draw) else { break };
            decisions += 1;
            preemptions += usize::from(check(&mut world, &scheduler, decision, &ties, at));
            if let Decision::Bound { pod, .. } = decision {
                ending.push((now + 700 * i64::try_from(1 + numbers.below(30)).expect("small"), pod));
            }
            for &victim in scheduler.evicted() {
                ending.retain(|&(_, pod)| pod != victim);
                ending.push((now + 2000, victim));
            }
        }
    }
    (decisions, preemptions)
}

#[allow(clippy::print_stderr, reason = "the figures are what the test is about")]
#[test]
fn a_plain_twin_decides_alike_on_random_worlds() {
    let (mut decisions, mut preemptions) = (0, 0);
    for seed in 0..300 {
        let (of_world, evictions) = run(seed);
        (decisions, preemptions) = (decisions + of_world, preemptions + evictions);
    }
    eprintln!("{decisions} decisions, {preemptions} of them with a promise");
    assert!(decisions > 20_000 && preemptions > 500);
}
