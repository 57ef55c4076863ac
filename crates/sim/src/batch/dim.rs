//! The number of a resource that tasks compete for.

/// The number of a dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dim(u32);

impl Dim {
    /// Processor, in thousandths of a core.
    pub const CPU: Dim = Dim(0);
    /// Memory, in bytes.
    pub const MEMORY: Dim = Dim(1);

    /// The dimension with this number.
    pub(super) fn at(place: usize) -> Self {
        Self(place as u32)
    }

    /// Its number.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
