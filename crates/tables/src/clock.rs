//! Times as people write and read them: moments of a trace, zones, and windows of time.
//!
//! ```text
//! "22:00", "+2h", "2011-05-01T22:00+02:00" ──▶ Moment ─┐
//!                       what a trace covers, a zone ───┴─▶ Span, in ms of the trace's clock
//! ```

mod local;

pub use self::local::Days;

use std::fmt;
use std::str::FromStr;
use std::time::UNIX_EPOCH;

use chrono::{
    DateTime, Datelike, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime, Offset, SecondsFormat, TimeDelta, TimeZone,
    Utc, Weekday,
};
use chrono_tz::Tz;

/// A point in the time of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instant {
    /// Milliseconds by the trace's own clock.
    At(i64),
    /// Milliseconds since the epoch, given as a date: only for traces whose times count from there.
    Date(i64),
    /// Milliseconds after the first submission.
    AfterFirst(i64),
}

impl FromStr for Instant {
    type Err = String;

    /// Takes milliseconds (`1240335962848`), a date (`2009-04-21T17:46:02Z`) or a time after the first submission (`+2h`, `+1h 30m`).
    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || {
            format!(
                "`{text}`: expected ms, a date like 2009-04-21T17:46:02Z, or a time like +2h after the first submission"
            )
        };
        let ms = |duration: std::time::Duration| i64::try_from(duration.as_millis()).map_err(|_| expected());
        if let Some(after) = text.strip_prefix('+') {
            let after = humantime::parse_duration(after.trim()).map_err(|_| expected())?;
            return ms(after).map(Self::AfterFirst);
        }
        if humantime::parse_duration(text).is_ok() && text.parse::<i64>().is_err() {
            return Err(format!("`{text}`: a time after the first submission begins with `+`; write `+{text}`"));
        }
        if let Ok(at) = text.parse() {
            return Ok(Self::At(at));
        }
        let date = humantime::parse_rfc3339_weak(text).map_err(|_| expected())?;
        ms(date.duration_since(UNIX_EPOCH).map_err(|_| expected())?).map(Self::Date)
    }
}

/// A part of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Calendar {
    /// A day.
    Day,
    /// A week from Monday.
    Week,
    /// A month.
    Month,
}

impl Calendar {
    /// The first day of the one that holds a time (ms since the epoch) in a zone, in days since the epoch.
    pub fn first_day(self, at: i64, zone: Zone) -> Option<i64> {
        let day = zone.local(at)?.date_naive();
        let first = match self {
            Self::Day => day,
            Self::Week => day.week(Weekday::Mon).checked_first_day()?,
            Self::Month => day.with_day(1)?,
        };
        Some(first.to_epoch_days().into())
    }

    /// Its name by its first day: `2011-05-02`, for a month `2011-05`.
    pub fn name(self, first_day: i64) -> Option<String> {
        let day = NaiveDate::from_epoch_days(first_day.try_into().ok()?)?;
        Some(match self {
            Self::Day | Self::Week => day.to_string(),
            Self::Month => day.format("%Y-%m").to_string(),
        })
    }
}

/// How many days are looked at for a time of day: a day of a zone may lack it.
const DAYS: i64 = 3;

/// A zone of time: a fixed distance from UTC, or the zone of a place, with its summer time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zone(Kind);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Fixed(FixedOffset),
    Place(Tz),
}

impl Default for Zone {
    /// UTC.
    fn default() -> Self {
        Self(Kind::Fixed(Utc.fix()))
    }
}

impl FromStr for Zone {
    type Err = String;

    /// Takes `UTC`, `Z`, a distance such as `+02:00`, or a place such as `Europe/Berlin`.
    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if matches!(text, "UTC" | "Z" | "z") {
            return Ok(Self::default());
        }
        let distance = if text.len() == 3 { format!("{text}:00") } else { text.to_owned() };
        let is_distance = text.starts_with(['+', '-']);
        let kind = match is_distance {
            true => distance.parse().ok().map(Kind::Fixed),
            false => text.parse().ok().map(Kind::Place),
        };
        kind.map(Self).ok_or_else(|| format!("`{text}`: expected a zone such as UTC, +02:00 or Europe/Berlin"))
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Kind::Fixed(offset) if offset == Utc.fix() => write!(out, "UTC"),
            Kind::Fixed(offset) => write!(out, "{offset}"),
            Kind::Place(place) => write!(out, "{}", place.name()),
        }
    }
}

