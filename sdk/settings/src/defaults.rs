//! The defaults of a settings schema.

use serde_json::{Map, Value};

/// Adds the members that are missing in `settings` and have a `default` among the schema's
/// `properties`, at every depth. A missing object is created if its members have defaults, unless
/// it would then lack a required member.
///
/// Only plain `properties` are read: whether a default under `$ref`, `allOf` or similar keywords
/// applies depends on the settings.
pub(super) fn fill(schema: &Value, settings: &mut Map<String, Value>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, schema) in properties.into_iter().flatten() {
        match settings.get_mut(name) {
            Some(Value::Object(inner)) => fill(schema, inner),
            Some(_) => {}
            None => {
                if let Some(default) = default(schema) {
                    settings.insert(name.clone(), default);
                }
            }
        }
    }
}

/// Settings with every default that [`fill`] can add in any settings, and the places of these
/// defaults, as JSON pointers. Objects are created even if a required member is then missing.
pub(super) fn all(schema: &Value) -> (Map<String, Value>, Vec<String>) {
    let (mut settings, mut places) = (Map::new(), Vec::new());
    add_all(schema, "", &mut settings, &mut places);
    (settings, places)
}

fn add_all(schema: &Value, at: &str, to: &mut Map<String, Value>, places: &mut Vec<String>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, schema) in properties.into_iter().flatten() {
        let place = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
        if let Some(default) = schema.get("default") {
            let mut default = default.clone();
            if let Value::Object(members) = &mut default {
                fill(schema, members);
            }
            to.insert(name.clone(), default);
            places.push(place);
            continue;
        }
        let (mut members, before) = (Map::new(), places.len());
        add_all(schema, &place, &mut members, places);
        if places.len() > before {
            to.insert(name.clone(), Value::Object(members));
        }
    }
}

/// The value of a missing member, or `None` if the schema has no default for it.
fn default(schema: &Value) -> Option<Value> {
    match schema.get("default") {
        Some(Value::Object(default)) => {
            let mut default = default.clone();
            fill(schema, &mut default);
            Some(Value::Object(default))
        }
        Some(default) => Some(default.clone()),
        None => filled(schema).map(Value::Object),
    }
}

/// An object that consists of defaults, or `None` if there are none or a required member would be
/// missing.
pub(super) fn filled(schema: &Value) -> Option<Map<String, Value>> {
    let mut members = Map::new();
    fill(schema, &mut members);
    let required = schema.get("required").and_then(Value::as_array);
    let mut required = required.into_iter().flatten().filter_map(Value::as_str);
    let is_whole = required.all(|name| members.contains_key(name));
    (is_whole && !members.is_empty()).then_some(members)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn missing_members_get_their_defaults_at_every_depth() {
        let schema = json!({"properties": {
            "grace": {"type": "integer", "default": 30},
            "given": {"default": 1},
            "null": {"default": 2},
            "none": {"type": "string"},
            "open": {"properties": {"a": {"default": "x"}, "b": {}}},
            "absent": {"properties": {"deep": {"properties": {"c": {"default": []}}}}},
            "whole": {"default": {"a": 1}, "properties": {"a": {"default": 7}, "b": {"default": 8}}},
            "lacking": {"required": ["name"], "properties": {"name": {}, "d": {"default": 1}}},
            "text": {"properties": {"a": {"default": 1}}},
            "referred": {"$ref": "#/$defs/x"},
        }, "$defs": {"x": {"default": 9}}});
        let mut settings = json!({"given": 5, "null": null, "open": {"b": true}, "text": "t"});
        fill(&schema, settings.as_object_mut().expect("an object"));
        let expected = json!({
            "grace": 30, "given": 5, "null": null, "open": {"a": "x", "b": true},
            "absent": {"deep": {"c": []}}, "whole": {"a": 1, "b": 8}, "text": "t",
        });
        assert_eq!(settings, expected);
    }

    #[test]
    fn defaults_are_settings_only_if_no_required_member_is_missing() {
        let with = |required: &[&str]| json!({"required": required, "properties": {"a": {"default": 1}, "b": {}}});
        assert_eq!(filled(&with(&["a"])), json!({"a": 1}).as_object().cloned());
        assert_eq!(filled(&with(&["b"])), None);
        assert_eq!(filled(&json!({"type": "object"})), None);
        assert_eq!(filled(&json!(true)), None);
    }
}
