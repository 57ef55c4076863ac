//! The guess which scheduler ran a trace, in words.

use resched_compare::validate::Guessed;

/// The guess in words; `chosen` is the candidate that was taken.
pub(super) fn in_words(guessed: &Guessed, chosen: &str, jobs: u64) -> String {
    if !guessed.guess.can_tell() {
        let names: Vec<&str> = guessed.candidates.iter().map(|(name, _)| name.as_str()).collect();
        return format!(
            "The trace does not show which scheduler ran it: every job completes at the same time under {}. `{chosen}`, the \
             default, was replayed; name another with --policy.\n",
            names.join(", ")
        );
    }
    let mut ranked: Vec<&(String, f64)> = guessed.candidates.iter().collect();
    ranked.sort_by(|one, other| other.1.total_cmp(&one.1));
    let shares: Vec<String> =
        ranked.iter().map(|(name, probability)| format!("{name} {:.1} %", probability * 100.0)).collect();
    let evidence = if guessed.guess.is_clear() { "evidence" } else { "weak evidence" };
    format!(
        "Which scheduler ran the trace is guessed from the errors of its jobs ({evidence}: {} of {} jobs, effective sample size \
         {:.1}): {}. The trace has {} queue{}. `{chosen}` is shown; name another with --policy.\n",
        guessed.distinguishing_jobs,
        jobs,
        guessed.observations,
        shares.join(", "),
        guessed.queues,
        if guessed.queues == 1 { "" } else { "s" }
    )
}
