//! Metrics of a small run whose numbers are worked out by hand, and the errors of the grammar.

use std::collections::{BTreeMap, BTreeSet};

use resched_tables::model::{Outcome, Priority};
use resched_tables::standing::Standing;

use super::*;
use crate::{JobMetrics, Origin, Run};

/// Ten finished jobs of 1 to 10 tasks, which completed after 10, 20, …, 100 s; every second one was adhoc. An eleventh failed.
fn run() -> Run {
    let job = |n: u64| JobMetrics {
        job_id: format!("j{n}"),
        name: (n != 3).then(|| format!("query {n}").into()),
        user: (n <= 5).then(|| "ann".into()),
        queue: Some(if n.is_multiple_of(2) { "adhoc" } else { "prod" }.into()),
        priority: (n == 1).then_some(Priority::High),
        priority_number: (n == 2).then_some(9),
        submit: Some(n as i64 * 3_600_000),
        outcome: if n == 11 { Outcome::Failed } else { Outcome::Success },
        standing: if n == 11 { Standing::Failed } else { Standing::Counts },
        completion: Some(n as i64 * 10_000),
        waiting: (n != 1).then_some(n as i64 * 1_000),
        starvation: (n > 8).then_some(n as f64),
        finish: Some(n as i64 * 3_600_000),
        tasks_done: n as u32,
        input_bytes: Some(n as i64 * 1_000_000),
        ..JobMetrics::default()
    };
    Run {
        label: String::new(),
        origin: Origin::Replay(Box::default()),
        skipped: BTreeMap::new(),
        jobs: (1..=11).map(job).collect(),
        intervals: Vec::new(),
        nodes: Vec::new(),
        spread: std::collections::BTreeMap::new(),
        peaks: [0.0; 2],
        decisions: Vec::new(),
        resources: Vec::new(),
    }
}

fn value(text: &str) -> Option<f64> {
    let run = run();
    Metric::named(text).unwrap_or_else(|problem| panic!("{problem}")).of(&Measured::new(&run))
}

fn problem(text: &str) -> String {
    Metric::named(text).unwrap_err().to_string()
}

#[test]
fn aggregates_are_over_the_finished_jobs_and_waits_over_those_that_started() {
    for (text, expected) in [
        ("mean(completion)", 55_000.0),
        ("median(completion)", 55_000.0),
        ("p50(completion)", 55_000.0),
        // numpy.quantile(range(10_000, 110_000, 10_000), [0.95, 0.999]) = [95500, 99910]
        ("p95(completion)", 95_500.0),
        ("p99.9(completion)", 99_910.0),
        ("p0(completion)", 10_000.0),
        ("p100(completion)", 100_000.0),
        ("min(waiting)", 2_000.0),
        ("max(tasks)", 10.0),
        ("sum(tasks)", 55.0),
        // numpy.std(range(1, 11), ddof=1) = 3.0276503540974917
        ("stddev(tasks)", 3.027_650_354_097_491_7),
        ("count()", 10.0),
        ("share(completion > 70s)", 0.3),
        ("share(user = 'ann') where tasks > 2", 0.375),
        // Only the last three have reduces: the others do not count as 0. The last one failed.
        ("mean(starvation)", 10.0),
        ("mean_starvation", 10.0),
        ("max(waiting)", 11_000.0),
        ("jobs_finished", 10.0),
    ] {
        let found = value(text).unwrap();
        assert!((found - expected).abs() <= 1e-12 * expected, "{text}: {found}");
    }
    assert_eq!(value("mean(completion) where tasks > 99"), None);
    assert_eq!(value("stddev(tasks) where tasks = 1"), None, "one value does not show the spread");
    assert_eq!(value("count() where tasks > 99"), Some(0.0));
    assert_eq!(value("mean(slowdown)"), None);
}

