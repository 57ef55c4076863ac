//! `resched policies`: every policy and speculator, its parameters and source.

use resched_policies::{POLICIES, Parameter, PolicyInfo, PolicySpec, SPECULATORS, SpeculatorInfo};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output::{print, print_json, table};

/// List every policy, and every speculator that combines with them, with its parameters and source.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only this policy or speculator.
    name: Option<String>,
    /// The same for programs.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let chosen = match &args.name {
        None => POLICIES.iter().map(Entry::from).chain(SPECULATORS.iter().map(Entry::from)).collect(),
        Some(name) => named(name).map_err(Failure::request)?,
    };
    if args.json {
        let all: Vec<Value> = chosen.iter().map(as_json).collect();
        return print_json(&all);
    }
    let told: Vec<String> = chosen.iter().map(in_words).collect();
    print(&told.join("\n"))
}

/// The speculator of that name, or the policy with the speculator that it may have.
fn named(name: &str) -> Result<Vec<Entry>, String> {
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
    name: &'static str,
    title: &'static str,
    source: &'static str,
    oracle: bool,
    parameters: &'static [Parameter],
}

impl From<&'static PolicyInfo> for Entry {
    fn from(info: &'static PolicyInfo) -> Self {
        let PolicyInfo { name, title, source, parameters, .. } = *info;
        Self { role: "policy", name, title, source, oracle: info.is_oracle(), parameters }
    }
}

impl From<&'static SpeculatorInfo> for Entry {
    fn from(info: &'static SpeculatorInfo) -> Self {
        let SpeculatorInfo { name, title, source, parameters, .. } = *info;
        Self { role: "speculator", name, title, source, oracle: false, parameters }
    }
}

fn in_words(info: &Entry) -> String {
    let name = if info.role == "speculator" { format!("…+{}", info.name) } else { info.name.to_owned() };
    let mut text = format!("{name}\n  {}\n  source: {}\n", info.title, info.source);
    if info.parameters.is_empty() {
        return text + "  no parameters\n";
    }
    let rows = info.parameters.iter().map(|parameter| {
        let default = if parameter.default.is_empty() { "-" } else { parameter.default };
        [parameter.key, default, &parameter.range.to_string(), parameter.unit, parameter.meaning]
            .map(str::to_owned)
            .to_vec()
    });
    for line in table(&["parameter", "default", "range", "unit", "meaning"], rows.collect(), 0..0).lines() {
        text += &format!("  {line}\n");
    }
    text
}

fn as_json(info: &Entry) -> Value {
    let parameters: Vec<Value> = info
        .parameters
        .iter()
        .map(|parameter| {
            json!({
                "key": parameter.key,
                "default": parameter.default,
                "range": parameter.range.to_string(),
                "unit": parameter.unit,
                "meaning": parameter.meaning,
            })
        })
        .collect();
    json!({
        "role": info.role,
        "name": info.name,
        "title": info.title,
        "oracle": info.oracle,
        "source": info.source,
        "parameters": parameters,
    })
}
