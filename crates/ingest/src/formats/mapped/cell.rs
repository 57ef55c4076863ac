//! A value of a table, and the times, amounts and lists that it may be.

use std::borrow::Cow;

use super::map::{Source, Syntax, Unit};
use crate::formats::accounting::{self, Clock, Order};
use crate::formats::swf;
use resched_tables::clock::Zone;
use resched_tables::host_list::expand;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell<'a> {
    None,
    Text(Cow<'a, str>),
    Whole(i64),
    Float(f64),
    /// ms since the epoch.
    Time(i64),
    /// ms since the epoch on clocks that show UTC: the zone is not known.
    LocalTime(i64),
    List(Vec<String>),
}

impl<'a> Cell<'a> {
    /// The value as text; empty for none.
    pub(super) fn text(&self) -> Cow<'_, str> {
        match self {
            Self::None => Cow::Borrowed(""),
            Self::Text(text) => Cow::Borrowed(text),
            Self::Whole(number) | Self::Time(number) | Self::LocalTime(number) => Cow::Owned(number.to_string()),
            // A column of whole numbers with gaps is one of floats in many tables.
            Self::Float(number) => Cow::Owned(
                swf::whole(*number)
                    .filter(|whole| *whole as f64 == *number)
                    .map_or_else(|| number.to_string(), |whole| whole.to_string()),
            ),
            Self::List(parts) => Cow::Owned(parts.join(",")),
        }
    }

    /// True if there is a value.
    pub(super) fn is_some(&self) -> bool {
        match self {
            Self::None => false,
            Self::Text(text) => !is_nothing(text),
            Self::Float(number) => number.is_finite(),
            Self::List(parts) => !parts.is_empty(),
            Self::Whole(_) | Self::Time(_) | Self::LocalTime(_) => true,
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            Self::Whole(number) => Some(*number as f64),
            Self::Float(number) => Some(*number),
            Self::Text(text) => text.trim().parse().ok(),
            _ => None,
        }
        .filter(|number: &f64| number.is_finite())
    }

    /// A time, ms. Numbers have the unit of the source, or are seconds; texts are dates.
    pub(super) fn time(&self, source: &Source, clock: &mut Clock) -> Option<i64> {
        match self {
            Self::Time(ms) => Some(*ms),
            Self::LocalTime(ms) => {
                let shown = Zone::default().show(*ms);
                let at = clock.time(shown.trim_end_matches(" UTC"), Order::Year)?;
                at.checked_add(ms.rem_euclid(1_000))
            }
            _ => match self.whole() {
                Some(whole) => scaled(whole, source.unit.unwrap_or(Unit::Seconds)),
                None => match self.number() {
                    Some(number) => scaled_float(number, source.unit.unwrap_or(Unit::Seconds)),
                    None => clock.time(&self.text(), source.order),
                },
            },
        }
    }

    /// A duration, ms: a number with the unit of the source, or `2-03:04:05`, or `2 days 03:04:05`.
    pub(super) fn duration(&self, source: &Source) -> Option<i64> {
        let unit = source.unit.unwrap_or(Unit::Seconds);
        let ms = match (self.whole(), self.number()) {
            (Some(whole), _) => scaled(whole, unit),
            (None, Some(number)) => scaled_float(number, unit),
            (None, None) => clock_duration(&self.text()),
        };
        ms.filter(|&ms| ms >= 0)
    }

    /// A whole number.
    pub(super) fn whole(&self) -> Option<i64> {
        match self {
            Self::Whole(number) => Some(*number),
            Self::Float(number) => swf::whole(*number).filter(|whole| *whole as f64 == *number),
            Self::Text(text) => {
                let text = text.trim();
                let parsed = || swf::whole(text.parse().ok()?).filter(|_| text.ends_with(".0"));
                text.parse().ok().or_else(parsed)
            }
            _ => None,
        }
    }

    /// A count of at least one. With a key, it is that part of a text.
    pub(super) fn count(&self, source: &Source) -> Option<i64> {
        let count = match &source.key {
            Some(key) => part(&self.text(), key)?.split('.').next()?.parse().ok(),
            // A list counts its entries.
            None => match self {
                Self::List(parts) => i64::try_from(parts.len()).ok(),
                _ => self.whole(),
            },
        };
        count.filter(|&count| count > 0)
    }

    /// An amount of memory, bytes: a number with the unit of the source (bytes without one), or a text with a letter, such as `4000M`.
    pub(super) fn bytes(&self, source: &Source) -> Option<i64> {
        let text = self.text();
        let text = match &source.key {
            Some(key) => part(&text, key)?,
            None => text.trim(),
        };
        let unit = source.unit.unwrap_or(Unit::B);
        let bytes = match text.parse::<i64>() {
            Ok(whole) => scaled(whole, unit),
            Err(_) => match text.parse::<f64>() {
                Ok(number) => scaled_float(number, unit),
                Err(_) => with_letter(text),
            },
        };
        bytes.filter(|&bytes| bytes > 0)
    }

    /// The hosts of a list, each with its processors there; 0: unknown. `None` if the list is damaged.
    pub(super) fn hosts(&self, source: &Source) -> Option<Vec<(Cow<'static, str>, u32)>> {
        let named = |name: &str| Cow::Owned([source.prefix.as_str(), name].concat());
        if let Self::List(parts) = self {
            return Some(parts.iter().map(|name| (named(name.trim()), 0)).collect());
        }
        let text = self.text();
        match source.syntax {
            Syntax::Slurm => {
                if text.split(',').any(|part| part.len() > 128) {
                    return None;
                }
                let hosts = expand(text.trim(), accounting::MOST_HOSTS)?;
                Some(hosts.iter().map(|name| (named(name), 0)).collect())
            }
            Syntax::List => {
                let is_mark = |letter: char| letter.is_whitespace() || ",;|[](){}'\"".contains(letter);
                Some(text.split(is_mark).filter(|name| !name.is_empty()).map(|name| (named(name), 0)).collect())
            }
            Syntax::Pbs => {
                let hosts = crate::formats::pbs::hosts_of(&text);
                Some(hosts.into_iter().map(|(name, cpus)| (named(&name), cpus)).collect())
            }
        }
    }

    /// The same value without its borrow.
    pub(super) fn into_owned(self) -> Cell<'static> {
        match self {
            Self::None => Cell::None,
            Self::Text(text) => Cell::Text(Cow::Owned(text.into_owned())),
            Self::Whole(number) => Cell::Whole(number),
            Self::Float(number) => Cell::Float(number),
            Self::Time(ms) => Cell::Time(ms),
            Self::LocalTime(ms) => Cell::LocalTime(ms),
            Self::List(parts) => Cell::List(parts),
        }
    }
}