#[test]
fn filters_choose_the_jobs() {
    for (text, expected) in [
        ("queue = 'adhoc'", 5.0),
        ("queue != 'adhoc'", 5.0),
        ("not queue = 'adhoc'", 5.0),
        ("queue = 'adhoc' and tasks <= 4", 2.0),
        ("queue = 'adhoc' or tasks <= 4", 7.0),
        ("tasks <= 4 and queue = 'adhoc' or tasks = 9", 3.0),
        ("tasks <= 4 and (queue = 'adhoc' or tasks = 9)", 2.0),
        ("tasks in (1, 3, 77)", 2.0),
        ("tasks not in (1, 3)", 8.0),
        ("name like 'query 1%'", 2.0),
        ("name not like '%1%'", 7.0),
        ("name is null", 1.0),
        ("name is not null and waiting is null", 1.0),
        // Unknown users are neither ann nor not ann.
        ("user = 'ann'", 5.0),
        ("user != 'ann'", 0.0),
        ("not (user = 'ann')", 0.0),
        ("user = 'ann' or tasks > 9", 6.0),
        ("waiting >= 0.1min", 5.0),
        ("completion < 20 s", 1.0),
        ("input > 7MB and input <= 9 MB", 2.0),
        ("submit_hour in (1, 10)", 2.0),
        ("priority = 'HIGH'", 1.0),
        ("priority = 9", 1.0),
        ("priority is null", 8.0),
        ("size = 'small'", 5.0),
        ("size = 'large'", 1.0),
        ("size not in ('small', 'large')", 4.0),
        ("size = 'medium'", 4.0),
        ("job = 'j''7'", 0.0),
        // A filter on the outcome asks about all jobs.
        ("outcome = 'FAILED'", 1.0),
        ("outcome in ('FAILED', 'SUCCESS') and tasks > 9", 2.0),
    ] {
        assert_eq!(value(&format!("count() where {text}")), Some(expected), "{text}");
    }
    assert_eq!(value("p95_completion where tasks <= 2"), Some(19_500.0), "a known name takes a filter, too");
    assert_eq!(value("mean_completion_small"), Some(30_000.0));
    assert_eq!(value("mean_completion_small where queue = 'adhoc'"), Some(30_000.0));
    assert_eq!(value("mean_completion_large"), Some(100_000.0));
}

#[test]
fn the_direction_follows_from_the_quantity_or_is_given() {
    let less = |text: &str| Metric::named(text).unwrap().less_is_better;
    assert_eq!(
        [less("p95(waiting)"), less("sum(tasks)"), less("makespan"), less("fairness")],
        [true, false, true, false]
    );
    assert!(less("count() where outcome = 'FAILED', less is better"));
    assert!(!less("max(completion), more is better"));
    let metric = Metric::named(" mean(waiting) ").unwrap();
    assert_eq!(
        (metric.name.as_str(), metric.unit, metric.in_words(90_500.0)),
        (" mean(waiting) ", "ms", "90.5 s".to_owned())
    );
}

#[test]
fn every_number_of_the_list_has_a_formula() {
    assert_eq!(listed().len(), NUMBERS.len());
    for (number, metric) in listed() {
        assert_eq!((metric.name.as_str(), metric.title.as_str()), (number.name, number.title));
        assert!(!number.meaning().is_empty() && !number.null().is_empty(), "{number:?}");
    }
    let fields: BTreeSet<&str> = NUMBERS.iter().map(|number| number.field).collect();
    assert_eq!(fields.len(), NUMBERS.len(), "each has a name of its own in report.json");
    let details = crate::Details::MEASURES.iter().map(|measure| measure.name);
    assert!(details.clone().all(|name| fields.contains(name)), "{:?}", details.collect::<Vec<_>>());
}

