//! Lists of hosts as Slurm writes them: `n[0-2,5],login1`.

use std::fmt::Write as _;

/// The hosts of a list, in its order; `None` if it is malformed or names more than `most`.
pub fn expand(list: &str, most: usize) -> Option<Vec<String>> {
    if !list.is_empty() && !list.contains(['[', ']', ',']) {
        return (most > 0).then(|| vec![list.to_owned()]);
    }
    let mut hosts = Vec::new();
    let mut before = String::new();
    for part in parts(list)? {
        expand_part(part, &mut before, most, &mut hosts)?;
    }
    Some(hosts)
}

/// The parts between the commas outside of brackets.
fn parts(list: &str) -> Option<Vec<&str>> {
    let (mut parts, mut from, mut is_inside) = (Vec::new(), 0, false);
    for (at, byte) in list.bytes().enumerate() {
        match byte {
            b'[' if !is_inside => is_inside = true,
            b']' if is_inside => is_inside = false,
            b'[' | b']' => return None,
            b',' if !is_inside => {
                parts.push(list.get(from..at)?);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(list.get(from..)?);
    (!is_inside && parts.iter().all(|part| !part.is_empty())).then_some(parts)
}

/// Adds the hosts of a part, of which what comes before is fixed.
fn expand_part(part: &str, before: &mut String, most: usize, hosts: &mut Vec<String>) -> Option<()> {
    let Some((start, rest)) = part.split_once('[') else {
        hosts.push([before, part].concat());
        return (hosts.len() <= most).then_some(());
    };
    let (ranges, end) = rest.split_once(']')?;
    let fixed = before.len();
    before.push_str(start);
    let stem = before.len();
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let width = first.len();
        let (first, last) = (number(first)?, number(last)?);
        for number in first..=last {
            write!(before, "{number:0width$}").ok()?;
            expand_part(end, before, most, hosts)?;
            before.truncate(stem);
        }
        // A range backwards names nothing.
        (first <= last).then_some(())?;
    }
    before.truncate(fixed);
    Some(())
}

/// Hosts as a list, in their order: hosts that count on from each other become a range.
pub fn fold<'a>(hosts: impl IntoIterator<Item = &'a str>) -> String {
    let mut ranges: Vec<Run<'a>> = Vec::new();
    for host in hosts {
        let run = Run::of(host);
        match ranges.last_mut().filter(|last| last.goes_on_with(&run)) {
            Some(last) => last.last = run.last,
            None => ranges.push(run),
        }
    }
    let texts: Vec<String> = ranges.iter().map(Run::text).collect();
    texts.join(",")
}

/// Hosts whose names differ in the number at their end alone.
struct Run<'a> {
    prefix: &'a str,
    first: &'a str,
    last: &'a str,
}

impl<'a> Run<'a> {
    fn of(host: &'a str) -> Self {
        let prefix = host.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = host.strip_prefix(prefix).unwrap_or_default();
        Self { prefix, first: digits, last: digits }
    }

    /// True if the next number has as many digits: `9` and `10` are two runs, and so read as they were.
    fn goes_on_with(&self, next: &Self) -> bool {
        let numbers = number(self.last).zip(number(next.first));
        self.prefix == next.prefix
            && self.last.len() == next.first.len()
            && !self.last.is_empty()
            && numbers.is_some_and(|(last, next)| last + 1 == next)
    }

    fn text(&self) -> String {
        let Self { prefix, first, last } = self;
        if first == last { format!("{prefix}{first}") } else { format!("{prefix}[{first}-{last}]") }
    }
}

fn number(digits: &str) -> Option<u64> {
    (digits.bytes().all(|byte| byte.is_ascii_digit()) && digits.len() <= 18).then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_expanded_in_their_order() {
        let of = |list| expand(list, 10).map(|hosts| hosts.join(" "));
        let some = |hosts: &str| Some(hosts.to_owned());
        assert_eq!(of("n[0-2,5]"), some("n0 n1 n2 n5"));
        assert_eq!(of("n[08-10]"), some("n08 n09 n10"));
        assert_eq!(of("a,r[1-2]n[3,4]x,b"), some("a r1n3x r1n4x r2n3x r2n4x b"));
        for wrong in ["", "n[", "n]", "n[]", "n[a]", "n[3-1]", "n[[1]]", "a,,b", "n[0-99]", "n[0-99999999999999999]"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_folded_list_reads_as_the_hosts() {
        for (hosts, list) in [
            ("n0 n1 n2 n5", "n[0-2],n5"),
            ("n8 n9 n10 n11", "n[8-9],n[10-11]"),
            ("n08 n09 n10", "n[08-10]"),
            ("a b b1 c2 c3", "a,b,b1,c[2-3]"),
            ("n2 n1 7 8 x", "n2,n1,[7-8],x"),
        ] {
            let hosts: Vec<&str> = hosts.split(' ').collect();
            assert_eq!(fold(hosts.iter().copied()), list);
            assert_eq!(
                expand(list, 10).as_deref(),
                Some(&hosts.iter().map(|&host| host.to_owned()).collect::<Vec<_>>()[..])
            );
        }
        assert_eq!(fold([]), "");
        assert_eq!(fold(["n999999999999999999", "n1000000000000000000"]), "n999999999999999999,n1000000000000000000");
    }
}