/// Texts that stand for no value in all tables.
fn is_nothing(text: &str) -> bool {
    const NOTHING: [&str; 11] =
        ["", "none", "null", "nan", "nat", "na", "n/a", "unknown", "(null)", "none assigned", "-"];
    let text = text.trim();
    NOTHING.iter().any(|nothing| text.eq_ignore_ascii_case(nothing))
}

/// The value behind `key=` in `cpu=4,gres/gpu=2`.
fn part<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    text.split([',', ';', ' '])
        .filter_map(|part| part.split_once(['=', ':']))
        .find(|(name, _)| name.trim() == key)
        .map(|(_, value)| value.trim())
}

/// How many ms, or bytes, a unit has: a product and a divisor.
fn value_of(unit: Unit) -> (i64, i64) {
    match unit {
        Unit::Nanoseconds => (1, 1_000_000),
        Unit::Microseconds => (1, 1_000),
        Unit::Milliseconds | Unit::B => (1, 1),
        Unit::Seconds => (1_000, 1),
        Unit::Minutes => (60_000, 1),
        Unit::Hours => (3_600_000, 1),
        Unit::Days => (86_400_000, 1),
        Unit::KB => (1_000, 1),
        Unit::KiB => (1 << 10, 1),
        Unit::MB => (1_000_000, 1),
        Unit::MiB => (1 << 20, 1),
        Unit::GB => (1_000_000_000, 1),
        Unit::GiB => (1 << 30, 1),
        Unit::TB => (1_000_000_000_000, 1),
        Unit::TiB => (1 << 40, 1),
    }
}

fn scaled(number: i64, unit: Unit) -> Option<i64> {
    let (product, divisor) = value_of(unit);
    Some(number.checked_mul(product)?.div_euclid(divisor))
}

fn scaled_float(number: f64, unit: Unit) -> Option<i64> {
    let (product, divisor) = value_of(unit);
    swf::whole(number * product as f64 / divisor as f64)
}

/// `[D-]HH:MM:SS` or `D days HH:MM:SS`.
fn clock_duration(text: &str) -> Option<i64> {
    let text = text.trim();
    let (days, clock) = match text.split_once(" day") {
        Some((days, clock)) => (days, clock.trim_start_matches(['s', ',', ' '])),
        None => text.split_once('-').unwrap_or(("0", text)),
    };
    let days: i64 = (!text.is_empty()).then(|| days.trim().parse().ok())??;
    let clock = if clock.is_empty() { 0 } else { accounting::duration(clock.strip_prefix('+').unwrap_or(clock))? };
    days.checked_mul(86_400_000)?.checked_add(clock)
}