#[test]
fn formulas_are_put_together() {
    for (text, expected) in [
        ("sum(tasks) / count()", 5.5),
        ("max(finish) - min(submit)", 32_400_000.0),
        ("makespan / 1h", 9.0),
        ("1 + 2 * (count() - 4) - 1", 12.0),
        ("count() - 2 - 3", 5.0),
        ("jobs_per_hour", 10.0 / 9.0),
        // 10 + 2 + 3 + … + 11 s: of the first job no start is known, so that it was in the queue to its end. The last one failed.
        ("sum(in_queue)", 75_000.0),
        // The jobs of the two queues complete after 50 and 60 s on average: 110² / (2·(50² + 60²)).
        ("jain(mean(completion) by queue)", 12_100.0 / 12_200.0),
        ("sum(tasks) / count() where queue = 'adhoc'", 6.0),
        ("jain(count() by queue) where tasks <= 3", 9.0 / 10.0),
    ] {
        let found = value(text);
        assert!(found.is_some_and(|found| (found - expected).abs() < 1e-12), "{text}: {found:?}");
    }
    for text in ["jain(mean(completion) by user)", "mean(completion) / (count() - 10)", "sum(starvation) / 0"] {
        assert_eq!(value(text), None, "{text}");
    }
    let metric = Metric::named("mean(completion) / mean(waiting)").unwrap();
    assert_eq!((metric.unit, metric.less_is_better), ("", true));
    assert_eq!(Metric::named("sum(completion) * 2").unwrap().unit, "ms");
}

