//! The limits of qualities of service and associations, under the names that `sacctmgr` gives them.
//!
//! **Source.** sacctmgr(1) of 22.05 and 23.11: the columns of `show qos` and `show assoc`, and the settings of `dump`.

use super::super::xml::Notes;
use super::fields::Field;
use super::units::{MINUTE, add_tres};
use crate::error::Error;
use crate::input::Input;
use crate::queues::slurm::{JobLimits, Limits};
use crate::unread::Why;

/// Whose limit it is.
#[derive(Debug, Clone, Copy)]
enum Of {
    Group,
    User,
    Account,
    Job,
}

/// What is limited.
#[derive(Debug, Clone, Copy)]
enum What {
    Tres,
    /// One resource of those that [`add_tres`] reads.
    One(&'static str),
    Jobs,
    Submitted,
    Wall,
}

/// The names of limits, in small letters and without blanks.
const LIMITS: &[(&str, Of, What)] = &[
    ("grptres", Of::Group, What::Tres),
    ("grpcpus", Of::Group, What::One("cpu")),
    ("grpnodes", Of::Group, What::One("node")),
    ("grpmem", Of::Group, What::One("mem")),
    ("grpjobs", Of::Group, What::Jobs),
    ("grpsubmit", Of::Group, What::Submitted),
    ("grpsubmitjobs", Of::Group, What::Submitted),
    ("maxtres", Of::Job, What::Tres),
    ("maxtrespj", Of::Job, What::Tres),
    ("maxtresperjob", Of::Job, What::Tres),
    ("maxcpus", Of::Job, What::One("cpu")),
    ("maxcpusperjob", Of::Job, What::One("cpu")),
    ("maxnodes", Of::Job, What::One("node")),
    ("maxnodesperjob", Of::Job, What::One("node")),
    ("maxtrespu", Of::User, What::Tres),
    ("maxtresperuser", Of::User, What::Tres),
    ("maxcpuspu", Of::User, What::One("cpu")),
    ("maxcpusperuser", Of::User, What::One("cpu")),
    ("maxnodespu", Of::User, What::One("node")),
    ("maxnodesperuser", Of::User, What::One("node")),
    ("maxjobs", Of::User, What::Jobs),
    ("maxjobspu", Of::User, What::Jobs),
    ("maxjobsperuser", Of::User, What::Jobs),
    ("maxsubmit", Of::User, What::Submitted),
    ("maxsubmitjobs", Of::User, What::Submitted),
    ("maxsubmitpu", Of::User, What::Submitted),
    ("maxsubmitjobspu", Of::User, What::Submitted),
    ("maxsubmitjobsperuser", Of::User, What::Submitted),
    ("maxtrespa", Of::Account, What::Tres),
    ("maxtresperaccount", Of::Account, What::Tres),
    ("maxjobspa", Of::Account, What::Jobs),
    ("maxjobsperaccount", Of::Account, What::Jobs),
    ("maxsubmitpa", Of::Account, What::Submitted),
    ("maxsubmitjobspa", Of::Account, What::Submitted),
    ("maxsubmitjobsperaccount", Of::Account, What::Submitted),
    ("maxwall", Of::Job, What::Wall),
    ("maxwallduration", Of::Job, What::Wall),
    ("maxwalldurationperjob", Of::Job, What::Wall),
];

const OVER_TIME: Why<'static> = Why::on(Input::Limits, "limits on what is used over time are not replayed");
const ACCEPTED: Why<'static> = Why::harmless("the log holds the jobs that were accepted");
const AGE: Why<'static> = Why::on(Input::PriorityWeights, "the jobs whose age counts are not limited");

/// Limits and settings without effect.
const UNREAD: &[(&str, Why<'static>)] = &[
    ("usagethres", OVER_TIME),
    ("usagethreshold", OVER_TIME),
    ("grpwall", OVER_TIME),
    ("grptresmins", OVER_TIME),
    ("grpcpumins", OVER_TIME),
    ("grptresrunmins", OVER_TIME),
    ("grpcpurunmins", OVER_TIME),
    ("maxtresmins", OVER_TIME),
    ("maxtresminsperjob", OVER_TIME),
    ("maxtresminspj", OVER_TIME),
    ("maxtresrunminspu", OVER_TIME),
    ("maxtresrunminsperuser", OVER_TIME),
    ("maxtresrunminspa", OVER_TIME),
    ("maxtresrunminsperaccount", OVER_TIME),
    ("maxcpumins", OVER_TIME),
    ("maxcpuminsperjob", OVER_TIME),
    ("maxcpurunmins", OVER_TIME),
    ("maxtrespernode", Why::harmless("the share of a job in each machine is not limited")),
    ("maxtrespn", Why::harmless("the share of a job in each machine is not limited")),
    ("mintres", ACCEPTED),
    ("mintresperjob", ACCEPTED),
    ("limitfactor", Why::on(Input::Limits, "the limits of a quality of service apply as they are")),
    ("minpriothresh", Why::bears("every job may get a plan")),
    ("minpriothreshold", Why::bears("every job may get a plan")),
    ("grpjobsaccrue", AGE),
    ("maxjobsaccrue", AGE),
    ("maxjobsaccruepu", AGE),
    ("maxjobsaccrueperuser", AGE),
    ("maxjobsaccruepa", AGE),
    ("maxjobsaccrueperaccount", AGE),
];

/// A name in small letters and without what stands between its words.
pub(super) fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_ascii_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect()
}

/// True if a value is none at all, or 0 of something that only counts above 0.
fn is_zero(value: &str) -> bool {
    value.chars().all(|c| matches!(c, '0' | ':' | '.'))
}

/// What was done with a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Took {
    /// It is taken, or named as having no effect.
    Known,
    /// It is taken, and limits what has these keys.
    Limit(Vec<&'static str>),
    /// It is not known.
    Unknown,
}

/// Takes a limit; says what has no effect.
pub(super) fn take(limits: &mut JobLimits, field: &Field, notes: &mut Notes<'_>) -> Result<Took, Error> {
    let name = plain(&field.name);
    if let Some((_, why)) = UNREAD.iter().find(|(known, _)| *known == name) {
        if !is_zero(&field.value) {
            notes.unsupported(&field.place, &field.name, *why);
        }
        return Ok(Took::Known);
    }
    let Some((_, of, what)) = LIMITS.iter().find(|(known, ..)| *known == name) else { return Ok(Took::Unknown) };
    let before = limits.keys();
    let known: &mut Limits = match of {
        Of::Group => &mut limits.group,
        Of::User => &mut limits.per_user,
        Of::Account => &mut limits.per_account,
        Of::Job => &mut limits.per_job,
    };
    let number = || -> Result<Option<u64>, Error> {
        // -1 takes a limit away.
        if field.value == "-1" { Ok(None) } else { field.number(notes, 0, u64::from(u32::MAX)).map(Some) }
    };
    match what {
        What::Jobs => known.jobs = number()?,
        What::Submitted => {
            known.submitted = number()?;
            if known.submitted.is_some() {
                notes.unsupported(&field.place, &field.name, ACCEPTED);
            }
        }
        What::Wall => limits.max_wall = field.time(notes, MINUTE)?,
        What::Tres | What::One(_) => {
            let text = if let What::One(name) = what { format!("{name}={}", field.value) } else { field.value.clone() };
            add_tres(known, &text).ok_or_else(|| field.wrong(notes, "amounts such as `cpu=24,mem=100G,gres/gpu=2`"))?;
        }
    }
    let set: Vec<&'static str> =
        limits.keys().into_iter().filter(|limit| !before.contains(limit)).map(|(key, _)| key).collect();
    Ok(if set.is_empty() { Took::Known } else { Took::Limit(set) })
}
