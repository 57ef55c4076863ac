//! `resched policies`: every policy, its parameters and source.

use resched_policies::{POLICIES, PolicyInfo, PolicySpec};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output::{print, print_json, table};

/// List every policy with its parameters and source.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only this policy.
    name: Option<String>,
    /// The same for programs.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let chosen: Vec<&PolicyInfo> = match &args.name {
        None => POLICIES.iter().collect(),
        Some(name) => vec![PolicySpec::parse(name).map_err(Failure::request)?.info],
    };
    if args.json {
        let all: Vec<Value> = chosen.iter().map(|info| as_json(info)).collect();
        return print_json(&all);
    }
    let told: Vec<String> = chosen.iter().map(|info| in_words(info)).collect();
    print(&told.join("\n"))
}

fn in_words(info: &PolicyInfo) -> String {
    let mut text = format!("{}\n  {}\n  source: {}\n", info.name, info.title, info.source);
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
            })
        })
        .collect();
    json!({
        "name": info.name,
        "title": info.title,
        "oracle": info.is_oracle(),
        "source": info.source,
        "parameters": parameters,
    })
}