/// `4000M`, `4 GiB`, `62.5G`, and `4000Mn` or `4000Mc` of older versions of Slurm.
fn with_letter(text: &str) -> Option<i64> {
    let text = text.trim_end_matches(['n', 'c']).trim_end_matches(['B', 'b']).trim_end_matches('i');
    let digits = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (number, unit) = text.split_at_checked(digits)?;
    let letter = unit.trim().to_ascii_uppercase();
    accounting::bytes(&[number, &letter].concat(), accounting::Units::GridEngine)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Cell<'_> {
        Cell::Text(Cow::Borrowed(text))
    }

    fn of(unit: Unit) -> Source {
        Source { unit: Some(unit), ..Source::default() }
    }

    #[test]
    fn times_have_units_or_are_dates() {
        let mut clock = Clock::default();
        let none = Source::default();
        assert_eq!(text("1795838706").time(&none, &mut clock), Some(1_795_838_706_000));
        assert_eq!(text("1795838706.25").time(&none, &mut clock), Some(1_795_838_706_250));
        assert_eq!(
            Cell::Whole(1_795_838_706_000_000_000).time(&of(Unit::Nanoseconds), &mut clock),
            Some(1_795_838_706_000)
        );
        assert_eq!(text("2026-11-28 04:05:06+00:00").time(&none, &mut clock), Some(1_795_838_706_000));
        assert_eq!(Cell::LocalTime(1_795_838_706_007).time(&none, &mut clock), Some(1_795_838_706_007));
        assert_eq!(text("soon").time(&none, &mut clock), None);
    }

    #[test]
    fn durations_have_units_or_are_clocks() {
        let minutes = of(Unit::Minutes);
        assert_eq!(
            [Cell::Whole(90), Cell::Float(1.5), text("2-03:00:00")].map(|cell| cell.duration(&minutes)),
            [Some(5_400_000), Some(90_000), Some(183_600_000)]
        );
        assert_eq!(text("1 days 02:00:00").duration(&minutes), Some(93_600_000));
        assert_eq!([text("-5"), text("x"), Cell::None].map(|cell| cell.duration(&minutes)), [None; 3]);
    }

    #[test]
    fn amounts_have_units_or_letters() {
        assert_eq!(Cell::Whole(4).bytes(&of(Unit::GiB)), Some(4 << 30));
        assert_eq!(text("4000M").bytes(&of(Unit::GiB)), Some(4_000 << 20));
        assert_eq!(text("4000Mn").bytes(&Source::default()), Some(4_000 << 20));
        assert_eq!(text("1.5 GiB").bytes(&Source::default()), Some(1_536 << 20));
        let key = Source { key: Some("mem".to_owned()), ..Source::default() };
        assert_eq!(text("cpu=4,mem=8G,gres/gpu=2").bytes(&key), Some(8 << 30));
        let key = Source { key: Some("gres/gpu".to_owned()), ..Source::default() };
        assert_eq!(text("cpu=4,mem=8G,gres/gpu=2").count(&key), Some(2));
        assert_eq!(
            [text("4.0"), Cell::Float(4.0), text("4.5"), text("0")].map(|cell| cell.count(&Source::default())),
            [Some(4), Some(4), None, None]
        );
    }

    #[test]
    fn hosts_are_listed_in_several_ways() {
        let shown = |cell: Cell<'_>, syntax, prefix: &str| {
            let source = Source { syntax, prefix: prefix.to_owned(), ..Source::default() };
            let hosts = cell.hosts(&source)?;
            Some(hosts.iter().map(|(host, cpus)| format!("{host}:{cpus}")).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(shown(text("n[1-2],m"), Syntax::Slurm, "").as_deref(), Some("n1:0 n2:0 m:0"));
        assert_eq!(shown(text("['12', '13']"), Syntax::List, "node").as_deref(), Some("node12:0 node13:0"));
        assert_eq!(shown(text("n1/0*16+n2/0"), Syntax::Pbs, "").as_deref(), Some("n1:16 n2:1"));
        assert_eq!(shown(Cell::List(vec!["1".to_owned()]), Syntax::Slurm, "n").as_deref(), Some("n1:0"));
        assert_eq!(shown(text("n["), Syntax::Slurm, ""), None);
    }
}
