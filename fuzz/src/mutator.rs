//! Changes an input a little, along its structure.
//!
//! All our inputs but two are text: lines of fields, JSON, TOML or XML. A changed byte seldom gets past their first check. So
//! most changes are to records (lines), to words (names, numbers) and to what brackets enclose. The words of the seeds serve
//! as a dictionary, so none has to be written for a new target.

use std::collections::BTreeSet;
use std::ops::Range;

use mutatis::{Candidates, Mutate, Rng};

/// The most bytes of an input. Limits of our readers that are higher have tests of their own.
pub const LONGEST: usize = 64 << 10;
/// The longest word of the dictionary, bytes.
const LONGEST_WORD: usize = 64;
/// The most copies that one change makes.
const MOST_COPIES: usize = 64;

/// Words that readers get wrong: limits of numbers, numbers that are none, and bytes that are no text.
const HOSTILE: &[&[u8]] = &[
    b"",
    b"0",
    b"-0",
    b"-1",
    b"1",
    b"255",
    b"65536",
    b"2147483648",
    b"4294967296",
    b"1000000000000",
    b"9223372036854775807",
    b"-9223372036854775808",
    b"18446744073709551615",
    b"99999999999999999999",
    b"1e308",
    b"1e-320",
    b"0.1",
    b"NaN",
    b"inf",
    b"null",
    b"true",
    b"[]",
    b"{}",
    b"\"\"",
    b"\xff\xfe",
    b"\0",
    "\u{feff}".as_bytes(),
    "é\u{301}\u{202e}".as_bytes(),
    b"../..",
    b"%00",
    b"\\u0000",
    b"&#x0;",
];

/// A change.
type Change = fn(&mut Rng, &[Vec<u8>], &mut Vec<u8>);

/// Changes that make an input no longer, for shrinking what a run has found.
const SHRINKING: &[Change] = &[drop_line, drop_word, drop_group, drop_bytes, cut];

/// Changes, those along the structure more than once, as they find more.
const CHANGES: &[Change] = &[
    drop_line,
    repeat_line,
    move_line,
    drop_word,
    swap_words,
    replace_word,
    replace_word,
    replace_word,
    replace_word,
    count_word,
    count_word,
    insert_word,
    drop_group,
    repeat_group,
    nest_group,
    drop_bytes,
    repeat_bytes,
    flip_bit,
    set_byte,
    extreme_integer,
    cut,
];

/// Makes inputs of other inputs, for `mutatis` and for libFuzzer.
#[derive(Debug, Clone)]
pub struct Mutator {
    words: Vec<Vec<u8>>,
}

impl Mutator {
    /// A mutator with the words of these seeds.
    pub fn of(seeds: &[(String, Vec<u8>)]) -> Self {
        let mut found = BTreeSet::new();
        for (_, seed) in seeds {
            let texts = words(seed).into_iter().filter_map(|range| seed.get(range));
            found.extend(texts.filter(|word| word.len() <= LONGEST_WORD).map(<[u8]>::to_vec));
        }
        Self { words: HOSTILE.iter().map(|word| word.to_vec()).chain(found).collect() }
    }
}

