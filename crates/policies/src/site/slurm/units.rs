//! Numbers, times and amounts as Slurm writes them.

use std::collections::BTreeMap;

use resched_sim::Ms;
use resched_tables::named;

use crate::queues::slurm::Limits;

/// A time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Span {
    /// Without an end.
    Unlimited,
    Of(Ms),
}

impl Span {
    /// The time, if it has an end.
    pub(super) fn limit(self) -> Option<Ms> {
        if let Self::Of(ms) = self { Some(ms) } else { None }
    }
}

pub(super) const SECOND: Ms = 1_000;
pub(super) const MINUTE: Ms = 60 * SECOND;
const HOUR: Ms = 60 * MINUTE;
const DAY: Ms = 24 * HOUR;
/// Slurm's numbers for "not set" and "no limit" begin here.
const NO_VALUE: u32 = u32::MAX - 1;
/// The largest amount of a resource; one more is damage.
const MOST: u64 = 1 << 60;

/// True if a value says that there is none.
pub(super) fn is_nothing(text: &str) -> bool {
    ["", "(null)", "(null type)", "none", "n/a"].iter().any(|nothing| text.eq_ignore_ascii_case(nothing))
}

/// A time; a number alone counts so many ms each.
///
/// **Source.** `time_str2mins`: `minutes`, `minutes:seconds`, `hours:minutes:seconds`, `days-hours`, `days-hours:minutes`,
/// `days-hours:minutes:seconds`. `scontrol show config` has units: `30 sec`.
pub(super) fn time(text: &str, unit: Ms) -> Option<Span> {
    let text = text.trim();
    if ["infinite", "unlimited", "-1"].iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return Some(Span::Unlimited);
    }
    if let Some((number, unit)) = text.split_once(' ') {
        let number = Ms::from(number.parse::<u32>().ok()?);
        return match unit.trim() {
            "usec" => Some(number / 1_000),
            "sec" | "secs" => Some(number * SECOND),
            "min" | "mins" => Some(number * MINUTE),
            "hour" | "hours" => Some(number * HOUR),
            "day" | "days" => Some(number * DAY),
            _ => None,
        }
        .map(Span::Of);
    }
    let parts = |text: &str, units: &[Ms]| {
        let numbers: Option<Vec<u32>> = text.split(':').map(|part| part.parse().ok()).collect();
        let numbers = numbers.filter(|numbers| numbers.len() <= units.len())?;
        Some(numbers.iter().zip(units).map(|(&number, &unit)| Ms::from(number) * unit).sum::<Ms>())
    };
    let ms = match (text.split_once('-'), text.matches(':').count()) {
        (Some((days, rest)), _) => Ms::from(days.parse::<u32>().ok()?) * DAY + parts(rest, &[HOUR, MINUTE, SECOND])?,
        (None, 0) => match text.parse::<u32>().ok()? {
            NO_VALUE.. => return Some(Span::Unlimited),
            number => Ms::from(number).checked_mul(unit)?,
        },
        (None, 1) => parts(text, &[MINUTE, SECOND])?,
        (None, _) => parts(text, &[HOUR, MINUTE, SECOND])?,
    };
    Some(Span::Of(ms))
}

/// Memory in bytes; a number alone counts MB.
pub(super) fn memory(text: &str) -> Option<u64> {
    scaled(text, 1 << 20)
}

/// A number with a unit of powers of 1024.
fn scaled(text: &str, usual: u64) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = match unit.trim_end_matches(['B', 'b']).to_ascii_uppercase().as_str() {
        "" => usual,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        "T" => 1 << 40,
        "P" => 1 << 50,
        _ => return None,
    };
    let amount = (number.parse::<f64>().ok()? * unit as f64).round();
    (amount <= MOST as f64).then_some(amount as u64)
}

/// Adds the limits of a text such as `cpu=24,mem=100G,gres/gpu=2`; `None` if it is not one. A limit of -1 is none.
pub(super) fn add_tres(limits: &mut Limits, text: &str) -> Option<()> {
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (name, amount) = part.split_once('=')?;
        if amount == "-1" {
            continue;
        }
        let name = name.to_lowercase();
        let amount = if name == "mem" { memory(amount) } else { scaled(amount, 1) }?;
        match name.as_str() {
            "cpu" => limits.cpus = Some(amount),
            "node" => limits.nodes = Some(amount),
            _ => {
                limits.resources.insert(name, amount);
            }
        }
    }
    Some(())
}

