//! The value of `--policy`: any text, of which a shell completes the name.

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::error::Error;
use clap::{Arg, Command};
use resched_policies::{Family, policies_of};

/// Takes a policy as you write it. Shells complete the names of all policies, short and long.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PolicyValue;

impl TypedValueParser for PolicyValue {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &std::ffi::OsStr) -> Result<String, Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let all = Family::ALL.into_iter().flat_map(policies_of);
        Some(Box::new(all.map(|info| PossibleValue::new(info.name))))
    }
}
