//! `docs/policies.md` is made from the registry; it must be as fresh as the registry.
//!
//! `UPDATE_DOCS=1 cargo test --workspace --test workspace` writes it anew.

use std::fmt::Write;
use std::path::Path;

use resched_policies::{CLUSTER_SETTINGS, Family, Parameter, SPECULATORS, policies_of};

#[test]
fn the_page_of_policies_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/policies.md");
    let page = page();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap();
    assert!(found == page, "docs/policies.md is stale: UPDATE_DOCS=1 cargo test --workspace --test workspace");
}

fn page() -> String {
    let mut page =
        "# Policies\n\nMade from the registry by `tests/workspace/policies_page.rs`; do not edit. A policy is written \
                    `name` or `name:key=value,key=value`. The last column names the properties that set a parameter if you give \
                    the configuration of your site (`--site-conf`).\n"
            .to_owned();
    for family in Family::ALL {
        write!(page, "\n## {}\n", family.title()).unwrap();
        for info in policies_of(family) {
            section(info.name, info.title, info.source, info.parameters, &mut page);
        }
    }
    page.push_str(
        "\n## Speculators\n\nA speculator starts backups of slow tasks, in slots that the policy leaves free. Any \
         policy combines with any of them: `policy+speculator`, as in `fair+late` or \
         `delay:D=24+late:cap=0.2`.\n",
    );
    for info in SPECULATORS {
        section(info.name, info.title, info.source, info.parameters, &mut page);
    }
    page.push_str(
        "\n## The cluster at a site\n\nSettings of a cluster file, and the properties of Hadoop that set them.\n\n",
    );
    page.push_str("| setting | range | property of Hadoop |\n|---|---|---|\n");
    for setting in CLUSTER_SETTINGS {
        let range = in_table(&setting.range.to_string());
        writeln!(page, "| `{}` | {range} | {} |", setting.key, quoted(setting.hadoop)).unwrap();
    }
    page
}

/// A range as a cell of a table.
fn in_table(range: &str) -> String {
    range.replace('|', "\\|")
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn section(name: &str, title: &str, source: &str, parameters: &[Parameter], page: &mut String) {
    write!(page, "\n### `{name}`\n\n{title}. Source: {source}.\n").unwrap();
    if parameters.is_empty() {
        page.push_str("\nNo parameters.\n");
        return;
    }
    page.push_str(
        "\n| parameter | default | range | unit | meaning | property of the site |\n|---|---|---|---|---|---|\n",
    );
    for parameter in parameters {
        let range = in_table(&parameter.expected());
        let default = if parameter.default.is_empty() { "–" } else { parameter.default };
        let (key, unit, meaning, properties) =
            (parameter.key, parameter.unit, parameter.meaning, quoted(parameter.hadoop));
        writeln!(page, "| `{key}` | {default} | {range} | {unit} | {meaning} | {properties} |").unwrap();
    }
}
