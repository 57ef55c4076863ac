//! The formats of a report.

use std::str::FromStr;

use crate::Error;

/// The files of a report. Parsed from a list, for example `png,html`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Formats {
    /// A PNG per chart.
    pub png: bool,
    /// An SVG per chart.
    pub svg: bool,
    /// A PDF per chart.
    pub pdf: bool,
    /// One page with tables and charts.
    pub html: bool,
    /// A notebook. It reads the tables, so they are written, too.
    pub notebook: bool,
    /// Tables: the numbers of each run, and of each job in each run.
    pub tables: bool,
}

impl Formats {
    /// The names of the formats.
    pub const NAMES: [&'static str; 6] = ["png", "svg", "pdf", "html", "notebook", "tables"];
    /// All of them.
    pub const ALL: Self = Self { png: true, svg: true, pdf: true, html: true, notebook: true, tables: true };
    /// None of them.
    pub const NONE: Self = Self { png: false, svg: false, pdf: false, html: false, notebook: false, tables: false };

    /// True if charts are needed.
    pub(crate) fn charts(self) -> bool {
        self.png || self.svg || self.pdf || self.html
    }

    /// True if tables are needed.
    pub(crate) fn tables(self) -> bool {
        self.tables || self.notebook
    }
}

impl FromStr for Formats {
    type Err = Error;

    fn from_str(list: &str) -> Result<Self, Error> {
        let mut formats = Self::NONE;
        for name in list.split(',').map(str::trim) {
            let format = match name {
                "png" => &mut formats.png,
                "svg" => &mut formats.svg,
                "pdf" => &mut formats.pdf,
                "html" => &mut formats.html,
                "notebook" => &mut formats.notebook,
                "tables" => &mut formats.tables,
                _ => {
                    let names = Self::NAMES.join(", ");
                    return Err(Error::Request(format!("expected a list of {names}, found `{name}`; leave it out")));
                }
            };
            *format = true;
        }
        Ok(formats)
    }
}
