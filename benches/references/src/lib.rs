//! Nothing: the package is its benchmark.
