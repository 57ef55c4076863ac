//! The time lines of an export, in the database of a real Prometheus.

use std::process::Command;

use crate::support::Dir;

/// True if `promtool` is here. It must be if `RESCHED_REQUIRE_PROMETHEUS` is 1.
fn has_promtool() -> bool {
    let is_here = Command::new("promtool").arg("--version").output().is_ok_and(|output| output.status.success());
    let required = std::env::var_os("RESCHED_REQUIRE_PROMETHEUS").is_some_and(|value| value == "1");
    assert!(is_here || !required, "promtool not found");
    if !is_here {
        eprintln!("skipped: promtool not found");
    }
    is_here
}

/// Two jobs of one queue within three hours: promtool reads a file once for each two hours of it.
#[test]
fn prometheus_has_the_samples_of_what_ran_and_of_a_replay() {
    if !has_promtool() {
        return;
    }
    let dir = Dir::new();
    let job = |id: u32, submit: u32| format!("{id} {submit} 60 3600 4 -1 -1 4 3600 -1 1 1 1 1 1 1 -1 -1\n");
    dir.write(
        "log.swf",
        format!("; MaxProcs: 4\n; MaxNodes: 1\n; UnixStartTime: 1700000000\n{}{}", job(1, 0), job(2, 600)),
    );
    dir.ok(&["ingest", "log.swf", "--out", "L"]);
    dir.ok(&["replay", "L", "--policy", "easy", "--robust", "off", "--out", "R"]);
    for (source, file, origin) in [("L", "observed.txt", "observed"), ("R/easy", "easy.txt", "replay")] {
        dir.ok(&["export", source, "--format", "openmetrics", "--out", file]);
        let database = format!("db-{file}");
        let run = |args: &[&str]| {
            let output = Command::new("promtool").args(args).current_dir(dir.path("")).output().unwrap();
            assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap()
        };
        run(&["tsdb", "create-blocks-from", "openmetrics", file, &database]);
        // A database that a server has not run on has no log of writes, which `dump` wants.
        std::fs::create_dir(dir.path(&database).join("wal")).unwrap();
        let stored = run(&["tsdb", "dump", &database]);
        let samples = |text: &str| text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).count();
        assert_eq!(samples(&stored), samples(&dir.read(file)), "{source}");
        assert!(stored.contains(origin) && stored.contains("resched_queue_jobs_running"), "{source}: {stored:.300}");
    }
}
