//! Comma-separated records through a buffer of fixed size, and the numbers in them.

use std::io::{self, BufRead, ErrorKind};

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

/// The longest record (bytes). Those of real files have some hundred.
pub(crate) const MAX_RECORD: usize = 32 << 10;
/// The most fields of a record.
pub(crate) const MAX_FIELDS: usize = 256;
/// The number of records at the start of a file that decide which table it is.
const SNIFFED_RECORDS: usize = 50;

/// The records of a file, one at a time. A record beyond the limits is skipped.
pub(super) struct Records<'r> {
    input: &'r mut dyn BufRead,
    reader: Reader,
    text: Box<[u8]>,
    ends: Box<[usize]>,
}

/// An item of [`Records`].
pub(super) enum Piece<'t> {
    Record(Record<'t>),
    /// A record beyond the limits.
    Oversized,
}

impl<'r> Records<'r> {
    /// The records in `input`. With `quoted`, fields may be quoted, and quoted fields may hold commas and line feeds.
    pub(super) fn new(input: &'r mut dyn BufRead, quoted: bool) -> Self {
        Self {
            input,
            reader: ReaderBuilder::new().quoting(quoted).build(),
            // The reader takes a buffer that is full for one that is too small.
            text: vec![0; MAX_RECORD + 1].into(),
            ends: vec![0; MAX_FIELDS].into(),
        }
    }

    /// The records of a table with this mark between its columns, whose fields may be quoted, of at most so many bytes and fields.
    pub(super) fn of_table(input: &'r mut dyn BufRead, delimiter: u8, (bytes, fields): (usize, usize)) -> Self {
        Self {
            input,
            reader: ReaderBuilder::new().delimiter(delimiter).build(),
            text: vec![0; bytes + 1].into(),
            ends: vec![0; fields].into(),
        }
    }

    /// The next record; `None` at the end of the input. Empty lines are no records.
    pub(super) fn next(&mut self) -> io::Result<Option<Piece<'_>>> {
        let (mut length, mut fields, mut oversized) = (0, 0, false);
        loop {
            let chunk = match self.input.fill_buf() {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                chunk => chunk?,
            };
            let text = self.text.get_mut(length..).unwrap_or_default();
            let ends = self.ends.get_mut(fields..).unwrap_or_default();
            let (result, read, written, ended) = self.reader.read_record(chunk, text, ends);
            self.input.consume(read);
            length += written;
            fields += ended;
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => {
                    (length, fields, oversized) = (0, 0, true);
                }
                ReadRecordResult::Record if oversized => return Ok(Some(Piece::Oversized)),
                ReadRecordResult::Record => break,
                ReadRecordResult::End => return Ok(None),
            }
        }
        let (text, ends) = (self.text.get(..length), self.ends.get(..fields));
        Ok(Some(Piece::Record(Record { text: text.unwrap_or_default(), ends: ends.unwrap_or_default() })))
    }
}

/// A record.
#[derive(Clone, Copy)]
pub(super) struct Record<'t> {
    text: &'t [u8],
    ends: &'t [usize],
}

impl<'t> Record<'t> {
    /// How many fields it has.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// A field without the blanks around it; empty if there is none.
    pub(super) fn field(&self, number: usize) -> &'t [u8] {
        let start = number.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied());
        let range = start.zip(self.ends.get(number).copied());
        range.and_then(|(start, end)| self.text.get(start..end)).unwrap_or_default().trim_ascii()
    }

    /// A field as text; `None` if it is empty or no UTF-8.
    pub(super) fn text(&self, number: usize) -> Option<&'t str> {
        std::str::from_utf8(self.field(number)).ok().filter(|text| !text.is_empty())
    }

    /// A field as a whole number, which may be written as `1.0`; `None` if it is empty or something else.
    pub(super) fn whole(&self, number: usize) -> Option<i64> {
        whole(self.field(number))
    }

    /// A field as a number times `unit`; `None` if it is empty, negative or something else.
    pub(super) fn scaled(&self, number: usize, unit: f64) -> Option<i64> {
        scaled(std::str::from_utf8(self.field(number)).ok()?, unit)
    }

    /// True if it names the columns: no field is a number, and not all are empty.
    pub(super) fn is_header(&self) -> bool {
        let mut fields = (0..self.len()).map(|number| self.field(number));
        let is_name = |field: &[u8]| {
            field.is_empty() || field.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'#')
        };
        fields.clone().all(is_name) && fields.any(|field| field.len() > 1)
    }
}

