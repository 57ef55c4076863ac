//! The workloads of SWIM (Facebook 2009 and 2010): one line per job, with sizes but no tasks.
//!
//! Tab-separated, no header: job id, submit time (s), gap to the job before (s), bytes of map input, shuffle and reduce
//! output; in some files the path of the input and of the output follow, with empty columns at the end (8 or 9 in all).
//! Page: `docs/formats/swim.md`. The tasks are made afterwards, by [`resched_workload::synthesise`].

use std::io::{BufRead, Read};
use std::path::Path;

use super::format::{Format, ReadAs};
use resched_tables::Error;
use resched_tables::cause;
use resched_tables::model::{JobRecord, JobRow, Outcome};
use resched_tables::sink::{Damage, Sink};

/// The format `swim`.
pub const FORMAT: Format = Format {
    name: "swim",
    title: "SWIM workload (tab-separated jobs with their sizes)",
    time_zero: Some(resched_tables::store::TimeZero::Relative),
    system: Some(resched_tables::store::System::MapReduce1),
    has_tasks: false,
    group: "swim",
    is_whole: true,
    has_times_of_tasks: false,
    folded: false,
    reads: READS,
    sniff,
    read,
};

/// Lines of real files have less than 200 bytes. A longer line is damaged and is not kept in memory.
pub(crate) const MAX_LINE: u64 = 4_096;
/// The number of lines at the start of a file that decide whether it has this format.
const SNIFFED_LINES: usize = 10;

/// What its columns are read from.
const READS: &[ReadAs] = &[
    ("jobs.job_id", &["column 1 (job id)"]),
    ("jobs.submit", &["column 2 (submit time)"]),
    ("jobs.input_bytes", &["column 4 (map input)"]),
    ("jobs.shuffle_bytes", &["column 5 (shuffle)"]),
    ("jobs.output_bytes", &["column 6 (reduce output)"]),
    ("jobs.name", &["column 7 (input path)"]),
];

/// Most of the first lines are jobs: a damaged one among them does not hide the rest.
fn sniff(head: &[u8]) -> bool {
    let mut lines: Vec<&[u8]> = head.split(|&byte| byte == b'\n').take(SNIFFED_LINES + 1).collect();
    // The last one is empty, or cut by the end of `head`, or one too many; a lone line is judged as it is.
    if lines.len() > 1 {
        lines.pop();
    }
    let jobs = lines.iter().filter(|line| parse(line).is_some()).count();
    jobs * 2 > lines.len()
}

fn read(input: &mut dyn BufRead, path: &str, sink: &mut dyn Sink) -> Result<(), Error> {
    let mut line = Vec::new();
    let mut number = 0_u64;
    loop {
        line.clear();
        number += 1;
        let length = input.take(MAX_LINE).read_until(b'\n', &mut line).map_err(Error::io(Path::new(path), "read"))?;
        if length == 0 {
            return Ok(());
        }
        if line.pop_if(|byte| *byte == b'\n').is_none() && length as u64 == MAX_LINE {
            input.skip_until(b'\n').map_err(Error::io(Path::new(path), "read"))?;
            damaged(number, &format!("a line of more than {MAX_LINE} bytes"), sink);
            continue;
        }
        match parse(&line) {
            Some(job) => sink.job(JobRecord { job, ..JobRecord::default() })?,
            None if line.trim_ascii().is_empty() => {}
            None => damaged(number, &what_is_wrong(&line), sink),
        }
    }
}

/// Counts a line that is no job.
fn damaged(number: u64, found: &str, sink: &mut dyn Sink) {
    sink.skip(cause::DAMAGED_LINE, 1);
    let expected = "the 6, 8 or 9 columns of a SWIM job, with tabs between";
    let remedy = "write its id, submit time and gap (s), and the bytes of its input, shuffle and output";
    sink.damage(&|| Damage::new(&format!("line {number}: "), expected, found, remedy));
}

/// What is wrong with a line that is no job.
fn what_is_wrong(line: &[u8]) -> String {
    let line = String::from_utf8_lossy(line);
    let columns: Vec<&str> = line.trim_end_matches('\r').split('\t').collect();
    let names = ["job id", "submit time", "gap", "input bytes", "shuffle bytes", "output bytes"];
    let is_wrong =
        |(name, text): &(&str, &str)| if *name == "job id" { text.is_empty() } else { whole(text).is_none() };
    match names.into_iter().zip(columns.iter().copied()).find(is_wrong).filter(|_| columns.len() >= names.len()) {
        Some((name, text)) => format!("`{text}` as {name}"),
        None => format!("{} columns", columns.len()),
    }
}

/// The job of a line, without its line feed.
fn parse(line: &[u8]) -> Option<JobRow> {
    let line = std::str::from_utf8(line).ok()?;
    let columns: Vec<&str> = line.strip_suffix('\r').unwrap_or(line).split('\t').collect();
    let (job_id, submit, gap, input, shuffle, output, paths) = match columns.as_slice() {
        [id, submit, gap, input, shuffle, output, paths @ ..] if matches!(paths.len(), 0 | 2 | 3) => {
            (*id, submit, gap, input, shuffle, output, paths)
        }
        _ => return None,
    };
    if job_id.is_empty() {
        return None;
    }
    // The gap repeats the submit times, but a line without it is damaged.
    whole(gap)?;
    Some(JobRow {
        job_id: job_id.to_owned(),
        name: paths.first().filter(|path| !path.is_empty()).map(|path| (*path).to_owned()),
        queue: Some("default".to_owned()),
        framework: Some("mapreduce".to_owned()),
        submit: Some(whole(submit)?.checked_mul(1_000)?),
        outcome: Outcome::Success,
        input_bytes: Some(whole(input)?),
        shuffle_bytes: Some(whole(shuffle)?),
        output_bytes: Some(whole(output)?),
        ..JobRow::default()
    })
}

