//! Objects that are damaged as by careless reporters, older controllers and other users. The SDK's harness and
//! `kindsight plugin lint` judge them: no interpreter may fail on one, and no object may become ready by damage.

use serde_json::{Map, Number, Value, json};

/// One damaged form of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Damaged {
    /// The damage, such as `without status`.
    pub how: String,
    /// The damaged object.
    pub object: Value,
    /// True if a ready verdict on it is no mistake.
    pub may_be_ready: bool,
}

/// The promises of the fixtures of a component about an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Promised {
    /// The object itself is ready.
    pub is_ready: bool,
    /// An object of its Kind is ready without a `status`.
    pub without_status: bool,
    /// An object of its Kind is ready without a `spec`.
    pub without_spec: bool,
}

/// All damaged forms of an object: without `status`, without `spec`, with a text as `status`, with each single member
/// removed or replaced by a value of a different type, and with other values for numbers.
pub fn damages(object: &Value, promised: Promised) -> Vec<Damaged> {
    let may_lack_status = object.get("status").is_none() || promised.without_status;
    let whole = [
        (
            "without status",
            without(object, &["status"]),
            may_lack_status,
        ),
        (
            "with a text as status",
            with_text(object, "status"),
            promised.without_status,
        ),
        (
            "without spec",
            without(object, &["spec"]),
            promised.is_ready || promised.without_spec,
        ),
        (
            "without spec and status",
            without(object, &["spec", "status"]),
            may_lack_status,
        ),
        (
            "with texts for numbers",
            with_numbers(object, &|number| json!(number.to_string())),
            promised.is_ready,
        ),
        (
            "with words for numbers",
            with_numbers(object, &|_| json!("many")),
            promised.is_ready,
        ),
    ];
    let whole = whole.map(|(how, object, may_be_ready)| Damaged {
        how: how.to_owned(),
        object,
        may_be_ready,
    });
    let parts = damaged_parts(object).into_iter();
    let parts = parts.map(|(how, object)| Damaged {
        how,
        object,
        may_be_ready: true,
    });
    whole.into_iter().chain(parts).collect()
}

/// The object without some of its members.
fn without(object: &Value, members: &[&str]) -> Value {
    let mut object = object.clone();
    if let Some(object) = object.as_object_mut() {
        object.retain(|name, _| !members.contains(&name.as_str()));
    }
    object
}

/// The object with a text for one of its members.
fn with_text(object: &Value, member: &str) -> Value {
    let mut object = object.clone();
    if let Some(object) = object.as_object_mut() {
        object.insert(member.to_owned(), json!("many"));
    }
    object
}

/// The value with each number in it replaced.
fn with_numbers(value: &Value, other: &dyn Fn(&Number) -> Value) -> Value {
    match value {
        Value::Number(number) => other(number),
        Value::Array(items) => items.iter().map(|item| with_numbers(item, other)).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, member)| (name.clone(), with_numbers(member, other)))
            .collect(),
        other => other.clone(),
    }
}

/// One object for each way to remove or replace one of its members or items, at any depth.
fn damaged_parts(object: &Value) -> Vec<(String, Value)> {
    let mut damaged = Vec::new();
    for pointer in pointers(object, "") {
        let others = [
            json!(null),
            json!(true),
            json!(-1),
            json!("many"),
            json!([]),
            json!({}),
        ];
        for other in others {
            let mut copy = object.clone();
            if let Some(part) = copy.pointer_mut(&pointer) {
                let how = format!("with {other} at {pointer}");
                *part = other;
                damaged.push((how, copy));
            }
        }
        let mut copy = object.clone();
        if remove(&mut copy, &pointer) {
            damaged.push((format!("without {pointer}"), copy));
        }
    }
    damaged
}

/// JSON pointers to all parts of a value.
fn pointers(value: &Value, above: &str) -> Vec<String> {
    let parts: Vec<(String, &Value)> = match value {
        Value::Object(members) => members
            .iter()
            .map(|(name, member)| (name.replace('~', "~0").replace('/', "~1"), member))
            .collect(),
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items
                .map(|(index, item)| (index.to_string(), item))
                .collect()
        }
        _ => Vec::new(),
    };
    let mut found = Vec::new();
    for (token, part) in parts {
        let pointer = format!("{above}/{token}");
        let below = pointers(part, &pointer);
        found.push(pointer);
        found.extend(below);
    }
    found
}

/// Removes the member or item at a pointer. Returns whether it existed.
fn remove(object: &mut Value, pointer: &str) -> bool {
    let Some((above, token)) = pointer.rsplit_once('/') else {
        return false;
    };
    let name = token.replace("~1", "/").replace("~0", "~");
    match object.pointer_mut(above) {
        Some(Value::Object(members)) => Map::remove(members, &name).is_some(),
        Some(Value::Array(items)) => match token.parse::<usize>() {
            Ok(index) if index < items.len() => {
                items.remove(index);
                true
            }
            _ => false,
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_removed_and_replaced_once() {
        let object = json!({"a": {"b/c": [1]}});
        let pointers = pointers(&object, "");
        assert_eq!(pointers, ["/a", "/a/b~1c", "/a/b~1c/0"]);
        let damaged = damaged_parts(&object);
        assert_eq!(damaged.len(), 3 * 7);
        let without: Vec<_> = damaged
            .iter()
            .filter(|(how, _)| how.starts_with("without"))
            .collect();
        assert_eq!(without.len(), 3);
        assert_eq!(without[1].1, json!({"a": {}}));
    }
}
