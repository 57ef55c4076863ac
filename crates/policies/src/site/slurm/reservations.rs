//! `reservations.txt`: the reservations of nodes, as `sacctmgr -P show reservation` or `scontrol show reservation` prints them.
//!
//! The controller knows only those that have not ended; the database keeps the others as well.
//!
//! **Source.** scontrol(1) and sacctmgr(1) of 22.05 and 23.11; Slurm's *Advanced Resource Reservation Guide*. Times without an offset are UTC.

use resched_sim::Ms;
use resched_tables::clock::Zone;

use super::super::xml::{Notes, Place};
use super::fields::{Budget, Field};
use super::limits::plain;
use super::units::{is_nothing, words};
use super::{Slurm, records, tables};
use crate::error::Error;
use crate::queues::slurm::Reservation;
use crate::unread::Why;

/// The most reservations. Each job looks at all of them.
pub(in crate::site) const MOST: usize = 1_000;

/// Flags that change what is replayed, with the reason why they have no effect.
const FLAGS: [(&str, Why<'static>); 7] = [
    ("hourly", COMES_AGAIN),
    ("daily", COMES_AGAIN),
    ("weekday", COMES_AGAIN),
    ("weekend", COMES_AGAIN),
    ("weekly", COMES_AGAIN),
    ("flex", Why::bears("jobs of a reservation have its nodes alone")),
    ("magnetic", Why::harmless("only jobs that name a reservation may use it")),
];
const COMES_AGAIN: Why<'static> = Why::harmless("a reservation that comes again has one line here for each time");

/// What may stand in a file, besides name, times, nodes and flags.
const ELSEWHERE: [&str; 25] = [
    "accounts",
    "allowedpartitions",
    "assoc",
    "associations",
    "assocs",
    "burstbuffer",
    "cluster",
    "comment",
    "corecnt",
    "duration",
    "features",
    "groups",
    "id",
    "maxstartdelay",
    "nodecnt",
    "partitionname",
    "purgecomp",
    "qos",
    "state",
    "timeforce",
    "tres",
    "unusedwall",
    "users",
    "watts",
    "nodeinx",
];

/// Reads the file.
pub(super) fn read(
    bytes: &[u8],
    file: &'static str,
    slurm: &mut Slurm,
    budget: &mut Budget,
    notes: &mut Notes<'_>,
) -> Result<(), Error> {
    let first = bytes.split(|&byte| byte == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    let rows = if first.contains(&b'|') {
        tables::rows(bytes, file, notes)?
    } else {
        let all = records(bytes, file, "ReservationName", notes)?;
        let fields = |record: super::Line| {
            let place = record.place;
            let field = |(name, value): (String, String)| Field { name, value, place: place.clone() };
            let fields = record.pairs.into_iter().map(field).filter(|field| !is_nothing(&field.value)).collect();
            (place, fields)
        };
        all.into_iter().map(fields).collect()
    };
    for (place, fields) in rows {
        if slurm.conf.reservations.len() == MOST {
            return Err(notes.wrong(place, "the file", format!("at most {MOST} reservations"), "more"));
        }
        let one = reservation(&place, &fields, budget, notes);
        if let Some(one) = notes.lenient(&place, "the reservation", one).flatten() {
            slurm.conf.reservations.push(one);
        }
    }
    Ok(())
}

/// A reservation; `None` if it is not one of nodes.
fn reservation(
    place: &Place,
    fields: &[Field],
    budget: &mut Budget,
    notes: &mut Notes<'_>,
) -> Result<Option<Reservation>, Error> {
    let (mut name, mut times, mut nodes) = (None, [None; 2], None);
    for field in fields {
        match plain(&field.name).as_str() {
            "reservationname" | "name" => name = Some(field.short(notes)?.to_owned()),
            "starttime" | "timestart" | "start" => times[0] = Some(time(field, notes)?),
            "endtime" | "timeend" | "end" => times[1] = Some(time(field, notes)?),
            "nodes" | "nodenames" if field.value.eq_ignore_ascii_case("all") => nodes = Some(Vec::new()),
            "nodes" | "nodenames" => nodes = Some(budget.expand(field, notes)?),
            "flags" => name_flags(field, notes),
            "licenses" => notes.unsupported(&field.place, &field.name, "licences are not reserved"),
            "coreids" | "nodename" => notes.unsupported(&field.place, &field.name, "nodes are reserved as a whole"),
            other if ELSEWHERE.contains(&other) => {}
            _ => notes.unsupported(&field.place, &field.name, "resched does not know it"),
        }
    }
    let lacks = |what: &str| notes.wrong(place, "the reservation", what, "none");
    let name = name.ok_or_else(|| lacks("a name"))?;
    let start = times[0].ok_or_else(|| lacks("a start time"))?;
    let end = times[1].ok_or_else(|| lacks("an end time"))?;
    let Some(nodes) = nodes else {
        notes.unsupported(place, &name, "it reserves no nodes");
        return Ok(None);
    };
    Ok(Some(Reservation { name, start, end: end.max(start), nodes }))
}

/// Names the flags without effect.
fn name_flags(field: &Field, notes: &mut Notes<'_>) {
    for flag in words(&field.value) {
        let known = FLAGS.iter().find(|(known, _)| known.eq_ignore_ascii_case(&flag));
        if let Some((_, why)) = known {
            notes.unsupported(&field.place, &format!("{}={flag}", field.name), *why);
        }
    }
}

/// A time, ms since the epoch.
fn time(field: &Field, notes: &Notes<'_>) -> Result<Ms, Error> {
    let text = field.value.trim();
    let seconds = text.parse::<u32>().ok().map(|seconds| Ms::from(seconds) * 1_000);
    let found = seconds.or_else(|| utc(text));
    found.ok_or_else(|| field.wrong(notes, "a time such as `2026-11-22T04:00:00`, or seconds since 1970"))
}

/// A time of the form `2026-11-22T04:00:00`.
fn utc(text: &str) -> Option<Ms> {
    let (date, time) = text.split_once('T')?;
    let numbers = |text: &str, between: char| -> Option<[u32; 3]> {
        let all: Vec<u32> = text.split(between).map(|part| part.parse().ok()).collect::<Option<_>>()?;
        all.try_into().ok()
    };
    let ([year, month, day], [hour, minute, second]) = (numbers(date, '-')?, numbers(time, ':')?);
    let (first, _) = Zone::default().instants((i32::try_from(year).ok()?, month, day), (hour, minute, second))?;
    Some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_utc() {
        assert_eq!(utc("1970-01-02T00:00:01"), Some(86_401_000));
        for other in ["", "1970-01-02", "1970-13-02T00:00:01", "1970-01-02T24:00:01", "x-01-02T00:00:01", "now"] {
            assert_eq!(utc(other), None, "{other}");
        }
    }
}
