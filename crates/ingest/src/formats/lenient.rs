//! Values of JSON as sources really have them: tools that pass a list on write numbers as texts, and write null for what they do not know.

use serde::Deserialize;
use serde::de::Deserializer;
use serde_json::Value;

/// A whole number, also as a text or with a fraction of 0; none for anything else. Use it with `default`.
pub(super) fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    Ok(whole(&Value::deserialize(deserializer)?))
}

/// The same; 0 for what is no number.
pub(super) fn number_or_0<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    Ok(number(deserializer)?.unwrap_or(0))
}

fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64().or_else(|| number.as_f64().and_then(of_float)),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// A float that is a whole number and exact.
fn of_float(number: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Row {
        #[serde(default, deserialize_with = "number")]
        of: Option<i64>,
        #[serde(default, deserialize_with = "number_or_0")]
        at: i64,
    }

    #[test]
    fn numbers_may_be_texts_and_anything_else_is_unknown() {
        let row = |text: &str| {
            let Row { of, at } = serde_json::from_str(text).unwrap();
            (of, at)
        };
        assert_eq!(row(r#"{"of": 7, "at": "8"}"#), (Some(7), 8));
        assert_eq!(row(r#"{"of": " -9 ", "at": 3.0}"#), (Some(-9), 3));
        assert_eq!(row(r#"{"of": 1.5, "at": null}"#), (None, 0));
        assert_eq!(row(r#"{"of": [1]}"#), (None, 0));
    }
}
