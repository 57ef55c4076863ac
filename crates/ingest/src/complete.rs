//! The rules that complete a job of any format before it is written. They derive values from those of the source.
//!
//! `docs/formats.md` lists them. A value that the source states is never replaced.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::{HashMap, HashSet};
use resched_tables::demand::Demand;
use resched_tables::model::MAPREDUCE;
use resched_tables::model::{AttemptRow, JobRecord, Locality, Outcome, SplitRow, TaskKind, TaskRecord, TaskRow};
use resched_tables::named::amounts;

/// The queue of a MapReduce job that names none.
const DEFAULT_QUEUE: &str = "default";
/// The longest text that is kept (bytes): of names, hosts and the errors of failed attempts.
pub(crate) const LONGEST_TEXT: usize = 16 << 10;
/// The longest id (bytes): a cut one might be that of another job.
pub(crate) const LONGEST_ID: usize = 4 << 10;

/// Puts attempts in order and fills in racks, locality, totals and the queue.
pub(super) fn complete(record: &mut JobRecord) {
    for task in &mut record.tasks {
        task.attempts.sort_by_key(|attempt| attempt.attempt);
    }
    resolve_racks(record);
    for task in record.tasks.iter_mut().filter(|task| task.task.kind == TaskKind::Map) {
        for attempt in &mut task.attempts {
            attempt.locality = attempt.locality.or_else(|| locality(attempt, &task.splits));
        }
    }
    let totals = Totals::of(&record.tasks);
    let demand = demand(record);
    let job = &mut record.job;
    job.demand_cpu = job.demand_cpu.or(demand.cpu);
    job.demand_memory = job.demand_memory.or(demand.memory);
    job.demand_resources = job.demand_resources.take().or_else(|| demand.resources());
    job.demand_machines = job.demand_machines.or(demand.machines);
    job.input_bytes = job.input_bytes.or(totals.input);
    job.shuffle_bytes = job.shuffle_bytes.or(totals.shuffle);
    job.output_bytes = job.output_bytes.or(totals.output);
    if job.queue.is_none() && job.framework.as_deref() == Some(MAPREDUCE) {
        job.queue = Some(DEFAULT_QUEUE.to_owned());
    }
}

/// What the tasks of a job ask for together, stage by stage. What no task asks for is that of the job: its containers, each with its
/// request.
fn demand(record: &JobRecord) -> Demand {
    let is_work =
        |task: &&TaskRecord| !matches!(task.task.kind, TaskKind::Setup | TaskKind::Cleanup | TaskKind::Master);
    let add = |TaskRecord { task, .. }: &TaskRecord, stage: &mut Demand| {
        stage.add(
            task.instances.unwrap_or(1),
            [task.cpu_request, task.memory_request],
            task.machines,
            amounts(task.resources.as_deref().unwrap_or_default()),
        );
    };
    let mut all = Demand::default();
    if let [one] = record.tasks.as_slice() {
        Some(one).filter(is_work).into_iter().for_each(|one| add(one, &mut all));
    } else {
        let mut stages: BTreeMap<(Option<&str>, TaskKind), Demand> = BTreeMap::new();
        for task in record.tasks.iter().filter(is_work) {
            add(task, stages.entry((task.task.stage.as_deref(), task.task.kind)).or_default());
        }
        stages.into_values().for_each(|stage| all.raise(stage));
    }
    let job = &record.job;
    let of_job = |each: Option<i64>| Some(each?.saturating_mul(job.requested_containers?));
    all.cpu = all.cpu.or_else(|| of_job(job.requested_cpu));
    all.memory = all.memory.or_else(|| of_job(job.requested_memory));
    // One instance runs on one machine, also if the source does not say so.
    let is_single =
        matches!(record.tasks.as_slice(), [one] if one.task.instances.is_none_or(|instances| instances == 1));
    all.machines = all.machines.or_else(|| (is_single && all.cpu.is_some()).then_some(1));
    all
}

