//! Durations, counts and amounts of memory as Slurm prints them.

use resched_tables::model::NO_LIMIT;

/// A mebibyte, Slurm's unit of memory (bytes).
pub(super) const MEBIBYTE: i64 = 1 << 20;

/// `[D-]HH:MM:SS`, `MM:SS` or either with a fraction of a second, as ms.
pub(super) fn duration(text: &str) -> Option<i64> {
    if let Some(seconds) = hours_minutes_seconds(text) {
        return Some(seconds * 1_000);
    }
    let (days, clock) = match text.split_once('-') {
        Some((days, clock)) => (whole(days)?, clock),
        None => (0, text),
    };
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let mut seconds = 0_i64;
    let mut parts = 0;
    for part in clock.split(':') {
        seconds = seconds.checked_mul(60)?.checked_add(whole(part)?)?;
        parts += 1;
    }
    let seconds = days.checked_mul(86_400)?.checked_add(seconds)?;
    (parts == 2 || parts == 3).then_some(())?;
    seconds.checked_mul(1_000)?.checked_add(thousandths(fraction)?)
}

/// The seconds of `HH:MM:SS`, which most durations are.
fn hours_minutes_seconds(text: &str) -> Option<i64> {
    let &[ha, hb, b':', na, nb, b':', sa, sb] = text.as_bytes() else { return None };
    let digit = |byte: u8| byte.is_ascii_digit().then(|| i64::from(byte - b'0'));
    let number = |tens, ones| Some(digit(tens)? * 10 + digit(ones)?);
    Some(number(ha, hb)? * 3_600 + number(na, nb)? * 60 + number(sa, sb)?)
}

/// The limit of a run time, ms, from its minutes and from how it is shown. A job without a limit has that of a year; `None`: it names
/// none (`Partition_Limit`), so that the partition gives it one when it starts.
pub(super) fn limit(minutes: &str, shown: &str) -> Option<i64> {
    if [minutes, shown].contains(&"UNLIMITED") {
        return Some(NO_LIMIT);
    }
    let minutes = whole(minutes).and_then(|minutes| minutes.checked_mul(60_000));
    minutes.or_else(|| duration(shown)).filter(|&limit| limit > 0)
}

/// The first three digits behind a point.
fn thousandths(fraction: &str) -> Option<i64> {
    whole(fraction)?;
    let digits = fraction.bytes().chain(std::iter::repeat(b'0')).take(3);
    Some(digits.fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')))
}

/// A number without a sign, of digits alone.
pub(super) fn whole(digits: &str) -> Option<i64> {
    let add = |sum: i64, byte: u8| {
        let digit = byte.is_ascii_digit().then(|| i64::from(byte - b'0'))?;
        sum.checked_mul(10)?.checked_add(digit)
    };
    (!digits.is_empty()).then(|| digits.bytes().try_fold(0, add))?
}

/// A count of CPUs or nodes; `None` for none.
pub(super) fn count(text: &str) -> Option<u32> {
    whole(text).and_then(|count| u32::try_from(count).ok()).filter(|&count| count > 0)
}

/// An amount such as `4000M`, `62.50G` or `512` (mebibytes), as bytes.
pub(super) fn memory(text: &str) -> Option<i64> {
    let digits = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (number, unit) = text.split_at_checked(digits)?;
    let unit: i64 = match unit {
        "K" => 1 << 10,
        "" | "M" => MEBIBYTE,
        "G" => 1 << 30,
        "T" => 1 << 40,
        "P" => 1 << 50,
        _ => return None,
    };
    if let Some(whole) = whole(number) {
        return whole.checked_mul(unit);
    }
    let number: f64 = number.parse().ok()?;
    super::super::swf::whole(number * unit as f64)
}

/// Memory that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Memory {
    /// For the whole job.
    Total(i64),
    /// On each node.
    PerNode(i64),
    /// For each CPU.
    PerCpu(i64),
}

impl Memory {
    /// `ReqMem`: since 21.08 the amount for the job, before with the letter `n` (node) or `c` (CPU).
    pub(super) fn parse(text: &str) -> Option<Self> {
        if let Some(amount) = text.strip_suffix('n') {
            return memory(amount).map(Self::PerNode);
        }
        if let Some(amount) = text.strip_suffix('c') {
            return memory(amount).map(Self::PerCpu);
        }
        memory(text).map(Self::Total)
    }

    /// The memory of a job on so many nodes with so many CPUs.
    pub(super) fn total(self, nodes: u32, cpus: u32) -> Option<i64> {
        match self {
            Self::Total(bytes) => Some(bytes),
            Self::PerNode(bytes) => bytes.checked_mul(i64::from(nodes)),
            Self::PerCpu(bytes) => bytes.checked_mul(i64::from(cpus)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_in_all_forms() {
        assert_eq!(duration("00:01:00"), Some(60_000));
        assert_eq!(duration("2-03:00:00"), Some(51 * 3_600_000));
        assert_eq!(duration("00:00.006"), Some(6));
        assert_eq!(duration("01:02:03.5"), Some(3_723_500));
        for other in ["", "UNLIMITED", "Partition_Limit", "12", "1:2:3:4", "-1:00", "99999999999999999-00:00:00", "1:x"]
        {
            assert_eq!(duration(other), None, "{other}");
        }
    }

    #[test]
    fn amounts_of_memory_have_units() {
        assert_eq!(memory("4000M"), Some(4_000 * MEBIBYTE));
        assert_eq!(memory("62.50G"), Some(64_000 * MEBIBYTE));
        assert_eq!(memory("16"), Some(16 * MEBIBYTE));
        assert_eq!(memory("0"), Some(0));
        for other in ["", "M", "4X", "1.2.3G", "99999999999999999999T", "9999999999999P"] {
            assert_eq!(memory(other), None, "{other}");
        }
        assert_eq!(Memory::parse("4000Mc").and_then(|memory| memory.total(2, 3)), Some(12_000 * MEBIBYTE));
        assert_eq!(Memory::parse("4Gn").and_then(|memory| memory.total(2, 3)), Some(8 << 30));
        assert_eq!(Memory::parse("4G").and_then(|memory| memory.total(2, 3)), Some(4 << 30));
    }
}