/// The generic resources of a node as named amounts: `gpu:2,gpu:a100:4(S:0-1)` is 6 of `gres/gpu` and 4 of `gres/gpu:a100`. Resources
/// that jobs do not use up are left out.
pub(super) fn gres(text: &str) -> Option<String> {
    let mut all: BTreeMap<String, u64> = BTreeMap::new();
    for part in outside_of_brackets(text) {
        let part = part.split('(').next().unwrap_or_default();
        let mut words: Vec<&str> = part.split(':').map(str::trim).collect();
        if words.iter().any(|word| word.eq_ignore_ascii_case("no_consume")) {
            continue;
        }
        let count = words.last().filter(|_| words.len() > 1).and_then(|count| scaled(count, 1));
        if count.is_some() {
            words.pop();
        }
        let count = count.unwrap_or(1);
        let (Some(&name), kind) = (words.first().filter(|name| !name.is_empty()), words.get(1)) else { continue };
        let mut add = |name: String| {
            let sum = all.entry(name).or_default();
            *sum = sum.saturating_add(count).min(MOST);
        };
        add(format!("gres/{name}"));
        if let Some(kind) = kind {
            add(format!("gres/{name}:{kind}"));
        }
    }
    named::as_text(all.iter().map(|(name, &count)| (name.as_str(), count)).filter(|(_, count)| *count > 0))
}

/// The licences of the cluster as named amounts: `lic:2,foo`.
pub(super) fn licenses(text: &str) -> Option<String> {
    let mut all: BTreeMap<String, u64> = BTreeMap::new();
    for part in text.split([',', ';']).map(str::trim).filter(|part| !part.is_empty()) {
        let (name, count) = part.split_once([':', '*']).unwrap_or((part, "1"));
        all.insert(format!("license/{name}"), scaled(count, 1)?);
    }
    named::as_text(all.iter().map(|(name, &count)| (name.as_str(), count)).filter(|(_, count)| *count > 0))
}

/// The words of a list.
pub(super) fn words(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// The parts between the commas outside of round brackets.
fn outside_of_brackets(text: &str) -> Vec<&str> {
    let (mut parts, mut from, mut depth) = (Vec::new(), 0, 0_u32);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth = depth.saturating_add(1),
            b')' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                parts.extend(text.get(from..at));
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.extend(text.get(from..));
    parts
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_all_their_forms() {
        let of = |text| time(text, MINUTE);
        let ms = |ms| Some(Span::Of(ms));
        for (text, expected) in [
            ("30", ms(30 * MINUTE)),
            ("2:30", ms(150 * SECOND)),
            ("00:05:00", ms(5 * MINUTE)),
            ("7-0", ms(7 * DAY)),
            ("7-00:00:00", ms(7 * DAY)),
            ("1-12:30", ms(DAY + 12 * HOUR + 30 * MINUTE)),
            ("1-1:1:1", ms(DAY + HOUR + MINUTE + SECOND)),
            ("30 sec", ms(30 * SECOND)),
            ("0 min", ms(0)),
            ("2000 usec", ms(2)),
            ("INFINITE", Some(Span::Unlimited)),
            ("UNLIMITED", Some(Span::Unlimited)),
            ("-1", Some(Span::Unlimited)),
            ("4294967295", Some(Span::Unlimited)),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
        for wrong in
            ["", "soon", "1-", "-2", "1:2:3:4", "1-2:3:4:5", "30 moons", "4294967296", "9999999999 sec", ":", "1.5"]
        {
            assert_eq!(of(wrong), None, "{wrong}");
        }
        assert_eq!(time("5", SECOND), ms(5_000));
    }

    #[test]
    fn amounts_are_read_with_their_units() {
        assert_eq!(
            ["64000", "375G", "187.50G", "1.5K", "2T"].map(memory),
            [Some(64_000 << 20), Some(375 << 30), Some(201_326_592_000), Some(1_536), Some(2 << 40)]
        );
        for wrong in ["", "G", "1X", "-1", "1..2", "1e99P", "99999999999P"] {
            assert_eq!(memory(wrong), None, "{wrong}");
        }
        let mut limits = Limits::default();
        add_tres(&mut limits, "cpu=24,mem=100G,gres/gpu=2,node=-1,license/lic=1").unwrap();
        let resources = [("gres/gpu", 2), ("license/lic", 1), ("mem", 100 << 30)];
        let resources = resources.map(|(name, count)| (name.to_owned(), count)).into_iter().collect();
        assert_eq!(limits, Limits { cpus: Some(24), resources, ..Limits::default() });
        assert_eq!(add_tres(&mut limits, "cpu"), None);
        assert_eq!(add_tres(&mut limits, "cpu=many"), None);
    }

    #[test]
    fn generic_resources_and_licences_have_one_form() {
        for (text, expected) in [
            ("gpu:2", Some("gres/gpu=2")),
            ("gpu", Some("gres/gpu=1")),
            ("gpu:2,gpu:a100:4(S:0,1),bw:no_consume:4G", Some("gres/gpu=6,gres/gpu:a100=4")),
            ("gpu:tesla", Some("gres/gpu=1,gres/gpu:tesla=1")),
            ("mps:1K", Some("gres/mps=1024")),
            ("gpu:0", None),
            ("", None),
            (":2,(", None),
        ] {
            assert_eq!(gres(text).as_deref(), expected, "{text}");
        }
        assert_eq!(
            licenses("lic:2,foo;m@s:5,old*3").as_deref(),
            Some("license/foo=1,license/lic=2,license/m@s=5,license/old=3")
        );
        assert_eq!(licenses("lic:many"), None);
    }
}