/// Failed attempts and the splits of `.jhist` files name a host without its rack. Other rows of the job may give the
/// rack. The first of them counts, splits before attempts.
fn resolve_racks(record: &mut JobRecord) {
    let splits = record.tasks.iter().flat_map(|task| &task.splits).map(|split| (&split.host, &split.rack));
    let attempts = record.tasks.iter().flat_map(|task| &task.attempts).map(|attempt| (&attempt.host, &attempt.rack));
    let places = splits.chain(attempts);
    if !places.clone().any(|(host, rack)| host.is_some() && rack.is_none()) {
        return;
    }
    let mut racks: HashMap<String, String> = HashMap::new();
    for (host, rack) in places.filter_map(|(host, rack)| host.as_ref().zip(rack.as_ref())) {
        if !racks.contains_key(host) {
            racks.insert(host.clone(), rack.clone());
        }
    }
    let resolve = |host: &Option<String>, rack: &mut Option<String>| {
        if rack.is_none() {
            *rack = host.as_ref().and_then(|host| racks.get(host)).cloned();
        }
    };
    for task in &mut record.tasks {
        task.splits.iter_mut().for_each(|split| resolve(&split.host, &mut split.rack));
        task.attempts.iter_mut().for_each(|attempt| resolve(&attempt.host, &mut attempt.rack));
    }
}

/// How near an attempt ran to one of its places of input. `None` if the rows do not show it: no places, no host, or a
/// rack unknown on either side that might be the same.
fn locality(attempt: &AttemptRow, splits: &[SplitRow]) -> Option<Locality> {
    let host = attempt.host.as_ref()?;
    if splits.is_empty() {
        return None;
    }
    if splits.iter().any(|split| split.host.as_ref() == Some(host)) {
        return Some(Locality::Node);
    }
    let rack = attempt.rack.as_ref()?;
    if splits.iter().any(|split| split.rack.as_ref() == Some(rack)) {
        return Some(Locality::Rack);
    }
    splits.iter().all(|split| split.rack.is_some()).then_some(Locality::Off)
}

/// The totals of the tasks of a job.
struct Totals {
    input: Option<i64>,
    shuffle: Option<i64>,
    output: Option<i64>,
}

impl Totals {
    /// Bytes of successful attempts, or of the tasks if no attempt has them (0.18 has counters on tasks only). The
    /// output is that of the reduces, or of the maps in a job without reduces.
    fn of(tasks: &[TaskRecord]) -> Self {
        use TaskKind::{Map, Reduce};
        let map_only = !tasks.iter().any(|task| task.task.kind == Reduce);
        let written_by = if map_only { Map } else { Reduce };
        Self {
            input: sum_attempts(tasks, Map, |attempt| attempt.hdfs_bytes_read)
                .or_else(|| sum_attempts(tasks, Map, |attempt| attempt.map_input_bytes))
                .or_else(|| sum_tasks(tasks, Map, |task| task.input_bytes)),
            shuffle: sum_attempts(tasks, Reduce, |attempt| attempt.reduce_shuffle_bytes)
                .or_else(|| sum_tasks(tasks, Reduce, |task| task.input_bytes)),
            output: sum_attempts(tasks, written_by, |attempt| attempt.hdfs_bytes_written)
                .or_else(|| sum_tasks(tasks, Reduce, |task| task.output_bytes)),
        }
    }
}

fn sum_attempts(tasks: &[TaskRecord], kind: TaskKind, bytes: fn(&AttemptRow) -> Option<i64>) -> Option<i64> {
    let tasks = tasks.iter().filter(|task| task.task.kind == kind);
    let attempts = tasks.flat_map(|task| &task.attempts).filter(|attempt| attempt.outcome == Outcome::Success);
    sum(attempts.filter_map(bytes))
}

fn sum_tasks(tasks: &[TaskRecord], kind: TaskKind, bytes: fn(&TaskRow) -> Option<i64>) -> Option<i64> {
    sum(tasks.iter().filter(|task| task.task.kind == kind).filter_map(|task| bytes(&task.task)))
}

/// The sum, `None` of nothing.
fn sum(values: impl Iterator<Item = i64>) -> Option<i64> {
    values.reduce(i64::saturating_add)
}

