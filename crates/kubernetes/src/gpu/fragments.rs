//! How much of what is free no typical pod can use.

use std::collections::BTreeMap;

use super::demand::Shape;

/// One typical pod.
#[derive(Clone, Debug)]
struct Pod {
    cpu: i64,
    milli: u16,
    count: usize,
    /// The models it may use, as bits; none stands for all.
    models: Option<u64>,
    /// Its share of all pods.
    share: f64,
}

/// The pods that a cluster expects: the most frequent ones of a history, with their shares.
#[derive(Clone, Debug, Default)]
pub struct Typical(Vec<Pod>);

/// Pods that differ in this alone are one typical pod.
type Key = (i64, u16, usize, String);

impl Typical {
    /// The most frequent shapes, until they make up `percentage` % of the pods. Equally frequent ones come by size, the largest first.
    #[expect(clippy::cast_precision_loss)]
    pub fn of(pods: &[&Shape], percentage: u32) -> Self {
        let mut counts: BTreeMap<Key, (u64, &Shape)> = BTreeMap::new();
        for &shape in pods {
            let key = (shape.cpu, shape.milli, shape.count, shape.names.clone());
            counts.entry(key).or_insert((0, shape)).0 += 1;
        }
        let mut counts: Vec<(u64, Key, &Shape)> =
            counts.into_iter().map(|(key, (count, shape))| (count, key, shape)).collect();
        counts.sort_by(|a, b| (b.0, &b.1).cmp(&(a.0, &a.1)));
        let total = pods.len() as f64;
        let enough = f64::from(percentage) * total / 100.0;
        let mut sum = 0.0;
        let mut typical = Vec::new();
        for (count, _, shape) in counts {
            if sum >= enough {
                break;
            }
            sum += count as f64;
            let (cpu, milli, count_of, models) = (shape.cpu, shape.milli, shape.count, shape.models);
            typical.push(Pod { cpu, milli, count: count_of, models, share: count as f64 / total });
        }
        for pod in &mut typical {
            pod.share /= sum / total;
        }
        Self(typical)
    }

    /// The thousandths of devices that are free on a node and useless, in the mean over the typical pods.
    ///
    /// The sums are built in the order of the paper's simulator, so that its scores are met to the last bit.
    pub(super) fn fragments(&self, cpu: i64, left: &[u16], model: Option<u64>) -> f64 {
        let total: u32 = left.iter().map(|&left| u32::from(left)).sum();
        if total == 0 {
            return 0.0;
        }
        let all = f64::from(total);
        // Lacks both, lacks a device, lacks cpu, asks for no device and fits, or not, may not use the model.
        let mut sums = [0.0_f64; 6];
        for pod in &self.0 {
            let has_cpu = cpu >= pod.cpu;
            if pod.milli == 0 {
                sums[if has_cpu { 3 } else { 4 }] += pod.share * all;
                continue;
            }
            if pod.models.is_some_and(|wanted| model.is_none_or(|model| wanted & model == 0)) {
                sums[5] += pod.share * all;
                continue;
            }
            let (mut fitting, mut useless) = (0, 0_u32);
            for &left in left {
                let fits = left >= pod.milli;
                fitting += usize::from(fits);
                useless += if fits { 0 } else { u32::from(left) };
            }
            match (fitting >= pod.count, has_cpu) {
                (true, true) => sums[1] += pod.share * f64::from(useless),
                (true, false) => sums[2] += pod.share * all,
                (false, true) => sums[1] += pod.share * all,
                (false, false) => sums[0] += pod.share * all,
            }
        }
        sums.iter().fold(0.0, |sum, part| sum + part)
    }
}

/// The score of a change of fragmentation: 50 if there is none.
#[expect(clippy::cast_possible_truncation)]
pub(super) fn score(before: f64, after: f64) -> i64 {
    let change = (before - after) / 1000.0;
    (1.0 / (1.0 + (-change).exp()) * 100.0) as i64
}
