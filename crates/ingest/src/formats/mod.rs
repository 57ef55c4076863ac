//! The source formats, one module each. The content of a file decides its format.
//!
//! A format is a pair of functions: `sniff` looks at the first bytes (after decompression) and `read` turns a stream of
//! bytes into jobs and machines. No reader panics: a damaged record is skipped and counted by cause.
//!
//! [`FORMATS`] lists the formats in which a job stands in one place. [`TABLE_FORMATS`] lists those that spread a job
//! over tables. This module uses all formats. Code that several formats share is in modules that use no format.

pub(crate) mod accounting;
mod alibaba;
pub mod alibaba2017;
pub mod alibaba2018;
pub mod conf_xml;
pub(crate) mod csv;
mod format;
#[cfg(test)]
mod golden;
mod google;
pub mod google2011;
pub mod google2019;
pub mod gridengine;
pub mod gwf;
pub mod jhist;
mod json;
pub mod kubernetes;
pub mod kueue_workloads;
mod lenient;
#[cfg(test)]
mod limit_tests;
mod lines;
mod lists;
pub mod lsf;
pub mod mapped;
mod names;
pub mod openb;
mod over;
pub mod pbs;
#[cfg(test)]
mod reads_tests;
pub mod rumen;
pub mod sacct;
pub mod sls;
pub mod spark;
pub mod swf;
pub mod swim;
pub mod tables;
pub mod text_history;
pub mod topology;
pub mod yarn_apps;

use self::tables::TableFormat;

pub use self::format::{Format, ReadAs};
pub use self::names::{job_id_in_name, split_rack_and_host};

/// The group of the formats that Hadoop's MapReduce and its tools write about one cluster.
pub(crate) const HADOOP: &str = "hadoop";

/// All formats, in the order in which they are tried. To add a format, add a module and a line here.
pub const FORMATS: &[Format] = &[
    text_history::FORMAT,
    jhist::FORMAT,
    rumen::FORMAT,
    topology::FORMAT,
    swim::FORMAT,
    swf::FORMAT,
    gwf::FORMAT,
    kueue_workloads::FORMAT,
    spark::FORMAT,
    sls::FORMAT,
    sls::NODES,
    yarn_apps::FORMAT,
    sacct::FORMAT,
    pbs::FORMAT,
    lsf::FORMAT,
    gridengine::FORMAT,
    kubernetes::FORMAT,
    openb::FORMAT,
    openb::NODES,
];

/// All formats of event tables, in the order in which they are tried. To add a format, add a module and a line here.
pub const TABLE_FORMATS: &[TableFormat] =
    &[google2011::FORMAT, google2019::FORMAT, alibaba2018::FORMAT, alibaba2017::FORMAT];