/// A whole number, which may be written as `1.0`.
pub(super) fn whole(field: &[u8]) -> Option<i64> {
    let (negative, digits) = match field {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.is_empty() {
        return None;
    }
    let mut number = 0_i64;
    for byte in digits {
        if !byte.is_ascii_digit() {
            return whole_float(std::str::from_utf8(field).ok()?.parse().ok()?);
        }
        number = number.checked_mul(10)?.checked_add(i64::from(byte - b'0'))?;
    }
    Some(if negative { -number } else { number })
}

/// A float that is a whole number.
pub(super) fn whole_float(number: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
}

/// A number times `unit`, rounded; `None` if it is negative, too large or no number.
pub(super) fn scaled(text: &str, unit: f64) -> Option<i64> {
    scaled_float(text.parse().ok()?, unit)
}

/// As [`scaled`].
pub(super) fn scaled_float(number: f64, unit: f64) -> Option<i64> {
    let product = (number * unit).round();
    (0.0..=9e18).contains(&product).then_some(product as i64)
}

/// Returns whether a record belongs to a table.
pub(super) type Is = fn(&Record<'_>) -> bool;

/// The first table to which most of the first records belong.
pub(super) fn table_of(head: &[u8], tables: &[(&'static str, Is)]) -> Option<&'static str> {
    tables.iter().find(|(_, is)| mostly(head, is)).map(|(table, _)| *table)
}

/// True if `is` holds for most of the first records. The first one may name the columns, and the last may be cut.
pub(super) fn mostly(head: &[u8], is: impl Fn(&Record<'_>) -> bool) -> bool {
    let whole = head.iter().rposition(|byte| *byte == b'\n').and_then(|end| head.get(..=end)).unwrap_or(head);
    let mut input = whole;
    let mut records = Records::new(&mut input, false);
    let (mut all, mut such) = (0_usize, 0_usize);
    while let Ok(Some(piece)) = records.next() {
        match piece {
            Piece::Record(record) if all == 0 && such == 0 && record.is_header() => {}
            Piece::Record(record) => {
                all += 1;
                such += usize::from(is(&record));
            }
            Piece::Oversized => all += 1,
        }
        if all == SNIFFED_RECORDS {
            break;
        }
    }
    such * 2 > all
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn fields(text: &str, quoted: bool) -> Vec<Vec<String>> {
        let mut input = text.as_bytes();
        let mut records = Records::new(&mut input, quoted);
        let mut all = Vec::new();
        while let Some(piece) = records.next().unwrap() {
            all.push(match piece {
                Piece::Record(record) => {
                    (0..record.len()).map(|number| String::from_utf8_lossy(record.field(number)).into_owned()).collect()
                }
                Piece::Oversized => vec!["oversized".to_owned()],
            });
        }
        all
    }

    #[test]
    fn lines_end_in_either_way_and_blanks_fall_off() {
        assert_eq!(fields("a, b,\r\n\n,c,d\n\"e,f", false), [vec!["a", "b", ""], vec!["", "c", "d"], vec!["\"e", "f"]]);
    }

    #[test]
    fn a_quoted_field_holds_commas_and_lines() {
        assert_eq!(fields("a,\"{'x': 1,\n'y': 2}\"\nb,c\n", true), [vec!["a", "{'x': 1,\n'y': 2}"], vec!["b", "c"]]);
    }

    #[test]
    fn what_is_too_long_is_passed_over() {
        let long = "x".repeat(5 * MAX_RECORD);
        let wide = ",".repeat(3 * MAX_FIELDS);
        for (text, quoted) in
            [(format!("a\n{long}\n{wide}\nb\n"), false), (format!("a\n\"{long}\"\n{wide}\nb\n"), true)]
        {
            assert_eq!(fields(&text, quoted), [["a"], ["oversized"], ["oversized"], ["b"]]);
        }
    }

    #[test]
    fn numbers_may_be_written_as_floats() {
        let reported = |text: &str| whole(text.as_bytes());
        assert_eq!(["12", "-843", "12846.0", "1e3"].map(reported), [Some(12), Some(-843), Some(12_846), Some(1_000)]);
        assert_eq!(reported("9223372036854775807"), Some(i64::MAX));
        for text in ["", "-", "1.5", "x", "9223372036854775808", "1e400", "nan", "--1"] {
            assert_eq!(reported(text), None, "{text}");
        }
        assert_eq!(scaled("6.199e-05", 1e12), Some(61_990_000));
        assert_eq!(scaled("0.125", 1e6), Some(125_000));
        assert_eq!(["-1", "nan", "inf", "1e30", ""].map(|text| scaled(text, 1e6)), [None; 5]);
    }
}
