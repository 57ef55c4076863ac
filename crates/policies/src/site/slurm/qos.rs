//! A quality of service of Slurm, from whatever file describes it.

use super::super::xml::Notes;
use super::Slurm;
use super::fields::Field;
use super::limits::{Took, plain, take};
use super::units::{MINUTE, SECOND, words};
use crate::error::Error;
use crate::input::Input;
use crate::queues::slurm::{Holder, Qos};
use crate::unread::Why;

/// What may become of jobs that lose their place.
pub(super) const MODES: [&str; 3] = ["off", "requeue", "cancel"];
const ONE_MODE: &str = "only the first word counts: jobs of one quality of service do not preempt each other";
pub(super) const SUSPENSION: &str = "its jobs are not suspended: they keep their place";
/// The flags of a quality of service that decide which jobs are accepted, and no more.
const AT_SUBMISSION: [&str; 6] = [
    "DenyOnLimit",
    "EnforceUsageThreshold",
    "PartitionMaxNodes",
    "PartitionMinNodes",
    "PartitionTimeLimit",
    "Relative",
];

/// Adds a quality of service with its settings. One that cannot be read is left out, with a note.
pub(super) fn add(slurm: &mut Slurm, name: String, fields: &[Field], notes: &mut Notes<'_>) {
    let mut qos = Qos::default();
    let mut limits = Vec::new();
    for field in fields {
        let took = set_of_qos(&mut qos, field, notes);
        match notes.lenient(&field.place, &field.name, took) {
            None | Some(Took::Known) => {}
            Some(Took::Limit(keys)) => limits.push((keys, field)),
            Some(Took::Unknown) => notes.unsupported(&field.place, &field.name, "resched does not know it"),
        }
    }
    slurm.note_limits(Holder::Qos(&name), limits);
    slurm.conf.qos.insert(name, qos);
}

/// Takes a setting of a quality of service.
fn set_of_qos(qos: &mut Qos, field: &Field, notes: &mut Notes<'_>) -> Result<Took, Error> {
    let value = field.value.trim();
    match plain(&field.name).as_str() {
        "priority" => qos.priority = field.number(notes, 0, u32::MAX)?,
        "usagefactor" => qos.usage_factor = field.number(notes, 0.0, 1e9)?,
        "preempt" => qos.preempt = words(value),
        "gracetime" => qos.grace_time = field.time(notes, SECOND)?.unwrap_or(0),
        "preemptexempttime" => qos.preempt_exempt_time = field.time(notes, MINUTE)?,
        // `cluster` is Slurm's word for what the whole cluster does.
        "preemptmode" => {
            // `within` may stand beside a mode.
            let mode = value.split(',').next().unwrap_or_default().trim().to_lowercase();
            if value.contains(',') {
                notes.unsupported(&field.place, &field.name, Why::on(Input::Preemption, ONE_MODE));
            }
            if mode != "cluster" && !MODES.contains(&mode.as_str()) {
                notes.unsupported(&field.place, &field.name, Why::on(Input::Preemption, SUSPENSION));
            }
            qos.preempt_mode = Some(mode).filter(|mode| mode != "cluster");
        }
        "flags" => {
            qos.flags = words(value);
            for flag in
                qos.flags.iter().filter(|flag| !AT_SUBMISSION.iter().any(|known| known.eq_ignore_ascii_case(flag)))
            {
                let setting = format!("{}={flag}", field.name);
                notes.unsupported(&field.place, &setting, "no policy looks at this flag");
            }
        }
        "name" | "id" | "description" | "descr" => {}
        _ => return take(&mut qos.limits, field, notes),
    }
    Ok(Took::Known)
}