impl Zone {
    /// The name of the place; `None` for a fixed distance from UTC.
    pub fn place(self) -> Option<&'static str> {
        match self.0 {
            Kind::Fixed(_) => None,
            Kind::Place(place) => Some(place.name()),
        }
    }

    /// By how many minutes its clocks are ahead of UTC at that time (ms since the epoch).
    pub fn ahead(self, at: i64) -> i32 {
        self.local(at).map_or(0, |local| local.offset().local_minus_utc() / 60)
    }

    /// A time (ms since the epoch) as a clock shows it, to the second: `2011-05-01 22:00:05 UTC`.
    pub fn show(self, at: i64) -> String {
        self.local(at).map_or_else(|| format!("{at} ms"), |local| format!("{} {}", digits(&local), ending(&local)))
    }

    /// Two times as clocks show them. The zone stands once if it is that of both.
    pub fn show_both(self, from: i64, to: i64) -> String {
        match (self.local(from), self.local(to)) {
            (Some(one), Some(other)) if ending(&one) == ending(&other) => {
                format!("{} to {} {}", digits(&one), digits(&other), ending(&one))
            }
            _ => format!("{} to {}", self.show(from), self.show(to)),
        }
    }

    /// The days from the one of `first` to the one of `last`: `2011-05-01 to 2011-05-03`.
    pub fn days(self, first: i64, last: i64) -> String {
        let day = |at| self.local(at).map_or_else(|| format!("{at} ms"), |local| local.date_naive().to_string());
        let (first, last) = (day(first), day(last));
        if first == last { first } else { format!("{first} to {last}") }
    }

    /// The day of a time: `2011-05-01`.
    pub fn day(self, at: i64) -> Option<String> {
        self.local(at).map(|local| local.date_naive().to_string())
    }

    /// The time of day, to the minute or to the second: `22:00`, `22:00:05`.
    pub fn time_of_day(self, at: i64, seconds: bool) -> Option<String> {
        let format = if seconds { "%H:%M:%S" } else { "%H:%M" };
        self.local(at).map(|local| local.format(format).to_string())
    }

    /// A time (ms since the epoch) by RFC 3339: `2011-05-01T22:00:05.250+02:00`.
    pub fn rfc3339(self, at: i64) -> Option<String> {
        self.local(at).map(|local| local.to_rfc3339_opts(SecondsFormat::AutoSi, true))
    }

    fn local(self, at: i64) -> Option<DateTime<FixedOffset>> {
        let utc = DateTime::from_timestamp_millis(at)?;
        Some(match self.0 {
            Kind::Fixed(offset) => utc.with_timezone(&offset),
            Kind::Place(place) => utc.with_timezone(&place).fixed_offset(),
        })
    }

    /// The first instant at which its clocks show this, or have just jumped over it.
    fn instant(self, shown: NaiveDateTime) -> Option<i64> {
        let at = |shown: &NaiveDateTime| match self.0 {
            Kind::Fixed(offset) => offset.from_local_datetime(shown).earliest().map(|local| local.timestamp_millis()),
            Kind::Place(place) => place.from_local_datetime(shown).earliest().map(|local| local.timestamp_millis()),
        };
        at(&shown).or_else(|| at(&shown.checked_add_signed(TimeDelta::hours(1))?))
    }

    /// The last time up to `latest` at which its clocks show this time of day.
    fn last_before(self, time: NaiveTime, latest: i64) -> Option<i64> {
        let day = self.local(latest)?.date_naive();
        let days = (0..DAYS).filter_map(|back| day.checked_sub_signed(TimeDelta::days(back)));
        days.filter_map(|day| self.instant(day.and_time(time))).find(|at| *at <= latest)
    }

    /// The first time after `earliest` at which its clocks show this time of day.
    fn first_after(self, time: NaiveTime, earliest: i64) -> Option<i64> {
        let day = self.local(earliest)?.date_naive();
        let days = (0..DAYS).filter_map(|ahead| day.checked_add_signed(TimeDelta::days(ahead)));
        days.filter_map(|day| self.instant(day.and_time(time))).find(|at| *at > earliest)
    }
}

fn digits(local: &DateTime<FixedOffset>) -> impl fmt::Display {
    local.format("%Y-%m-%d %H:%M:%S")
}