impl Mutate<Vec<u8>> for Mutator {
    fn mutate(&mut self, candidates: &mut Candidates<'_>, input: &mut Vec<u8>) -> mutatis::Result<()> {
        let changes = if candidates.shrink() { SHRINKING } else { CHANGES };
        if candidates.shrink() && input.is_empty() {
            return Ok(());
        }
        for change in changes {
            candidates.mutation(|context| {
                change(context.rng(), &self.words, input);
                input.truncate(LONGEST);
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// The lines, each with its end.
fn lines(input: &[u8]) -> Vec<Range<usize>> {
    let mut begin = 0;
    let mut all = Vec::new();
    for line in input.split_inclusive(|&byte| byte == b'\n') {
        all.push(begin..begin + line.len());
        begin += line.len();
    }
    all
}

/// The words: names and numbers.
fn words(input: &[u8]) -> Vec<Range<usize>> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.+-".contains(byte);
    let mut begin = 0;
    let mut all = Vec::new();
    for word in input.split(|byte| !is_word(byte)) {
        if !word.is_empty() {
            all.push(begin..begin + word.len());
        }
        begin += word.len() + 1;
    }
    all
}

/// What a random pair of brackets encloses, with the brackets; `None` if there is no pair.
fn group(rng: &mut Rng, input: &[u8]) -> Option<Range<usize>> {
    let opens: Vec<usize> = (0..input.len()).filter(|&at| closing(input[at]).is_some()).collect();
    let begin = rng.choose(&opens).copied()?;
    let (open, close) = (input[begin], closing(input[begin])?);
    let mut depth = 0_usize;
    for (at, &byte) in input.iter().enumerate().skip(begin) {
        if byte == open {
            depth += 1;
        } else if byte == close {
            depth -= 1;
            if depth == 0 {
                return Some(begin..at + 1);
            }
        }
    }
    None
}

fn closing(open: u8) -> Option<u8> {
    match open {
        b'{' => Some(b'}'),
        b'[' => Some(b']'),
        b'(' => Some(b')'),
        b'<' => Some(b'>'),
        _ => None,
    }
}

/// A random part of the input, of up to 64 bytes.
fn part(rng: &mut Rng, input: &[u8]) -> Option<Range<usize>> {
    let begin = rng.gen_index(input.len())?;
    let length = 1 + rng.gen_index((input.len() - begin).min(64))?;
    Some(begin..begin + length)
}

fn drop_line(rng: &mut Rng, _: &[Vec<u8>], input: &mut Vec<u8>) {
    if let Some(line) = rng.choose(lines(input)) {
        input.drain(line);
    }
}

fn repeat_line(rng: &mut Rng, _: &[Vec<u8>], input: &mut Vec<u8>) {
    let line = rng.choose(lines(input));
    repeat(rng, line, input);
}

fn move_line(rng: &mut Rng, _: &[Vec<u8>], input: &mut Vec<u8>) {
    let Some(line) = rng.choose(lines(input)) else { return };
    let moved: Vec<u8> = input.drain(line).collect();
    let to = rng.choose(lines(input)).map_or(0, |line| line.start);
    input.splice(to..to, moved);
}

fn drop_word(rng: &mut Rng, _: &[Vec<u8>], input: &mut Vec<u8>) {
    if let Some(word) = rng.choose(words(input)) {
        input.drain(word);
    }
}

fn swap_words(rng: &mut Rng, _: &[Vec<u8>], input: &mut Vec<u8>) {
    let all = words(input);
    let (Some(one), Some(other)) = (rng.choose(&all).cloned(), rng.choose(&all).cloned()) else { return };
    let (first, second) = if one.start <= other.start { (one, other) } else { (other, one) };
    if first == second {
        return;
    }
    let (front, back) = (input[first.clone()].to_vec(), input[second.clone()].to_vec());
    input.splice(second, front);
    input.splice(first, back);
}

fn replace_word(rng: &mut Rng, dictionary: &[Vec<u8>], input: &mut Vec<u8>) {
    if let (Some(word), Some(by)) = (rng.choose(words(input)), rng.choose(dictionary)) {
        input.splice(word, by.iter().copied());
    }
}

/// Makes a number one more or less, ten times as large, or negative.
fn count_word(rng: &mut Rng, _: &[Vec<u8>], input: &mut Vec<u8>) {
    let number = |word: &Range<usize>| std::str::from_utf8(&input[word.clone()]).ok()?.parse::<i64>().ok();
    let numbers: Vec<(Range<usize>, i64)> =
        words(input).into_iter().filter_map(|word| Some((word.clone(), number(&word)?))).collect();
    let Some((word, number)) = rng.choose(&numbers).cloned() else { return };
    let changed = match rng.gen_u8() % 4 {
        0 => number.saturating_add(1),
        1 => number.saturating_sub(1),
        2 => number.saturating_mul(10),
        _ => number.saturating_neg(),
    };
    input.splice(word, changed.to_string().into_bytes());
}

fn insert_word(rng: &mut Rng, dictionary: &[Vec<u8>], input: &mut Vec<u8>) {
    let at = rng.gen_index(input.len() + 1).unwrap_or(0);
    if let Some(word) = rng.choose(dictionary) {
        input.splice(at..at, word.iter().copied());
    }
}

fn drop_group(rng: &mut Rng, _: &[Vec<u8>], input: &mut Vec<u8>) {
    if let Some(group) = group(rng, input) {
        input.drain(group);
    }
}

fn repeat_group(rng: &mut Rng, _: &[Vec<u8>], input: &mut Vec<u8>) {
    let group = group(rng, input);
    repeat(rng, group, input);
}

/// Puts a group into itself, so that brackets nest deeper and deeper.
fn nest_group(rng: &mut Rng, _: &[Vec<u8>], input: &mut Vec<u8>) {
    let Some(group) = group(rng, input) else { return };
    let copy = input[group.clone()].to_vec();
    input.splice(group.start + 1..group.start + 1, copy);
}

fn drop_bytes(rng: &mut Rng, _: &[Vec<u8>], input: &mut Vec<u8>) {
    if let Some(part) = part(rng, input) {
        input.drain(part);
    }
}

fn repeat_bytes(rng: &mut Rng, _: &[Vec<u8>], input: &mut Vec<u8>) {
    let part = part(rng, input);
    repeat(rng, part, input);
}

/// Puts copies of a part behind it: mostly one, sometimes many.
fn repeat(rng: &mut Rng, part: Option<Range<usize>>, input: &mut Vec<u8>) {
    let Some(part) = part.filter(|part| !part.is_empty()) else { return };
    let most = if rng.gen_u8() < 32 { MOST_COPIES } else { 1 };
    let copies = most.min(LONGEST.saturating_sub(input.len()) / part.len());
    let copy = input[part.clone()].repeat(copies);
    input.splice(part.end..part.end, copy);
}

#[allow(clippy::ptr_arg, reason = "it is a `Change`")]
fn flip_bit(rng: &mut Rng, _: &[Vec<u8>], input: &mut Vec<u8>) {
    if let Some(at) = rng.gen_index(input.len()) {
        input[at] ^= 1 << (rng.gen_u8() % 8);
    }
}

#[allow(clippy::ptr_arg, reason = "it is a `Change`")]
fn set_byte(rng: &mut Rng, _: &[Vec<u8>], input: &mut Vec<u8>) {
    const TELLING: &[u8] = b"{}[]()<>\"'\\,:;=|&%\t\n\r \0\x7f\x80\xff-0";
    if let (Some(at), Some(&byte)) = (rng.gen_index(input.len()), rng.choose(TELLING)) {
        input[at] = byte;
    }
}

/// Writes a limit of an integer over some bytes, for binary formats.
fn extreme_integer(rng: &mut Rng, _: &[Vec<u8>], input: &mut Vec<u8>) {
    const LIMITS: &[&[u8]] =
        &[&[0xff; 4], &[0xff; 8], &[0; 8], &[0xff, 0xff, 0xff, 0x7f], &[0x7f, 0xff, 0xff, 0xff], &[0x80, 0, 0, 0]];
    let (Some(at), Some(limit)) = (rng.gen_index(input.len()), rng.choose(LIMITS)) else { return };
    let end = (at + limit.len()).min(input.len());
    input.splice(at..end, limit.iter().copied());
}

fn cut(rng: &mut Rng, _: &[Vec<u8>], input: &mut Vec<u8>) {
    let at = rng.gen_index(input.len()).unwrap_or(0);
    input.truncate(at);
}

#[cfg(test)]
mod tests {
    use mutatis::Session;

    use super::*;

    #[test]
    fn words_and_lines_are_found() {
        let text = b"a,b=-1.5\n{\"x_1\": 2}";
        let found: Vec<&[u8]> = words(text).into_iter().map(|word| &text[word]).collect();
        assert_eq!(found, [&b"a"[..], b"b", b"-1.5", b"x_1", b"2"]);
        assert_eq!(lines(text), [0..9, 9..19]);
    }

    #[test]
    fn one_seed_gives_one_chain_of_inputs_and_none_is_too_long() {
        let seeds = [("seed".to_owned(), b"job 1 {\"tasks\": [1, 2, {\"x\": 3}]}\n".repeat(40))];
        let chain = || {
            let (mut session, mut mutator) = (Session::new().seed(7), Mutator::of(&seeds));
            let mut input = seeds[0].1.clone();
            let step = |_| {
                assert!(session.mutate_with(&mut mutator, &mut input).is_ok());
                assert!(input.len() <= LONGEST);
                input.clone()
            };
            (0..2_000).map(step).collect::<Vec<_>>()
        };
        assert_eq!(chain(), chain());
    }

    #[test]
    fn shrinking_ends_with_nothing() {
        let mut session = Session::new().seed(1).shrink(true);
        let mut mutator = Mutator::of(&[]);
        let mut input = b"{\"a\": [1, 2]}\nb c\n".to_vec();
        for _ in 0..10_000 {
            let before = input.len();
            if session.mutate_with(&mut mutator, &mut input).is_err() {
                break;
            }
            assert!(input.len() <= before);
        }
        assert!(input.is_empty());
    }
}
