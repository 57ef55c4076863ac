//! `resched gate`: whether a run keeps its bounds and is no worse than others, as an exit status.

use std::path::{Path, PathBuf};

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, Event};
use resched_analysis::statistics::practical::Matters;
use resched_compare::diff::How;
use resched_compare::gate::{self, Asked, Bound, Check, Gate, Outcome};
use resched_tables::store::{Out, StagedFile};
use resched_tables::words::visible;
use serde::Serialize;

use crate::failure::Failure;
use crate::format::FormatArgs;
use crate::grade::{self, Graded};
use crate::output::{Look, Text};
use crate::progress::spinner;
use crate::window_args::WindowArgs;

/// The status of an error of this command, as 1 and 2 are its verdicts.
pub(crate) const ERROR: u8 = 3;

/// Check that a run keeps bounds and is no worse than other runs: a test of a change of the scheduler before it is merged.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit status: 0 all is kept; 1 a bound is broken, or the run is worse; 2 the data cannot tell; 3 an error.

Examples:
  resched gate R/new --no-worse-than R/old
  resched gate R/new --bound 'p95(waiting) < 30min' --bound 'mean_waiting <= 5min' --junit gate.xml
  resched gate S/new --no-worse-than S/old    two folders with a run for each seed"
)]
#[command(group = clap::ArgGroup::new("checks").required(true).multiple(true))]
pub(crate) struct Args {
    /// The run, or a folder with a run for each seed.
    run: PathBuf,
    /// A bound on a metric: "METRIC < VALUE", with <, <=, > or >=. You may give several.
    #[arg(long, group = "checks", value_name = "BOUND", value_parser = Bound::parse)]
    bound: Vec<Bound>,
    /// A run, or a folder with a run for each seed, than whose the mean completion time must not be longer. You may give several.
    #[arg(long, group = "checks", value_name = "RUN")]
    no_worse_than: Vec<PathBuf>,
    /// The relative change of the mean that matters: a mean that is longer by less is no worse.
    #[arg(long, value_name = "PERCENT", default_value = "5%")]
    matters: Matters,
    /// Also write the checks as JUnit XML, which build servers show. The file is replaced.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    #[command(flatten)]
    window: WindowArgs,
    #[command(flatten)]
    format: FormatArgs,
}

/// The checks and their verdict, as JSON.
#[derive(Serialize)]
struct Answer<'a> {
    outcome: Outcome,
    checks: &'a [Check],
}

/// Any error ends with status 3.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let answered = || -> Result<Outcome, Failure> {
        let spinner = spinner("gate");
        let how = How { matters: args.matters, period: args.window.period(), zone: args.window.zone() };
        let asked = Asked { bounds: &args.bound, no_worse_than: &args.no_worse_than, how };
        let found = gate::gate(&args.run, &asked)?;
        spinner.finish_and_clear();
        if let Some(path) = &args.junit {
            let mut file = StagedFile::create(Out { path: path.clone(), force: true })?;
            file.write_all(&junit(&args.run, &found.checks)?)?;
            file.commit()?;
        }
        let answer = Answer { outcome: found.outcome(), checks: &found.checks };
        args.format.print(&Graded::of(&answer, &found.validity), &found.checks, || in_words(&found))?;
        Ok(answer.outcome)
    };
    match answered().map_err(|failure| failure.with_status(ERROR))? {
        Outcome::Kept => Ok(()),
        Outcome::Broken => Err(Failure::work("a check is broken; the lines above say which").with_status(1)),
        Outcome::Open => Err(Failure::work("the data cannot tell; the lines above say why").with_status(2)),
    }
}

/// An outcome as it is printed.
fn in_color(outcome: Outcome) -> Text {
    match outcome {
        Outcome::Kept => Look::Good.on("kept"),
        Outcome::Broken => Look::Bad.on("broken"),
        Outcome::Open => Text::from("cannot tell"),
    }
}

fn in_words(gate: &Gate) -> Text {
    let line = |check: &Check| in_color(check.outcome) + &format!(": {}\n  {}\n", visible(&check.check), check.says);
    gate.checks.iter().map(line).collect::<Text>() + &grade::graded(&gate.validity)
}

/// The checks as JUnit XML: a broken one is a failure, an open one an error, as neither lets a pipeline pass.
fn junit(run: &Path, checks: &[Check]) -> Result<Vec<u8>, Failure> {
    let of = |outcome: Outcome| checks.iter().filter(|check| check.outcome == outcome).count().to_string();
    let (broken, open, all) = (of(Outcome::Broken), of(Outcome::Open), checks.len().to_string());
    let run = visible(&run.display().to_string()).into_owned();
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    let written = (|| {
        writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
        let counts = [("tests", all.as_str()), ("failures", &broken), ("errors", &open)];
        let suites = writer.create_element("testsuites").with_attributes(counts);
        suites.write_inner_content(|writer| {
            let suite = writer.create_element("testsuite").with_attribute(("name", "resched gate"));
            suite
                .with_attributes(counts)
                .write_inner_content(|writer| checks.iter().try_for_each(|check| test_case(writer, &run, check)))?;
            Ok(())
        })?;
        Ok::<_, std::io::Error>(())
    })();
    written.map_err(|error| Failure::work(format!("cannot write JUnit XML: {error}")))?;
    Ok(writer.into_inner())
}

fn test_case(writer: &mut Writer<Vec<u8>>, run: &str, check: &Check) -> std::io::Result<()> {
    let name = visible(&check.check);
    let case = writer.create_element("testcase").with_attributes([("classname", run), ("name", &name)]);
    let element = match check.outcome {
        Outcome::Kept => return case.write_empty().map(drop),
        Outcome::Broken => "failure",
        Outcome::Open => "error",
    };
    let says = visible(&check.says);
    case.write_inner_content(|writer| {
        writer.create_element(element).with_attribute(("message", &*says)).write_empty().map(drop)
    })
    .map(drop)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn names_in_junit_are_escaped() {
        let check = |outcome, check: &str| Check {
            check: check.to_owned(),
            outcome,
            value: None,
            interval: None,
            says: "\"<&>\u{1b}".to_owned(),
        };
        let checks = [check(Outcome::Kept, "a < 1"), check(Outcome::Broken, "]]>"), check(Outcome::Open, "c")];
        let text = String::from_utf8(junit(Path::new("R/<x>"), &checks).unwrap()).unwrap();
        let parsed = names_of_cases(&text);
        assert_eq!(parsed, ["a < 1", "]]>", "c"]);
        assert!(text.contains("failures=\"1\" errors=\"1\"") && !text.contains('\u{1b}'), "{text}");
    }

    /// The names of the test cases, by a parser.
    fn names_of_cases(text: &str) -> Vec<String> {
        let mut reader = quick_xml::Reader::from_str(text);
        let mut names = Vec::new();
        loop {
            match reader.read_event().unwrap() {
                Event::Eof => return names,
                Event::Start(tag) | Event::Empty(tag) if tag.name().as_ref() == "testcase" => {
                    let name = tag.try_get_attribute("name").unwrap().unwrap();
                    names.push(name.normalized_value(quick_xml::XmlVersion::Implicit1_0).unwrap().into_owned());
                }
                _ => {}
            }
        }
    }
}
