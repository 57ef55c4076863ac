//! Which jobs a formula is over.

use resched_analysis::metrics::list::QUANTITIES;
use resched_analysis::runs::who::Who;
use serde_json::Value;

/// The jobs that a formula is over: those that started, if it has a quantity that is over these, such as a wait.
pub(crate) fn covers(formula: &Value) -> Who {
    let is_over_started = match formula {
        Value::Array(parts) => parts.iter().any(|part| covers(part) == Who::Started),
        Value::String(word) => QUANTITIES.iter().any(|quantity| quantity.name == word && quantity.who == Who::Started),
        _ => false,
    };
    if is_over_started { Who::Started } else { Who::Ended }
}
