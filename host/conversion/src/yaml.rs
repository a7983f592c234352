//! YAML as the tools of Kubernetes read it.

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_saphyr::options::DuplicateKeyPolicy;

/// Maximum number of lines of quoted texts whose place is repaired in one text.
const REPAIRS_MAX: usize = 100;

/// The documents of a text. As in Go's readers, a repeated key replaces the earlier one, and a line of
/// a quoted text may begin where its key begins.
///
/// # Errors
/// The problem with its line.
pub fn documents(text: &str) -> Result<Vec<Value>, String> {
    let mut text = text.to_owned();
    for _ in 0..REPAIRS_MAX {
        let error = match strict(&text) {
            Ok(documents) => return Ok(documents),
            Err(error) => error,
        };
        let what = error.to_string();
        let line = error.location().map(|location| location.line());
        // YAML wants such a line to begin behind the place of its key. Blanks at its beginning are not
        // part of the text, so adding them changes nothing else.
        match line {
            Some(line) if what.contains("indentation in multiline quoted scalar") => {
                text = indented(&text, line);
            }
            _ => return Err(what),
        }
    }
    strict(&text).map_err(|error| error.to_string())
}

/// The text with blanks before a line, which counts from 1.
fn indented(text: &str, line: u64) -> String {
    let line = usize::try_from(line).unwrap_or(usize::MAX);
    let lines = text.split_inclusive('\n').enumerate();
    lines.fold(
        String::with_capacity(text.len() + 2),
        |mut repaired, (at, part)| {
            if at + 1 == line {
                repaired.push_str("  ");
            }
            repaired.push_str(part);
            repaired
        },
    )
}

fn strict(text: &str) -> Result<Vec<Value>, serde_saphyr::Error> {
    let options = serde_saphyr::options! {
        strict_booleans: true,
        strict_indentation: false,
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        with_snippet: false,
    };
    serde_saphyr::from_multiple_with_options(text, options)
}

/// The first document of a text, which is the one that Argo CD reads.
///
/// # Errors
/// The problem with its line, or with its member.
pub(crate) fn first<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let documents = documents(text)?;
    let document = documents.into_iter().find(|document| !document.is_null());
    serde_json::from_value(document.unwrap_or_default()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_are_read_as_in_go() {
        for (text, expected) in [
            ("a: 'x\nb'", json!([{"a": "x b"}])),
            ("l:\n- a: 'x\n  y\n  z'", json!([{"l": [{"a": "x y z"}]}])),
            ("a: 1\na: 2", json!([{"a": 2}])),
            ("a: yes", json!([{"a": "yes"}])),
            ("a: 1\n---\nb: 2", json!([{"a": 1}, {"b": 2}])),
        ] {
            assert_eq!(documents(text).map(Value::from), Ok(expected), "{text}");
        }
        assert!(documents("a: [").is_err());
        assert!(documents("a: 'x").is_err());
    }
}
