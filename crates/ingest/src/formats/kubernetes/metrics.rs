//! Metrics of kube-state-metrics as text: scrapes, or what `promtool tsdb dump-openmetrics` writes.
//!
//! ```text
//! kube_pod_created{namespace="team-red",pod="train-a-0-x1",uid="p-1"} 1772442002 1772442030.5
//! ```
//!
//! Each line says one thing of an object. The time of the sample behind the value is not needed: the values are times.

use std::collections::BTreeMap;

use resched_tables::model::Ms;

use super::seen::{Job, Node, Owner, Pod, Seen, Stage, What};
use crate::formats::csv::scaled_float;

/// What a line is for.
#[derive(Debug, PartialEq)]
pub(super) enum Line {
    /// It says something of an object.
    Of(Box<Seen>),
    /// It is a comment, or a metric that is not needed.
    Other,
    /// It is no line of metrics.
    Damaged,
}

/// The metrics by which such a text is known.
pub(super) const PREFIXES: [&str; 3] = ["kube_pod_", "kube_job_", "kube_node_"];

/// A sample: the name of its metric, its labels, and its value.
struct Sample<'l> {
    name: &'l str,
    labels: BTreeMap<&'l str, String>,
    value: f64,
}

impl<'l> Sample<'l> {
    fn parse(line: &'l str) -> Option<Self> {
        let end = line.find(['{', ' '])?;
        let (name, rest) = line.split_at(end);
        let (labels, rest) = match rest.strip_prefix('{') {
            Some(labels) => labels_of(labels)?,
            None => (BTreeMap::new(), rest),
        };
        let value = rest.split_ascii_whitespace().next()?.parse().ok()?;
        Some(Self { name, labels, value })
    }

    fn label(&self, name: &str) -> &str {
        self.labels.get(name).map_or("", String::as_str)
    }

    fn text(&self, name: &str) -> Option<String> {
        Some(self.label(name).to_owned()).filter(|text| !text.is_empty() && text != "<none>")
    }

    /// The value as a time in seconds.
    fn time(&self) -> Option<Ms> {
        scaled_float(self.value, 1_000.0).filter(|&time| time > 0)
    }

    fn is_true(&self) -> bool {
        self.value > 0.0
    }
}

/// The labels up to the closing brace, and what is behind it.
fn labels_of(mut rest: &str) -> Option<(BTreeMap<&str, String>, &str)> {
    let mut labels = BTreeMap::new();
    loop {
        rest = rest.trim_start_matches([',', ' ']);
        if let Some(rest) = rest.strip_prefix('}') {
            return Some((labels, rest));
        }
        let (name, value) = rest.split_once("=\"")?;
        let (value, after) = quoted(value)?;
        labels.insert(name, value);
        rest = after;
    }
}

/// A text up to the quote that ends it, and what is behind that.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((value, text.get(at + 1..)?)),
            '\\' => match characters.next()?.1 {
                'n' => value.push('\n'),
                other => value.push(other),
            },
            other => value.push(other),
        }
    }
    None
}

/// What a line says.
pub(super) fn read(line: &str) -> Line {
    if line.trim().is_empty() || line.starts_with('#') {
        return Line::Other;
    }
    if !PREFIXES.iter().any(|prefix| line.starts_with(prefix)) {
        let is_metric = line.find(['{', ' ']).is_some_and(|end| line[..end].bytes().all(is_of_name));
        return if is_metric { Line::Other } else { Line::Damaged };
    }
    let Some(sample) = Sample::parse(line) else { return Line::Damaged };
    let seen = match sample.name.split('_').nth(1) {
        Some("pod") => pod(&sample),
        Some("job") => job(&sample),
        _ => node(&sample),
    };
    seen.map_or(Line::Other, |seen| Line::Of(Box::new(seen)))
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b':'
}

fn pod(sample: &Sample<'_>) -> Option<Seen> {
    let mut pod = Pod::default();
    let (mut created, mut owner) = (None, None);
    match sample.name {
        "kube_pod_created" => created = Some(sample.time()?),
        "kube_pod_status_scheduled_time" => pod.scheduled = Some(sample.time()?),
        "kube_pod_completion_time" => pod.end = Some(sample.time()?),
        "kube_pod_info" => {
            pod.node = sample.text("node");
            owner = owner_of(sample, "created_by_kind", "created_by_name");
        }
        "kube_pod_owner" => owner = Some(owner_of(sample, "owner_kind", "owner_name")?),
        "kube_pod_status_phase" if sample.is_true() => pod.stage = stage(sample.label("phase")),
        "kube_pod_status_reason" if sample.is_true() => {
            pod.stage = reason(sample.label("reason"))?;
            pod.why = sample.text("reason");
        }
        "kube_pod_container_resource_requests" => {
            let asked = [amount(sample)?].into();
            pod.asked = [(sample.text("container")?, asked)].into();
        }
        _ => return None,
    }
    let seen = Seen::of(sample.label("namespace"), &sample.text("pod")?, What::Pod(Box::new(pod)));
    Some(Seen { uid: sample.label("uid").to_owned(), created, owner, ..seen })
}

