//! Removes the content of Secrets from stored texts.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::redact;

/// The form in which a stored text may be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShownText {
    /// Unchanged: it holds no content of a Secret.
    AsItIs,
    /// The text without the content of Secrets. YAML has become JSON.
    Redacted(String),
    /// Not shown: it may hold content of a Secret, and cannot be parsed to remove it.
    Withheld,
}

/// Removes the content of Secrets from a stored text: JSON, YAML, or either of them in a JSON string, as
/// manifests and reports are stored.
pub fn without_secrets(text: &str) -> ShownText {
    if let Ok(inner) = serde_json::from_str::<String>(text) {
        return match without_secrets_within(&inner) {
            ShownText::Redacted(inner) => ShownText::Redacted(Value::from(inner).to_string()),
            shown => shown,
        };
    }
    without_secrets_within(text)
}

fn without_secrets_within(text: &str) -> ShownText {
    // Escapes can hide the word `Secret`.
    let hides = ["\\u", "\\x", "\\U"];
    if !text.contains("Secret") && !hides.iter().any(|escape| text.contains(escape)) {
        return ShownText::AsItIs;
    }
    if serde_json::from_str::<&RawValue>(text).is_ok() {
        return match redact::redacted(text, false) {
            Ok(None) => ShownText::AsItIs,
            Ok(Some(redacted)) => ShownText::Redacted(redacted),
            Err(redact::Opaque) => ShownText::Withheld,
        };
    }
    of_yaml(text)
}

fn of_yaml(text: &str) -> ShownText {
    let Ok(value) = crate::manifest::value(text) else {
        return ShownText::Withheld;
    };
    match redact::redacted(&value.to_string(), false) {
        Ok(None) => ShownText::AsItIs,
        Ok(Some(redacted)) => ShownText::Redacted(redacted),
        Err(redact::Opaque) => ShownText::Withheld,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const YAML: &str = "apiVersion: v1\nkind: Secret\ndata:\n  password: aHVudGVyMg==\n";
    const JSON: &str = r#"{"apiVersion":"v1","kind":"Secret","data":{"password":"REDACTED"}}"#;

    fn in_a_string(text: &str) -> String {
        Value::from(text).to_string()
    }

    fn redacted(text: &str) -> String {
        let shown = without_secrets(text);
        let ShownText::Redacted(shown) = shown else {
            panic!("{text}: {shown:?}");
        };
        assert!(!shown.contains("aHVudGVyMg"), "{shown}");
        shown
    }

    #[test]
    fn content_of_secrets_is_removed_from_every_form() {
        let json = JSON.replace("REDACTED", "aHVudGVyMg==");
        assert_eq!(redacted(&json), JSON);
        assert_eq!(redacted(&in_a_string(&json)), in_a_string(JSON));
        for yaml in [YAML.to_owned(), in_a_string(YAML)] {
            assert!(redacted(&yaml).contains("REDACTED"));
        }
        let list = format!("apiVersion: v1\nkind: List\nitems:\n- {json}\n");
        assert!(redacted(&list).contains("REDACTED"));
        let bundle = format!(r#"{{"secretStatuses":[{json}]}}"#);
        assert!(redacted(&in_a_string(&bundle)).contains("secretStatuses"));
        let escaped = YAML.replace("kind: Secret", r#"kind: "\x53ecret""#);
        assert!(redacted(&escaped).contains("REDACTED"));
    }

    #[test]
    fn a_text_without_secrets_is_shown_unchanged() {
        for text in [
            "",
            "true",
            "\"applied\"",
            r#"{"Status":"Applied"}"#,
            "kind: ConfigMap\ndata: {a: b}\n",
            "kind: Pod\nspec: {imagePullSecrets: []}\n",
            JSON,
        ] {
            assert_eq!(without_secrets(text), ShownText::AsItIs, "{text}");
            assert_eq!(
                without_secrets(&in_a_string(text)),
                ShownText::AsItIs,
                "{text}"
            );
        }
    }

    #[test]
    fn an_unreadable_text_that_may_be_a_secret_is_withheld() {
        for text in [
            "kind: Secret\ndata: {password: [\n",
            "kind: Secret\n---\nkind: Secret\ndata: {a: aHVudGVyMg==}\n",
        ] {
            assert_eq!(without_secrets(text), ShownText::Withheld, "{text}");
        }
    }
}