/// Gives a job and its rows another id. The ids of its tasks get the suffix.
pub(super) fn rename(record: &mut JobRecord, job_id: &str, suffix: &str) {
    let old = std::mem::replace(&mut record.job.job_id, job_id.to_owned());
    for counter in &mut record.counters {
        // An attempt's counters are under `<task id>/<number>`.
        counter.id = match counter.id.rsplit_once('/') {
            _ if counter.id == old => job_id.to_owned(),
            Some((task, attempt)) => format!("{task}{suffix}/{attempt}"),
            None => format!("{}{suffix}", counter.id),
        };
    }
    for TaskRecord { task, splits, attempts } in &mut record.tasks {
        task.job_id = job_id.to_owned();
        task.task_id.push_str(suffix);
        for split in splits {
            split.task_id.clone_from(&task.task_id);
        }
        for attempt in attempts {
            attempt.job_id = job_id.to_owned();
            attempt.task_id.clone_from(&task.task_id);
        }
    }
}

/// Gives the second and every further task with one id in a job another id. The rows of both would otherwise be mixed up. Returns how many
/// there were.
pub(super) fn rename_repeated(record: &mut JobRecord) -> u64 {
    if record.tasks.len() < 2 {
        return 0;
    }
    let ids = || record.tasks.iter().map(|task| &task.task.task_id);
    if ids().collect::<HashSet<_>>().len() == record.tasks.len() {
        return 0;
    }
    let mut taken: BTreeSet<String> = ids().cloned().collect();
    let mut times: BTreeMap<String, u32> = BTreeMap::new();
    let mut renamed = 0;
    for TaskRecord { task, splits, attempts } in &mut record.tasks {
        let n = times.entry(task.task_id.clone()).or_default();
        *n += 1;
        if *n == 1 {
            continue;
        }
        let id = loop {
            let id = format!("{}+{n}", task.task_id);
            if taken.insert(id.clone()) {
                break id;
            }
            *n += 1;
        };
        splits.iter_mut().for_each(|split| split.task_id.clone_from(&id));
        attempts.iter_mut().for_each(|attempt| attempt.task_id.clone_from(&id));
        task.task_id = id;
        renamed += 1;
    }
    renamed
}

