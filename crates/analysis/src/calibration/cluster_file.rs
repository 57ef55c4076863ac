//! A calibration as a cluster file. A comment on each line gives its evidence.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::edges::Edges;
use super::fitted::{Fitted, MOST_ERROR};
use super::found::Calibration;
use super::locality::DEFAULT_FACTORS;
use super::machines::{Machines, Offer};
use super::slots::{Containers, Slots};
use super::spark_file;
use super::speculation::Speculation;

/// The largest interval and overhead that a cluster file allows, ms.
const DAY: f64 = 86_400_000.0;

/// The program that made a cluster file, and the source of the numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Maker {
    /// Program and version.
    pub version: String,
    /// The path of the trace or run, as the user wrote it.
    pub path: String,
    /// SHA-256 of its marker file, hexadecimal.
    pub sha256: String,
}

/// The text (TOML) of the cluster file of a calibration. A parameter that is not determined is left out and named in a comment. A
/// replay then uses its default.
pub fn cluster_file(found: &Calibration, maker: &Maker) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut text, found, maker);
    text
}

fn write(text: &mut String, found: &Calibration, maker: &Maker) -> std::fmt::Result {
    if let Some(factors) = found.spark {
        head(text, maker)?;
        return spark_file::cost(text, factors);
    }
    head(text, maker)?;
    writeln!(text, "\n[nodes]")?;
    if found.names_machines {
        writeln!(
            text,
            "# count: the trace's own machines; attempts ran on {} hosts in {} racks",
            found.hosts, found.racks
        )?;
    } else if found.hosts > 0 {
        writeln!(text, "count = {} # hosts on which attempts ran; the trace names no machine", found.hosts)?;
        writeln!(text, "racks = {} # their racks", found.racks.clamp(1, found.hosts))?;
    }
    slots_line(text, "map_slots", found.map_slots, "maps")?;
    slots_line(text, "reduce_slots", found.reduce_slots, "reduces")?;
    let never_full = |slots: Slots| slots.most.is_some() && !slots.were_full();
    if never_full(found.map_slots) || never_full(found.reduce_slots) {
        writeln!(
            text,
            "at_least = true # fewer than half of the nodes reached these numbers: the trace does not show how many slots they have"
        )?;
    }
    machines(text, found)?;

    writeln!(text, "\n[heartbeat]")?;
    let ms = |value: f64| format!("{value:.0}");
    let from = match found.heartbeat.by_application {
        true => "ms; YARN's default, because an application master wrote the log",
        false => "ms; from times in which a slot stayed free while a map waited, or from delays of reports",
    };
    line(text, "interval", whole(found.heartbeat.interval, 1.0), ms, from)?;
    if found.heartbeat.at_once {
        let [gap, report] = [found.heartbeat.median_gap, found.heartbeat.median_report]
            .map(|median| median.map_or_else(|| "unknown".to_owned(), |median| format!("{median:.0} ms")));
        writeln!(
            text,
            "out_of_band = true # ends were reported at once: median delay of a report {report}, of a new task in a freed slot \
             {gap}"
        )?;
    }

    writeln!(text, "\n[jobs]")?;
    edges(text, &found.edges)?;
    let of_maps = "smallest share of finished maps at a job's first reduce, an upper bound; jobs";
    line(text, "slowstart", found.slowstart, |value| format!("{value:.4}"), of_maps)?;
    line(
        text,
        "launch_overhead",
        whole(found.heartbeat.launch_overhead, 0.0),
        ms,
        "ms; from the assignment of a map to its start, or else the smallest of the same times",
    )?;
    let policy = "a parameter of policies, not a key of this file";
    let wait = found.locality_wait;
    let value = wait.value.map_or_else(|| "not determined".to_owned(), |value| format!("at most {value:.0} ms"));
    writeln!(text, "# locality wait ({policy}): {value}; {}", evidence(wait, &ms))?;
    let Speculation { tasks, backups, age, .. } = found.speculation;
    let age = age.value.map_or_else(String::new, |age| format!(", {age:.0} ms after the first attempt (median)"));
    writeln!(text, "# backups ({policy}): {backups} of n = {tasks} tasks{age}")?;

    if found.heartbeat.by_application {
        containers(text, &found.containers)?;
    }

    writeln!(text, "\n[cost]")?;
    locality(text, found.locality)?;
    let from = match found.shuffle_rate.from_late_reduces {
        true => "bytes/s, for reduce = \"r2\"; reduces that started after the last map",
        false => "bytes/s, for reduce = \"r2\"; reduces that started before the last map, by the fluid model",
    };
    let rate = |value: f64| format!("{value:.1}");
    line(text, "shuffle_rate", within(found.shuffle_rate.rate, 1.0, 1e15), rate, from)?;
    for (what, fitted) in [("map rate", found.map_rate), ("reduce rate", found.reduce_rate)] {
        let rate_text = fitted.value.map_or_else(|| "not determined".to_owned(), |value| format!("{value:.0} bytes/s"));
        writeln!(text, "# {what} (not a key of a cluster file): {rate_text}; {}", evidence(fitted, &rate))?;
    }
    writeln!(
        text,
        "# contention: not fitted: a trace has the totals of an attempt, not when it used the disk or the network"
    )?;

    writeln!(text, "\n[cost.host_factors]")?;
    writeln!(
        text,
        "# Hosts that differ from the median host by more than 3 standard errors. Their logged times are divided by the factor."
    )?;
    if found.host_factors.is_empty() {
        writeln!(text, "# none")?;
    }
    for (host, fitted) in &found.host_factors {
        line(text, &quoted(host), *fitted, |value| format!("{value:.4}"), "maps")?;
    }

    writeln!(text, "\n[fitted]")?;
    writeln!(text, "# The standard errors of the values above, by key. A value without a line here has none.")?;
    for (key, error) in standard_errors(found) {
        writeln!(text, "{} = {:?}", quoted(&key), error.min(MOST_ERROR))?;
    }
    Ok(())
}

