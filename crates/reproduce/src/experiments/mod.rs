//! The experiments, one file each, and the list of them.

mod coupling;
mod coupling_fig1;
mod coupling_fig10;
mod coupling_fig12;
mod coupling_fig16;
mod coupling_fig5;
mod coupling_table3;
mod coupling_table4;
mod delay;
mod delay_claims;
mod delay_locality;
mod delay_sizes;
mod dress;
mod dress_fit;
mod dress_mapreduce;
mod dress_mixed;
mod dress_spark;
mod dress_toy;
mod dress_twenty;
mod measures;
mod triple_queue;

use crate::Error;
use crate::experiment::Experiment;

/// All experiments, by paper.
pub const EXPERIMENTS: &[Experiment] = &[
    coupling_fig1::EXPERIMENT,
    coupling_table4::EXPERIMENT,
    coupling_fig5::EXPERIMENT,
    coupling_fig10::EXPERIMENT,
    coupling_fig12::EXPERIMENT,
    coupling_table3::EXPERIMENT,
    coupling_fig16::EXPERIMENT,
    triple_queue::EXPERIMENT,
    dress_toy::EXPERIMENT,
    dress_spark::EXPERIMENT,
    dress_mapreduce::EXPERIMENT,
    dress_mixed::EXPERIMENT,
    delay_locality::EXPERIMENT,
    delay_sizes::EXPERIMENT,
    delay_claims::EXPERIMENT,
];

/// The experiments of these names, in the order of [`EXPERIMENTS`]. Without names, all experiments.
///
/// # Errors
/// [`Error::Request`] with the known names if one is unknown.
pub fn find(names: &[String]) -> Result<Vec<&'static Experiment>, Error> {
    if let Some(unknown) = names.iter().find(|name| EXPERIMENTS.iter().all(|known| known.name != name.as_str())) {
        let known: Vec<&str> = EXPERIMENTS.iter().map(|known| known.name).collect();
        return Err(Error::Request(format!("unknown experiment `{unknown}`; expected some of {}", known.join(", "))));
    }
    let wanted = |known: &&Experiment| names.is_empty() || names.iter().any(|name| name == known.name);
    Ok(EXPERIMENTS.iter().filter(wanted).collect())
}
