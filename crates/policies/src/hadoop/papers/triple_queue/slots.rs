//! How the CPU and the IO queue divide the slots of a node.

/// The slots of a kind that the queues have on each node, as far as they are set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Quotas {
    pub(super) cpu: Option<u32>,
    pub(super) io: Option<u32>,
}

impl Quotas {
    /// Those of the CPU and of the IO queue on a node with so many slots.
    pub(super) fn of(self, slots: u32) -> [u32; 2] {
        let cpu = match (self.cpu, self.io) {
            (Some(cpu), _) => cpu.min(slots),
            (None, Some(io)) => slots.saturating_sub(io),
            (None, None) => slots.div_ceil(2),
        };
        let left = slots - cpu;
        let io = self.io.map_or(left, |io| io.min(left));
        [cpu.max(1), io.max(1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_of_the_queues() {
        let of = |cpu, io, slots| Quotas { cpu, io }.of(slots);
        assert_eq!(of(None, None, 8), [4, 4]);
        assert_eq!(of(None, None, 3), [2, 1]);
        assert_eq!(of(None, None, 1), [1, 1], "whoever comes first");
        assert_eq!(of(Some(6), None, 8), [6, 2]);
        assert_eq!(of(None, Some(6), 8), [2, 6]);
        assert_eq!(of(Some(2), Some(3), 8), [2, 3]);
        assert_eq!(of(Some(6), Some(6), 8), [6, 2], "no more than there are");
    }
}
