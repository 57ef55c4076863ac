//! Lists of hosts as Slurm writes them: `n[0-2,5],login1`.

/// The hosts of a list, in its order; `None` if it is malformed or names more than `most`.
pub fn expand(list: &str, most: usize) -> Option<Vec<String>> {
    let mut hosts = Vec::new();
    for part in parts(list)? {
        expand_part(part, "", most, &mut hosts)?;
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
fn expand_part(part: &str, before: &str, most: usize, hosts: &mut Vec<String>) -> Option<()> {
    let Some((start, rest)) = part.split_once('[') else {
        hosts.push(format!("{before}{part}"));
        return (hosts.len() <= most).then_some(());
    };
    let (ranges, end) = rest.split_once(']')?;
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let width = first.len();
        let (first, last) = (number(first)?, number(last)?);
        for number in first..=last {
            expand_part(end, &format!("{before}{start}{number:0width$}"), most, hosts)?;
        }
        // A range backwards names nothing.
        (first <= last).then_some(())?;
    }
    Some(())
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
}
