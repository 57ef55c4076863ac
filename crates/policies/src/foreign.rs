//! Policies in another language, as the program that embeds resched gives them.

use std::collections::BTreeMap;
use std::fmt;

use resched_sim::batch;
use resched_sim::hadoop::{self, System};

use crate::error::Error;

/// How a policy in another language is made.
pub trait Foreign: fmt::Debug + Send + Sync {
    /// The system of a Hadoop cluster that it schedules; `None` for a policy for production traces.
    fn system(&self) -> Option<System>;

    /// Makes it for a replay of Hadoop, from the texts of its parameters by key.
    ///
    /// # Errors
    /// It cannot be made from these.
    fn make_hadoop(&self, values: &BTreeMap<String, String>) -> Result<Box<dyn hadoop::Policy>, Error>;

    /// Makes it for a replay of a production trace, from the texts of its parameters by key.
    ///
    /// # Errors
    /// It cannot be made from these.
    fn make_batch(&self, values: &BTreeMap<String, String>) -> Result<Box<dyn batch::Policy>, Error>;

    /// What its code is, such as its hash, by name. It stands among the parameters of a run, so that a run of other code is another run.
    fn identity(&self) -> BTreeMap<String, String>;
}

/// A policy in another language, as its program has loaded it.
#[derive(Debug)]
pub struct Loaded {
    /// The version of what the name stands for. It grows whenever the program loads other code under the same name.
    pub version: u64,
    /// A short description.
    pub title: String,
    /// Where it is written.
    pub source: String,
    /// True if it is an oracle, which knows run times.
    pub oracle: bool,
    /// Its parameters.
    pub parameters: Vec<LoadedParameter>,
    /// How it is made.
    pub policy: Box<dyn Foreign>,
}

/// A parameter of such a policy.
#[derive(Debug, Clone)]
pub struct LoadedParameter {
    /// The key by which you set it.
    pub key: String,
    /// Its values.
    pub range: LoadedRange,
    /// True if `auto` is also a value.
    pub auto: bool,
    /// Its value if you do not set it.
    pub default: String,
    /// The unit of the value; may be empty.
    pub unit: String,
    /// Its meaning.
    pub meaning: String,
}

/// The values of such a parameter.
#[derive(Debug, Clone)]
pub enum LoadedRange {
    /// Whole numbers, both ends included.
    Integer(i64, i64),
    /// Numbers, both ends included.
    Number(f64, f64),
    /// `true` or `false`.
    Boolean,
    /// One of these words.
    Choice(Vec<String>),
    /// The path of a file.
    File,
}
