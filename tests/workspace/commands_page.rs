//! The reference page of commands is made from the command line itself. A test fails if it is stale.

use super::fresh::assert_fresh;
use clap::{Arg, Command};
use resched_tables::reference::Page;

#[test]
fn the_page_of_commands_is_fresh() {
    let about = "Every command with its options, as `resched COMMAND --help` shows them. [Commands](../commands.md) is the page to read first. \
                 Options that every command has are at the end.";
    let mut root = resched_cli::command();
    root.build();
    let mut page = Page::new("Options of every command", about, "--workspace --test workspace");
    for command in visible(&root) {
        page = section(page, command, command.get_name());
    }
    let global: Vec<&Arg> = root.get_arguments().filter(|arg| arg.is_global_set() && !arg.is_hide_set()).collect();
    page = page.heading("Every command").rows(&["option", "meaning", "default"], global.into_iter().map(row));
    assert_fresh("reference/commands.md", &page.text());
}

fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set() && subcommand.get_name() != "help")
}

/// A command, and the commands below it.
fn section(page: Page, command: &Command, name: &str) -> Page {
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
    let usage = command.clone().bin_name(format!("resched {name}")).render_usage().to_string();
    let usage = format!("`{}`", usage.trim_start_matches("Usage: ").split_whitespace().collect::<Vec<_>>().join(" "));
    let arguments: Vec<&Arg> =
        command.get_arguments().filter(|arg| !arg.is_hide_set() && !arg.is_global_set()).collect();
    let mut page = page.heading(&format!("`{name}`")).paragraph(about.trim()).paragraph(&usage);
    if !arguments.is_empty() {
        page = page.rows(&["argument", "meaning", "default"], arguments.into_iter().map(row));
    }
    visible(command).fold(page, |page, below| section(page, below, &format!("{name} {}", below.get_name())))
}

fn row(arg: &Arg) -> Vec<String> {
    let values =
        arg.get_value_names().unwrap_or_default().iter().map(|name| format!("<{name}>")).collect::<Vec<_>>().join(" ");
    let takes = arg.get_action().takes_values() || arg.is_positional();
    let long = arg.get_long().map(|long| format!("--{long}"));
    let short = arg.get_short().map(|short| format!("-{short}"));
    let names: Vec<String> = [short, long].into_iter().flatten().collect();
    let name = match (names.is_empty(), takes) {
        (true, _) => values,
        (false, true) => format!("{} {values}", names.join(", ")),
        (false, false) => names.join(", "),
    };
    let meaning = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let choices: Vec<String> = match takes {
        true => arg
            .get_possible_values()
            .iter()
            .filter(|value| !value.is_hide_set())
            .map(|value| value.get_name().to_owned())
            .collect(),
        false => Vec::new(),
    };
    let meaning = meaning.split_whitespace().collect::<Vec<_>>().join(" ");
    let meaning = if choices.is_empty() { meaning } else { format!("{meaning} One of: {}.", choices.join(", ")) };
    let default: Vec<String> =
        arg.get_default_values().iter().map(|value| format!("`{}`", value.to_string_lossy())).collect();
    let default = if takes { default.join(", ") } else { String::new() };
    vec![format!("`{}`", name.trim()), meaning, default]
}