/// The distance of a time from UTC, as it stands behind it.
fn ending(local: &DateTime<FixedOffset>) -> String {
    Zone(Kind::Fixed(*local.offset())).to_string()
}

/// A moment of a trace, as somebody wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment(Written);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    /// Milliseconds by the trace's own clock.
    At(i64),
    /// Milliseconds after the first submission.
    AfterFirst(i64),
    /// A time of the day, of a date or of the last day.
    Clock { date: Option<NaiveDate>, time: NaiveTime, zone: Option<Zone> },
}

impl FromStr for Moment {
    type Err = String;

    /// Takes milliseconds (`1240335962848`), a time after the first submission (`+2h`), a date with or without a time and a zone
    /// (`2011-05-01`, `2011-05-01T22:00+02:00`), or a time of the last day (`22:00`).
    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let expected = || {
            format!(
                "`{text}`: expected ms, a time after the first submission like +2h, a date like 2011-05-01T22:00+02:00, or a time of \
                 day like 22:00"
            )
        };
        if let Some(after) = text.strip_prefix('+') {
            let after = humantime::parse_duration(after.trim()).map_err(|_| expected())?;
            return i64::try_from(after.as_millis()).map(|ms| Self(Written::AfterFirst(ms))).map_err(|_| expected());
        }
        if let Ok(at) = text.parse() {
            return Ok(Self(Written::At(at)));
        }
        if humantime::parse_duration(text).is_ok() {
            return Err(format!("`{text}`: a time after the first submission begins with `+`; write `+{text}`"));
        }
        let (shown, zone) = without_zone(text);
        let zone = zone.map(str::parse).transpose().map_err(|_| expected())?;
        let (date, time) = match shown.split_once(['T', 't', ' ']) {
            Some((date, time)) => (Some(date), Some(time)),
            None if shown.contains(':') => (None, Some(shown)),
            None => (Some(shown), None),
        };
        let date = date.map(|date| date.parse().map_err(|_| expected())).transpose()?;
        let time = time.map_or(Ok(NaiveTime::MIN), |time| time_of_day(time).ok_or_else(expected))?;
        Ok(Self(Written::Clock { date, time, zone }))
    }
}

/// A text without the zone at its end.
fn without_zone(text: &str) -> (&str, Option<&str>) {
    if let Some(shown) = text.strip_suffix(['Z', 'z']) {
        return (shown.trim_end(), Some("Z"));
    }
    if let Some((shown, place)) = text.rsplit_once(' ').filter(|(_, end)| end.contains(char::is_alphabetic)) {
        return (shown, Some(place));
    }
    // A sign before the first colon is part of the date.
    let sign = text.find(':').and_then(|colon| Some(colon + text.get(colon..)?.find(['+', '-'])?));
    match sign.and_then(|sign| text.split_at_checked(sign)) {
        Some((shown, zone)) => (shown.trim_end(), Some(zone)),
        None => (text, None),
    }
}

fn time_of_day(text: &str) -> Option<NaiveTime> {
    ["%H:%M", "%H:%M:%S%.f"].into_iter().find_map(|format| NaiveTime::parse_from_str(text, format).ok())
}

/// A part of the time of a trace, as somebody wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Period {
    /// Its start; by default, that of the trace.
    pub from: Option<Moment>,
    /// The first instant after it; by default, the end of the trace.
    pub to: Option<Moment>,
}

impl FromStr for Period {
    type Err = String;

    /// Takes `FROM..TO`, of which either may be left out: `+1h..+5h`, `22:00..06:00`, `..2009-04-21T17:46:02Z`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (from, to) = text
            .split_once("..")
            .ok_or_else(|| format!("`{text}`: expected two times with `..` between them, for example +1h..+5h"))?;
        let end = |text: &str| (!text.trim().is_empty()).then(|| text.parse()).transpose();
        Ok(Self { from: end(from)?, to: end(to)? })
    }
}

/// The time that a trace covers, ms of its own clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Covered {
    /// When it begins: at its first submission, or later if it says so.
    pub start: i64,
    /// Its last submission.
    pub last: i64,
    /// True if its clock counts from the epoch, so that its times have dates.
    pub dated: bool,
}

/// A part of the time of a trace, ms of its own clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// Its start, if it has one.
    pub from: Option<i64>,
    /// The first instant after it, if it has an end.
    pub to: Option<i64>,
}

