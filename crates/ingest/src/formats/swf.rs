//! The Standard Workload Format of the Parallel Workloads Archive, version 2.2: one line per job of a parallel machine.
//!
//! A line has eighteen numbers between blanks, with −1 for unknown. Lines that start with `;` (in some logs `#`) are the header, as
//! `; Key: Value`, or comments. Further numbers behind the eighteenth are left out (`line-with-further-fields`), and one that lacks the
//! last has −1 there (`line-without-last-field`). `docs/formats/swf.md` has the fields. Times are seconds from the log's zero, possibly with
//! fractions. `UnixStartTime` of the header goes to the manifest's parameters.
//!
//! A job is one task, and its processors are that task's instances: a gang. The request of an instance is one processor
//! and the memory that was asked for per processor. Processor time and resident memory of the attempt are those of all
//! processors. Where the log does not give the wait, nobody knows when the job started or ended: the attempt then has a run time only.
//! A job that was cancelled before it ran (status 5 without a run time) has no attempt. If a job was
//! suspended for a while, the lines of its parts (status 2 to 4) are left out, because another line of the job sums
//! them up.
//!
//! `MaxNodes` and `MaxProcs` of the header give the machines, on which the processors are spread evenly. A file without
//! them has no machines and is counted as `file-without-machines`. To replay it, you need a cluster file.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::Path;

use super::format::Format;
use super::lines::{Line, Lines, head_lines};
use resched_tables::Error;
use resched_tables::model::{AttemptRow, JobRecord, JobRow, NodeRow, Outcome, TaskRecord, TaskRow};
use resched_tables::sink::{Damage, Sink};

/// The format `swf`.
pub const FORMAT: Format = Format {
    name: "swf",
    title: "Standard Workload Format of parallel machines",
    time_zero: Some(resched_tables::store::TimeZero::Relative),
    system: Some(resched_tables::store::System::Batch),
    has_tasks: true,
    group: "swf",
    is_whole: true,
    has_times_of_tasks: false,
    folded: false,
    sniff,
    read,
};

/// The framework of such a job in the jobs table.
pub const FRAMEWORK: &str = "swf";
/// The manifest's parameter with the zero of the times, seconds since the epoch.
pub const UNIX_START_TIME: &str = "unix_start_time";

/// Lines of real files have less than 200 bytes. A longer line is damaged and is not kept in memory.
pub(crate) const MAX_LINE: usize = 4_096;
/// The numbers of a line: a standard one has 18. Logs exist with more, and with the last one left out.
const FIELDS: std::ops::RangeInclusive<usize> = 17..=24;
/// The number of job lines at the start of a file that decide whether it has this format.
const SNIFFED_LINES: usize = 10;
/// The most machines that are passed on; the largest machine of the archive has 163,840 processors.
pub(crate) const MAX_NODES: u64 = 1_000_000;
/// The most names of queues that are kept, and of partitions.
pub(crate) const MAX_NAMES: usize = 10_000;
/// A processor, in thousandths.
const PROCESSOR: i64 = 1_000;

/// Most of the first lines that are no comments are jobs: a damaged one among them does not hide the rest.
fn sniff(head: &[u8]) -> bool {
    let lines = head_lines(head);
    let rows: Vec<&&str> = lines.iter().filter(|line| !is_comment(line)).take(SNIFFED_LINES).collect();
    let jobs = rows.iter().filter(|line| Row::parse(line).is_some()).count();
    jobs * 2 > rows.len()
}

fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with([';', '#'])
}

