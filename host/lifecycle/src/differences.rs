//! Differences between two JSON documents, as paths without values.

use serde_json::Value;

/// Maximum number of paths of one comparison. More paths are not read by a person.
pub const DIFFERENCES_MAX: usize = 50;

/// The JSON paths at which two documents differ, such as `spec.ports[0].port`: at most [`DIFFERENCES_MAX`]. Paths have no
/// values, because the documents can be Secrets.
pub fn differences(before: &Value, after: &Value) -> Vec<String> {
    let mut paths = Vec::new();
    collect("", before, after, &mut paths);
    paths
}

fn collect(path: &str, before: &Value, after: &Value, paths: &mut Vec<String>) {
    if paths.len() >= DIFFERENCES_MAX || before == after {
        return;
    }
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            let added = after.keys().filter(|name| !before.contains_key(*name));
            for name in before.keys().chain(added) {
                let path = match path {
                    "" => name.clone(),
                    path => format!("{path}.{name}"),
                };
                let of = |members: &serde_json::Map<String, Value>| {
                    members.get(name).cloned().unwrap_or(Value::Null)
                };
                collect(&path, &of(before), &of(after), paths);
            }
        }
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
            for (position, (before, after)) in before.iter().zip(after).enumerate() {
                collect(&format!("{path}[{position}]"), before, after, paths);
            }
        }
        _ if path.is_empty() => paths.push(".".to_owned()),
        _ => paths.push(path.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn differences_are_paths_without_values() {
        let before = json!({"a": 1, "b": {"c": [1, {"d": 2}], "e": "x"}, "gone": 1});
        let after = json!({"a": 1, "b": {"c": [1, {"d": 3}], "e": "y"}, "new": {}});
        assert_eq!(
            differences(&before, &after),
            ["b.c[1].d", "b.e", "gone", "new"]
        );
        assert_eq!(differences(&before, &before), [""; 0]);
        assert_eq!(differences(&json!([1]), &json!([1, 2])), ["."]);
        let many = |value: i64| Value::from(vec![value; 2 * DIFFERENCES_MAX]);
        assert_eq!(differences(&many(1), &many(2)).len(), DIFFERENCES_MAX);
    }
}
