//! Records as lines: fields between colons.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::{Record, seconds, time};

/// The fewest fields of a line.
const FEWEST: usize = 43;

/// The record of a line, or which field cannot be read.
pub(super) fn parse(line: &str) -> Result<Record<'_>, &'static str> {
    let fields: SmallVec<[&str; 64]> = line.split(':').collect();
    if fields.len() < FEWEST {
        return Err("number of fields");
    }
    // A category with colons in it, such as `-l h_rt=1:00:00`, moves the fields behind it.
    let (category, moved) = category(&fields);
    let field = |place: usize| fields.get(place).copied().unwrap_or_default();
    let behind = |place: usize| field(place + moved);
    let number = |place: usize, name| field(place).trim().parse::<i64>().map_err(|_| name);
    let at = |place: usize, name| number(place, name).map(time);
    Ok(Record {
        queue: Cow::Borrowed(field(0)),
        host: Cow::Borrowed(field(1)),
        group: Cow::Borrowed(field(2)),
        owner: Cow::Borrowed(field(3)),
        name: Cow::Borrowed(field(4)),
        job: field(5).parse().map_err(|_| "job_number")?,
        priority: field(7).parse().ok().filter(|&priority| priority != 0),
        submit: at(8, "submission_time")?.ok_or("submission_time")?,
        start: at(9, "start_time")?,
        end: at(10, "end_time")?,
        failed: number(11, "failed")?,
        status: number(12, "exit_status")?,
        project: Cow::Borrowed(field(31)),
        department: Cow::Borrowed(field(32)),
        environment: Cow::Borrowed(field(33)),
        slots: number(34, "slots")?,
        task: field(35).parse().map_err(|_| "task_number")?,
        cpu_ms: seconds(field(36)),
        category,
        is_step: !matches!(behind(41), "NONE" | ""),
        reservation: Cow::Borrowed(behind(43)),
    })
}

/// The category, and how many colons are in it: the field behind it is a number (`iow`).
fn category<'a>(fields: &[&'a str]) -> (Cow<'a, str>, usize) {
    const CATEGORY: usize = 39;
    let first = fields.get(CATEGORY).copied().unwrap_or_default();
    let is_end = |place: usize| {
        let field = |place: usize| fields.get(place).copied().unwrap_or_default();
        field(place).parse::<f64>().is_ok() && field(place).contains('.') && field(place + 2).parse::<f64>().is_ok()
    };
    let moved = (0..fields.len().saturating_sub(FEWEST - 1)).find(|moved| is_end(CATEGORY + 1 + moved)).unwrap_or(0);
    if moved == 0 {
        return (Cow::Borrowed(first), 0);
    }
    let parts = fields.get(CATEGORY..=CATEGORY + moved).unwrap_or_default();
    (Cow::Owned(parts.join(":")), moved)
}
