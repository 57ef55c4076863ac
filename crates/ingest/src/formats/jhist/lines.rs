//! Lines of bounded length.

use std::io::{self, BufRead, Read};

/// Most bytes of one event that are read. The largest are failures with their stack traces, some kilobytes.
pub(crate) const MAX_EVENT_BYTES: usize = 16 << 20;

/// What [`read_line`] found.
pub(super) enum Line {
    /// A longer line; it was skipped.
    Whole,
    /// A longer line; it was passed over.
    TooLong,
    /// The end of the input.
    End,
}

/// Reads a line of at most [`MAX_EVENT_BYTES`] with its newline into `line`.
pub(super) fn read_line(input: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<Line> {
    line.clear();
    let limit = u64::try_from(MAX_EVENT_BYTES).unwrap_or(u64::MAX);
    if (&mut *input).take(limit).read_until(b'\n', line)? == 0 {
        return Ok(Line::End);
    }
    if line.len() < MAX_EVENT_BYTES || line.ends_with(b"\n") {
        return Ok(Line::Whole);
    }
    input.skip_until(b'\n')?;
    Ok(Line::TooLong)
}
