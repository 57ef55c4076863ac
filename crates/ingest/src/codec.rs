//! Numbers and texts as bytes, as `postcard` has them. It takes bytes one by one; here a value is written and read at once, because rows
//! of lists are written and read several times before they are tables.

/// Adds a number: seven bits a byte, the lowest first.
#[inline]
pub(crate) fn put(number: u64, into: &mut Vec<u8>) {
    if number < 0x80 {
        return into.push(number as u8);
    }
    let (mut bytes, mut length, mut rest) = ([0_u8; 10], 0, number);
    for byte in &mut bytes {
        *byte = rest as u8 | 0x80;
        rest >>= 7;
        length += 1;
        if rest == 0 {
            *byte &= 0x7f;
            break;
        }
    }
    into.extend_from_slice(bytes.get(..length).unwrap_or_default());
}

/// Adds a number that may be negative. Small numbers of either sign are short.
#[inline]
pub(crate) fn put_signed(number: i64, into: &mut Vec<u8>) {
    put(((number << 1) ^ (number >> 63)).cast_unsigned(), into);
}

/// Adds bytes behind their length.
#[inline]
pub(crate) fn put_bytes(bytes: &[u8], into: &mut Vec<u8>) {
    put(bytes.len() as u64, into);
    into.extend_from_slice(bytes);
}

/// Bytes that are read from the front. What is not there is `None`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Front<'b>(pub(crate) &'b [u8]);

impl<'b> Front<'b> {
    /// The next byte.
    #[inline]
    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(byte)
    }

    /// The next number.
    #[inline]
    pub(crate) fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for (place, &byte) in self.0.iter().take(10).enumerate() {
            number |= u64::from(byte & 0x7f).checked_shl(7 * place as u32)?;
            if byte < 0x80 {
                self.0 = self.0.get(place + 1..)?;
                return Some(number);
            }
        }
        None
    }

    /// The next number, if it is a count.
    #[inline]
    pub(crate) fn count(&mut self) -> Option<u32> {
        self.number().and_then(|number| u32::try_from(number).ok())
    }

    /// The next number that may be negative.
    #[inline]
    pub(crate) fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// The next bytes behind their length.
    #[inline]
    pub(crate) fn bytes(&mut self) -> Option<&'b [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    /// The next text.
    #[inline]
    pub(crate) fn text(&mut self) -> Option<&'b str> {
        let bytes = self.bytes()?;
        if bytes.is_empty() { Some("") } else { std::str::from_utf8(bytes).ok() }
    }
}

/// Adds values most of which are mostly not there: which of them are stands in front of all, a bit each. There may be 32.
#[derive(Debug)]
pub(crate) struct Sparse<'b> {
    bytes: &'b mut Vec<u8>,
    /// Where the bits stand.
    at: usize,
    bits: u32,
    next: u32,
}

impl<'b> Sparse<'b> {
    pub(crate) fn new(bytes: &'b mut Vec<u8>) -> Self {
        let at = bytes.len();
        bytes.extend_from_slice(&[0; size_of::<u32>()]);
        Self { bytes, at, bits: 0, next: 0 }
    }

    /// Adds a truth.
    #[inline]
    pub(crate) fn truth(&mut self, truth: bool) {
        self.bits |= u32::from(truth) << self.next;
        self.next += 1;
    }

    /// Adds a number that may be unknown.
    #[inline]
    pub(crate) fn number(&mut self, number: Option<u64>) {
        self.truth(number.is_some());
        if let Some(number) = number {
            put(number, self.bytes);
        }
    }

    /// As [`Sparse::number`], for counts.
    #[inline]
    pub(crate) fn count(&mut self, count: Option<u32>) {
        self.number(count.map(u64::from));
    }

    /// As [`Sparse::number`], for numbers that may be negative.
    #[inline]
    pub(crate) fn signed(&mut self, number: Option<i64>) {
        self.truth(number.is_some());
        if let Some(number) = number {
            put_signed(number, self.bytes);
        }
    }

    /// Adds a text that may be empty.
    #[inline]
    pub(crate) fn text(&mut self, text: &str) {
        self.some_text(Some(text).filter(|text| !text.is_empty()));
    }

    /// Adds a text that may be unknown, or empty.
    #[inline]
    pub(crate) fn some_text(&mut self, text: Option<&str>) {
        self.truth(text.is_some());
        if let Some(text) = text {
            put_bytes(text.as_bytes(), self.bytes);
        }
    }