impl Covered {
    /// What several traces or runs cover together; `None` for none.
    pub fn of_all(all: impl IntoIterator<Item = Self>) -> Option<Self> {
        all.into_iter().reduce(|one, other| Self {
            start: one.start.min(other.start),
            last: one.last.max(other.last),
            dated: one.dated && other.dated,
        })
    }

    /// Checks that a window ends after its start and has a part of it.
    ///
    /// # Errors
    /// Both spans in words, or both ends.
    pub fn meets(&self, span: Span, zone: Zone) -> Result<(), String> {
        if let Some((from, to)) = span.from.zip(span.to).filter(|(from, to)| from >= to) {
            let found = Self { start: from, last: to, ..*self }.in_words(zone);
            let remedy = if from == to { "give a later end" } else { "exchange the two ends, or correct one" };
            return Err(format!("expected a window whose end comes after its start, found {found}; {remedy}"));
        }
        let is_outside = span.from.is_some_and(|from| from > self.last) || span.to.is_some_and(|to| to <= self.start);
        if !is_outside {
            return Ok(());
        }
        let bound = |end: Option<i64>, word: &str| {
            end.map(|end| match self.dated {
                true => format!("{word} {}", zone.show(end)),
                false => format!("{word} {end} ms"),
            })
        };
        let asked: Vec<String> = [bound(span.from, "from"), bound(span.to, "to")].into_iter().flatten().collect();
        Err(format!(
            "the window {} lies outside of the trace, whose jobs were submitted from {}; give a window inside",
            asked.join(" "),
            self.in_words(zone)
        ))
    }

    /// It in words, in the times of a zone if it has dates.
    pub fn in_words(self, zone: Zone) -> String {
        match self.dated {
            true => zone.show_both(self.start, self.last),
            false => format!("{} to {} ms", self.start, self.last),
        }
    }
}

impl Period {
    /// True if it is all of a trace.
    pub fn is_whole(&self) -> bool {
        *self == Self::default()
    }

    /// True if an end of it is a time of day or a date.
    pub fn is_by_the_clock(&self) -> bool {
        [self.from, self.to].into_iter().flatten().any(|end| matches!(end.0, Written::Clock { .. }))
    }

    /// The part of a trace that it names. A time of day without a date is the last one that is not after the last submission; as an end
    /// with a start, it is the next one after the start. Times are of `zone` if they name none.
    ///
    /// # Errors
    /// A text, if the trace has no dates and the period is by the clock, or if the end does not come after the start.
    pub fn within(&self, covered: &Covered, zone: Zone) -> Result<Span, String> {
        if self.is_by_the_clock() && !covered.dated {
            return Err("the times of this trace do not count from a date, so it has no clock times; give the window in ms, or as times \
                        like +2h after the first submission"
                .to_owned());
        }
        let ends = [self.from, self.to].map(|end| end.map(|end| end.settled(covered.start, zone)));
        let [from, to] = ends;
        // A missing end is unbounded; a time of day waits for what the other end says.
        let (from, to) = match (from, to) {
            (Some(End::Daily(time, zone)), Some(End::At(to))) => {
                (zone.last_before(time, to.saturating_sub(1)), Some(to))
            }
            (Some(End::Daily(time, zone)), to) => {
                let from = zone.last_before(time, covered.last);
                (from, to.and_then(|to| to.after(from)))
            }
            (from, Some(to)) => {
                let from = from.and_then(|from| from.after(None));
                (from, if from.is_some() { to.after(from) } else { to.before(covered.last) })
            }
            (from, None) => (from.and_then(|from| from.after(None)), None),
        };
        if from.is_none() != self.from.is_none() || to.is_none() != self.to.is_none() {
            return Err("an end of the window is too far from any date; correct it".to_owned());
        }
        let span = Span { from, to };
        covered.meets(span, zone)?;
        Ok(span)
    }
}

/// An end of a period, as far as it is known by itself.
#[derive(Clone, Copy)]
enum End {
    At(i64),
    Daily(NaiveTime, Zone),
}

impl Moment {
    /// The moment for a loader, which knows the first submission itself; `None` for a date or a time of day.
    pub fn instant(self) -> Option<Instant> {
        match self.0 {
            Written::At(at) => Some(Instant::At(at)),
            Written::AfterFirst(after) => Some(Instant::AfterFirst(after)),
            Written::Clock { .. } => None,
        }
    }

