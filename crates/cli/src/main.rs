//! The command line of resched.

fn main() {}