/// What made the file, and how to read it.
fn head(text: &mut String, maker: &Maker) -> std::fmt::Result {
    let path = quoted(&maker.path);
    writeln!(text, "# Fitted by `resched calibrate` of {} from {path}, SHA-256 {}.", maker.version, maker.sha256)?;
    writeln!(
        text,
        "# Each line gives its standard error and the number n of observations. Values marked \"not determined\" have too"
    )?;
    writeln!(text, "# little data and keep their default.")?;
    writeln!(text, "\ndescription = {}", quoted(&format!("fitted by resched calibrate from {}", maker.path)))
}

/// The standard errors of the values of the file, by key.
fn standard_errors(found: &Calibration) -> BTreeMap<String, f64> {
    let [rack, off] = found.locality;
    let error = |fitted: Fitted| fitted.value.and(fitted.standard_error);
    let fixed = [
        ("nodes.map_slots", found.map_slots.standard_error),
        ("nodes.reduce_slots", found.reduce_slots.standard_error),
        ("heartbeat.interval", error(found.heartbeat.interval)),
        ("jobs.init_delay", error(found.edges.init)),
        ("jobs.setup_time", error(found.edges.setup)),
        ("jobs.cleanup_time", error(found.edges.cleanup)),
        ("jobs.slowstart", error(found.slowstart)),
        ("jobs.launch_overhead", error(found.heartbeat.launch_overhead)),
        ("cost.locality.rack", error(rack)),
        ("cost.locality.off", error(off)),
        ("cost.shuffle_rate", error(found.shuffle_rate.rate)),
    ];
    let hosts = found.host_factors.iter().map(|(host, fitted)| (format!("cost.host_factors.{host}"), error(*fitted)));
    let all = fixed.into_iter().map(|(key, error)| (key.to_owned(), error)).chain(hosts);
    all.filter_map(|(key, error)| Some((key, error?))).collect()
}

