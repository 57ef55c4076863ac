//! Alibaba's cluster trace of 2018 (cluster-trace-v2018): eight days of 4,000 machines, with the graphs of jobs.
//!
//! `batch_task.csv`, `batch_instance.csv` and `machine_meta.csv` without headers (copies may have one); numbers may be
//! written as floats. The name of a task lists the tasks of its job that must end before it: `J4_2_3` is task 4, after 2
//! and 3. `docs/formats/alibaba2018.md` has its quirks. Containers and usage are left out.

use std::io::BufRead;

use super::alibaba::{self, Assembler, CORE_UNIT, Facts, PLAN_CPU_UNIT, Status, Stored, TaskName, machine_ms};
use super::csv::{Is, Record, table_of};
use super::tables::{Assemble, FactSink, Key, Machine, Table, TableFormat, Use};
use resched_tables::Error;
use resched_tables::cause;
use resched_tables::model::TaskKind;

/// The format `alibaba2018`.
pub const FORMAT: TableFormat = TableFormat {
    name: "alibaba2018",
    title: "table of Alibaba's cluster trace of 2018",
    tables: &[
        Table {
            name: "batch_task",
            used: Use::Jobs,
            absent: ("tasks", "no batch_task: tasks are those of the instances, without requests"),
            reads: &[
                ("jobs.job_id", &["job_name"]),
                ("jobs.submit", &["start_time"]),
                ("jobs.launch", &["start_time"]),
                ("jobs.finish", &["end_time"]),
                ("jobs.outcome", &["status"]),
                ("tasks.task_id", &["job_name", "task_name"]),
                ("tasks.kind", &["task_name"]),
                ("tasks.stage", &["task_name"]),
                ("tasks.depends_on", &["task_name"]),
                ("tasks.start", &["start_time"]),
                ("tasks.finish", &["end_time"]),
                ("tasks.outcome", &["status"]),
                ("tasks.instances", &["instance_num"]),
                ("tasks.cpu_request", &["plan_cpu"]),
                ("tasks.memory_request", &["plan_mem"]),
            ],
        },
        Table {
            name: "batch_instance",
            used: Use::Jobs,
            absent: ("attempts", "no batch_instance: tasks have a number of instances, but no rows for them"),
            reads: &[
                ("jobs.submit", &["start_time"]),
                ("jobs.launch", &["start_time"]),
                ("jobs.finish", &["end_time"]),
                ("tasks.start", &["start_time"]),
                ("tasks.finish", &["end_time"]),
                ("attempts.start", &["start_time"]),
                ("attempts.finish", &["end_time"]),
                ("attempts.outcome", &["status"]),
                ("attempts.host", &["machine_id"]),
            ],
        },
        Table {
            name: "machine_meta",
            used: Use::Machines,
            absent: ("nodes", "no machine_meta: the machines that attempts ran on, without capacity"),
            reads: &[
                ("nodes.host", &["machine_id"]),
                ("nodes.rack", &["failure_domain_1", "failure_domain_2"]),
                ("nodes.time", &["time_stamp"]),
                ("nodes.event", &["status"]),
                ("nodes.cpu", &["cpu_num"]),
                ("nodes.memory", &["mem_size"]),
            ],
        },
        Table { name: "machine_usage", used: Use::LeftOut, absent: ("", ""), reads: &[] },
        Table { name: "container_meta", used: Use::LeftOut, absent: ("", ""), reads: &[] },
        Table { name: "container_usage", used: Use::LeftOut, absent: ("", ""), reads: &[] },
    ],
    amounts: resched_tables::store::Amounts::MemoryOfLargest,
    begin: None,
    notes: &[
        (
            "units",
            "cpu columns: thousandths of a core; memory is normalised to 0 to 100, and 100 is 1,000,000,000,000 in memory columns",
        ),
        ("time 0", "the start of the trace"),
        ("rack", "/failure_domain_1/failure_domain_2 of the machine"),
        ("kind", "M is map, R and J are reduce: only labels; dependencies are in stage and depends_on"),
    ],
    sniff,
    read,
    assembler,
};

/// Memory of 1.0, a hundredth of the largest machine's, in the tables' units.
const MEMORY_UNIT: f64 = 1e10;

fn assembler() -> Box<dyn Assemble> {
    Box::new(Assembler::new(|key| match key {
        Key::Text(name) => task_name(name),
        Key::None | Key::Number(_) => TaskName::default(),
    }))
}

fn sniff(head: &[u8], _: &str) -> Option<&'static str> {
    let is: &[(&str, Is)] = &[
        ("batch_task", |record| record.len() == 9 && Status::of(record.field(4)).is_some()),
        ("batch_instance", |record| record.len() == 14 && Status::of(record.field(4)).is_some()),
        ("machine_meta", |record| record.len() == 7 && begins(record, b"m_")),
        ("machine_usage", |record| record.len() == 9 && begins(record, b"m_")),
        ("container_meta", |record| record.len() == 8 && begins(record, b"c_")),
        ("container_usage", |record| record.len() == 11 && begins(record, b"c_")),
    ];
    table_of(head, is)
}

