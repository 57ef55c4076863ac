//! The answer in short, for the picture of a slide.

use std::cmp::Ordering;

use resched_analysis::metrics::groups::{By, GroupRow};
use resched_tables::words::count;

use crate::answer::Answer;
use crate::compared::Compared;
use crate::page::short::ShortNames;
use crate::page::title;
use crate::page::units::signed_times;
use crate::scene::Slide;

/// The most policies whose losers are named.
const MOST_NAMED: usize = 2;

/// The answer in short; `None` if no policies are compared, or the data cannot answer which is better.
pub(crate) fn slide(answer: &Answer) -> Option<Slide> {
    if !answer.is_answerable() || answer.compared.is_empty() {
        return None;
    }
    let names = ShortNames::of(answer);
    let change = |row: &Compared| {
        let ratio = row.found.ratio_of_means?;
        let percent = |ratio: f64| 100.0 * (ratio - 1.0);
        let name = format!("{}, {}", names.of_label(&row.policy), row.title.to_lowercase());
        Some((name, percent(ratio.value), ratio.interval.map(|ends| ends.map(percent))))
    };
    let who = answer.compared.iter().filter(|row| row.metric == "completion").take(MOST_NAMED);
    let who: String = who.map(|row| losers(answer, row, &names)).collect();
    Some(Slide {
        title: names.in_text(&title::question(answer)),
        changes: answer.compared.iter().filter_map(change).collect(),
        note: format!("{who}Grade: {}.", answer.validity.grade().in_words()),
    })
}

/// How many jobs end later and sooner under a policy, and the user, or else the queue, that loses most.
fn losers(answer: &Answer, row: &Compared, names: &ShortNames) -> String {
    let jobs = |share: Option<f64>| share.map(|share| (share * row.found.jobs as f64).round() as u64);
    let Some((later, sooner)) = jobs(row.found.longer).zip(jobs(row.found.shorter)) else { return String::new() };
    let worst = [By::User, By::Queue].into_iter().find_map(|by| worst(answer, by, &row.policy));
    let worst = worst.map_or_else(String::new, |group| {
        format!("; {} loses most ({} a job)", group.group, signed_times(&[group.change_ms]).concat())
    });
    format!(
        "Under {}, {} of {} jobs end later by more than {} and {} sooner{worst}. ",
        names.of_label(&row.policy),
        count(later),
        count(row.found.jobs),
        answer.matters,
        count(sooner),
    )
}

/// The group whose jobs lose most under a policy, if any loses.
fn worst<'a>(answer: &'a Answer, by: By, policy: &str) -> Option<&'a GroupRow> {
    let rows = answer.groups.iter().find(|group| group.by == by)?.rows.iter();
    let loses = rows.filter(|row| row.run == policy && row.change.is_some_and(|change| change > 0.0));
    loses.max_by(|one, other| one.change_ms.partial_cmp(&other.change_ms).unwrap_or(Ordering::Equal))
}