    fn settled(self, start: i64, zone: Zone) -> End {
        match self.0 {
            Written::At(at) => End::At(at),
            Written::AfterFirst(after) => End::At(start.saturating_add(after)),
            Written::Clock { date: Some(date), time, zone: of_text } => {
                End::At(of_text.unwrap_or(zone).instant(date.and_time(time)).unwrap_or(i64::MAX))
            }
            Written::Clock { date: None, time, zone: of_text } => End::Daily(time, of_text.unwrap_or(zone)),
        }
    }
}

impl End {
    /// It, or the next such time of day after `earliest`.
    fn after(self, earliest: Option<i64>) -> Option<i64> {
        match (self, earliest) {
            (Self::At(at), _) => Some(at),
            (Self::Daily(time, zone), Some(earliest)) => zone.first_after(time, earliest),
            (Self::Daily(..), None) => None,
        }
    }

    /// It, or the last such time of day up to `latest`.
    fn before(self, latest: i64) -> Option<i64> {
        match self {
            Self::At(at) => Some(at),
            Self::Daily(time, zone) => zone.last_before(time, latest),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn at(text: &str) -> i64 {
        DateTime::parse_from_rfc3339(text).unwrap().timestamp_millis()
    }

    /// Two days and a half, in UTC.
    fn covered() -> Covered {
        Covered { start: at("2011-05-01T08:00:00Z"), last: at("2011-05-03T14:00:00Z"), dated: true }
    }

    fn span(text: &str, zone: &str) -> Result<[Option<i64>; 2], String> {
        let found = text.parse::<Period>()?.within(&covered(), zone.parse()?)?;
        Ok([found.from, found.to])
    }

    #[test]
    fn a_window_is_by_the_clock_of_a_zone() {
        let dated = [Some(at("2011-05-01T20:00:00Z")), Some(at("2011-05-02T04:00:00Z"))];
        for text in
            ["2011-05-01T22:00+02:00..2011-05-02T06:00+02:00", "2011-05-01 22:00..2011-05-02 06:00", "+12h..+20h"]
        {
            assert_eq!(span(text, "Europe/Berlin"), Ok(dated), "{text}");
        }
        assert_eq!(span("2011-05-02..", "+02"), Ok([Some(at("2011-05-01T22:00:00Z")), None]), "a date is its midnight");
        assert_eq!(span("1304236800000..", "UTC"), Ok([Some(1_304_236_800_000), None]));
        assert_eq!(span("..", "UTC"), Ok([None, None]));
    }

    #[test]
    fn last_night_is_the_last_that_has_begun() {
        let night = [Some(at("2011-05-02T22:00:00Z")), Some(at("2011-05-03T06:00:00Z"))];
        assert_eq!(span("22:00..06:00", "UTC"), Ok(night));
        assert_eq!(span("22:00..2011-05-03T06:00Z", "UTC"), Ok(night));
        assert_eq!(span("2011-05-02T22:00Z..06:00", "UTC"), Ok(night));
        assert_eq!(span("22:00Z..06:00Z", "Asia/Tokyo"), Ok(night), "its own zone comes first");
        // In Tokyo it is 23:00 at the last submission.
        let begun = [Some(at("2011-05-03T13:00:00Z")), Some(at("2011-05-03T21:00:00Z"))];
        assert_eq!(span("22:00..06:00", "Asia/Tokyo"), Ok(begun));
        assert_eq!(span("..06:00", "UTC"), Ok([None, Some(at("2011-05-03T06:00:00Z"))]));
        assert_eq!(span("12:30..", "UTC"), Ok([Some(at("2011-05-03T12:30:00Z")), None]));
    }

    #[test]
    fn summer_time_moves_the_clock() {
        let zone: Zone = "Europe/Berlin".parse().unwrap();
        let shown = |text: &str| zone.show(at(text));
        assert_eq!(shown("2011-03-27T00:59:59Z"), "2011-03-27 01:59:59 +01:00");
        assert_eq!(shown("2011-03-27T01:00:00Z"), "2011-03-27 03:00:00 +02:00");
        let covered = Covered { start: at("2011-03-26T00:00:00Z"), last: at("2011-03-28T00:00:00Z"), dated: true };
        let found = "2011-03-27T02:30..".parse::<Period>().unwrap().within(&covered, zone).unwrap();
        assert_eq!(found.from, Some(at("2011-03-27T01:30:00Z")), "that time was jumped over");
        assert_eq!([zone.ahead(at("2011-03-27T00:00:00Z")), zone.ahead(at("2011-03-28T00:00:00Z"))], [60, 120]);
    }

    #[test]
    fn times_read_as_on_a_clock() {
        let (utc, zone): (Zone, Zone) = (Zone::default(), "+02:00".parse().unwrap());
        assert_eq!(utc.show(at("2011-05-01T22:00:05Z")), "2011-05-01 22:00:05 UTC");
        assert_eq!(zone.show(at("2011-05-01T22:00:05Z")), "2011-05-02 00:00:05 +02:00");
        let both = utc.show_both(at("2011-05-01T22:00:00Z"), at("2011-05-02T06:00:00Z"));
        assert_eq!(both, "2011-05-01 22:00:00 to 2011-05-02 06:00:00 UTC");
        assert_eq!(utc.days(at("2011-05-01T22:00:00Z"), at("2011-05-02T06:00:00Z")), "2011-05-01 to 2011-05-02");
        assert_eq!(zone.rfc3339(at("2011-05-01T22:00:05Z")).as_deref(), Some("2011-05-02T00:00:05+02:00"));
        assert_eq!([utc.to_string(), zone.to_string()], ["UTC", "+02:00"]);
        assert_eq!(utc.show(i64::MAX), format!("{} ms", i64::MAX));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in ["x..y", "25:00..", "2011-13-01..", "+2x..", "22:00 Nowhere/Land..", "22:00+99:99..", "é..", "T.."]
        {
            assert!(span(text, "UTC").is_err_and(|problem| problem.contains("expected ms")), "{text}");
        }
        assert!(span("+1h", "UTC").is_err_and(|problem| problem.contains("+1h..+5h")));
        assert!(span("+5h..+1h", "UTC").is_err_and(|problem| problem.contains("end comes after its start")));
        let relative = Covered { dated: false, ..covered() };
        let problem = "22:00..".parse::<Period>().unwrap().within(&relative, Zone::default()).unwrap_err();
        assert!(problem.contains("+2h"), "{problem}");
        for zone in ["Nowhere", "+99:00", "", "+", "CET+"] {
            assert!(zone.parse::<Zone>().is_err(), "{zone}");
        }
    }

    #[test]
    fn a_window_that_ends_before_its_start_names_both_ends() {
        let covered = Covered { start: 1_000, last: 900_000_000, dated: false };
        let asked = |text: &str| text.parse::<Period>().unwrap().within(&covered, Zone::default()).unwrap_err();
        let expected = "expected a window whose end comes after its start, found ";
        assert_eq!(
            asked("+2d..+1d"),
            format!("{expected}172801000 to 86401000 ms; exchange the two ends, or correct one")
        );
        assert_eq!(asked("+1d..+1d"), format!("{expected}86401000 to 86401000 ms; give a later end"));
        let dated = Covered { dated: true, ..covered };
        let ends = Span { from: Some(86_400_000), to: Some(0) };
        let found = dated.meets(ends, Zone::default()).unwrap_err();
        assert!(found.contains("1970-01-02 00:00:00 to 1970-01-01 00:00:00 UTC; exchange"), "{found}");
        // A duration alone could be meant from either end of the trace.
        for text in ["2d..1d", "2d..", "..1h 30m"] {
            let problem = text.parse::<Period>().unwrap_err();
            assert!(problem.contains("begins with `+`; write `+"), "{text}: {problem}");
        }
        assert!("2d".parse::<Instant>().unwrap_err().ends_with("write `+2d`"));
    }

    #[test]
    fn a_window_outside_of_the_trace_names_the_span_of_the_trace() {
        let covered = Covered { start: 1_000, last: 9_000, dated: false };
        let asked = |text: &str| text.parse::<Period>().unwrap().within(&covered, Zone::default());
        for inside in ["+1s..", "9000..", "..1001", "0..1001", "+8s..+9s"] {
            assert!(asked(inside).is_ok(), "{inside}");
        }
        let late = asked("9001..20000").unwrap_err();
        assert_eq!(
            late,
            "the window from 9001 ms to 20000 ms lies outside of the trace, whose jobs were submitted from 1000 to 9000 ms; give a window \
             inside"
        );
        assert!(asked("..1000").unwrap_err().starts_with("the window to 1000 ms lies outside"));
    }
}
