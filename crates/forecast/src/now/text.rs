//! A list with a line of names: `squeue -o '%i|%u|%j|%P|%T|%r|%V|%S|%M|%l|%D|%C|%h'`, or `sacct -a -X -P -s R,PD`. The fields stand
//! between bars, or between spaces if there is none. Names are those of squeue(1) and sacct(1).

use std::collections::BTreeMap;

use resched_sim::Ms;
use resched_tables::clock::{Instant, Zone};

use super::listed::{Listed, ids};
use super::skip;
use crate::answer::time_of;

/// The fields that may hold spaces: what is too much in a line between spaces belongs to the first of them.
const WITH_SPACES: [&str; 4] = ["REASON", "NODELISTREASON", "NAME", "JOBNAME"];

/// The jobs of a list. It does not say when it was made.
pub(super) fn parse(
    text: &str,
    zone: Zone,
    skipped: &mut BTreeMap<String, u64>,
) -> Result<(Vec<Listed>, Option<Ms>), String> {
    let mut lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    let Some((head, first)) = lines.next() else {
        return Err("expected a line with the names of columns, found nothing".to_owned());
    };
    let has_bars = head.contains('|');
    let names: Vec<String> = fields(head, has_bars).iter().map(|name| plain(name)).collect();
    for (column, remedy) in [(&["JOBID"][..], "JobID"), (&["STATE", "ST"], "State")] {
        if !names.iter().any(|name| column.contains(&name.as_str())) {
            return Err(format!(
                "line {first}: expected a column {remedy}, found {head:?}; list it with squeue -o or sacct -o"
            ));
        }
    }
    let wide = names.iter().position(|name| WITH_SPACES.contains(&name.as_str()));
    let mut all = Vec::new();
    for (line, _) in lines {
        let mut cells: Vec<String> = fields(line, has_bars).into_iter().map(str::to_owned).collect();
        if let Some(wide) = wide.filter(|_| !has_bars && cells.len() > names.len()) {
            let extra = cells.len() - names.len();
            let joined = cells.drain(wide..=wide + extra).collect::<Vec<_>>().join(" ");
            cells.insert(wide, joined);
        }
        // A list that ends each line with a bar has one field more.
        if cells.len() != names.len() && !(has_bars && cells.len() == names.len() + 1) {
            skip(skipped, "line-with-another-number-of-fields", 1);
            continue;
        }
        let of = |wanted: &[&str]| {
            let found =
                names.iter().zip(&cells).find(|(name, value)| wanted.contains(&name.as_str()) && !value.is_empty());
            found.map(|(_, value)| value.as_str()).unwrap_or_default()
        };
        let job = listed(&of, zone);
        all.extend(ids(of(&["JOBID"]), skipped).into_iter().map(|id| Listed { id, ..job.clone() }));
    }
    Ok((all, None))
}

fn fields(line: &str, has_bars: bool) -> Vec<&str> {
    if has_bars { line.split('|').map(str::trim).collect() } else { line.split_whitespace().collect() }
}

/// The name of a column in capitals, without what is between words.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_uppercase()).collect()
}

fn listed<'l>(of: &impl Fn(&[&str]) -> &'l str, zone: Zone) -> Listed {
    let time = |wanted: &[&str]| instant(of(wanted), zone);
    let count = |wanted: &[&str]| of(wanted).parse::<i64>().ok();
    let exclusive = of(&["OVERSUBSCRIBE", "EXCLUSIVE", "SHARED"]);
    Listed {
        user: of(&["USER", "USERNAME"]).to_owned(),
        name: of(&["NAME", "JOBNAME"]).to_owned(),
        queue: of(&["PARTITION"]).to_owned(),
        account: of(&["ACCOUNT"]).to_owned(),
        qos: of(&["QOS"]).to_owned(),
        state: of(&["STATE", "ST"]).to_owned(),
        reason: of(&["REASON", "NODELISTREASON"]).to_owned(),
        priority: count(&["PRIORITY"]),
        submit: time(&["SUBMITTIME", "SUBMIT"]),
        eligible: time(&["ELIGIBLETIME", "ELIGIBLE"]),
        start: time(&["STARTTIME", "START"]),
        elapsed: time_used(of(&["TIME", "TIMEUSED", "ELAPSED"])),
        limit: time_of(of(&["TIMELIMIT"])).filter(|limit| *limit > 0),
        machines: count(&["REQNODES", "NODES", "NNODES", "NUMNODES"]),
        cpus: count(&["REQCPUS", "CPUS", "NCPUS", "NUMCPUS"]),
        exclusive: matches!(exclusive, "NO" | "EXCLUSIVE" | "YES_EXCLUSIVE")
            || of(&["SUBMITLINE"]).contains("--exclusive"),
        ..Listed::default()
    }
}

/// A time without a zone, ms since the epoch; `None` if it is none, such as `N/A`.
fn instant(text: &str, zone: Zone) -> Option<Ms> {
    if !text.contains('T') {
        return text.parse::<i64>().ok().filter(|seconds| *seconds > 0).and_then(|seconds| seconds.checked_mul(1_000));
    }
    let Ok(Instant::Date(shown)) = format!("{text}Z").parse() else { return None };
    let ahead = |at: Ms| i64::from(zone.ahead(at)) * 60_000;
    Some(shown - ahead(shown - ahead(shown)))
}

/// How long a job has run, as squeue writes it: `5:07`, `1:05:07`, `1-01:05:07`, ms.
fn time_used(text: &str) -> Option<Ms> {
    match text.split(':').count() {
        2 if !text.contains('-') => time_of(&format!("0:{text}")),
        3 => time_of(text),
        _ => None,
    }
}
