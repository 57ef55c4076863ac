//! Names and racks of machines that resched makes up, and Hadoop's names of tasks.

/// The name of generated machine `node`, counted from 0: `node-00000`.
pub fn host_name(node: u32) -> String {
    format!("node-{node:05}")
}

/// The name of generated rack `rack`, counted from 0: `/rack-000`.
pub fn rack_name(rack: u32) -> String {
    format!("/rack-{rack:03}")
}

/// The rack of machine `node`, if `nodes` machines fill `racks` racks in order and as evenly as possible.
///
/// Counts of 0 are taken as 1.
pub fn rack_of(node: u32, nodes: u32, racks: u32) -> u32 {
    let rack = u64::from(node) * u64::from(racks.max(1)) / u64::from(nodes.max(1));
    u32::try_from(rack).unwrap_or(u32::MAX)
}

/// Writes the name of the task of a job's application masters at the end of `text`: `job_200904211745_0001_master`. Hadoop has none.
#[inline]
pub fn write_master_task(job: &str, text: &mut String) {
    text.push_str(job);
    text.push_str("_master");
}

/// As [`write_master_task`], by itself.
pub fn master_task(job: &str) -> String {
    let mut name = String::new();
    write_master_task(job, &mut name);
    name
}

/// The least digits of the number in Hadoop's name of a task.
pub const TASK_DIGITS: usize = 6;

/// Writes Hadoop's name of a task at the end of `text`: `task_200904211745_0001_m_000003` for map 3 of `job_200904211745_0001`. Any
/// other job `X` has the same tasks as a job `job_X`. The letter is `m` for a map and `r` for a reduce.
#[inline]
pub fn write_task_name(job: &str, letter: char, number: u64, text: &mut String) {
    text.push_str("task_");
    text.push_str(job.strip_prefix("job_").unwrap_or(job));
    text.extend(['_', letter, '_']);
    push_number(number, text);
}

/// Writes a number with at least [`TASK_DIGITS`] digits. Each of millions of tasks has one, and `write!` takes four times as long.
fn push_number(mut number: u64, text: &mut String) {
    // As many as the largest number has.
    let mut digits = [b'0'; 20];
    let mut written = 0;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
        written += 1;
        if number == 0 {
            break;
        }
    }
    let from = digits.len() - written.max(TASK_DIGITS);
    text.push_str(digits.get(from..).and_then(|digits| str::from_utf8(digits).ok()).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_named_as_hadoop_names_it() {
        let named = |job: &str, letter: char, number: u64| {
            let mut text = "a".to_owned();
            write_task_name(job, letter, number, &mut text);
            text
        };
        for number in [0, 9, 10, 99_999, 100_000, 999_999, 1_000_000, 12_345_678, u64::MAX] {
            assert_eq!(named("job_7_0001", 'm', number), format!("atask_7_0001_m_{number:06}"));
        }
        assert_eq!(named("odd", 'r', 3), "atask_odd_r_000003");
    }
}
