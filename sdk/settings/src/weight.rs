//! The limits of settings, which depend on the cost of their schema.

use serde_json::{Map, Value};

use crate::cost::Cost;

/// Maximum size of settings, including defaults, in bytes.
const SETTINGS_BYTES_MAX: usize = 64 * 1024;
/// Maximum product of the steps of a schema and the bytes of settings, which is the worst case of
/// the validation. With a schema of 250 steps, the largest settings are accepted. A step for one
/// byte takes some nanoseconds, and up to a hundred if a pattern is matched state by state: at most
/// about two seconds in total.
const VALIDATION_STEPS_MAX: usize = 16_000_000;
/// Maximum number of elements of an array whose elements must be unique according to the schema,
/// because each is compared with each.
const UNIQUE_ITEMS_MAX: usize = 1000;

/// Rejects settings that are too large, or too large for their schema.
pub(crate) fn weigh(cost: Cost, settings: &Map<String, Value>) -> Result<(), String> {
    let bytes = serde_json::to_string(settings).map_or(usize::MAX, |text| text.len());
    if bytes > SETTINGS_BYTES_MAX {
        return Err(format!(
            "settings of {bytes} bytes are over the limit of {SETTINGS_BYTES_MAX} bytes"
        ));
    }
    if cost.steps.saturating_mul(bytes) > VALIDATION_STEPS_MAX {
        let max = VALIDATION_STEPS_MAX / cost.steps.max(1);
        return Err(format!(
            "settings of {bytes} bytes are over the limit of {max} bytes for a schema of {} steps",
            cost.steps
        ));
    }
    if cost.asks_for_unique && settings.values().any(has_long_array) {
        return Err(format!(
            "an array has more than {UNIQUE_ITEMS_MAX} elements, which is the limit if the schema requires unique ones"
        ));
    }
    Ok(())
}

fn has_long_array(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.len() > UNIQUE_ITEMS_MAX || items.iter().any(has_long_array),
        Value::Object(members) => members.values().any(has_long_array),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn settings(value: &Value) -> Map<String, Value> {
        value.as_object().cloned().expect("an object")
    }

    #[test]
    fn settings_are_weighed_by_the_cost_of_their_schema() {
        let large = settings(&json!({"a": "x".repeat(60_000)}));
        let cost = |steps| Cost {
            steps,
            asks_for_unique: false,
        };
        assert_eq!(weigh(cost(250), &large), Ok(()));
        let why = weigh(cost(10_000), &large).expect_err("too much");
        assert_eq!(
            why,
            "settings of 60008 bytes are over the limit of 1600 bytes for a schema of 10000 steps"
        );
        assert_eq!(weigh(cost(10_000), &settings(&json!({"a": "x"}))), Ok(()));
    }

    #[test]
    fn unique_elements_are_only_checked_in_short_arrays() {
        let cost = Cost {
            steps: 1,
            asks_for_unique: true,
        };
        let of = |count| settings(&json!({"a": {"b": vec![1; count]}}));
        assert_eq!(weigh(cost, &of(UNIQUE_ITEMS_MAX)), Ok(()));
        weigh(cost, &of(UNIQUE_ITEMS_MAX + 1)).expect_err("each is compared with each");
    }
}