/// Cuts implausibly long texts, so that no column outgrows memory. Returns how many were cut, or `None` if an id is
/// that long.
pub(super) fn bound_texts(record: &mut JobRecord) -> Option<u64> {
    let JobRecord { job, tasks, counters } = record;
    let mut cut = 0;
    let mut clip = |text: &mut Option<String>| {
        if let Some(text) = text.as_mut().filter(|text| text.len() > LONGEST_TEXT) {
            text.truncate(text.floor_char_boundary(LONGEST_TEXT));
            cut += 1;
        }
    };
    if job.job_id.len() > LONGEST_ID || tasks.iter().any(|task| task.task.task_id.len() > LONGEST_ID) {
        return None;
    }
    [&mut job.name, &mut job.user, &mut job.queue, &mut job.group].into_iter().for_each(&mut clip);
    [
        &mut job.qos,
        &mut job.features,
        &mut job.licenses,
        &mut job.array,
        &mut job.reservation,
        &mut job.together,
        &mut job.wait_reason,
    ]
    .into_iter()
    .for_each(&mut clip);
    for TaskRecord { task, splits, attempts } in tasks {
        [&mut task.stage, &mut task.resources].into_iter().for_each(&mut clip);
        for split in splits {
            [&mut split.host, &mut split.rack].into_iter().for_each(&mut clip);
        }
        for attempt in attempts {
            [&mut attempt.host, &mut attempt.rack, &mut attempt.error].into_iter().for_each(&mut clip);
        }
    }
    let before = counters.len();
    counters.retain(|counter| counter.group.len() <= LONGEST_TEXT && counter.name.len() <= LONGEST_TEXT);
    Some(cut + (before - counters.len()) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use resched_tables::model::{CounterRow, JobRow};

    fn name(text: &str) -> Option<String> {
        (!text.is_empty()).then(|| text.to_owned())
    }

    fn attempt(number: i64, host: &str, rack: &str) -> AttemptRow {
        AttemptRow {
            attempt: number,
            host: name(host),
            rack: name(rack),
            outcome: Outcome::Success,
            ..AttemptRow::default()
        }
    }

    fn split(host: &str, rack: &str) -> SplitRow {
        SplitRow { host: name(host), rack: name(rack), ..SplitRow::default() }
    }

    fn task(kind: TaskKind, splits: Vec<SplitRow>, attempts: Vec<AttemptRow>) -> TaskRecord {
        TaskRecord { task: TaskRow { kind, ..TaskRow::default() }, splits, attempts }
    }

    fn job(tasks: Vec<TaskRecord>) -> JobRecord {
        let job = JobRow { framework: Some(MAPREDUCE.to_owned()), ..JobRow::default() };
        JobRecord { job, tasks, counters: Vec::new() }
    }

    #[test]
    fn racks_come_from_the_jobs_other_rows_and_decide_locality() {
        let places = || vec![split("a", "/r1"), split("b", "/r2")];
        let mut record = job(vec![
            task(
                TaskKind::Map,
                places(),
                vec![
                    attempt(4, "stranger", ""),
                    attempt(3, "c", "/r3"),
                    attempt(2, "d", "/r2"),
                    attempt(1, "c", ""),
                    attempt(0, "b", ""),
                ],
            ),
            task(TaskKind::Map, Vec::new(), vec![attempt(0, "a", "")]),
            task(TaskKind::Reduce, places(), vec![attempt(0, "a", "")]),
        ]);
        complete(&mut record);
        let reported = |task: usize| -> Vec<_> {
            let attempts = record.tasks.get(task).into_iter().flat_map(|task| &task.attempts);
            attempts.map(|a| (a.attempt, a.rack.clone().unwrap_or_default(), a.locality)).collect()
        };
        let row = |attempt: i64, rack: &str, locality| (attempt, rack.to_owned(), locality);
        assert_eq!(
            reported(0),
            [
                row(0, "/r2", Some(Locality::Node)),
                row(1, "/r3", Some(Locality::Off)),
                row(2, "/r2", Some(Locality::Rack)),
                row(3, "/r3", Some(Locality::Off)),
                row(4, "", None),
            ]
        );
        assert_eq!(reported(1), [row(0, "/r1", None)]);
        assert_eq!(reported(2), [row(0, "/r1", None)]);
    }

    #[test]
    fn off_is_not_claimed_while_a_place_has_no_known_rack() {
        let mut record =
            job(vec![task(TaskKind::Map, vec![split("a", ""), split("b", "/r2")], vec![attempt(0, "c", "/r1")])]);
        complete(&mut record);
        assert_eq!(record.tasks.first().and_then(|task| task.attempts.first()?.locality), None);
    }

    #[test]
    fn totals_are_of_successful_attempts_and_stated_ones_stay() {
        let read = |bytes, outcome| AttemptRow { hdfs_bytes_read: bytes, outcome, ..AttemptRow::default() };
        let map = |attempts| task(TaskKind::Map, Vec::new(), attempts);
        let mut reduce = task(TaskKind::Reduce, Vec::new(), vec![attempt(0, "", "")]);
        reduce.task.input_bytes = Some(30);
        reduce.task.output_bytes = Some(40);
        let mut record = job(vec![
            map(vec![read(Some(1), Outcome::Success), read(Some(5), Outcome::Killed)]),
            map(vec![read(Some(2), Outcome::Success), read(None, Outcome::Success)]),
            reduce,
        ]);
        record.job.output_bytes = Some(7);
        complete(&mut record);
        assert_eq!((record.job.input_bytes, record.job.shuffle_bytes), (Some(3), Some(30)));
        assert_eq!(record.job.output_bytes, Some(7));
        assert_eq!(record.job.queue.as_deref(), Some("default"));
    }

    #[test]
    fn a_job_without_reduces_wrote_what_its_maps_wrote() {
        let mut wrote = attempt(0, "", "");
        wrote.hdfs_bytes_written = Some(9);
        wrote.map_input_bytes = Some(i64::MAX);
        let mut record = job(vec![task(TaskKind::Map, Vec::new(), vec![wrote.clone(), wrote])]);
        record.job.framework = None;
        complete(&mut record);
        assert_eq!((record.job.output_bytes, record.job.shuffle_bytes), (Some(18), None));
        assert_eq!(record.job.input_bytes, Some(i64::MAX));
        assert_eq!(record.job.queue, None);
    }

    #[test]
    fn a_renamed_job_takes_all_its_rows_along() {
        let mut map = task(TaskKind::Map, vec![split("a", "")], vec![attempt(0, "a", "")]);
        map.task.task_id = "task_1_1_m_0".to_owned();
        let mut record = job(vec![map]);
        record.job.job_id = "job_1_1".to_owned();
        record.counters = ["job_1_1", "task_1_1_m_0", "task_1_1_m_0/0"]
            .map(|id| CounterRow { id: id.to_owned(), ..CounterRow::default() })
            .into();
        rename(&mut record, "job_1_1+2", "+2");
        let ids: Vec<_> = record.counters.iter().map(|counter| counter.id.as_str()).collect();
        assert_eq!(ids, ["job_1_1+2", "task_1_1_m_0+2", "task_1_1_m_0+2/0"]);
        for TaskRecord { task, splits, attempts } in &record.tasks {
            assert_eq!((task.job_id.as_str(), task.task_id.as_str()), ("job_1_1+2", "task_1_1_m_0+2"));
            assert!(splits.iter().all(|split| split.task_id == task.task_id));
            assert!(attempts.iter().all(|row| row.task_id == task.task_id && row.job_id == task.job_id));
        }
    }

    #[test]
    fn tasks_with_one_id_get_ids_of_their_own() {
        let named = |id: &str| {
            let mut map = task(TaskKind::Map, vec![split("a", "")], vec![attempt(0, "a", "")]);
            map.task.task_id = id.to_owned();
            map
        };
        let mut record = job(vec![named("m"), named("m"), named("m+2"), named("m"), named("n")]);
        assert_eq!(rename_repeated(&mut record), 2);
        let ids: Vec<&str> = record.tasks.iter().map(|task| task.task.task_id.as_str()).collect();
        assert_eq!(ids, ["m", "m+3", "m+2", "m+4", "n"]);
        let second = record.tasks.get(1).map(|task| &task.attempts);
        assert!(second.is_some_and(|attempts| attempts.iter().all(|attempt| attempt.task_id == "m+3")));
        assert_eq!(rename_repeated(&mut record), 0);
    }

    #[test]
    fn a_text_at_the_limit_is_whole_and_a_longer_one_is_cut() {
        for (length, cut) in [(LONGEST_TEXT, 0), (LONGEST_TEXT + 1, 1)] {
            let texts = ["x".repeat(length), "y".repeat(length)];
            let mut record = job(vec![task(TaskKind::Map, Vec::new(), vec![attempt(0, &texts[0], "")])]);
            record.job.name = Some(texts[1].clone());
            assert_eq!(bound_texts(&mut record), Some(2 * cut));
            let host = record.tasks.first().and_then(|task| task.attempts.first()?.host.as_ref());
            assert_eq!([host, record.job.name.as_ref()].map(|text| text.map(String::len)), [Some(LONGEST_TEXT); 2]);
        }
    }

    #[test]
    fn an_id_at_the_limit_is_kept_and_a_job_with_a_longer_one_is_not() {
        let with = |job_id: usize, task_id: usize| {
            let mut record = job(vec![task(TaskKind::Map, Vec::new(), Vec::new())]);
            record.job.job_id = "j".repeat(job_id);
            record.tasks.iter_mut().for_each(|task| task.task.task_id = "t".repeat(task_id));
            bound_texts(&mut record)
        };
        assert_eq!(with(LONGEST_ID, LONGEST_ID), Some(0));
        assert_eq!([with(LONGEST_ID + 1, 1), with(1, LONGEST_ID + 1)], [None; 2]);
    }

    #[test]
    fn texts_are_cut_between_characters_and_long_ids_refused() {
        let mut failed = attempt(0, "a", "");
        failed.error = Some("é".repeat(LONGEST_TEXT));
        let mut record = job(vec![task(TaskKind::Map, Vec::new(), vec![failed])]);
        assert_eq!(bound_texts(&mut record), Some(1));
        let error = record.tasks.first().and_then(|task| task.attempts.first()?.error.as_ref()).map(String::len);
        assert_eq!(error, Some(LONGEST_TEXT));
        record.job.job_id = "x".repeat(LONGEST_ID + 1);
        assert_eq!(bound_texts(&mut record), None);
    }
}
