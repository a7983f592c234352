//! The field that an object must have to be asked about (`when` in a description).

use serde_json::Value;

/// Returns whether the JSON text has a value other than `null` at a JSON pointer. Text that is no JSON
/// has none.
pub(crate) fn has_value(json: &str, pointer: &str) -> bool {
    let value: Value = serde_json::from_str(json).unwrap_or_default();
    value.pointer(pointer).is_some_and(|value| !value.is_null())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_and_nothing_are_no_value() {
        let json = r#"{"spec": {"a/b": 0, "none": null, "list": [1]}}"#;
        for (pointer, expected) in [
            ("/spec", true),
            ("/spec/a~1b", true),
            ("/spec/list/0", true),
            ("/spec/list/1", false),
            ("/spec/none", false),
            ("/status", false),
        ] {
            assert_eq!(has_value(json, pointer), expected, "{pointer}");
        }
        assert!(!has_value("{", "/spec"));
    }
}