fn read(input: &mut dyn BufRead, path: &str, sink: &mut dyn Sink) -> Result<(), Error> {
    let mut header = Header::default();
    let mut record = JobRecord::default();
    let mut lines = Lines::new(input, MAX_LINE);
    let mut number = 0_u64;
    while let Some(line) = lines.next().map_err(Error::io(Path::new(path), "read"))? {
        number += 1;
        let Line::Text(line) = line else {
            sink.skip("damaged-line", 1);
            continue;
        };
        if is_comment(&line) {
            header.take(line.trim_start().trim_start_matches([';', '#']));
            continue;
        }
        match Row::parse(&line) {
            Some(row) if row.is_part() => sink.skip("partial-execution", 1),
            Some(row) => match row.write_over(&mut record, &header) {
                Some(()) => {
                    sink.skip("line-with-further-fields", u64::from(row.fields > 18));
                    sink.skip("line-without-last-field", u64::from(row.fields < 18));
                    sink.lent_job(&mut record)?;
                }
                None => sink.skip("damaged-line", 1),
            },
            None => {
                sink.skip("damaged-line", 1);
                sink.damage(&|| damage(number, &line));
            }
        }
    }
    header.report(sink);
    Ok(())
}

/// What is wrong with a line that is no job.
fn damage(number: u64, line: &str) -> Damage {
    let fields = line.split_ascii_whitespace();
    let found = match fields.clone().position(|field| parse_number(field).is_none()) {
        Some(place) => format!("`{}` as field {}", fields.clone().nth(place).unwrap_or_default(), place + 1),
        None => format!("{} numbers", fields.count()),
    };
    let remedy = "write the 18 fields of the Standard Workload Format, with -1 for unknown";
    Damage::new(&format!("line {number}: "), "the 18 numbers of a job", &found, remedy)
}

/// The values of the header that the tables keep.
#[derive(Default)]
struct Header {
    nodes: Option<u64>,
    processors: Option<u64>,
    unix_start: Option<u64>,
    queues: BTreeMap<u64, String>,
    partitions: BTreeMap<u64, String>,
    /// Names that were left out because there were too many.
    left_out: u64,
}

impl Header {
    /// Takes a comment, which may be a field or anything else.
    fn take(&mut self, comment: &str) {
        let Some((key, value)) = comment.split_once(':') else { return };
        let value = value.trim();
        match key.trim() {
            "MaxNodes" => self.nodes = first_number(value).map(|(number, _)| number),
            "MaxProcs" => self.processors = first_number(value).map(|(number, _)| number),
            "UnixStartTime" => self.unix_start = first_number(value).map(|(number, _)| number),
            "Queue" => self.left_out += name(&mut self.queues, value),
            "Partition" => self.left_out += name(&mut self.partitions, value),
            _ => {}
        }
    }

    /// Passes on what the header says about the machines, once the file is read.
    fn report(&self, sink: &mut dyn Sink) {
        sink.skip("too-many-names", self.left_out);
        if let Some(seconds) = self.unix_start {
            sink.parameter(UNIX_START_TIME, seconds.into());
        }
        let (nodes, processors) = match (self.nodes, self.processors) {
            (None, None) => return sink.skip("file-without-machines", 1),
            (nodes, processors) => {
                let processors = processors.or(nodes).unwrap_or(0);
                (nodes.unwrap_or(processors).min(processors), processors)
            }
        };
        if nodes == 0 || nodes > MAX_NODES {
            return sink.skip("file-without-machines", 1);
        }
        let width = nodes.to_string().len();
        for node in 0..nodes {
            let own = processors / nodes + u64::from(node < processors % nodes);
            sink.node(NodeRow {
                host: format!("node{:0width$}", node + 1),
                cpu: i64::try_from(own).ok().and_then(|own| own.checked_mul(PROCESSOR)),
                ..NodeRow::default()
            });
        }
    }
}

/// The whole number at the start of `text`, and what follows it: some headers add remarks.
fn first_number(text: &str) -> Option<(u64, &str)> {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    Some((digits.parse().ok()?, rest.trim()))
}

/// Takes `<number> <name>`. Returns how many names did not fit: none or one.
fn name(names: &mut BTreeMap<u64, String>, text: &str) -> u64 {
    let Some((number, name)) = first_number(text).filter(|(_, name)| !name.is_empty()) else { return 0 };
    if names.len() >= MAX_NAMES && !names.contains_key(&number) {
        return 1;
    }
    names.entry(number).or_insert_with(|| name.to_owned());
    0
}

