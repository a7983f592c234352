//! The digest of a status.

use std::fmt::Write as _;

use kindsight_contract::{Cursor, ReadError};
use serde_json::Value;

use crate::Digest;

/// Number of levels whose members are sorted. A status has its own levels and the ones of its objects, which are at
/// most 127. Deeper values are compared as text.
const LEVELS_MAX: usize = 160;

/// Limit of the whole numbers that a float represents exactly.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// The digest of a `status` of a ResourceBundleState.
///
/// API servers write JSON in another form than they receive it: they sort members, and change white space, escapes and
/// the form of numbers. The digest does not depend on the form. It takes one pass over the text. A text that is not JSON
/// has the digest of its bytes. Called by the monitor for each written status of a report in several objects, and by
/// readers for each such status.
pub fn status_digest(status_json: &str) -> Digest {
    let mut text = String::with_capacity(status_json.len());
    let mut cursor = Cursor::of(status_json);
    let written = write_value(&mut cursor, LEVELS_MAX, &mut text);
    match written.and_then(|()| cursor.end()) {
        Ok(()) => Digest::of(text.as_bytes()),
        Err(_) => Digest::of(status_json.as_bytes()),
    }
}

/// Writes the next value with sorted members.
fn write_value(cursor: &mut Cursor<'_>, levels: usize, to: &mut String) -> Result<(), ReadError> {
    match cursor.first() {
        Some(b'{') if levels > 0 => write_object(cursor, levels, to)?,
        Some(b'[') if levels > 0 => {
            to.push('[');
            cursor.array(|cursor| {
                write_value(cursor, levels - 1, to)?;
                to.push(',');
                Ok(())
            })?;
            to.push(']');
        }
        Some(b'{' | b'[') => to.push_str(cursor.skip()?),
        _ => write_scalar(cursor.skip()?, to),
    }
    Ok(())
}

fn write_object(cursor: &mut Cursor<'_>, levels: usize, to: &mut String) -> Result<(), ReadError> {
    let mut members = Vec::new();
    cursor.object(|cursor, key| {
        let mut value = String::new();
        write_value(cursor, levels - 1, &mut value)?;
        members.push((key.to_owned(), value));
        Ok(())
    })?;
    members.sort_by(|left, right| left.0.cmp(&right.0));
    to.push('{');
    for (key, value) in members {
        to.push_str(&Value::from(key).to_string());
        to.push(':');
        to.push_str(&value);
        to.push(',');
    }
    to.push('}');
    Ok(())
}

fn write_scalar(json: &str, to: &mut String) {
    let value = serde_json::from_str::<Value>(json);
    let number = value.as_ref().ok().filter(|value| value.is_f64());
    match (number.and_then(Value::as_f64), value) {
        // API servers write `1.0` as `1`.
        (Some(number), _) if number.fract() == 0.0 && number.abs() <= EXACT_MAX => {
            // Writing to a String does not fail.
            let _ = write!(to, "{number:.0}");
        }
        (_, Ok(value)) => to.push_str(&value.to_string()),
        (_, Err(_)) => to.push_str(json),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_digest_does_not_depend_on_the_form_of_the_json() {
        let status = json!({"b": [1, 2.5, "a<\u{7f}\n"], "a": {"d": null, "c": true}, "e": 100});
        let pretty = serde_json::to_string_pretty(&status).unwrap();
        let other = r#"{"a":{"c":true,"d":null},"e":1e2,"b":[1.0,2.5,"a\u003c\u007f\n"]}"#;
        for form in [pretty.as_str(), other] {
            assert_eq!(
                status_digest(form),
                status_digest(&status.to_string()),
                "{form}"
            );
        }
    }

    #[test]
    fn another_value_order_or_member_is_another_digest() {
        let digest = status_digest(r#"{"a":[1,2]}"#);
        for other in [
            r#"{"a":[2,1]}"#,
            r#"{"a":[1,2,3]}"#,
            r#"{"b":[1,2]}"#,
            r#"{"a":["1",2]}"#,
            r#"{"a":[[1,2]]}"#,
            r#"{"a":[1,2],"b":null}"#,
        ] {
            assert_ne!(status_digest(other), digest, "{other}");
        }
    }

    #[test]
    fn a_status_of_any_depth_has_a_digest() {
        let deep = |end: &str| format!("{}{end}{}", "[".repeat(5000), "]".repeat(5000));
        assert_eq!(status_digest(&deep("1")), status_digest(&deep("1")));
        assert_ne!(status_digest(&deep("1")), status_digest(&deep("2")));
    }

    #[test]
    fn a_text_that_is_not_json_has_the_digest_of_its_bytes() {
        for text in ["", "{", "[1] 2", "{\"a\":1}}"] {
            assert_eq!(status_digest(text), Digest::of(text.as_bytes()), "{text}");
        }
    }
}
