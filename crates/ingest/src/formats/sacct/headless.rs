//! Lists without a header (`sacct -n`).
//!
//! Open XDMoD asks for such lists, with fields that each of its versions has in a fixed order. They are recognised by the shapes of their
//! columns. For any other list, `--fields` names the columns.
//!
//! **Source.** Open XDMoD's manual, *Configuration Guide, Slurm*: its command, and those of the versions before.

use resched_tables::Error;

use super::fields::Shape;
use super::header::Header;
use super::times::Clock;
use super::values::duration;

/// The fields that Open XDMoD asks for, the newest version first.
const XDMOD: [&str; 6] = [
    "JobID,JobIDRaw,Cluster,Partition,QOS,Account,Group,GID,User,UID,Submit,Eligible,Start,End,Elapsed,ExitCode,State,\
     NNodes,NCPUS,ReqCPUS,ReqMem,ReqTRES,AllocTRES,Timelimit,NodeList,JobName",
    "JobID,JobIDRaw,Cluster,Partition,Account,Group,GID,User,UID,Submit,Eligible,Start,End,Elapsed,ExitCode,State,\
     NNodes,NCPUS,ReqCPUS,ReqMem,ReqGRES,ReqTRES,AllocTRES,Timelimit,NodeList,JobName",
    "JobID,JobIDRaw,Cluster,Partition,Account,Group,GID,User,UID,Submit,Eligible,Start,End,Elapsed,ExitCode,State,\
     NNodes,NCPUS,ReqCPUS,ReqMem,ReqTRES,AllocTRES,Timelimit,NodeList,JobName",
    "JobID,JobIDRaw,Cluster,Partition,Account,Group,GID,User,UID,Submit,Eligible,Start,End,Elapsed,ExitCode,State,\
     NNodes,NCPUS,ReqCPUS,ReqMem,ReqGRES,ReqTRES,Timelimit,NodeList,JobName",
    "JobID,JobIDRaw,Cluster,Partition,Account,Group,GID,User,UID,Submit,Eligible,Start,End,Elapsed,ExitCode,State,\
     NNodes,NCPUS,ReqCPUS,ReqMem,ReqGRES,Timelimit,NodeList,JobName",
    "JobID,JobIDRaw,Cluster,Partition,Account,Group,GID,User,UID,Submit,Eligible,Start,End,Elapsed,ExitCode,State,\
     NNodes,NCPUS,ReqCPUS,ReqMem,Timelimit,NodeList,JobName",
];

/// So many of the first lines decide.
const DECIDING: usize = 10;
/// The texts that may be between two columns, the longest first.
const DELIMITERS: [&str; 6] = ["^|^", ";|;", "|", "\t", ";", ","];

/// The columns of a list of Open XDMoD that has these first lines; `None` if it is none.
pub(super) fn recognise(lines: &[&str]) -> Option<Header> {
    let lines = deciding(lines);
    let layouts = XDMOD.iter().map(|names| names.split(',').collect::<Vec<&str>>());
    let found = layouts.map(|names| {
        let fitting = lines.iter().filter(|line| fits(&names, line)).count();
        let even = lines.iter().filter(|line| line.split('|').count() == names.len()).count();
        (fitting, even, names)
    });
    // The first of those that are as good.
    let (fitting, _, names) = found.rev().max_by_key(|&(fitting, even, _)| (fitting, even))?;
    (fitting * 2 > lines.len()).then(|| with_names(names.into_iter().map(str::to_owned).collect(), "|", &lines))
}

/// The columns of a list with these first lines, by the names that `--fields` gives.
pub(super) fn named(names: Vec<String>, lines: &[&str]) -> Header {
    let lines = deciding(lines);
    let fitting = |between: &&str| {
        let has_all = |line: &&&str| [names.len(), names.len() + 1].contains(&line.split(*between).count());
        lines.iter().filter(has_all).count()
    };
    let between = DELIMITERS.into_iter().rev().max_by_key(fitting).filter(|between| fitting(between) > 0);
    with_names(names, between.unwrap_or("|"), &lines)
}

/// The first lines that are not empty.
fn deciding<'l>(lines: &[&'l str]) -> Vec<&'l str> {
    let lines = lines.iter().map(|line| line.trim_start_matches('\u{feff}').trim_end_matches('\r'));
    lines.filter(|line| !line.trim().is_empty()).take(DECIDING).collect()
}

/// A header with these names. Lines end with the delimiter, too, if each of these has one field more, which is empty.
fn with_names(names: Vec<String>, between: &str, lines: &[&str]) -> Header {
    let is_closed = |line: &&str| line.ends_with(between) && line.split(between).count() == names.len() + 1;
    let is_closed = !lines.is_empty() && lines.iter().all(is_closed);
    Header { names, between: between.to_owned(), is_closed }
}

/// True if a line has the columns of these names. What a name of a job has too much, stands at the end.
fn fits(names: &[&str], line: &str) -> bool {
    let fields: Vec<&str> = line.split('|').collect();
    fields.len() >= names.len() && names.iter().zip(fields).all(|(name, text)| is_value(name, text))
}