/// Initialisation, set-up and clean-up. A replay of the same trace takes those that the trace logged.
fn edges(text: &mut String, found: &Edges) -> std::fmt::Result {
    let ms = |value: f64| format!("{value:.0}");
    let lines = [
        ("init_delay", found.init, "ms from submission to launch"),
        ("setup_time", found.setup, "ms that a set-up task held a slot"),
        ("cleanup_time", found.cleanup, "ms that a clean-up task held a slot"),
    ];
    for (key, fitted, what) in lines {
        line(text, key, whole(fitted, 0.0), ms, &format!("{what}, the median; used for jobs without a logged value"))?;
    }
    Ok(())
}

/// What a node of YARN offers.
fn containers(text: &mut String, found: &Containers) -> std::fmt::Result {
    let (Some(memory), Some(vcores)) = (found.memory_mb.most, found.vcores.most) else { return Ok(()) };
    let of = if found.with_masters { "tasks and masters" } else { "tasks" };
    let reached = |slots: Slots| format!("at once on {} of n = {} nodes", slots.reached, slots.nodes);
    writeln!(text, "\n[containers]")?;
    writeln!(text, "memory_mb = {memory} # MB of {of} of the default sizes {}", reached(found.memory_mb))?;
    writeln!(text, "vcores = {vcores} # {of}, each with one virtual core, {}", reached(found.vcores))?;
    match found.are_whole() {
        true => Ok(()),
        false if found.with_masters => {
            writeln!(text, "at_least = true # fewer than half of the nodes reached these numbers")
        }
        false => writeln!(text, "at_least = true # the trace does not say where the application masters ran"),
    }
}

/// The machines of a production cluster.
fn machines(text: &mut String, found: &Calibration) -> std::fmt::Result {
    let Machines { cpu, memory } = found.machines;
    if cpu.machines + memory.machines == 0 {
        return Ok(());
    }
    writeln!(text, "\n[machines]")?;
    // Cores have three decimals, bytes none.
    for (key, offer, unit, decimals) in [("cores", cpu, 1_000.0, 3), ("memory", memory, 1.0, 0)] {
        let Offer { size, at_least, full, machines } = offer;
        let evidence = format!("n = {machines} machines, of which {full} were at least 90 % full");
        match (size, at_least) {
            (Some(size), _) => writeln!(text, "{key} = {:.decimals$} # {evidence}", size / unit)?,
            (None, Some(load)) => {
                writeln!(
                    text,
                    "# {key}: not determined: at least {:.decimals$}, but the machines were not full; {evidence}",
                    load / unit
                )?;
            }
            (None, None) => writeln!(text, "# {key}: not determined: the trace has no such requests")?,
        }
    }
    Ok(())
}

fn slots_line(text: &mut String, key: &str, slots: Slots, what: &str) -> std::fmt::Result {
    match slots.most {
        Some(most) => {
            let Slots { reached, nodes, .. } = slots;
            let bound = if slots.were_full() { "" } else { "; a lower bound" };
            writeln!(text, "{key} = {most} # most {what} at once, reached on {reached} of n = {nodes} nodes{bound}")
        }
        None => writeln!(text, "# {key}: not determined: default (no {what} on known hosts)"),
    }
}

fn locality(text: &mut String, [rack, off]: [Fitted; 2]) -> std::fmt::Result {
    let in_words = |name: &str, fitted: Fitted| {
        let state = if fitted.value.is_some() { "" } else { "not determined: default, " };
        format!("{name}: {state}{}", evidence(fitted, &|value| format!("{value:.4}")))
    };
    let why = format!("{}; {}", in_words("rack", rack), in_words("elsewhere", off));
    if rack.value.is_none() && off.value.is_none() {
        return writeln!(text, "# locality: {why}");
    }
    let [node, default_rack, default_off] = DEFAULT_FACTORS;
    // A default must not say that the rack is farther than elsewhere.
    let rack_value =
        rack.value.unwrap_or_else(|| off.value.map_or(default_rack, |off| default_rack.min(off.max(node))));
    let off_value = off.value.unwrap_or_else(|| default_off.max(rack_value));
    writeln!(text, "locality = [{node:.1}, {rack_value:.4}, {off_value:.4}] # {why}")
}

