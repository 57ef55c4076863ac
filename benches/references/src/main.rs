//! The models on the jobs of an SWF file: `models FILE SLOTS` prints the CPU seconds of each, best of three, and the end of the last
//! task, ms, as JSON. Every job takes one slot.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::rc::Rc;
use std::time::Instant;

use resched_references::{Ms, by_hand, by_simcore};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, slots] = arguments.as_slice() else { panic!("usage: models FILE SLOTS") };
    let slots = slots.parse().expect("SLOTS is a number");
    let text = std::fs::read_to_string(file).expect("the file can be read");
    let tasks: Rc<[(Ms, Ms)]> = text.lines().filter(|line| !line.starts_with(';')).map(task).collect();
    let (hand_loop, end) = timed(|| by_hand(&tasks, slots));
    let (simcore, other) = timed(|| by_simcore(Rc::clone(&tasks), slots));
    assert_eq!(end, other, "the models disagree on the end of the last task");
    println!("{{\"hand_loop\": {hand_loop}, \"simcore\": {simcore}, \"end_ms\": {end}}}");
}

/// Submission and run time of a job, ms: fields 2 and 4 of its line, s.
fn task(line: &str) -> (Ms, Ms) {
    let field = |number: usize| -> Ms { line.split_ascii_whitespace().nth(number - 1).unwrap().parse().unwrap() };
    (1_000 * field(2), 1_000 * field(4))
}

/// The least of three times, s. The models have one thread and wait for nothing, so this is processor time.
fn timed(model: impl Fn() -> Ms) -> (f64, Ms) {
    let once = || {
        let start = Instant::now();
        let end = model();
        (start.elapsed().as_secs_f64(), end)
    };
    [once(), once(), once()].into_iter().min_by(|one, other| one.0.total_cmp(&other.0)).unwrap()
}