/// True if a text may be that of a field.
fn is_value(name: &str, text: &str) -> bool {
    let is_time = || Clock::default().time(text).is_some();
    match name {
        "Submit" => is_time(),
        "Eligible" | "Start" | "End" => matches!(text, "Unknown" | "None") || is_time(),
        "ExitCode" => text.split_once(':').is_some_and(|(code, signal)| is_number(code) && is_number(signal)),
        "ReqTRES" | "AllocTRES" => text.is_empty() || text.contains('='),
        "ReqGRES" => !text.contains("cpu="),
        "Timelimit" => matches!(text, "" | "UNLIMITED" | "Partition_Limit") || duration(text).is_some(),
        _ => Shape::of(name).fits(text),
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The fields of `sacct` that are read, or whose values have a shape. `--fields` may write them in any case, as `sacct --format` may.
const KNOWN: &str = "JobID,JobIDRaw,JobName,User,Account,Partition,QOS,Reservation,Constraints,Priority,Flags,TimelimitRaw,Timelimit,\
    Submit,Eligible,Start,End,ElapsedRaw,Elapsed,State,ReqCPUS,AllocCPUS,NCPUS,ReqNodes,AllocNodes,NNodes,ReqTRES,AllocTRES,ReqMem,\
    NodeList,SubmitLine,ReqGRES,AllocGRES,Reason,Restarts,Cluster,Comment,AdminComment,SystemComment,Container,Extra,WorkDir,StdOut,\
    StdErr,StdIn,WCKey,Licenses,Suspended,CPUTime,SystemCPU,UserCPU,TotalCPU,Reserved,Planned,ResvCPU,PlannedCPU,UID,GID,AssocID,QOSRAW,DBIndex,CPUTimeRAW,\
    ResvCPURAW,PlannedCPURAW,ExitCode,Group";

/// The columns that `--fields` names: a list as `sacct --format` takes it.
///
/// # Errors
/// [`Error::Request`] if a name cannot be one, or if a field is missing that each job needs.
pub(crate) fn named_fields(list: &str) -> Result<Vec<String>, Error> {
    let refused = |found: &str| {
        Err(Error::Request(format!(
            "--fields: expected the columns of the list in their order, with commas between, such as \
             JobID,Submit,Start,End,State,AllocCPUS; found {found}"
        )))
    };
    let mut names = Vec::new();
    for field in list.split(',') {
        // `sacct --format` has widths, which parsable lists do not heed.
        let field = field.split('%').next().unwrap_or_default().trim();
        if field.is_empty() || !field.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return refused(&format!("`{field}`"));
        }
        let known = KNOWN.split(',').find(|known| known.eq_ignore_ascii_case(field));
        names.push(known.unwrap_or(field).to_owned());
    }
    let header = Header { names, between: "|".to_owned(), is_closed: false };
    match header.missing() {
        missing if missing.is_empty() => Ok(header.names),
        missing => refused(&format!("none of the name {}", missing.join(", "))),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// A line of each version of Open XDMoD, in the order of [`XDMOD`].
    fn lines(name: &str) -> [String; 6] {
        let line = |qos: &str, resources: &str| {
            format!(
                "5|5|c|p|{qos}a|g|100|u|200|2026-05-01T08:00:00|2026-05-01T08:00:00|2026-05-01T08:01:00|2026-05-01T09:01:00|\
                 01:00:00|0:0|COMPLETED|2|8|8|4Gn|{resources}1-00:00:00|n[1-2]|{name}"
            )
        };
        [
            line("normal|", "cpu=8|cpu=8,node=2|"),
            line("", "gpu:1|cpu=8|cpu=8,node=2|"),
            line("", "cpu=8|cpu=8,node=2|"),
            line("", "gpu:1|cpu=8|"),
            line("", "gpu:1|"),
            line("", ""),
        ]
    }

    #[test]
    fn each_version_of_open_xdmod_is_recognised() {
        for (place, line) in lines("a name").iter().enumerate() {
            let header = recognise(&[line]).unwrap();
            assert_eq!(header.names.join(","), XDMOD[place]);
            assert!(!header.is_closed);
        }
    }

    #[test]
    fn a_delimiter_in_a_name_and_a_damaged_line_hide_nothing() {
        let [plain, ..] = lines("a");
        let [joined, ..] = lines("a|b|c");
        let header = recognise(&["cut|1", "\u{feff}", &plain, &joined, &plain]).unwrap();
        assert_eq!(header.names.len(), 26);
        let closed = [plain.clone() + "|", plain.clone() + "|"];
        assert!(recognise(&closed.each_ref().map(String::as_str)).unwrap().is_closed);
        for other in ["", "hello|world", "1|2|3", &plain.replace("2026-", "x"), &plain.replace("COMPLETED", "DONE")] {
            assert!(recognise(&[other]).is_none(), "{other}");
        }
    }

    #[test]
    fn fields_are_named_as_sacct_takes_them() {
        let names = named_fields("jobid,submit%20, START ,end,state,alloccpus,MyField").unwrap();
        assert_eq!(names, ["JobID", "Submit", "Start", "End", "State", "AllocCPUS", "MyField"]);
        let header = named(names, &["1;2;3;4;5;6;7;", "1;2;3;4;5;6;7;"]);
        assert_eq!((header.between.as_str(), header.is_closed), (";", true));
        for (list, found) in [
            ("", "found ``"),
            ("JobID,,State", "found ``"),
            ("JobID,a b", "`a b`"),
            ("JobID,State,Submit,Start,NCPUS", "Start and End, or Elapsed"),
        ] {
            let error = named_fields(list).unwrap_err().to_string();
            assert!(error.contains(found) && error.contains("--fields"), "{error}");
        }
    }
}
