//! The header line of `sacct -P` or `-p`: which field stands where.

use resched_tables::Error;

/// The command that writes a file with all that is needed.
const COMMAND: &str = "`sacct -a -P -D --format=ALL -S 2026-01-01 -E 2026-02-01 > jobs.txt`, or `sacct -a -D --json -S … -E … > jobs.json`";

/// The field that each column of a list holds, and the text between two columns.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) names: Vec<String>,
    pub(super) between: String,
    /// True if each line ends with that text, too (`-p`).
    pub(super) is_closed: bool,
}

impl Header {
    /// The header in a line; `None` if it is no header of `sacct`, or one of columns of fixed width.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let end = line.find(|letter| !is_name(letter))?;
        let (_, rest) = line.split_at_checked(end)?;
        let between = rest.split(is_name).next().filter(|between| !between.is_empty())?;
        let is_closed = line.ends_with(between);
        let line = if is_closed { line.strip_suffix(between)? } else { line };
        let names: Vec<String> = line.split(between).map(str::to_owned).collect();
        let is_ours = ["JobID", "JobIDRaw"].iter().any(|id| names.iter().any(|name| name == id))
            && names.iter().any(|name| name == "State")
            && names.iter().all(|name| !name.is_empty() && name.chars().all(is_name));
        let is_parsable = between != " " && !between.starts_with("  ");
        (is_ours && is_parsable).then(|| Self { names, between: between.to_owned(), is_closed })
    }

    /// The column of the first of these fields that is there.
    pub(super) fn column(&self, fields: &[&str]) -> Option<usize> {
        fields.iter().find_map(|field| self.names.iter().position(|name| name == field))
    }

    /// The version of Slurm that has these fields, if only one of those that are known has: fields were renamed, and others are new.
    pub(super) fn version(&self) -> Option<&'static str> {
        let has = |names: &[&str]| self.column(names).is_some();
        if has(&["QOSREQ", "SLUID"]) {
            return Some("24.11");
        }
        has(&["Reserved", "ResvCPU", "ResvCPURAW"]).then_some("22.05")
    }

    /// What every job needs and the list lacks.
    pub(super) fn missing(&self) -> Vec<&'static str> {
        let needed: [(&str, &[&str]); 4] = [
            ("JobID", &["JobID", "JobIDRaw"]),
            ("Submit", &["Submit"]),
            ("State", &["State"]),
            ("AllocCPUS", &["AllocCPUS", "NCPUS", "ReqCPUS", "AllocTRES", "ReqTRES"]),
        ];
        let mut missing: Vec<&'static str> =
            needed.iter().filter(|(_, fields)| self.column(fields).is_none()).map(|(field, _)| *field).collect();
        let has_ends = self.column(&["Start"]).is_some() && self.column(&["End"]).is_some();
        if !has_ends && self.column(&["ElapsedRaw", "Elapsed"]).is_none() {
            missing.push("Start and End, or Elapsed");
        }
        missing
    }

    /// Refuses a list that lacks what every job needs.
    ///
    /// # Errors
    /// [`Error::Source`] with the missing fields.
    pub(super) fn check(&self, path: &str) -> Result<(), Error> {
        let missing = self.missing();
        if missing.is_empty() {
            return Ok(());
        }
        Err(refused(path, &format!("a list without {}", missing.join(", "))))
    }
}

/// True if a file starts like the output of `sacct` for people, in columns of fixed width.
pub(super) fn is_fixed_width(first: &str, second: Option<&str>) -> bool {
    let mut names = first.split_ascii_whitespace();
    let is_ruled = second.is_none_or(|line| line.starts_with("---") && line.bytes().all(|byte| b"- ".contains(&byte)));
    is_ruled && first.contains("  ") && names.any(|name| name == "JobID" || name == "JobIDRaw")
}

/// The error about a list that was printed in another way than this format needs.
pub(super) fn refused(path: &str, found: &str) -> Error {
    Error::Source {
        path: path.to_owned(),
        place: "line 1, ".to_owned(),
        expected: "the parsable output of sacct with the fields JobID, Submit, State, Start, End and AllocCPUS"
            .to_owned(),
        found: found.to_owned(),
        remedy: format!("write it by {COMMAND}"),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_header_shows_the_delimiter() {
        for (line, between, is_closed) in [
            ("JobID|State|Submit", "|", false),
            ("JobID|State|Submit|", "|", true),
            ("JobID,State,Submit", ",", false),
            ("JobID\tState\tSubmit", "\t", false),
            ("JobID@@State@@Submit@@", "@@", true),
        ] {
            let header = Header::parse(line).unwrap();
            assert_eq!(header.names, ["JobID", "State", "Submit"]);
            assert_eq!((header.between.as_str(), header.is_closed), (between, is_closed));
        }
        for other in ["JobID", "JobID           JobName  State", "JobID State", "a|b", "12|COMPLETED", ""] {
            assert!(Header::parse(other).is_none(), "{other}");
        }
    }

    #[test]
    fn fields_of_one_version_show_it() {
        for (line, expected) in [
            ("JobID|QOSREQ|State", Some("24.11")),
            ("JobID|ResvCPU|State", Some("22.05")),
            ("JobID|Planned|State", None),
        ] {
            assert_eq!(Header::parse(line).unwrap().version(), expected, "{line}");
        }
    }

    #[test]
    fn a_list_without_what_is_needed_is_refused_with_the_command() {
        let error = |line: &str| Header::parse(line).unwrap().check("f").unwrap_err().to_string();
        let found = error("JobID|State|NCPUS");
        assert!(
            found.contains("without Submit, Start and End, or Elapsed") && found.contains("sacct -a -P"),
            "{found}"
        );
        assert!(Header::parse("JobIDRaw|State|Submit|Elapsed|AllocTRES").unwrap().check("f").is_ok());
    }

    #[test]
    fn output_for_people_is_recognised() {
        let first = "JobID           JobName  Partition";
        assert!(is_fixed_width(first, Some("------------ ---------- ----------")));
        assert!(!is_fixed_width(first, Some("1 a b")) && !is_fixed_width("a   b", None));
    }
}