/// A job's line.
struct Row<'a> {
    texts: [&'a str; 18],
    numbers: [f64; 18],
    /// How many fields the line has.
    fields: usize,
}

impl<'a> Row<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let mut row = Self { texts: [""; 18], numbers: [-1.0; 18], fields: 0 };
        for field in line.split_ascii_whitespace() {
            let number = parse_number(field)?;
            if let (Some(text), Some(own)) = (row.texts.get_mut(row.fields), row.numbers.get_mut(row.fields)) {
                (*text, *own) = (field, number);
            }
            row.fields += 1;
        }
        FIELDS.contains(&row.fields).then_some(row).filter(|row| row.known(1).is_some())
    }

    /// Field `n`, counted from 1 as in the standard; `None` if it is −1 or otherwise negative.
    fn known(&self, n: usize) -> Option<f64> {
        self.numbers.get(n.checked_sub(1)?).copied().filter(|&number| number >= 0.0)
    }

    /// Field `n` as the number of something.
    fn id(&self, n: usize) -> Option<Cow<'a, str>> {
        let number = self.known(n)?;
        let text = *self.texts.get(n.checked_sub(1)?)?;
        // Nearly all stand in the line as they are to be written.
        if text.len() <= EXACT_DIGITS
            && text.bytes().all(|byte| byte.is_ascii_digit())
            && (text == "0" || !text.starts_with('0'))
        {
            return Some(Cow::Borrowed(text));
        }
        Some(Cow::Owned(number.to_string()))
    }

    /// Field `n` under the name that the header gives it.
    fn named(&self, n: usize, names: &'a BTreeMap<u64, String>) -> Option<Cow<'a, str>> {
        let number = self.id(n)?;
        let name = number.parse().ok().and_then(|number| names.get(&number));
        Some(name.map_or(number, |name| Cow::Borrowed(name.as_str())))
    }

    /// Field `n`, if it is a count of at least one.
    fn count(&self, n: usize) -> Option<i64> {
        self.known(n).and_then(whole).filter(|&count| count > 0)
    }

    /// Field `n`, kilobytes, as bytes.
    fn bytes(&self, n: usize) -> Option<i64> {
        self.known(n).and_then(|kilobytes| whole(kilobytes * 1024.0))
    }

    /// Whether it describes a part of a job that another line sums up.
    fn is_part(&self) -> bool {
        matches!(self.known(11), Some(2.0..=4.0))
    }

    fn outcome(&self) -> Outcome {
        match self.known(11) {
            Some(1.0) => Outcome::Success,
            Some(0.0) => Outcome::Failed,
            Some(5.0) => Outcome::Killed,
            _ => Outcome::Unknown,
        }
    }

    /// Writes the job over another, whose memory is used again.
    fn write_over(&self, JobRecord { job, tasks, counters }: &mut JobRecord, header: &'a Header) -> Option<()> {
        let job_id = self.id(1)?;
        counters.clear();
        tasks.resize_with(1, TaskRecord::default);
        let TaskRecord { task, splits, attempts } = tasks.first_mut()?;
        splits.clear();
        let (submit, wait, run) = (self.known(2), self.known(3), self.known(4));
        let outcome = self.outcome();
        let ran = run.is_some_and(|run| run > 0.0) || (run.is_some() && outcome != Outcome::Killed);
        let left_queue = submit.zip(wait).map(|(submit, wait)| submit + wait);
        let start = left_queue.filter(|_| ran || outcome != Outcome::Killed).and_then(milliseconds);
        let ended = if start.is_some() { left_queue.zip(run).map(|(start, run)| start + run) } else { left_queue };
        let (submit, finish) = (submit.and_then(milliseconds), ended.and_then(milliseconds));
        let processors = self.count(5).or_else(|| self.count(8));
        // Jobs wait in partitions, too. Few logs name both.
        let queue = self.named(15, &header.queues).or_else(|| self.named(16, &header.partitions));
        *job = JobRow {
            job_id: over(&mut job.job_id, &job_id),
            name: over_known(&mut job.name, self.id(14)),
            user: over_known(&mut job.user, self.id(12)),
            queue: over_known(&mut job.queue, queue),
            group: over_known(&mut job.group, self.id(13)),
            framework: over_known(&mut job.framework, Some(FRAMEWORK.into())),
            submit,
            launch: start,
            finish,
            outcome,
            requested_containers: self.count(8),
            requested_cpu: self.count(8).map(|_| PROCESSOR),
            requested_memory: self.bytes(10),
            requested_time: self.known(9).and_then(milliseconds),
            depends_on: self.id(17).map(Cow::into_owned).into_iter().collect(),
            ..JobRow::default()
        };
        *task = TaskRow {
            job_id: over(&mut task.job_id, &job_id),
            task_id: over(&mut task.task_id, &job_id),
            start,
            finish: finish.filter(|_| start.is_some()),
            outcome,
            cpu_request: Some(PROCESSOR),
            memory_request: self.bytes(10),
            instances: processors,
            gang: Some(true),
            ..TaskRow::default()
        };
        attempts.resize_with(usize::from(start.is_some() || ran), AttemptRow::default);
        let of_all = |per_processor: i64| per_processor.checked_mul(processors.unwrap_or(1));
        for attempt in attempts {
            *attempt = AttemptRow {
                job_id: over(&mut attempt.job_id, &job_id),
                task_id: over(&mut attempt.task_id, &job_id),
                queued: submit,
                start,
                finish,
                run_time: run.filter(|_| start.is_none()).and_then(milliseconds),
                outcome,
                cpu_ms: self.known(6).and_then(milliseconds).and_then(of_all),
                physical_memory: self.bytes(7).and_then(of_all),
                ..AttemptRow::default()
            };
        }
        Some(())
    }
}

