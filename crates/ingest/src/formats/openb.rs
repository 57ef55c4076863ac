//! Alibaba's list of pods of a GPU cluster (`cluster-trace-gpu-v2023`, known as openb), and its list of nodes.
//!
//! Page: `docs/formats/openb.md`. Comma-separated lines under a header. Times are seconds from the start of the trace. A pod asks for
//! several whole GPUs, or for a part of one: both are thousandths of devices here, as the cluster itself counts them.

use std::io::BufRead;
use std::path::Path;

use super::csv::{Piece, Record, Records};
use super::format::{Format, ReadAs};
use super::lines::head_lines;
use resched_tables::Error;
use resched_tables::cause;
use resched_tables::model::{AttemptRow, JobRecord, JobRow, NodeRow, Outcome, TaskRecord, TaskRow};
use resched_tables::named;
use resched_tables::pods::{Expression, Term, terms_as_text};
use resched_tables::sink::{Damage, Sink};

/// Pods of a GPU cluster.
pub const FORMAT: Format = Format {
    name: "openb",
    title: "list of pods of Alibaba's GPU cluster (openb, 2023)",
    time_zero: Some(resched_tables::store::TimeZero::Relative),
    system: Some(resched_tables::store::System::Kubernetes),
    has_tasks: true,
    group: "openb",
    is_whole: false,
    has_times_of_tasks: false,
    folded: false,
    reads: READS,
    sniff: |head| is_header(head, &PODS),
    read: |input, path, sink| read(input, path, sink, &PODS, pod),
};

/// Nodes of a GPU cluster.
pub const NODES: Format = Format {
    name: "openb-nodes",
    title: "list of nodes of Alibaba's GPU cluster (openb, 2023)",
    time_zero: None,
    reads: READS_OF_NODES,
    sniff: |head| is_header(head, &OF_NODES),
    read: |input, path, sink| read(input, path, sink, &OF_NODES, node),
    ..FORMAT
};

/// The columns of a list of pods.
const PODS: [&str; 11] = [
    "name",
    "cpu_milli",
    "memory_mib",
    "num_gpu",
    "gpu_milli",
    "gpu_spec",
    "qos",
    "pod_phase",
    "creation_time",
    "deletion_time",
    "scheduled_time",
];
/// The columns of a list of nodes.
const OF_NODES: [&str; 5] = ["sn", "cpu_milli", "memory_mib", "gpu", "model"];
/// What runs such a pod, in the jobs table.
const FRAMEWORK: &str = "pod";
/// The resource that stands for thousandths of GPUs, and the label for their model, as the cluster has them.
const GPU_MILLI: &str = "alibabacloud.com/gpu-milli";
const MODEL: &str = "alibabacloud.com/gpu-card-model";
/// A whole device, in thousandths.
const WHOLE: i64 = 1_000;
const MIB: i64 = 1 << 20;

/// What the columns of jobs are read from.
const READS: &[ReadAs] = &[
    ("jobs.job_id", &["name"]),
    ("jobs.qos", &["qos"]),
    ("jobs.submit", &["creation_time"]),
    ("jobs.launch", &["scheduled_time"]),
    ("jobs.finish", &["deletion_time"]),
    ("jobs.outcome", &["pod_phase"]),
    ("tasks.start", &["scheduled_time"]),
    ("tasks.finish", &["deletion_time"]),
    ("tasks.outcome", &["pod_phase"]),
    ("tasks.cpu_request", &["cpu_milli"]),
    ("tasks.memory_request", &["memory_mib"]),
    ("tasks.resources", &["num_gpu", "gpu_milli"]),
    ("tasks.affinity", &["gpu_spec"]),
    ("attempts.queued", &["creation_time"]),
    ("attempts.start", &["scheduled_time"]),
    ("attempts.finish", &["deletion_time"]),
    ("attempts.outcome", &["pod_phase"]),
];

/// What the columns of machines are read from.
const READS_OF_NODES: &[ReadAs] = &[
    ("nodes.host", &["sn"]),
    ("nodes.cpu", &["cpu_milli"]),
    ("nodes.memory", &["memory_mib"]),
    ("nodes.resources", &["gpu"]),
    ("nodes.features", &["model"]),
];

fn is_header(head: &[u8], columns: &[&str]) -> bool {
    let lines = head_lines(head);
    lines.first().is_some_and(|line| line.split(',').map(str::trim).eq(columns.iter().copied()))
}

