//! Differences between an object and the object that an application would make.

use serde_json::Value;

/// Maximum number of differences that are shown of one object.
const SHOWN_MAX: usize = 30;
/// Maximum length of a value in a difference, in characters.
const VALUE_CHARS_MAX: usize = 120;
/// Members that the API server maintains.
const MAINTAINED: [&str; 6] = [
    "/metadata/managedFields",
    "/metadata/resourceVersion",
    "/metadata/generation",
    "/metadata/creationTimestamp",
    "/metadata/uid",
    "/status",
];

/// The differing fields, as `path: before -> after`. The last one states how many more there are.
pub(super) fn differences(before: &Value, after: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare(before, after, "", &mut found);
    if found.len() > SHOWN_MAX {
        let more = found.len() - SHOWN_MAX;
        found.truncate(SHOWN_MAX);
        found.push(format!("and {more} more fields"));
    }
    found
}

fn compare(before: &Value, after: &Value, path: &str, found: &mut Vec<String>) {
    if before == after || MAINTAINED.contains(&path) {
        return;
    }
    if let (Value::Object(old), Value::Object(new)) = (before, after) {
        let added = new.keys().filter(|key| !old.contains_key(*key));
        for key in old.keys().chain(added) {
            let (old, new) = (old.get(key), new.get(key));
            let (old, new) = (old.unwrap_or(&Value::Null), new.unwrap_or(&Value::Null));
            compare(old, new, &format!("{path}/{key}"), found);
        }
        return;
    }
    found.push(format!("{path}: {} -> {}", shown(before), shown(after)));
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "absent".to_owned(),
        value => {
            let text = value.to_string();
            match text.char_indices().nth(VALUE_CHARS_MAX) {
                Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
                None => text,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_fields_that_the_application_changes_are_shown() {
        let before = json!({"metadata": {"resourceVersion": "1", "labels": {"a": "b"}},
            "rules": [1], "status": {"x": 1}});
        let after = json!({"metadata": {"resourceVersion": "2", "labels": {"a": "c", "d": "e"}},
            "rules": [1, 2], "status": {"x": 2}});
        let expected = [
            r#"/metadata/labels/a: "b" -> "c""#,
            r#"/metadata/labels/d: absent -> "e""#,
            "/rules: [1] -> [1,2]",
        ];
        assert_eq!(differences(&before, &after), expected);
        assert!(differences(&after, &after).is_empty());
    }

    #[test]
    fn many_and_long_differences_are_cut() {
        let object = |value: &str| {
            let members = (0..100).map(|number| (format!("m{number:03}"), Value::from(value)));
            Value::Object(members.collect())
        };
        let found = differences(&object("a"), &object(&"ü".repeat(500)));
        assert_eq!(found.len(), SHOWN_MAX + 1);
        assert!(
            found[0].chars().count() < 2 * VALUE_CHARS_MAX,
            "{}",
            found[0]
        );
        assert_eq!(found[SHOWN_MAX], "and 70 more fields");
    }
}
