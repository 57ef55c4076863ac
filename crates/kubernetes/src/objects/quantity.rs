//! Amounts as Kubernetes writes them: `4`, `100m`, `2Gi`, `1e3`.

/// The largest amount that is taken, in the unit of its resource: sums of quotas stay countable.
pub const LARGEST: i64 = 1 << 60;

/// An amount in billionths. Finer parts are rounded up, as Kubernetes does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quantity(i128);

const BILLION: i128 = 1_000_000_000;

impl Quantity {
    /// Reads an amount: digits with an optional sign and point, then a suffix (`n`, `u`, `m`, `k`, `M`, … `E`, `Ki`, … `Ei`) or an exponent.
    ///
    /// # Errors
    ///
    /// A phrase that says what is wrong: no number, an unknown suffix, or too large.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (negative, rest) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, suffix) = rest.split_at(digits);
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        if (whole.is_empty() && part.is_empty()) || part.contains('.') {
            return Err(format!("{text:?}, which is no number"));
        }
        let too_large = || format!("{text:?}, which is too large to count");
        let (scale, power) = scale(suffix).ok_or_else(|| format!("{text:?}, whose suffix is unknown"))?;
        let value = billionths(whole, part, scale, power).ok_or_else(too_large)?;
        Ok(Self(if negative { -value } else { value }))
    }

    /// True if it is below 0.
    pub fn is_negative(self) -> bool {
        self.0 < 0
    }

    /// As a number, for weights.
    pub fn to_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

/// What a suffix multiplies with: a factor, and a power of ten beside it.
fn scale(suffix: &str) -> Option<(i128, i32)> {
    let binary = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    if let Some(at) = binary.iter().position(|&name| name == suffix) {
        return Some((1_i128 << (10 * (at + 1)), 0));
    }
    let decimal =
        [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
    if let Some(&(_, power)) = decimal.iter().find(|(name, _)| *name == suffix) {
        return Some((1, power));
    }
    let exponent = suffix.strip_prefix(['e', 'E'])?;
    let power = exponent.parse::<i32>().ok().filter(|power| (-40..=40).contains(power))?;
    Some((1, power))
}

/// `whole.part` × `scale` × 10^`power`, in billionths, rounded up.
fn billionths(whole: &str, part: &str, scale: i128, power: i32) -> Option<i128> {
    // Zeros at the ends say nothing, and would overflow.
    let (whole, part) = (whole.trim_start_matches('0'), part.trim_end_matches('0'));
    if whole.len() + part.len() > 30 {
        return None;
    }
    let digits = format!("{whole}{part}");
    let digits = if digits.is_empty() { 0 } else { digits.parse::<i128>().ok()? };
    let power = 9 + power - i32::try_from(part.len()).ok()?;
    let scaled = digits.checked_mul(scale)?;
    let step = 10_i128.checked_pow(power.unsigned_abs());
    if power >= 0 {
        return if scaled == 0 { Some(0) } else { scaled.checked_mul(step?) };
    }
    Some(step.map_or(i128::from(scaled > 0), |step| ceiling(scaled, step)))
}

fn ceiling(value: i128, step: i128) -> i128 {
    value.div_euclid(step) + i128::from(value.rem_euclid(step) > 0)
}

/// The amount of a resource in its unit: thousandths of `cpu`, whole ones of others, rounded up.
///
/// # Errors
///
/// A phrase that says what is wrong: see [`Quantity::parse`]; also if it is negative or above 2^60.
pub fn amount(resource: &str, text: &str) -> Result<i64, String> {
    let quantity = Quantity::parse(text)?;
    if quantity.is_negative() {
        return Err(format!("{text:?}, which is negative"));
    }
    let unit = if resource == "cpu" { BILLION / 1_000 } else { BILLION };
    let units = i64::try_from(ceiling(quantity.0, unit)).ok().filter(|&units| units <= LARGEST);
    units.ok_or_else(|| format!("{text:?}, which is too large to count"))
}
