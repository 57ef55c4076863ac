//! What decides the answer of a replay: the part of it that is known once its source is loaded.

use resched_policies::Family;
use resched_sim::batch::{Loaded, SizeRule};
use resched_sim::hadoop::{Cluster, System};
use resched_sim::{ClusterConfig, Skipped, Work};
use resched_trace::run::Unfinished;
use resched_trace::validity::{Fact, Grade, Validity};

/// Below this share, something that is made or unfinished does not decide an answer.
const SMALL: f64 = 0.05;
/// From this share on, nothing else decides the answer.
const MOST: f64 = 0.5;