/// `key = value # why`, or a comment that it is not determined.
fn line(text: &mut String, key: &str, fitted: Fitted, format: impl Fn(f64) -> String, why: &str) -> std::fmt::Result {
    let evidence = evidence(fitted, &format);
    match fitted.value {
        Some(value) => writeln!(text, "{key} = {} # {evidence}; {why}", format(value)),
        None => writeln!(text, "# {key}: not determined: default, {evidence}; {why}"),
    }
}

/// `s.e. 1.2, n = 34`.
fn evidence(fitted: Fitted, format: &dyn Fn(f64) -> String) -> String {
    let error = match (fitted.value, fitted.standard_error) {
        (None, _) => String::new(),
        (_, Some(error)) => format!("s.e. {}, ", format(error)),
        (_, None) => "s.e. unknown, ".to_owned(),
    };
    format!("{error}n = {}", fitted.n)
}

/// A number of whole ms from `least` to a day.
fn whole(fitted: Fitted, least: f64) -> Fitted {
    let fitted = within(fitted, least, DAY);
    Fitted { value: fitted.value.map(f64::round), ..fitted }
}

fn within(fitted: Fitted, least: f64, most: f64) -> Fitted {
    Fitted { value: fitted.value.map(|value| value.clamp(least, most)), ..fitted }
}

/// A string, or a quoted key, of TOML.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::{Observed, of_attempts};

    fn maker(path: &str) -> Maker {
        Maker { version: "resched 0.1.0".to_owned(), path: path.to_owned(), sha256: "ab12".to_owned() }
    }

    #[test]
    fn what_is_not_determined_is_a_comment() {
        let nothing = of_attempts(&Observed::default());
        let text = cluster_file(&nothing, &maker("T"));
        assert!(
            text.starts_with("# Fitted by `resched calibrate` of resched 0.1.0 from \"T\", SHA-256 ab12.\n"),
            "{text}"
        );
        let keys: Vec<&str> = text.lines().filter(|line| line.contains(" = ") && !line.starts_with('#')).collect();
        assert_eq!(keys, ["description = \"fitted by resched calibrate from T\""]);
        assert!(text.contains("# map_slots: not determined: default (no maps on known hosts)"), "{text}");
        assert!(text.contains("# interval: not determined: default, n = 0;"), "{text}");
    }

    #[test]
    fn estimates_have_their_errors_beside_them() {
        let fitted = |value, error, n| Fitted { value: Some(value), standard_error: error, n };
        let mut found = of_attempts(&Observed::default());
        found.map_slots = Slots { most: Some(2), reached: 11, nodes: 12, standard_error: Some(0.0) };
        found.heartbeat.interval = fitted(2987.4, Some(40.6), 200);
        found.locality = [Fitted::unknown(3), fitted(1.2, Some(0.05), 44)];
        found.host_factors.insert("a \"b\"\n".to_owned(), fitted(2.0, Some(0.1), 30));
        let text = cluster_file(&found, &maker("T\nx = 1"));
        for part in [
            "map_slots = 2 # most maps at once, reached on 11 of n = 12 nodes\n",
            "interval = 2987 # s.e. 41, n = 200; ms; ",
            "locality = [1.0, 1.2000, 1.2000] # rack: not determined: default, n = 3; elsewhere: s.e. 0.0500, n = 44\n",
            "\"a \\\"b\\\"\\u000A\" = 2.0000 # s.e. 0.1000, n = 30; maps\n",
            "\n[fitted]\n# The standard errors of the values above, by key. A value without a line here has none.\n\
             \"cost.host_factors.a \\\"b\\\"\\u000A\" = 0.1\n\"cost.locality.off\" = 0.05\n\"heartbeat.interval\" = 40.6\n\
             \"nodes.map_slots\" = 0.0\n",
        ] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
        assert!(!text.contains("\nx = 1"), "{text}");
    }
}
