//! The policies and their scores.

use std::fmt;
use std::str::FromStr;

/// How a node is chosen among those on which a pod fits, and a device on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Policy {
    /// Any node, any device.
    Random,
    /// The node whose free amounts are the least like what the pod asks for (Tetris' alignment, reversed as in the paper's
    /// simulator).
    DotProduct,
    /// Nodes that run pods of the same size first, fuller ones first (Gandiva).
    GpuClustering,
    /// Devices in use first, then nodes in use, then empty nodes (MLaaS in the wild).
    GpuPacking,
    /// The node with the least left over.
    BestFit,
    /// The node and the device whose fragmentation grows least.
    Fgd,
}

/// The name stands for no policy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected random, dot-product, gpu-clustering, gpu-packing, best-fit or fgd, found `{0}`")]
pub struct UnknownPolicy(pub String);

impl Policy {
    /// All of them, in the paper's order.
    pub const ALL: [Self; 6] =
        [Self::Random, Self::DotProduct, Self::GpuClustering, Self::GpuPacking, Self::BestFit, Self::Fgd];

    /// The name in commands and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::DotProduct => "dot-product",
            Self::GpuClustering => "gpu-clustering",
            Self::GpuPacking => "gpu-packing",
            Self::BestFit => "best-fit",
            Self::Fgd => "fgd",
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Policy {
    type Err = UnknownPolicy;

    fn from_str(name: &str) -> Result<Self, UnknownPolicy> {
        Self::ALL.into_iter().find(|policy| policy.name() == name).ok_or_else(|| UnknownPolicy(name.to_owned()))
    }
}

/// The largest node there is, in thousandths of cores and of devices: what amounts are divided by.
const LARGEST: [f64; 2] = [128_000.0, 8000.0];
const LARGEST_GPU: i64 = 8000;
const MOST: i64 = 100;

/// Free amounts of a node, or what a pod asks for: thousandths of cores and of devices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) cpu: i64,
    pub(super) gpu: i64,
}

impl Pair {
    /// Amounts stay far below 2^53.
    #[expect(clippy::cast_precision_loss)]
    fn parts(self) -> [f64; 2] {
        [self.cpu as f64, self.gpu as f64]
    }
}

/// Scores are cut to whole numbers, so that near ones tie.
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss)]
fn cut(score: f64) -> i64 {
    (score * MOST as f64) as i64
}

pub(super) fn best_fit(free: Pair, asked: Pair) -> i64 {
    let (free, asked) = (free.parts(), asked.parts());
    let mut left_over = 0.0;
    for part in 0..2 {
        left_over += (free[part] - asked[part]) / LARGEST[part] * 0.5;
    }
    cut(1.0 - left_over)
}

pub(super) fn dot_product(free: Pair, asked: Pair) -> i64 {
    let (free, asked) = (free.parts(), asked.parts());
    let mut product = 0.0;
    for part in 0..2 {
        product += free[part] / LARGEST[part] * (asked[part] / LARGEST[part]);
    }
    cut(1.0 - product / 2.0)
}

/// `sizes` counts the pods of the node by their number of devices, those that share one under 0.
pub(super) fn clustering(left: i64, sizes: &[(u16, u32)], size: u16) -> i64 {
    let fullness = MOST / 4 * (LARGEST_GPU - left) / LARGEST_GPU;
    let alike = sizes.iter().any(|&(known, _)| known == size);
    fullness
        + match (alike, sizes.len()) {
            (true, 1) => 75,
            (true, _) => 50,
            (false, 0) => 25,
            (false, _) => 0,
        }
}

/// `left` in thousandths by device; the pod asks for `milli` of each of `count` devices, and fits.
pub(super) fn packing(left: &[u16], count: usize, milli: u16) -> i64 {
    const WHOLE: u16 = 1000;
    let whole = left.iter().filter(|&&left| left == WHOLE).count();
    let number = |count: usize| i64::try_from(count).unwrap_or(MOST);
    if whole == left.len() {
        return (MOST / 3 - number(whole)).max(number(whole));
    }
    let mut fitting = [0_u16; super::MOST_DEVICES];
    let mut found = 0;
    for &left in left.iter().filter(|&&left| left >= milli) {
        fitting[found] = left;
        found += 1;
    }
    fitting[..found].sort_unstable();
    let used = &fitting[..count.min(found)];
    let opened = used.iter().filter(|&&left| left == WHOLE).count();
    if opened > 0 {
        return (MOST / 2 - number(opened)).max(MOST / 3);
    }
    let free: i64 = used.iter().map(|&left| i64::from(left) * 100 / i64::from(WHOLE)).sum();
    (MOST - free / 10).max(MOST / 2)
}