    /// Adds the bits of all that was added.
    pub(crate) fn end(self) {
        let bits = self.bytes.get_mut(self.at..).and_then(|bytes| bytes.first_chunk_mut());
        bits.into_iter().for_each(|bits| *bits = self.bits.to_le_bytes());
    }
}

/// Reads what [`Sparse`] wrote, in the same order. What is damaged is `None`.
#[derive(Debug)]
pub(crate) struct SparseFront<'f, 'b> {
    front: &'f mut Front<'b>,
    bits: u32,
}

impl<'f, 'b> SparseFront<'f, 'b> {
    pub(crate) fn new(front: &'f mut Front<'b>) -> Option<Self> {
        let (bits, rest) = front.0.split_first_chunk()?;
        front.0 = rest;
        Some(Self { front, bits: u32::from_le_bytes(*bits) })
    }

    #[inline]
    pub(crate) fn truth(&mut self) -> bool {
        let truth = self.bits & 1 == 1;
        self.bits >>= 1;
        truth
    }

    #[inline]
    pub(crate) fn number(&mut self) -> Option<Option<u64>> {
        if self.truth() { self.front.number().map(Some) } else { Some(None) }
    }

    #[inline]
    pub(crate) fn count(&mut self) -> Option<Option<u32>> {
        self.number()?.map(u32::try_from).transpose().ok()
    }

    #[inline]
    pub(crate) fn signed(&mut self) -> Option<Option<i64>> {
        if self.truth() { self.front.signed().map(Some) } else { Some(None) }
    }

    #[inline]
    pub(crate) fn text(&mut self) -> Option<&'b str> {
        self.some_text().map(Option::unwrap_or_default)
    }

    #[inline]
    pub(crate) fn some_text(&mut self) -> Option<Option<&'b str>> {
        if self.truth() { self.front.text().map(Some) } else { Some(None) }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_postcard() {
        let numbers = (0..64).flat_map(|bit| [1_u64 << bit, (1 << bit) - 1, u64::MAX >> bit]);
        for number in numbers {
            let signed = [number.cast_signed(), number.cast_signed().wrapping_neg()];
            let mut bytes = Vec::new();
            put(number, &mut bytes);
            signed.iter().for_each(|&one| put_signed(one, &mut bytes));
            put_bytes(&number.to_le_bytes(), &mut bytes);
            assert_eq!(bytes, postcard::to_allocvec(&(number, signed, &number.to_le_bytes()[..])).unwrap());
            let mut front = Front(&bytes);
            assert_eq!(front.number(), Some(number));
            assert_eq!([front.signed(), front.signed()], signed.map(Some));
            assert_eq!((front.bytes(), front.0.len()), (Some(&number.to_le_bytes()[..]), 0));
        }
    }

    #[test]
    fn of_values_that_are_not_there_a_bit_is_written() {
        let mut bytes = vec![9];
        let mut to = Sparse::new(&mut bytes);
        to.truth(true);
        to.number(None);
        to.text("");
        to.some_text(Some(""));
        to.count(Some(7));
        to.signed(Some(-1));
        to.text("ab");
        to.truth(false);
        to.end();
        assert_eq!(bytes, [9, 0b0111_1001, 0, 0, 0, 0, 7, 1, 2, b'a', b'b']);
        let mut front = Front(&bytes[1..]);
        let mut from = SparseFront::new(&mut front).unwrap();
        assert_eq!((from.truth(), from.number(), from.text()), (true, Some(None), Some("")));
        assert_eq!((from.some_text(), from.count(), from.signed()), (Some(Some("")), Some(Some(7)), Some(Some(-1))));
        assert_eq!((from.text(), from.truth()), (Some("ab"), false));
        assert!(front.0.is_empty() && SparseFront::new(&mut Front(&[1, 2, 3])).is_none());
    }

    #[test]
    fn what_is_cut_or_damaged_is_nothing() {
        assert_eq!([Front(&[]).number(), Front(&[0x80]).number(), Front(&[0xff; 20]).number()], [None; 3]);
        assert_eq!([Front(&[2, 1]).bytes(), Front(&[0xff; 20]).bytes()], [None; 2]);
        assert_eq!(
            [Front(&[1, 0xff]).text(), Front(&[1, b'a']).text(), Front(&[0]).text()],
            [None, Some("a"), Some("")]
        );
    }
}