fn owner_of(sample: &Sample<'_>, kind: &str, name: &str) -> Option<Owner> {
    Some(Owner { kind: sample.text(kind)?, name: sample.text(name)?, uid: String::new() })
}

fn stage(phase: &str) -> Stage {
    match phase {
        "Pending" => Stage::Pending,
        "Running" => Stage::Running,
        "Succeeded" => Stage::Succeeded,
        "Failed" => Stage::Failed,
        _ => Stage::Unknown,
    }
}

fn reason(reason: &str) -> Option<Stage> {
    match reason {
        "Evicted" => Some(Stage::Evicted),
        "NodeLost" => Some(Stage::Lost),
        _ => None,
    }
}

fn job(sample: &Sample<'_>) -> Option<Seen> {
    let mut job = Job::default();
    let (mut created, mut owner) = (None, None);
    match sample.name {
        "kube_job_created" => created = Some(sample.time()?),
        "kube_job_status_start_time" => job.start = Some(sample.time()?),
        "kube_job_status_completion_time" => job.end = Some(sample.time()?),
        "kube_job_complete" if sample.is_true() && sample.label("condition") == "true" => job.succeeded = Some(true),
        "kube_job_failed" if sample.is_true() && sample.label("condition") == "true" => job.succeeded = Some(false),
        "kube_job_spec_parallelism" => job.pods = scaled_float(sample.value, 1.0).filter(|&pods| pods > 0),
        "kube_job_owner" => owner = Some(owner_of(sample, "owner_kind", "owner_name")?),
        _ => return None,
    }
    let what = What::Job("Job".to_owned(), Box::new(job));
    let seen = Seen::of(sample.label("namespace"), &sample.text("job_name")?, what);
    Some(Seen { created, owner, ..seen })
}

fn node(sample: &Sample<'_>) -> Option<Seen> {
    let mut node = Node::default();
    let mut created = None;
    match sample.name {
        "kube_node_created" => created = Some(sample.time()?),
        "kube_node_status_allocatable" => node.allocatable = [amount(sample)?].into(),
        "kube_node_spec_unschedulable" if sample.is_true() => node.is_cordoned = true,
        _ => return None,
    }
    let seen = Seen::of("", &sample.text("node")?, What::Node(Box::new(node)));
    Some(Seen { created, ..seen })
}

/// The resource of a sample, under the name that the API has for it, and its amount.
fn amount(sample: &Sample<'_>) -> Option<(String, i64)> {
    let resource = resource(sample.label("resource"));
    let unit = if resource == "cpu" { 1_000.0 } else { 1.0 };
    let amount = scaled_float(sample.value, unit).filter(|&amount| amount > 0)?;
    Some((resource, amount))
}

/// A resource as the API has it: metrics have `nvidia_com_gpu` for `nvidia.com/gpu`.
fn resource(name: &str) -> String {
    let domains = ["com", "io", "org", "ai", "dev", "net"];
    for domain in domains {
        if let Some((maker, rest)) = name.split_once(&format!("_{domain}_")) {
            return format!("{}.{domain}/{}", maker.replace('_', "."), rest.replace('_', "-"));
        }
    }
    name.replace('_', "-")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_a_name_labels_and_a_value() {
        let sample = Sample::parse(r#"kube_pod_info{a="x, y}",b="q\"\n\\",c=""} 1.5e3 1772442030.5"#).unwrap();
        let labels: Vec<_> = sample.labels.iter().map(|(name, value)| (*name, value.as_str())).collect();
        assert_eq!((sample.name, labels), ("kube_pod_info", vec![("a", "x, y}"), ("b", "q\"\n\\"), ("c", "")]));
        assert_eq!(sample.time(), Some(1_500_000));
        for cut in [
            "kube_pod_info",
            "kube_pod_info{a=\"x",
            "kube_pod_info{a=\"x\"}",
            "kube_pod_info{a} 1",
            "kube_pod_info{} x",
        ] {
            assert!(Sample::parse(cut).is_none(), "{cut}");
            assert_eq!(read(cut), Line::Damaged, "{cut}");
        }
        assert_eq!(read("# HELP kube_pod_info x"), Line::Other);
        assert_eq!(read("up{job=\"x\"} 1"), Line::Other);
        assert_eq!(read("<html>"), Line::Damaged);
    }

    #[test]
    fn resources_have_the_names_of_the_api() {
        let names = ["cpu", "nvidia_com_gpu", "ephemeral_storage", "rdma_example_io_hca_shared"].map(resource);
        assert_eq!(names, ["cpu", "nvidia.com/gpu", "ephemeral-storage", "rdma.example.io/hca-shared"]);
    }
}