/// `text` in the memory of `old`.
fn over(old: &mut String, text: &str) -> String {
    let mut written = std::mem::take(old);
    text.clone_into(&mut written);
    written
}

/// As [`over`], for texts that may be unknown.
fn over_known(old: &mut Option<String>, text: Option<Cow<'_, str>>) -> Option<String> {
    text.map(|text| over(old.get_or_insert_default(), &text))
}

/// So many digits are exact as a float.
const EXACT_DIGITS: usize = 15;

/// A finite number. Nearly all are whole numbers of a few digits.
fn parse_number(text: &str) -> Option<f64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let short = Some(digits).filter(|digits| (1..=EXACT_DIGITS).contains(&digits.len()));
    let add = |number: u64, digit: u8| digit.is_ascii_digit().then(|| number * 10 + u64::from(digit - b'0'));
    match short.and_then(|digits| digits.bytes().try_fold(0, add)) {
        Some(number) if digits.len() < text.len() => Some(-(number as f64)),
        Some(number) => Some(number as f64),
        None => text.parse().ok().filter(|number: &f64| number.is_finite()),
    }
}

/// Seconds as whole milliseconds; `None` beyond what a table can hold.
pub(super) fn milliseconds(seconds: f64) -> Option<i64> {
    whole(seconds * 1_000.0)
}

