//! `resched policies`: every policy, its parameters and source.

use resched_policies::{FAMILIES, POLICIES, Parameter, PolicyInfo, PolicySpec, family};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output::{print, print_json, table};

/// List every policy with its parameters and source.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only this policy; with values, `name:key=value,…`, they are checked.
    name: Option<String>,
    /// The same for programs.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let chosen: Vec<&PolicyInfo> = match &args.name {
        None => FAMILIES.iter().flat_map(|(_, names)| family(names)).collect(),
        Some(name) => vec![PolicySpec::parse(name).map_err(Failure::request)?.info],
    };
    if args.json {
        let all: Vec<Value> = chosen.iter().map(|info| as_json(info)).collect();
        return print_json(&all);
    }
    let mut parts: Vec<String> = chosen.iter().map(|info| in_words(info)).collect();
    if args.name.is_none() {
        parts.insert(0, overview());
    }
    print(&parts.join("\n"))
}

/// A line for each policy, by family.
fn overview() -> String {
    let widest = POLICIES.iter().map(|info| info.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (title, names) in FAMILIES.iter().filter(|(_, names)| family(names).next().is_some()) {
        text += &format!("{title}\n");
        for info in family(names) {
            text += &format!("  {:widest$}  {}\n", info.name, info.title);
        }
        text += "\n";
    }
    text + "A policy is written `name` or `name:key=value,key=value`, for example `delay:D=12`. In full:\n"
}

/// What there is to know of a policy.
fn in_words(info: &PolicyInfo) -> String {
    let mut text = format!("{}\n  {}\n  source: {}\n", info.name, info.title, info.source);
    if info.parameters.is_empty() {
        return text + "  no parameters\n";
    }
    let rows = info.parameters.iter().map(|parameter| {
        let Parameter { key, default, unit, meaning, .. } = *parameter;
        let default = if default.is_empty() { "-" } else { default };
        [key, default, &parameter.range.to_string(), unit, meaning].map(str::to_owned).to_vec()
    });
    text += &indented(&table(&["parameter", "default", "range", "unit", "meaning"], rows.collect(), 0..0));
    let of_site = info.parameters.iter().filter(|parameter| !parameter.hadoop.is_empty());
    let rows: Vec<Vec<String>> =
        of_site.map(|parameter| vec![parameter.key.to_owned(), parameter.hadoop.join(", ")]).collect();
    if !rows.is_empty() {
        text += "\n";
        text += &indented(&table(&["parameter", "property of Hadoop that sets it (--site-conf)"], rows, 0..0));
    }
    text
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

fn as_json(info: &PolicyInfo) -> Value {
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
                "hadoop": parameter.hadoop,
            })
        })
        .collect();
    json!({
        "name": info.name,
        "title": info.title,
        "family": info.family(),
        "source": info.source,
        "parameters": parameters,
    })
}
