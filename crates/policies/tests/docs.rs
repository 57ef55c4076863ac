//! `docs/policies.md` is made from the registry; it must be as fresh as the registry.
//!
//! `UPDATE_DOCS=1 cargo test -p resched-policies --test docs` writes it anew.
#![allow(clippy::unwrap_used)]

use std::fmt::Write;
use std::path::Path;

use resched_policies::{POLICIES, Parameter, SPECULATORS};

#[test]
fn the_page_of_policies_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/policies.md");
    let page = page();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap();
    assert!(found == page, "docs/policies.md is stale: UPDATE_DOCS=1 cargo test -p resched-policies --test docs");
}

fn page() -> String {
    let mut page =
        "# Policies\n\nMade from the registry by `crates/policies/tests/docs.rs`; do not edit. A policy is written \
                    `name` or `name:key=value,key=value`.\n"
            .to_owned();
    for info in POLICIES {
        section("##", info.name, info.title, info.source, info.parameters, &mut page);
    }
    page.push_str(
        "\n## Speculators\n\nA speculator runs tasks that seem slow a second time, in slots that the policy leaves free. Any \
         policy combines with any of them: `policy+speculator`, as in `fair+late` or \
         `delay:D=24+late:cap=0.2`.\n",
    );
    for info in SPECULATORS {
        section("###", info.name, info.title, info.source, info.parameters, &mut page);
    }
    page
}

fn section(level: &str, name: &str, title: &str, source: &str, parameters: &[Parameter], page: &mut String) {
    write!(page, "\n{level} `{name}`\n\n{title}. Source: {source}.\n").unwrap();
    if parameters.is_empty() {
        page.push_str("\nNo parameters.\n");
        return;
    }
    page.push_str("\n| parameter | default | range | unit | meaning |\n|---|---|---|---|---|\n");
    for parameter in parameters {
        let range = parameter.range.to_string().replace('|', "\\|");
        let default = if parameter.default.is_empty() { "–" } else { parameter.default };
        writeln!(page, "| `{}` | {default} | {range} | {} | {} |", parameter.key, parameter.unit, parameter.meaning)
            .unwrap();
    }
}
