//! The commands of the command line as data, from which the Python functions are made and checked.

use pyo3::prelude::*;
use serde_json::{Value, json};

/// The commands with their arguments, as JSON.
#[pyfunction]
pub(crate) fn commands(py: Python<'_>) -> PyResult<String> {
    let mut root = resched_cli::command();
    root.build();
    let all: Vec<Value> = root.get_subcommands().filter(|command| !command.is_hide_set()).map(command).collect();
    serde_json::to_string(&all).map_err(|error| crate::errors::of_library(py, false, &error))
}

fn command(command: &clap::Command) -> Value {
    let args: Vec<Value> = command.get_arguments().filter(|arg| !arg.is_hide_set()).map(argument).collect();
    let below: Vec<Value> = command
        .get_subcommands()
        .filter(|subcommand| !subcommand.is_hide_set() && subcommand.get_name() != "help")
        .map(self::command)
        .collect();
    json!({
        "name": command.get_name(),
        "about": command.get_about().map(ToString::to_string),
        "arguments": args,
        "commands": below,
    })
}

fn argument(arg: &clap::Arg) -> Value {
    let takes_values = arg.get_action().takes_values();
    json!({
        "id": arg.get_id().as_str(),
        "option": arg.get_long(),
        "help": arg.get_long_help().or(arg.get_help()).map(ToString::to_string),
        "value": arg.get_value_names().map(|names| names.iter().map(ToString::to_string).collect::<Vec<_>>()),
        "default": arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect::<Vec<_>>(),
        "required": arg.is_required_set(),
        "takes_values": takes_values,
        "many": matches!(arg.get_action(), clap::ArgAction::Append)
            || arg.get_num_args().is_some_and(|range| range.max_values() > 1),
        "heading": arg.get_help_heading(),
    })
}
