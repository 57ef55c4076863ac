//! The commit, the features and the target of this build, for `resched --version`. Nothing else depends on them: what resched writes
//! names its version only.
#![allow(clippy::print_stdout, reason = "this is how a build script talks to Cargo")]

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=RESCHED_COMMIT");
    let commit = env::var("RESCHED_COMMIT").ok().or_else(commit_of_git).unwrap_or_else(|| "unknown commit".to_owned());
    let mut features: Vec<String> = env::vars()
        .filter_map(|(name, _)| name.strip_prefix("CARGO_FEATURE_").map(str::to_lowercase))
        .filter(|name| name != "default")
        .collect();
    features.sort_unstable();
    let features = if features.is_empty() { "no features".to_owned() } else { features.join(" ") };
    let given = |name| env::var(name).unwrap_or_default();
    let (version, target, profile) = (given("CARGO_PKG_VERSION"), given("TARGET"), given("PROFILE"));
    println!("cargo::rustc-env=RESCHED_VERSION={version} ({commit}, {features}, {target}, {profile})");
}

/// The commit, if this is a clone and there is a git. A source without git, such as a vendored one, names it by `RESCHED_COMMIT`.
fn commit_of_git() -> Option<String> {
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
    };
    // Another clone around this source, as around a vendored one, is of another project.
    let root = git(&["rev-parse", "--show-prefix"])?;
    if root != "crates/cli/" {
        return None;
    }
    // Grows with each commit and each checkout.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|log| std::path::Path::new(log).is_file())?;
    println!("cargo::rerun-if-changed={log}");
    println!("cargo::rerun-if-changed=build.rs");
    git(&["rev-parse", "--short=12", "HEAD"])
}