/// The nearest whole number; `None` for one that is not exact as a float any more.
pub(super) fn whole(number: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let number = number.round();
    // Within these bounds the conversion is exact.
    (number.abs() <= EXACT).then_some(number as i64)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::golden::{Collected, Found as _, each_damage, read_shared};
    use super::*;
    use resched_tables::model::{CounterRow, SplitRow};

    fn jobs(text: &str) -> Vec<JobRecord> {
        Collected::read(&FORMAT, text.as_bytes()).unwrap().jobs
    }

    fn job(line: &str) -> JobRecord {
        let [record] = jobs(line).try_into().unwrap();
        record
    }

    /// The golden counts of another program.
    #[test]
    fn every_real_file_gives_its_golden_counts() {
        struct Golden {
            file: &'static str,
            jobs: usize,
            submit: (i64, i64),
            last_end: i64,
            run_zero: usize,
            machines: usize,
            out_of_order: usize,
            failed: usize,
        }
        let none = Golden {
            file: "",
            jobs: 0,
            submit: (0, 0),
            last_end: 0,
            run_zero: 0,
            machines: 0,
            out_of_order: 0,
            failed: 0,
        };
        let golden = [
            Golden {
                file: "swf/NASA-iPSC-1993-3.1-cln.swf.gz",
                jobs: 18_239,
                submit: (0, 7_948_936_000),
                last_end: 7_949_022_000,
                run_zero: 173,
                machines: 128,
                ..none
            },
            Golden {
                file: "swf/HPC2N-excerpt-accasim-workload.swf",
                jobs: 25,
                submit: (561_553_000, 3_891_447_000),
                last_end: 4_048_699_000,
                ..none
            },
            Golden {
                file: "swf/opendc-trace.swf",
                jobs: 5,
                submit: (0, 310_541_000),
                last_end: 692_409_000,
                failed: 1,
                ..none
            },
            Golden {
                file: "swf/evalys-easy_mediumWL_smallPF.swf",
                jobs: 800,
                submit: (0, 10_759_739),
                last_end: 11_306_611,
                out_of_order: 204,
                ..none
            },
        ];
        for Golden { file, jobs, submit, last_end, run_zero, machines, out_of_order, failed } in golden {
            let Some(bytes) = read_shared(file) else { return };
            assert!(sniff(&bytes[..bytes.len().min(1 << 16)]), "{file}");
            let found = Collected::read(&FORMAT, &bytes).unwrap();
            assert_eq!(found.jobs.len(), jobs, "{file}");
            let submits: Vec<i64> = found.jobs.iter().map(|record| record.job.submit.unwrap()).collect();
            assert_eq!((*submits.iter().min().unwrap(), *submits.iter().max().unwrap()), submit, "{file}");
            let attempts = || found.jobs.iter().flat_map(|record| &record.tasks).flat_map(|task| &task.attempts);
            // Without waits, a job ends at its submission and its run time, at the earliest.
            let has_waits = attempts().any(|attempt| attempt.start.is_some());
            let earliest = attempts().filter_map(|attempt| Some(attempt.queued? + attempt.run_time?)).max();
            let ends = found.jobs.iter().filter_map(|record| record.job.finish).max();
            assert_eq!(if has_waits { ends } else { earliest }, Some(last_end), "{file}");
            assert_eq!(has_waits, !file.contains("NASA"), "{file}");
            let run = |attempt: &AttemptRow| attempt.run_time.or_else(|| Some(attempt.finish? - attempt.start?));
            assert_eq!(attempts().filter(|attempt| run(attempt) == Some(0)).count(), run_zero, "{file}");
            assert_eq!(found.nodes.len(), machines, "{file}");
            let behind = submits.windows(2).filter(|pair| pair[1] < pair[0]).count();
            assert_eq!(behind, out_of_order, "{file}");
            let all = found.jobs.iter().filter(|record| record.job.outcome == Outcome::Failed).count();
            assert_eq!(all, failed, "{file}");
            let skipped: Vec<_> = found.skipped.into_iter().collect();
            let unknown = [("file-without-machines".to_owned(), 1)];
            assert_eq!(skipped, unknown[..usize::from(machines == 0)], "{file}");
        }
    }

    #[test]
    fn a_job_is_mapped_field_by_field() {
        let text = "; Queue: 3 batch (long)\n; Partition: 4 big\n\
                    \t5674  3888357  14612    117    8 117.00 114688    6  72000  1024  1   5   7  9 3  4 12 60\r\n";
        let some = |text: &str| Some(text.to_owned());
        let (submit, start) = (Some(3_888_357_000), Some(3_902_969_000));
        let finish = Some(3_903_086_000);
        let id = || "5674".to_owned();
        let expected = JobRecord {
            job: JobRow {
                job_id: id(),
                name: some("9"),
                user: some("5"),
                queue: some("batch (long)"),
                group: some("7"),
                framework: some("swf"),
                submit,
                launch: start,
                finish,
                outcome: Outcome::Success,
                requested_containers: Some(6),
                requested_cpu: Some(1_000),
                requested_memory: Some(1 << 20),
                requested_time: Some(72_000_000),
                depends_on: vec!["12".to_owned()],
                ..JobRow::default()
            },
            tasks: vec![TaskRecord {
                task: TaskRow {
                    job_id: id(),
                    task_id: id(),
                    start,
                    finish,
                    outcome: Outcome::Success,
                    cpu_request: Some(1_000),
                    memory_request: Some(1 << 20),
                    instances: Some(8),
                    gang: Some(true),
                    ..TaskRow::default()
                },
                splits: Vec::new(),
                attempts: vec![AttemptRow {
                    job_id: id(),
                    task_id: id(),
                    queued: submit,
                    start,
                    finish,
                    outcome: Outcome::Success,
                    cpu_ms: Some(8 * 117_000),
                    physical_memory: Some(8 * 114_688 * 1024),
                    ..AttemptRow::default()
                }],
            }],
            counters: Vec::new(),
        };
        assert_eq!(job(text), expected);
    }

    /// Leaves each job to the reader, as the writer of a trace does, and changes it before.
    #[derive(Default)]
    struct Borrower(Vec<JobRecord>);

    impl Sink for Borrower {
        fn job(&mut self, job: JobRecord) -> Result<(), Error> {
            self.0.push(job);
            Ok(())
        }

        fn lent_job(&mut self, job: &mut JobRecord) -> Result<(), Error> {
            self.job(job.clone())?;
            job.job.declared_maps = Some(1);
            job.counters.push(CounterRow::default());
            job.tasks.push(TaskRecord::default());
            job.tasks[0].splits.push(SplitRow::default());
            Ok(())
        }

        fn node(&mut self, _: NodeRow) {}

        fn skip(&mut self, _: &str, _: u64) {}
    }

    #[test]
    fn a_job_has_nothing_of_the_job_before() {
        let full = "1 10 5 7 4 3 9 4 8 7 1 11 12 13 14 15 16 17";
        for other in [
            "2 0 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1",
            "2 10 5 -1 -1 -1 -1 4 -1 -1 5 1 1 1 1 1 -1 -1",
            "22 20 1 2 3 4 5 6 7 8 0 9 10 11 12 13 -1 -1",
        ] {
            let mut sink = Borrower::default();
            read(&mut format!("{full}\n{other}\n{full}\n").as_bytes(), "test.swf", &mut sink).unwrap();
            assert_eq!(sink.0, [job(full), job(other), job(full)]);
        }
    }

    #[test]
    fn numbers_of_things_are_written_without_zeros_and_points() {
        let large = ("9007199254740993", "9007199254740992");
        for (text, expected) in [("0", "0"), ("12", "12"), ("007", "7"), ("5.0", "5"), ("1.5", "1.5"), large] {
            let record = job(&format!("{text} 0 1 1 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1"));
            assert_eq!(record.job.job_id, expected);
        }
    }

    #[test]
    fn what_is_unknown_is_null_and_without_a_wait_there_is_no_start() {
        let record = job("1 0 -1 1451 128 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1");
        let expected =
            JobRow { job_id: "1".to_owned(), framework: Some("swf".to_owned()), submit: Some(0), ..JobRow::default() };
        assert_eq!(record.job, expected);
        let (task, attempt) = (&record.tasks[0].task, &record.tasks[0].attempts[0]);
        assert_eq!((task.start, task.finish, attempt.start, attempt.finish), (None, None, None, None));
        assert_eq!((attempt.queued, attempt.run_time), (Some(0), Some(1_451_000)));
        assert_eq!((attempt.cpu_ms, attempt.physical_memory, record.tasks[0].task.instances), (None, None, Some(128)));
    }

    #[test]
    fn allocated_processors_come_before_requested_ones() {
        let instances = |allocated, requested| {
            job(&format!("1 0 1 1 {allocated} -1 -1 {requested} -1 -1 1 1 1 1 1 1 -1 -1")).tasks[0].task.instances
        };
        assert_eq!(instances(8, 16), Some(8));
        assert_eq!(instances(-1, 16), Some(16));
        assert_eq!(instances(0, 16), Some(16));
        assert_eq!(instances(-1, -1), None);
    }

    #[test]
    fn a_partition_stands_for_the_queue_where_no_queue_is_reported() {
        let text = "; Partition: 4  site A\n1 0 1 1 1 -1 -1 1 -1 -1 1 1 1 1 -1 4 -1 -1\n2 0 1 1 1 -1 -1 1 -1 -1 1 1 1 1 -1 5 -1 -1\n";
        let queues: Vec<_> = jobs(text).into_iter().map(|record| record.job.queue.unwrap()).collect();
        assert_eq!(queues, ["site A", "5"]);
    }

    #[test]
    fn fractions_of_seconds_are_kept_to_the_millisecond() {
        let record = job("2060 2754.556511 -0.0 140.95 2 -1 -1 2 212.0 -1 1 -1 -1 -1 -1 -1 -1 -1");
        let job = &record.job;
        assert_eq!((job.submit, job.launch, job.finish), (Some(2_754_557), Some(2_754_557), Some(2_895_507)));
        assert_eq!(job.requested_time, Some(212_000));
    }

    #[test]
    fn a_run_time_of_zero_is_a_run() {
        let record = job("1 10 5 0 1 -1 -1 1 -1 -1 0 1 1 1 1 1 -1 -1");
        assert_eq!(record.job.outcome, Outcome::Failed);
        assert_eq!(record.tasks[0].attempts[0].start, record.tasks[0].attempts[0].finish);
    }

    #[test]
    fn a_job_that_was_cancelled_while_it_waited_has_no_attempt() {
        for run in [-1, 0] {
            let record = job(&format!("1 10 5 {run} -1 -1 -1 4 -1 -1 5 1 1 1 1 1 -1 -1"));
            assert_eq!(record.job.outcome, Outcome::Killed);
            assert_eq!((record.job.launch, record.job.finish), (None, Some(15_000)));
            assert!(record.tasks[0].attempts.is_empty());
        }
        let ran = job("1 10 5 7 4 -1 -1 4 -1 -1 5 1 1 1 1 1 -1 -1");
        assert_eq!((ran.job.finish, ran.tasks[0].attempts.len()), (Some(22_000), 1));
    }

    #[test]
    fn parts_of_a_job_are_counted_and_left_out() {
        let part = |status| format!("1 10 5 7 4 -1 -1 4 -1 -1 {status} 1 1 1 1 1 -1 -1\n");
        let text: String = [1, 2, 2, 3, 4].map(part).concat();
        let found = Collected::read(&FORMAT, text.as_bytes()).unwrap();
        assert_eq!((found.jobs.len(), found.skipped["partial-execution"]), (1, 4));
    }

    #[test]
    fn the_processors_are_spread_over_the_nodes() {
        let machines = |header: &str| {
            let found = Collected::read(&FORMAT, header.as_bytes()).unwrap();
            assert_eq!(found.nodes.is_empty(), found.skipped.contains_key("file-without-machines"), "{header}");
            found.nodes.into_iter().map(|node| (node.host, node.cpu.unwrap())).collect::<Vec<_>>()
        };
        let node = |name: &str, cpu| (name.to_owned(), cpu);
        assert_eq!(
            machines("; MaxNodes: 2\n; MaxProcs: 5 (with the login node)\n"),
            [node("node1", 3_000), node("node2", 2_000)]
        );
        assert_eq!(machines(";MaxProcs: 2\n"), [node("node1", 1_000), node("node2", 1_000)]);
        assert_eq!(machines("; MaxNodes: 1\n"), [node("node1", 1_000)]);
        assert_eq!(machines("; MaxNodes: 10\n; MaxProcs: 10\n")[9], node("node10", 1_000));
        assert_eq!(machines("; MaxNodes: 0\n; MaxProcs: unknown\n"), []);
        assert_eq!(machines("; MaxProcs: 99999999999\n"), []);
        assert_eq!(machines("; MaxProcs: 99999999999999999999\n"), []);
    }

    #[test]
    fn a_log_has_as_many_machines_as_the_limit_and_otherwise_none() {
        let found = [MAX_NODES, MAX_NODES + 1].map(|nodes| {
            let text = format!("; MaxNodes: {nodes}\n; MaxProcs: {nodes}\n1 0 1 1 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1\n");
            let found = Collected::read(&FORMAT, text.as_bytes()).unwrap();
            (found.jobs.len(), found.nodes.len() as u64, found.skipped.get("file-without-machines").copied())
        });
        assert_eq!(found, [(1, MAX_NODES, None), (1, 0, Some(1))]);
    }

    #[test]
    fn a_log_keeps_as_many_names_of_queues_as_the_limit_and_counts_the_rest() {
        let queues: String = (0..=MAX_NAMES).map(|number| format!("; Queue: {number} queue-{number}\n")).collect();
        // One that is known comes again, and is no name more.
        let text = format!("; MaxProcs: 4\n{queues}; Queue: 0 again\n");
        let last = MAX_NAMES - 1;
        let job = |number: usize, queue: usize| format!("{number} 0 1 1 1 -1 -1 1 -1 -1 1 1 1 1 {queue} 1 -1 -1\n");
        let found = Collected::read(&FORMAT, (text + &job(1, last) + &job(2, MAX_NAMES)).as_bytes()).unwrap();
        let queues: Vec<_> = found.jobs.iter().map(|record| record.job.queue.clone()).collect();
        assert_eq!(queues, [Some(format!("queue-{last}")), Some(MAX_NAMES.to_string())]);
        assert_eq!(found.skipped, [("too-many-names".to_owned(), 1)].into());
    }

    #[test]
    fn damaged_lines_are_skipped_and_counted() {
        let whole = "1 0 1 1 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1\n";
        let mut text = whole.to_owned();
        for damaged in [
            "2 0 1 1 1 -1 -1 1 -1 -1 1 1 1 1 1 1\n",
            "3 0 1 1 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1 7 7 7 7 7 7 7\n",
            "4 0 1 x 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1\n",
            "5 0 inf 1 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1\n",
            "-1 0 1 1 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1\n",
        ] {
            text += damaged;
        }
        text += &"7 ".repeat(3 * MAX_LINE);
        text += "\n;    #   sub  wait\n\n8 1e300 1e300 1e300 1e300 1e300 1e300 1 -1 -1 1 1 1 1 1 1 -1 -1";
        let found = Collected::read(&FORMAT, text.as_bytes()).unwrap();
        let ids: Vec<_> = found.jobs.iter().map(|record| record.job.job_id.as_str()).collect();
        assert_eq!(ids, ["1", "8"]);
        assert_eq!(found.skipped["damaged-line"], 6);
        assert_eq!(found.jobs[1].job.submit, None, "beyond what a table can hold");
    }

    #[test]
    fn no_damage_makes_it_panic() {
        let Some(bytes) = read_shared("swf/opendc-trace.swf") else { return };
        each_damage(&bytes, 300, |damaged| {
            sniff(damaged);
            Collected::read(&FORMAT, damaged).unwrap();
        });
    }

    #[test]
    fn sniffs_by_content() {
        let line = "1 0 5 100 16 -1 -1 16 100 -1 1 1 1 -1 1 -1 -1 -1\n";
        assert!(sniff(line.as_bytes()));
        assert!(sniff(line.trim_end().as_bytes()));
        assert!(sniff(format!("; Version: 2.2\n;\n\n{line}damaged\n{line}cut").as_bytes()));
        assert!(!sniff(b""));
        assert!(!sniff(b"; Version: 2.2\n"));
        assert!(!sniff(b"job0\t1\t1\t2\t3\t4\n"));
        assert!(!sniff(line.replace(' ', ",").as_bytes()));
    }
}
