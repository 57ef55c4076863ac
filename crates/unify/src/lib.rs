//! Nothing but dependencies: every library of the workspace, with every feature that any crate asks for.
//!
//! Cargo unifies the features of libraries over the crates that you select. Without this crate, `cargo test -p resched-sim` would select
//! other features than `cargo test --workspace`, and compile polars, arrow and a hundred others anew. As each crate has this one among its
//! development dependencies, both build the same libraries. No program and no crate outside the workspace depends on it.
//!
//! `tests/workspace/features.rs` compares the features, crate by crate.