fn begins(record: &Record<'_>, start: &[u8]) -> bool {
    record.field(0).starts_with(start)
}

fn read(table: &str, input: &mut dyn BufRead, path: &str, sink: &mut dyn FactSink) -> Result<(), Error> {
    let take = match table {
        "batch_task" => task,
        "batch_instance" => instance,
        _ => machine,
    };
    alibaba::read(take, input, path, sink)
}

fn task(record: &Record<'_>, facts: &mut Facts<'_>) -> Result<bool, Error> {
    let (Some(task), Some(job), Some(status), Some(start), Some(end)) =
        (record.text(0), record.text(2), Status::of(record.field(4)), record.whole(5), record.whole(6))
    else {
        return Ok(false);
    };
    if record.len() != 9 {
        return Ok(false);
    }
    let reported = Stored::Task {
        status,
        start,
        end,
        instances: record.whole(1),
        cpu: record.scaled(7, PLAN_CPU_UNIT),
        memory: record.scaled(8, MEMORY_UNIT),
    };
    facts.task(Key::Text(job), Key::Text(task), &reported)?;
    Ok(true)
}

fn instance(record: &Record<'_>, facts: &mut Facts<'_>) -> Result<bool, Error> {
    let (Some(status), Some(start)) = (Status::of(record.field(4)), record.whole(5)) else { return Ok(false) };
    if record.len() != 14 {
        return Ok(false);
    }
    let (Some(task), Some(job)) = (record.text(1), record.text(2)) else {
        facts.skip(cause::INSTANCE_OF_NO_TASK);
        return Ok(true);
    };
    let reported = Stored::Instance { status, start, end: record.whole(6), machine: record.text(7) };
    facts.task(Key::Text(job), Key::Text(task), &reported)?;
    Ok(true)
}

/// A machine that is not in use has left, or has not joined yet.
fn machine(record: &Record<'_>, facts: &mut Facts<'_>) -> Result<bool, Error> {
    let (Some(id), Some(time)) = (record.text(0), record.whole(1)) else { return Ok(false) };
    if record.len() != 7 {
        return Ok(false);
    }
    let domains = [record.text(2), record.text(3)].into_iter().flatten();
    let rack: String = domains.map(|domain| format!("/{domain}")).collect();
    let machine = Machine {
        rack: Some(rack).filter(|rack| !rack.is_empty()),
        time: machine_ms(time),
        left: record.field(6) != b"USING",
        cpu: record.scaled(4, CORE_UNIT),
        memory: record.scaled(5, MEMORY_UNIT),
    };
    facts.machine(Key::Text(id), time, &machine)?;
    Ok(true)
}

/// Reads a name such as `J4_2_3`. A name of another form belongs to a task that depends on no other. Long names, of
/// tasks with many dependencies, are cut. A cut name ends in `_`.
fn task_name(name: &str) -> TaskName {
    let independent = || TaskName { stage: Some(name.to_owned()), ..TaskName::default() };
    let digits = name.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
    let letters = name.len() - digits.len();
    let mut parts = digits.split('_');
    let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let Some(stage) = parts.next().filter(is_number).filter(|_| letters > 0) else { return independent() };
    let parts: Vec<&str> = parts.collect();
    if !parts.iter().all(|part| part.is_empty() || is_number(part)) {
        return independent();
    }
    let kind = match name.get(..letters) {
        Some("M") => TaskKind::Map,
        Some("R" | "J") => TaskKind::Reduce,
        _ => TaskKind::Other,
    };
    TaskName {
        kind,
        stage: Some(stage.to_owned()),
        depends_on: parts.iter().filter(|part| !part.is_empty()).map(|part| (*part).to_owned()).collect(),
        cut: parts.iter().any(|part| part.is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(name: &str) -> (TaskKind, String, Vec<String>, bool) {
        let TaskName { kind, stage, depends_on, cut } = task_name(name);
        (kind, stage.unwrap_or_default(), depends_on, cut)
    }

    #[test]
    fn names_of_tasks_say_what_they_wait_for() {
        let row = |kind, stage: &str, after: &[&str], cut| {
            (kind, stage.to_owned(), after.iter().map(|stage| (*stage).to_owned()).collect::<Vec<_>>(), cut)
        };
        assert_eq!(reported("M1"), row(TaskKind::Map, "1", &[], false));
        assert_eq!(reported("J4_2_3"), row(TaskKind::Reduce, "4", &["2", "3"], false));
        assert_eq!(reported("R10_9"), row(TaskKind::Reduce, "10", &["9"], false));
        assert_eq!(reported("J30_4_5_"), row(TaskKind::Reduce, "30", &["4", "5"], true));
        assert_eq!(reported("MRG7_1"), row(TaskKind::Other, "7", &["1"], false));
        for name in ["task_Nzg3ODAwNDgz", "MergeTask", "M", "M1_Stg2", "_1", "12_3", "", "é1"] {
            assert_eq!(reported(name), row(TaskKind::Other, name, &[], false));
        }
    }
}