/// A row, with its columns in the order of the header.
type Take = fn(&Record<'_>, &mut dyn Sink) -> Result<bool, Error>;

fn read(
    input: &mut dyn BufRead,
    path: &str,
    sink: &mut dyn Sink,
    columns: &[&'static str],
    take: Take,
) -> Result<(), Error> {
    let mut records = Records::new(input, true);
    let mut number = 0_u64;
    while let Some(piece) = records.next().map_err(Error::io(Path::new(path), "read"))? {
        number += 1;
        match piece {
            Piece::Oversized => sink.skip(cause::OVERSIZED_ROW, 1),
            Piece::Record(record) if record.text(0) == columns.first().copied() => {}
            Piece::Record(record) => {
                if record.len() != columns.len() || !take(&record, sink)? {
                    sink.skip(cause::DAMAGED_LINE, 1);
                    sink.damage(&|| damage(number, columns));
                }
            }
        }
    }
    Ok(())
}

fn damage(number: u64, columns: &[&str]) -> Damage {
    let expected = format!("the columns {}, with numbers from 0 on", columns.join(", "));
    let remedy = "copy the list again from alibaba/clusterdata, `cluster-trace-gpu-v2023`";
    Damage::new(&format!("row {number}: "), &expected, "another number of columns, or no number", remedy)
}

/// A number of at least 0.
fn amount(record: &Record<'_>, column: usize) -> Option<i64> {
    record.whole(column).filter(|&n| n >= 0)
}

/// Takes the pod of a row. Returns whether it can be read.
fn pod(record: &Record<'_>, sink: &mut dyn Sink) -> Result<bool, Error> {
    match record_of(record) {
        Some(record) => sink.job(record).map(|()| true),
        None => Ok(false),
    }
}

fn record_of(row: &Record<'_>) -> Option<JobRecord> {
    let name = row.text(0)?.to_owned();
    let time = |column| amount(row, column)?.checked_mul(1_000);
    let (created, deleted) = (time(8)?, time(9));
    // A pod that found no place has none.
    let scheduled = if row.field(10).is_empty() { None } else { Some(time(10)?) };
    let gpu_milli = amount(row, 3)?.checked_mul(amount(row, 4)?)?;
    let outcome = match row.text(7) {
        Some("Succeeded") => Outcome::Success,
        Some("Failed") => Outcome::Failed,
        // It was deleted while it ran, or waited.
        Some("Running" | "Pending") if deleted.is_some() => Outcome::Killed,
        Some("Running" | "Pending") => Outcome::Incomplete,
        _ => Outcome::Unknown,
    };
    let job = JobRow {
        job_id: name.clone(),
        framework: Some(FRAMEWORK.to_owned()),
        submit: Some(created),
        launch: scheduled,
        finish: deleted,
        outcome,
        qos: row.text(6).map(str::to_owned),
        ..JobRow::default()
    };
    let task = TaskRow {
        job_id: name.clone(),
        task_id: name.clone(),
        start: scheduled,
        finish: scheduled.and(deleted),
        outcome,
        cpu_request: Some(amount(row, 1)?),
        memory_request: Some(amount(row, 2)?.checked_mul(MIB)?),
        resources: named::as_text((gpu_milli > 0).then_some((GPU_MILLI, gpu_milli.unsigned_abs()))),
        affinity: models(row.text(5).unwrap_or_default()),
        ..TaskRow::default()
    };
    let attempt = scheduled.map(|start| AttemptRow {
        job_id: name.clone(),
        task_id: name.clone(),
        queued: Some(created),
        start: Some(start),
        finish: deleted,
        outcome,
        ..AttemptRow::default()
    });
    let task = TaskRecord { task, splits: Vec::new(), attempts: attempt.into_iter().collect() };
    Some(JobRecord { job, tasks: vec![task], counters: Vec::new() })
}

/// The models that a pod may use, such as `V100M16|V100M32`, as a requirement of the label of its node.
fn models(spec: &str) -> Option<String> {
    let mut values: Vec<String> = spec.split('|').filter(|model| !model.is_empty()).map(str::to_owned).collect();
    values.dedup();
    if values.is_empty() {
        return None;
    }
    let expression = Expression { key: MODEL.to_owned(), operator: "In".to_owned(), values };
    terms_as_text(&[Term { match_expressions: vec![expression] }])
}

/// Takes the node of a row. Returns whether it can be read.
fn node(record: &Record<'_>, sink: &mut dyn Sink) -> Result<bool, Error> {
    let row = || {
        let gpus = amount(record, 3)?.checked_mul(WHOLE)?;
        Some(NodeRow {
            host: record.text(0)?.to_owned(),
            cpu: Some(amount(record, 1)?),
            memory: Some(amount(record, 2)?.checked_mul(MIB)?),
            resources: named::as_text((gpus > 0).then_some((GPU_MILLI, gpus.unsigned_abs()))),
            features: record.text(4).map(|model| format!("{MODEL}={model}")),
            ..NodeRow::default()
        })
    };
    let row = row();
    let is_read = row.is_some();
    row.into_iter().for_each(|row| sink.node(row));
    Ok(is_read)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::golden::{Collected, Found as _, each_damage, read_shared};
    use super::*;

    const POD_HEADER: &str =
        "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time";

    #[test]
    fn a_pod_asks_for_devices_or_a_part_of_one() {
        let text = format!(
            "{POD_HEADER}\na,6000,12288,1,460,T4|G2,LS,Running,10,90,12\nb,4000,1,2,1000,,BE,Failed,20,30,20\nc,1,0,0,0,,BE,Pending,5,9,\n"
        );
        assert!((FORMAT.sniff)(text.as_bytes()) && !(NODES.sniff)(text.as_bytes()));
        let found = Collected::read(&FORMAT, text.as_bytes()).unwrap();
        let shown: Vec<_> = found
            .jobs
            .iter()
            .map(|one| {
                let task = &one.tasks[0];
                let times = task.attempts.first().map(|attempt| (attempt.start.unwrap(), attempt.finish.unwrap()));
                (one.job.job_id.as_str(), task.task.resources.as_deref(), one.job.outcome, times)
            })
            .collect();
        let expected = [
            ("a", Some("alibabacloud.com/gpu-milli=460"), Outcome::Killed, Some((12_000, 90_000))),
            ("b", Some("alibabacloud.com/gpu-milli=2000"), Outcome::Failed, Some((20_000, 30_000))),
            ("c", None, Outcome::Killed, None),
        ];
        assert_eq!(shown, expected);
        let task = &found.jobs[0].tasks[0].task;
        assert_eq!((task.cpu_request, task.memory_request), (Some(6_000), Some(12 << 30)));
        let affinity = r#"[{"matchExpressions":[{"key":"alibabacloud.com/gpu-card-model","operator":"In","values":["T4","G2"]}]}]"#;
        assert_eq!(task.affinity.as_deref(), Some(affinity));
        assert!(found.skipped.is_empty());
    }

    #[test]
    fn a_node_has_devices_of_a_model() {
        let text = "sn,cpu_milli,memory_mib,gpu,model\nn0,32000,262144,0,\nn1,64000,1024,2,P100\nn2,x,1,1,T4\n";
        assert!((NODES.sniff)(text.as_bytes()) && !(FORMAT.sniff)(text.as_bytes()));
        let found = Collected::read(&NODES, text.as_bytes()).unwrap();
        let expected = NodeRow {
            host: "n1".to_owned(),
            cpu: Some(64_000),
            memory: Some(1 << 30),
            resources: Some("alibabacloud.com/gpu-milli=2000".to_owned()),
            features: Some("alibabacloud.com/gpu-card-model=P100".to_owned()),
            ..NodeRow::default()
        };
        assert_eq!(found.nodes[1], expected);
        assert_eq!((found.nodes.len(), found.skipped.get("damaged-line")), (2, Some(&1)));
    }

    /// The numbers are those that Python's `csv` gives for the same files.
    #[test]
    fn the_published_lists() {
        let lists = ["pod_list_default", "node_list_gpu_node", "node_list_all_node"];
        let [pods, nodes, all] = lists.map(|name| read_shared(&format!("openb/openb_{name}.csv.gz")));
        let (Some(pods), Some(nodes), Some(all)) = (pods, nodes, all) else { return };
        let found = Collected::read(&FORMAT, &pods).unwrap();
        let milli = |text: &Option<String>| {
            let amounts = named::amounts(text.as_deref().unwrap_or_default());
            amounts.map(|(_, n)| n).sum::<u64>()
        };
        let asked: u64 = found.jobs.iter().map(|one| milli(&one.tasks[0].task.resources)).sum();
        let started = found.jobs.iter().filter(|one| !one.tasks[0].attempts.is_empty()).count();
        let created: i64 = found.jobs.iter().map(|one| one.job.submit.unwrap() / 1_000).sum();
        assert_eq!((found.jobs.len(), started, asked, created), (8_152, 7_255, 6_086_800, 94_122_763_871));
        let found = Collected::read(&NODES, &nodes).unwrap();
        let devices: u64 = found.nodes.iter().map(|node| milli(&node.resources) / 1_000).sum();
        assert_eq!((found.nodes.len(), devices), (1_213, 6_212));
        assert_eq!(Collected::read(&NODES, &all).unwrap().nodes.len(), 1_523);
    }

    #[test]
    fn no_damage_makes_it_panic() {
        let text = format!("{POD_HEADER}\na,6000,12288,1,460,T4|G2,LS,Running,10,90,12\n");
        each_damage(text.as_bytes(), 400, |damaged| _ = Collected::read(&FORMAT, damaged));
        let nodes = b"sn,cpu_milli,memory_mib,gpu,model\nn1,64000,1024,2,P100\n";
        each_damage(nodes, 200, |damaged| _ = Collected::read(&NODES, damaged));
    }
}
