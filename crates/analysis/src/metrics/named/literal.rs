//! Values in a filter, and the units of numbers.

/// A value in a filter.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Literal {
    /// A text in quotes.
    Text(String),
    /// A number in the base unit of its dimension (ms or bytes), with that unit; empty for a plain number.
    Number(f64, &'static str),
}

/// Units as others write them that are far from ours, each with our name for it.
pub(super) const OTHER_UNITS: &[(&str, &str)] = &[("m", "min"), ("sec", "s"), ("hr", "h")];

/// The units of numbers: name, factor, base unit.
pub const UNITS: &[(&str, f64, &str)] = &[
    ("ms", 1.0, "ms"),
    ("s", 1e3, "ms"),
    ("min", 60e3, "ms"),
    ("h", 3_600e3, "ms"),
    ("d", 86_400e3, "ms"),
    ("B", 1.0, "bytes"),
    ("kB", 1e3, "bytes"),
    ("MB", 1e6, "bytes"),
    ("GB", 1e9, "bytes"),
    ("TB", 1e12, "bytes"),
    ("KiB", 1024.0, "bytes"),
    ("MiB", 1_048_576.0, "bytes"),
    ("GiB", 1_073_741_824.0, "bytes"),
    ("TiB", 1_099_511_627_776.0, "bytes"),
    ("%", 0.01, ""),
];