/// A whole number that is not negative.
fn whole(text: &str) -> Option<i64> {
    text.parse().ok().filter(|number| *number >= 0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeMap;

    use rand::RngExt;

    use super::*;
    use resched_tables::draws::{Purpose, stream};
    use resched_tables::sink::Collected;

    fn read_all(mut bytes: &[u8]) -> Collected {
        let mut sink = Collected::default();
        read(&mut bytes, "test.tsv", &mut sink).unwrap();
        assert!(sink.jobs.iter().all(|record| record.tasks.is_empty()), "a SWIM file has no tasks");
        assert!(sink.nodes.is_empty(), "a SWIM file has no machines, got {:?}", sink.nodes);
        sink
    }

    #[test]
    fn six_eight_and_nine_columns_are_jobs() {
        let text = "job0\t49\t49\t740773\t2339561\t627471\n\
                    job1\t50\t1\t1762\t0\t14347\tinputPath1\toutputPath1\n\
                    job2\t51\t1\t20791551476\t12295202125\t1491950225\tinputPath2\t\t\n";
        let read = read_all(text.as_bytes());
        assert_eq!(read.skipped, BTreeMap::new());
        assert_eq!(
            read.jobs[0].job,
            JobRow {
                job_id: "job0".to_owned(),
                queue: Some("default".to_owned()),
                framework: Some("mapreduce".to_owned()),
                submit: Some(49_000),
                outcome: Outcome::Success,
                input_bytes: Some(740_773),
                shuffle_bytes: Some(2_339_561),
                output_bytes: Some(627_471),
                ..JobRow::default()
            }
        );
        let names: Vec<_> = read.jobs.iter().map(|record| record.job.name.as_deref()).collect();
        assert_eq!(names, [None, Some("inputPath1"), Some("inputPath2")]);
    }

    #[test]
    fn damaged_lines_are_skipped_and_counted() {
        let mut text = b"job0\t1\t1\t2\t3\t4\n".to_vec();
        for damaged in [
            &b"job1\t1\t0\t2\t3\n"[..],
            b"job2\t1\t0\t2\t3\t4\tseven\n",
            b"job3\t-1\t0\t2\t3\t4\n",
            b"job4\t1\tgap\t2\t3\t4\n",
            b"job5\t9223372036854775807\t0\t2\t3\t4\n",
            b"job6\t1\t0\t99999999999999999999\t3\t4\n",
            b"\t1\t0\t2\t3\t4\n",
            b"job8\xff\t1\t0\t2\t3\t4\n",
        ] {
            text.extend_from_slice(damaged);
        }
        text.extend(std::iter::repeat_n(b'x', 3 * MAX_LINE as usize));
        text.extend_from_slice(b"\n\njob9\t2\t1\t2\t3\t4\r\njob10\t3\t1\t0\t0\t0");
        let read = read_all(&text);
        let ids: Vec<_> = read.jobs.iter().map(|record| record.job.job_id.as_str()).collect();
        assert_eq!(ids, ["job0", "job9", "job10"]);
        assert_eq!(read.skipped, BTreeMap::from([("damaged-line".to_owned(), 9)]));
    }

    /// Whatever stands in the file, each line is a job or is counted.
    #[test]
    fn damaged_files_do_not_panic() {
        let whole = "job0\t49\t49\t740773\t2339561\t627471\njob1\t50\t1\t1762\t0\t14347\tinputPath1\t\t\n".repeat(10);
        for round in 0..500 {
            let mut rng = stream(1, Purpose::JobChoice, &[round]);
            let mut bytes = whole.clone().into_bytes();
            for _ in 0..10 {
                let place = rng.random_range(0..bytes.len());
                bytes[place] = rng.random();
            }
            let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).count();
            let read = read_all(&bytes);
            let skipped: u64 = read.skipped.values().sum();
            assert_eq!(read.jobs.len() as u64 + skipped, lines as u64, "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn sniffs_by_content() {
        assert!(sniff(b"job0\t1\t1\t2\t3\t4\njob1\t2\t1\t2\t3"));
        assert!(sniff(b"job0\t1\t1\t2\t3\t4"));
        assert!(sniff(b"job0\t1\t1\t2\t3\t4\ndamaged\njob2\t1\t1\t2\t3\t4\n"));
        assert!(!sniff(b""));
        assert!(!sniff(b"id\tsubmit\tgap\tin\tshuffle\tout\n"));
        assert!(!sniff(b"1 0 5 100 16 -1 -1 16 100 -1 1 1 1 -1 1 -1 -1 -1\n"));
        assert!(!sniff(b"1,2,3,4,5,6\n7,8,9,10,11,12\n"));
    }
}
