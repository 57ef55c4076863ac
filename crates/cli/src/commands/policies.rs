//! `resched policies`: lists every policy and speculator, and shows the parameters and the source of one.

use resched_policies::{Error, Family, Parameter, PolicyInfo, PolicySpec, SPECULATORS, SpeculatorInfo, policies_of};
use serde::Serialize;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::format::FormatArgs;
use crate::output::{Text, table};

/// List every policy and speculator, or show the parameters and the source of one.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  resched policies\n  resched policies delay:D=8\n  resched policies --all")]
pub(crate) struct Args {
    /// Show only this policy or speculator. Values in `name:key=value,…` are checked.
    name: Option<String>,
    /// Show the parameters and the source of each. JSON and CSV always have them.
    #[arg(long, conflicts_with = "name")]
    all: bool,
    #[command(flatten)]
    format: FormatArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let chosen = match &args.name {
        None => all(),
        Some(name) => named(name)?,
    };
    let all: Vec<Value> = chosen.iter().map(as_json).collect();
    let parameters: Vec<ParameterRow> = chosen.iter().flat_map(parameters).collect();
    args.format.print(&all, &parameters, || {
        let overview = args.name.is_none().then(|| Text::from(overview(&chosen)));
        let in_full = if args.name.is_some() || args.all { &chosen[..] } else { &[] };
        let parts = overview.into_iter().chain(in_full.iter().map(in_words));
        let apart = |(place, part): (usize, Text)| Text::from(if place == 0 { "" } else { "\n" }) + part;
        parts.enumerate().map(apart).collect::<Text>()
    })
}

/// The family under which speculators are listed.
const SPECULATION: &str = "Speculation, combined with any policy: policy+speculator";

/// Policies by family, then speculators.
fn all() -> Vec<Entry> {
    let policies = Family::ALL.into_iter().flat_map(policies_of).map(Entry::from);
    policies.chain(SPECULATORS.iter().map(Entry::from)).collect()
}

/// The speculator of that name; otherwise the policy, and its speculator if it has one.
fn named(name: &str) -> Result<Vec<Entry>, Error> {
    if let Some(speculator) = SPECULATORS.iter().find(|info| info.name == name) {
        return Ok(vec![speculator.into()]);
    }
    let spec = PolicySpec::parse(name)?;
    let speculator = spec.speculator.map(|speculator| speculator.info.into());
    Ok([spec.info.into()].into_iter().chain(speculator).collect())
}

/// A policy or a speculator.
struct Entry {
    role: &'static str,
    family: &'static str,
    name: &'static str,
    title: &'static str,
    source: &'static str,
    oracle: bool,
    parameters: &'static [Parameter],
}

impl From<&'static PolicyInfo> for Entry {
    fn from(info: &'static PolicyInfo) -> Self {
        let PolicyInfo { name, title, source, family, oracle, parameters, .. } = *info;
        Self { role: "policy", family: family.title(), name, title, source, oracle, parameters }
    }
}

impl From<&'static SpeculatorInfo> for Entry {
    fn from(info: &'static SpeculatorInfo) -> Self {
        let SpeculatorInfo { name, title, source, parameters, .. } = *info;
        Self { role: "speculator", family: SPECULATION, name, title, source, oracle: false, parameters }
    }
}

/// One line per policy, grouped by family, and the names of the speculators. It fits one screen.
fn overview(entries: &[Entry]) -> String {
    let widest = entries.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for of_family in entries.chunk_by(|a, b| a.family == b.family) {
        let family = of_family.first().map_or("", |entry| entry.family);
        text += &format!("{family}\n");
        if family == SPECULATION {
            let names: Vec<&str> = of_family.iter().map(|entry| entry.name).collect();
            text += &format!("  {}\n", names.join(", "));
            continue;
        }
        for entry in of_family {
            text += &format!("  {:widest$}  {}\n", entry.name, entry.title);
        }
    }
    text + "\nA policy is written `name` or `name:key=value,key=value`, for example `delay:D=12` or `fair+late:cap=0.2`.\n\
            `resched policies NAME` shows its parameters and its source, and `--all` those of all.\n"
}

/// The full text about one entry.
fn in_words(info: &Entry) -> Text {
    let name = if info.role == "speculator" { format!("…+{}", info.name) } else { info.name.to_owned() };
    let mut text = Text::from(format!("{name}\n  {}\n  source: {}\n", info.title, info.source));
    if info.parameters.is_empty() {
        return text + "  no parameters\n";
    }
    let rows = info.parameters.iter().map(|parameter| {
        let Parameter { key, default, unit, meaning, .. } = *parameter;
        let default = if default.is_empty() { "-" } else { default };
        [key, default, &parameter.expected(), unit, meaning].map(str::to_owned).to_vec()
    });
    text += table(&["parameter", "default", "range", "unit", "meaning"], rows.collect(), 0..0).indented("  ");
    let of_site = info.parameters.iter().filter(|parameter| !parameter.hadoop.is_empty());
    let rows: Vec<Vec<String>> =
        of_site.map(|parameter| vec![parameter.key.to_owned(), parameter.hadoop.join(", ")]).collect();
    if !rows.is_empty() {
        text += "\n";
        text += table(&["parameter", "property of the site that sets it (--site-conf)"], rows, 0..0).indented("  ");
    }
    text
}

/// A parameter as a row of CSV.
#[derive(Debug, Serialize)]
struct ParameterRow {
    role: &'static str,
    policy: &'static str,
    parameter: &'static str,
    default: String,
    range: String,
    unit: &'static str,
    meaning: &'static str,
}

/// The parameters of a policy or speculator.
fn parameters(info: &Entry) -> impl Iterator<Item = ParameterRow> {
    let row = |parameter: &Parameter| ParameterRow {
        role: info.role,
        policy: info.name,
        parameter: parameter.key,
        default: parameter.default.to_string(),
        range: parameter.expected(),
        unit: parameter.unit,
        meaning: parameter.meaning,
    };
    info.parameters.iter().map(row)
}

fn as_json(info: &Entry) -> Value {
    let parameters: Vec<Value> = info
        .parameters
        .iter()
        .map(|parameter| {
            json!({
                "key": parameter.key,
                "default": parameter.default,
                "range": parameter.expected(),
                "unit": parameter.unit,
                "meaning": parameter.meaning,
                "hadoop": parameter.hadoop,
            })
        })
        .collect();
    json!({
        "role": info.role,
        "family": info.family,
        "name": info.name,
        "title": info.title,
        "oracle": info.oracle,
        "source": info.source,
        "parameters": parameters,
    })
}
