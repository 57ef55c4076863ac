//! What pods ask for, and how many devices and models there may be.

/// The most devices of a node.
pub const MOST_DEVICES: usize = 16;
/// The most models of devices in a cluster.
pub const MOST_MODELS: usize = 64;
/// A whole device, in thousandths.
pub(super) const WHOLE: u16 = 1000;

/// What a pod asks for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Demand {
    /// Thousandths of cores.
    pub cpu: i64,
    /// Memory in MiB.
    pub memory: i64,
    /// How many devices.
    pub devices: usize,
    /// How much of each device, in thousandths; a part of a device is of one device alone.
    pub milli: u16,
    /// The models it may use; none stands for all.
    pub models: Vec<String>,
}

/// A [`Demand`] in the numbers of a cluster.
#[derive(Clone, Debug)]
pub struct Shape {
    pub(super) cpu: i64,
    pub(super) memory: i64,
    pub(super) count: usize,
    pub(super) milli: u16,
    pub(super) models: Option<u64>,
    /// The models as they were written.
    pub(super) names: String,
    pub(super) asked: usize,
}

impl Shape {
    /// What it takes of devices, in thousandths.
    pub fn gpu(&self) -> i64 {
        i64::try_from(self.count).unwrap_or(i64::MAX) * i64::from(self.milli)
    }

    pub(super) fn is_part(&self) -> bool {
        self.count == 1 && self.milli < WHOLE
    }

    /// Pods of one size cluster: by their number of devices, parts under 0.
    pub(super) fn size(&self) -> u16 {
        if self.is_part() { 0 } else { u16::try_from(self.count).unwrap_or(u16::MAX) }
    }
}
