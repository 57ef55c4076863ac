//! What a job asked for (`Resource_List`), in the forms of PBS Professional (`select`, `place`) and Torque (`nodes`, `procs`).

use std::borrow::Cow;

use super::super::accounting::{Shape, Units, bytes, count, of_chunks};
use super::fields::{self, Fields};

/// The names of GPUs in chunks, in PBS, Torque and on Cray.
const GPUS: [&str; 3] = ["ngpus", "gpus", "naccelerators"];
/// The same by themselves.
const GPU_KEYS: [usize; 3] = [fields::NGPUS, fields::GPUS, fields::NACCELERATORS];

/// The shape of a job; `None` if neither what it asked for nor what it got is known.
pub(super) fn shape(record: &Fields<'_>, hosts: &[(Cow<'_, str>, u32)]) -> Option<Shape> {
    let text = |key| record.text(key);
    let select =
        Some(text(fields::SELECT)).filter(|select| !select.is_empty()).and_then(|select| of_chunks(&chunks(select)?));
    let nodes =
        || Some(text(fields::NODES)).filter(|nodes| !nodes.is_empty()).and_then(|nodes| of_chunks(&nodes_of(nodes)?));
    let got = || {
        let cpus = hosts.iter().map(|(_, cpus)| i64::from(*cpus)).sum::<i64>();
        (cpus > 0).then(|| single(cpus, 1))
    };
    let of_nodes = |shape: Shape| match count(text(fields::NCPUS)) {
        // `-l ncpus=8` is `nodes=1` with eight processors for Torque.
        Some(cpus) if shape.instances == 1 && shape.cpu == Some(1_000) => {
            Shape { cpu: cpus.checked_mul(1_000), ..shape }
        }
        _ => shape,
    };
    let shape = select
        .or_else(|| nodes().map(of_nodes))
        .or_else(|| count(text(fields::PROCS)).map(|procs| single(procs, 1)))
        .or_else(|| count(text(fields::NCPUS)).map(|cpus| single(1, cpus)))
        .or_else(got)?;
    let all = |key| bytes(text(key), Units::Pbs).filter(|&bytes| bytes > 0);
    let each = |bytes: i64| bytes / shape.instances.max(1);
    let per_process = || all(fields::PMEM)?.checked_mul(shape.cpu? / 1_000);
    let memory = shape.memory.or_else(|| all(fields::MEM).map(each)).or_else(per_process);
    let gpus = GPU_KEYS
        .iter()
        .find_map(|&key| count(text(key)))
        .map_or(0, |all| each(all.saturating_add(shape.instances - 1)));
    let gpus = if shape.gpus > 0 { shape.gpus } else { u64::try_from(gpus).unwrap_or(0) };
    Some(placed(Shape { memory, gpus, ..shape }, text(fields::PLACE), text(fields::NACCESSPOLICY)))
}

/// So many instances of so many processors.
fn single(instances: i64, cpus: i64) -> Shape {
    Shape { instances, cpu: cpus.checked_mul(1_000), ..Shape::default() }
}

/// Where the instances must lie: `pack`, `scatter`, `excl` …
fn placed(shape: Shape, place: &str, policy: &str) -> Shape {
    let has = |word: &str| place.split(':').any(|part| part == word);
    let exclusive = has("excl") || has("exclhost") || policy.eq_ignore_ascii_case("singlejob");
    let machines = if has("pack") {
        Some(1)
    } else if has("scatter") || has("vscatter") || shape.instances == 1 {
        Some(shape.instances)
    } else {
        None
    };
    Shape { machines: shape.machines.or(machines), exclusive: exclusive || shape.exclusive, ..shape }
}

/// The chunks of a `select` statement: `2:ncpus=16:mem=4gb+1:ncpus=4`. `None` if a number is wrong.
fn chunks(select: &str) -> Option<Vec<(i64, Shape)>> {
    select.split('+').map(chunk).collect()
}

fn chunk(text: &str) -> Option<(i64, Shape)> {
    let mut parts = text.split(':').peekable();
    let number = match parts.peek() {
        Some(first) if !first.contains('=') => count(parts.next()?)?,
        _ => 1,
    };
    let mut shape = single(1, 1);
    for (name, value) in parts.filter_map(|part| part.split_once('=')) {
        match name {
            "ncpus" => shape.cpu = count(value)?.checked_mul(1_000),
            "mem" => shape.memory = bytes(value, Units::Pbs),
            name if GPUS.contains(&name) => {
                shape.gpus = count(value).and_then(|gpus| u64::try_from(gpus).ok()).unwrap_or(0)
            }
            _ => {}
        }
    }
    Some((number, shape))
}

/// The parts of Torque's `nodes`: `2:ppn=8:gpus=1+n17:ppn=4:bigmem`. A name of a host is one node.
fn nodes_of(text: &str) -> Option<Vec<(i64, Shape)>> {
    // What follows `#` is for all: `#shared`, `#excl`.
    let (nodes, all) = text.split_once('#').unwrap_or((text, ""));
    let exclusive = all == "excl";
    let part = |part: &str| {
        let mut words = part.split(':');
        let number = words.next().and_then(count).unwrap_or(1);
        let mut shape = Shape { exclusive, ..single(1, 1) };
        for word in words {
            match word.split_once('=') {
                Some(("ppn", cpus)) => shape.cpu = count(cpus)?.checked_mul(1_000),
                Some((name, gpus)) if GPUS.contains(&name) => {
                    shape.gpus = count(gpus).and_then(|gpus| u64::try_from(gpus).ok()).unwrap_or(0);
                }
                _ => {}
            }
        }
        Some((number, shape))
    };
    nodes.split('+').map(part).collect()
}