#[test]
fn formulas_are_data_for_other_programs() {
    let data = |text: &str| Metric::named(text).unwrap().formula().map(|data| data.to_string());
    assert_eq!(data("p95(completion)").unwrap(), r#"["quantile","completion",0.95]"#);
    assert_eq!(
        data("jobs_per_hour").unwrap(),
        r#"["/",["*",["count"],3600000.0],["-",["max","finish"],["min","submit"]]]"#
    );
    assert_eq!(data("user_fairness").unwrap(), r#"["jain",["mean","bounded_slowdown"],"user"]"#);
    for text in ["mean(completion) where tasks = 1", "map_utilisation", "share(tasks > 1)"] {
        assert_eq!(data(text), None, "{text}");
    }
}

#[test]
fn a_problem_points_at_its_place() {
    let quantities: Vec<&str> = QUANTITIES.iter().map(|quantity| quantity.name).collect();
    assert_eq!(
        problem("p95(completoin) where queue = 'adhoc'"),
        format!(
            "expected a quantity of a job, found `completoin`; did you mean `completion`? ({})\n  p95(completoin) where queue = 'adhoc'\n      \
             ^^^^^^^^^^",
            quantities.join(", ")
        )
    );
    for (text, place, expected) in [
        ("", "^", "expected a metric, such as mean_completion or p95(completion)"),
        ("mean_completoin", "^^^^^^^^^^^^^^^", "did you mean `mean_completion`?"),
        ("meen(completion)", "^^^^", "did you mean `mean`?"),
        ("p101(completion)", "^^^^", "expected an aggregate"),
        ("completion", "^^^^^^^^^^", "for example mean(completion)"),
        ("mean(completion", "               ^", "expected `)`, found the end"),
        ("mean(completion) wher tasks = 1", "                 ^^^^", "expected `where`"),
        ("mean(completion) where", "                      ^", "expected a filter"),
        ("mean(completion) where queu = 'a'", "                       ^^^^", "did you mean `queue`?"),
        ("mean(completion) where queue", "                            ^", "expected one of =, !="),
        ("mean(completion) where queue ~ 'a'", "                             ^", "found `~`"),
        ("mean(completion) where queue = adhoc", "                               ^^^^^", "a text in single quotes"),
        ("mean(completion) where queue = 'adhoc", "                               ^^^^^^", "closing quote is missing"),
        ("mean(completion) where queue = 3", "                               ^", "expected a text in single quotes"),
        ("mean(completion) where queue < 'a'", "                       ^^^^^", "is not a number"),
        ("mean(completion) where waiting > 10", "                                 ^^", "such as 90s or 10min"),
        ("mean(completion) where waiting > 5m", "                                  ^", "did you mean `min`?"),
        ("mean(completion) where waiting > 10mins", "                                   ^^^^", "did you mean `min`?"),
        ("mean(completion) where input > 10s", "                               ^^^", "such as 64MiB"),
        ("mean(completion) where tasks > 10s", "                               ^^^", "a number without a unit"),
        ("mean(completion) where tasks like 'a'", "                       ^^^^^", "takes no `like`"),
        ("mean(completion) where size = 'smal'", "                              ^^^^^^", "did you mean `small`?"),
        ("mean(completion) where (tasks = 1", "                                 ^", "expected `and`, `or` or `)`"),
        ("mean(completion) where tasks in 1", "                                ^", "expected `(`"),
        ("mean(completion) where tasks not 1", "                                 ^", "expected `in` or `like`"),
        ("makespan where tasks = 1", "^^^^^^^^", "takes no filter"),
        ("sum(waiting) / makespan where tasks = 1", "^^^^^^^^^^^^^^^^^^^^^^^", "takes no filter"),
        ("mean(completion) + count()", "                 ^", "a number of ms `+` a plain number has no unit"),
        ("1h / 2", "^^^^^^", "expected a metric, such as mean_completion"),
        ("mean(completion) / ", "                   ^", "expected a metric"),
        ("(mean(completion)", "                 ^", "expected `)`"),
        ("jain(mean(completion) by tasks)", "                         ^^^^^", "an attribute of a job that is a text"),
        ("jain(mean(completion))", "                     ^", "expected `by` and an attribute"),
        ("makespan, best", "          ^^^^", "expected `less is better`"),
        ("mean(ä) where name = 'ü'", "     ^", "expected a quantity"),
        ("makespan\nx", "         ^", "or the end, found `x`"),
    ] {
        let found = problem(text);
        assert!(found.contains(expected), "{text}\n{found}");
        let carets = if text.is_empty() { "^" } else { found.lines().last().unwrap().strip_prefix("  ").unwrap() };
        assert_eq!(carets, place, "{found}");
    }
}

#[test]
fn an_expression_at_the_limit_is_read_and_a_longer_one_refused() {
    let padded = |length: usize| format!("{:<length$}", "mean(completion)");
    assert_eq!(value(&padded(LONGEST)), Some(55_000.0));
    let found = problem(&padded(LONGEST + 1));
    assert!(found.contains("expected a metric of up to 10000 bytes, found 10001; shorten it"), "{found}");
}

#[test]
fn parentheses_are_nested_up_to_the_limit_and_not_deeper() {
    let nested = |inner: &str, depth: usize| format!("{}{inner}{}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(value(&nested("mean(completion)", DEEPEST)), Some(55_000.0));
    let found = problem(&nested("mean(completion)", DEEPEST + 1));
    assert!(found.contains("a formula that is nested less deeply"), "{found}");
    let filtered = |depth| format!("count() where {}", nested("tasks > 0", depth));
    assert_eq!(value(&filtered(DEEPEST)), Some(10.0));
    assert!(problem(&filtered(DEEPEST + 1)).contains("a filter that is nested less deeply"));
}

#[test]
fn hostile_texts_are_refused_and_do_not_overflow() {
    for text in [
        format!("count() where {}", "(".repeat(5_000)),
        format!("count() where {}", "not ".repeat(2_000)),
        format!("{}count()", "(".repeat(5_000)),
        format!("{}count()", "1+".repeat(4_000)),
        "(".repeat(20_000),
        "count() where tasks = 9999999999999999999999999999999".repeat(3),
        "\u{0}\u{1b}[31m".to_owned(),
    ] {
        assert!(Metric::named(&text).is_err(), "{text:.40}");
    }
    assert_eq!(value("count() where tasks < 99999999999999999999999999"), Some(10.0));
}

#[test]
fn values_are_read_in_the_unit_of_the_metric() {
    let number = |text: &str, metric: &str| Metric::named(metric).unwrap().number(text);
    assert_eq!(number("30s", "mean_waiting"), Ok(30_000.0));
    assert_eq!(number("1h 30m", "makespan"), Ok(5_400_000.0));
    assert_eq!(number("90%", "node_locality"), Ok(0.9));
    assert_eq!(number("0.9", "node_locality"), Ok(0.9));
    for (text, metric, expected) in
        [("30", "mean_waiting", "30s or 5min"), ("30s", "node_locality", "0.9 or 90%"), ("nan", "fairness", "a number")]
    {
        assert!(number(text, metric).unwrap_err().contains(expected), "{text}");
    }
}
