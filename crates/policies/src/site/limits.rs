//! The limits of the configuration of a site.

use resched_tables::limits::Limit;

use super::kubernetes;
use super::slurm::{MOST_BYTES, MOST_HOSTS, MOST_INCLUDED, MOST_PARTITIONS, MOST_RESERVATIONS};
use super::xml::{DEEPEST, LONGEST, MOST_NODES};

const REFUSED: &str = "The request is refused.";

/// The limits of the configuration of a site.
pub const SITES: &[Limit] = &[
    Limit::bytes("file of the configuration of a site", LONGEST, "The request is refused. A real one has some 50 KB."),
    Limit::number("elements, texts and comments of such a file (XML)", MOST_NODES as u64, REFUSED),
    Limit::number("elements that lie in each other", DEEPEST as u64, REFUSED),
    Limit::bytes("`slurm.conf`, with the files that it includes", MOST_BYTES as u64, REFUSED),
    Limit::number("files that a `slurm.conf` includes", MOST_INCLUDED as u64, REFUSED),
    Limit::number("partitions of a `slurm.conf`", MOST_PARTITIONS as u64, REFUSED),
    Limit::number("reservations of a `reservations.txt`", MOST_RESERVATIONS as u64, REFUSED),
    Limit::number("hosts in all lists of a `slurm.conf`", MOST_HOSTS as u64, REFUSED),
    Limit::number("files with objects of Kubernetes in the folder of a site", kubernetes::MOST_FILES as u64, REFUSED),
    Limit::bytes("all of them together", kubernetes::MOST_BYTES, REFUSED),
];
