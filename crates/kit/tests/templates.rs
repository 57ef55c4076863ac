//! The templates of `resched new-policy --rust` compile against this crate, and their tests pass.
#![allow(
    dead_code,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "they are programs, which print, and this is a test"
)]

#[path = "../../cli/assets/new-policy/rust/containers/main.rs"]
mod containers;
#[path = "../../cli/assets/new-policy/rust/requests/main.rs"]
mod requests;
#[path = "../../cli/assets/new-policy/rust/slots/main.rs"]
mod slots;

use resched_kit::hadoop::{Kind, Offer, Policy, Reach};
use resched_kit::prelude::*;

/// A free slot goes to the job that came last.
struct LastFirst;

impl Policy for LastFirst {
    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let jobs = offer.view().jobs().to_vec();
        for &job in jobs.iter().rev() {
            while offer.free(Kind::Map) > 0 && offer.launch_map(job, Reach::Any)?.is_some() {}
            while offer.free(Kind::Reduce) > 0 && offer.launch_reduce(job)? {}
        }
        Ok(())
    }
}

const WORKLOAD: &str = include_str!("../../cli/assets/new-policy/data/slots/workload.toml");

fn compared(seeds: u64, policies: &[Candidate]) -> Result<Table, Error> {
    compare(&workload("morning", WORKLOAD)?, &Setup::default(), seeds, policies)
}

#[test]
fn each_policy_is_compared_with_the_first() -> Result<(), Error> {
    let mine = Candidate::hadoop("mine", || LastFirst);
    let table = compared(3, &[Candidate::listed("fifo"), mine])?;
    let [fifo, mine] = &table.rows[..] else { panic!("{table:?}") };
    assert_eq!((fifo.policy.as_str(), mine.policy.as_str(), mine.jobs), ("fifo", "mine", 12.0));
    let ratio = mine.ratio.map(|ratio| ratio.value).unwrap_or(1.0);
    assert!(ratio < 0.9 && mine.ratio.is_some_and(|ratio| ratio.is_certain()), "{table}");
    let text = table.to_string();
    assert!(text.lines().count() == 4 && text.contains("Changes are against fifo."), "{text}");
    assert!(text.lines().nth(1).is_some_and(|line| line.contains('–')), "the first has no change:\n{text}");
    Ok(())
}

#[test]
fn one_seed_has_no_interval() -> Result<(), Error> {
    let table = compared(1, &[Candidate::listed("fifo"), Candidate::listed("fair")])?;
    assert_eq!(table.rows[1].ratio.and_then(|ratio| ratio.interval), None);
    Ok(())
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let refused = |seeds, policies: &[Candidate]| compared(seeds, policies).unwrap_err();
    assert!(refused(0, &[Candidate::listed("fifo")]).is_request());
    assert!(refused(1, &[]).is_request());
    assert!(refused(1, &[Candidate::listed("fyfo")]).to_string().contains("fyfo"));
    let requests = Requests::on(1, 1).job(0, 1, 1, 1).source();
    let hadoop = compare(&requests, &Setup::default(), 1, &[Candidate::hadoop("mine", || LastFirst)]);
    assert!(hadoop.unwrap_err().is_request(), "it has no maps and reduces");
}
