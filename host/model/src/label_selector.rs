//! Label selectors in the syntax of `kubectl --selector`.

use std::collections::BTreeSet;
use std::sync::Arc;

use kindsight_contract::{LabelRequirement, LabelSelector, LabelTest};

use crate::is_label_value;

/// Maximum length of a selector, in bytes.
pub const SELECTOR_BYTES_MAX: usize = 4096;

/// The reason why a text is not a label selector; the message gives the valid form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectorError {
    /// The selector has no requirement.
    #[error("a selector without a requirement selects everything: write one such as `app=web`")]
    Empty,
    /// Over [`SELECTOR_BYTES_MAX`].
    #[error("selector of {0} bytes is over the limit of {SELECTOR_BYTES_MAX} bytes")]
    TooLong(usize),
    /// Not the key of a label.
    #[error(
        "`{0}` is not the key of a label: 1 to 63 letters, digits, `-`, `_` or `.`, a letter or digit at both ends, after an optional DNS name and `/`"
    )]
    NotAKey(String),
    /// Not the value of a label.
    #[error(
        "`{0}` is not the value of a label: at most 63 letters, digits, `-`, `_` or `.`, a letter or digit at both ends"
    )]
    NotAValue(String),
    /// The text after a key is not an operator.
    #[error(
        "`{found}` after `{key}`: expected `=`, `==`, `!=`, `in (…)`, `notin (…)`, `,` or the end"
    )]
    NotAnOperator {
        /// The key.
        key: String,
        /// The text after the key.
        found: String,
    },
    /// A list of values without an opening or closing parenthesis.
    #[error("the values of `{0}` are not a list: write `{0} in (a, b)`")]
    NotAList(String),
}

/// Parses a label selector in the syntax of `kubectl --selector`.
///
/// `key=value` (or `==`), `key!=value`, `key in (a,b)`, `key notin (a,b)`, `key` and `!key`, separated by
/// commas. As in Kubernetes, `!=` and `notin` also hold if the object does not have the label.
///
/// # Errors
/// The text is empty, too long, or not a list of requirements.
pub fn parse_selector(text: &str) -> Result<LabelSelector, SelectorError> {
    if text.len() > SELECTOR_BYTES_MAX {
        return Err(SelectorError::TooLong(text.len()));
    }
    let mut tokens = Tokens(text);
    let mut requirements = Vec::new();
    loop {
        let requirement = requirement(&mut tokens)?;
        let key = Arc::clone(&requirement.key);
        requirements.push(requirement);
        match tokens.next() {
            "" => return Ok(LabelSelector::new(requirements)),
            "," => {}
            found => {
                let (key, found) = (key.to_string(), found.to_owned());
                return Err(SelectorError::NotAnOperator { key, found });
            }
        }
    }
}

fn requirement(tokens: &mut Tokens<'_>) -> Result<LabelRequirement, SelectorError> {
    let first = tokens.next();
    if first.is_empty() {
        return Err(SelectorError::Empty);
    }
    let is_negated = first == "!";
    let key = key(if is_negated { tokens.next() } else { first })?;
    let test = match tokens.peek() {
        "" | "," if is_negated => LabelTest::DoesNotExist,
        "" | "," => LabelTest::Exists,
        "=" | "==" if !is_negated => LabelTest::In(one(tokens)?),
        "!=" if !is_negated => LabelTest::NotIn(one(tokens)?),
        "in" if !is_negated => LabelTest::In(list(&key, tokens)?),
        "notin" if !is_negated => LabelTest::NotIn(list(&key, tokens)?),
        found => {
            let found = found.to_owned();
            return Err(SelectorError::NotAnOperator { key, found });
        }
    };
    Ok(LabelRequirement {
        key: key.into(),
        test,
    })
}

/// The value after an operator, which may be empty.
fn one(tokens: &mut Tokens<'_>) -> Result<Box<[Arc<str>]>, SelectorError> {
    tokens.next();
    let text = match tokens.peek() {
        "," => "",
        _ => tokens.next(),
    };
    Ok([value(text)?.into()].into())
}

/// The values in parentheses after an operator.
fn list(key: &str, tokens: &mut Tokens<'_>) -> Result<Box<[Arc<str>]>, SelectorError> {
    tokens.next();
    let not_a_list = || SelectorError::NotAList(key.to_owned());
    if tokens.next() != "(" {
        return Err(not_a_list());
    }
    let mut values = BTreeSet::new();
    loop {
        let text = match tokens.peek() {
            "," | ")" => "",
            _ => tokens.next(),
        };
        values.insert(value(text)?);
        match tokens.next() {
            "," => {}
            ")" => return Ok(values.into_iter().map(Arc::from).collect()),
            _ => return Err(not_a_list()),
        }
    }
}

fn key(text: &str) -> Result<String, SelectorError> {
    let (prefix, name) = match text.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, text),
    };
    let is_prefix = prefix.is_none_or(|prefix| {
        let part = |part: &str| is_label_value(part) && !part.contains(['_', '.']);
        prefix.len() <= 253 && prefix.split('.').all(part)
    });
    if is_prefix && is_label_value(name) {
        return Ok(text.to_owned());
    }
    Err(SelectorError::NotAKey(text.to_owned()))
}

fn value(text: &str) -> Result<String, SelectorError> {
    if text.is_empty() || is_label_value(text) {
        return Ok(text.to_owned());
    }
    Err(SelectorError::NotAValue(text.to_owned()))
}

/// The rest of a selector, split into words and operators as it is read.
struct Tokens<'t>(&'t str);

impl<'t> Tokens<'t> {
    /// The next word or operator; empty at the end.
    fn next(&mut self) -> &'t str {
        let (token, rest) = self.split();
        self.0 = rest;
        token
    }

    fn peek(&self) -> &'t str {
        self.split().0
    }

    fn split(&self) -> (&'t str, &'t str) {
        let text = self.0.trim_start();
        let operators = ["==", "!=", "=", "!", ",", "(", ")"];
        let operator = operators
            .iter()
            .find(|operator| text.starts_with(**operator));
        let is_end = |letter: char| letter.is_whitespace() || "=!,()".contains(letter);
        let end = operator.map_or_else(|| text.find(is_end), |operator| Some(operator.len()));
        text.split_at(end.unwrap_or(text.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selects(selector: &str, labels: &[(&str, &str)]) -> bool {
        let selector = parse_selector(selector).unwrap();
        selector.selects(|key| {
            labels
                .iter()
                .find(|label| label.0 == key)
                .map(|label| label.1)
        })
    }

    #[test]
    fn requirements_follow_the_kubernetes_documentation() {
        let labels = [("environment", "production"), ("tier", "frontend")];
        for held in [
            "environment=production",
            "environment == production",
            "environment in (production, qa)",
            "environment in (production),tier in (frontend)",
            "tier!=backend",
            "partition!=customerA",
            "tier notin (backend, cache)",
            "partition notin (a)",
            "environment,environment notin (frontend)",
            "tier",
            "!partition",
            " ! partition , tier=frontend ",
        ] {
            assert!(selects(held, &labels), "{held}");
        }
        for not_held in [
            "environment=qa",
            "environment=production,tier=backend",
            "partition=customerA",
            "partition in (customerA)",
            "tier!=frontend",
            "tier notin (frontend,backend)",
            "partition",
            "!tier",
            "environment=",
        ] {
            assert!(!selects(not_held, &labels), "{not_held}");
        }
    }

    #[test]
    fn keys_have_prefixes_and_values_may_be_empty() {
        let labels = [("example.org/a_b.c", ""), ("in", "notin")];
        for held in [
            "example.org/a_b.c=",
            "example.org/a_b.c in ()",
            "example.org/a_b.c in (x,)",
            "in in (notin)",
            "in=notin,example.org/a_b.c",
        ] {
            assert!(selects(held, &labels), "{held}");
        }
    }

    #[test]
    fn errors_quote_the_wrong_text_and_give_the_valid_form() {
        for (wrong, told) in [
            ("", "a selector without a requirement"),
            ("app=web,", "a selector without a requirement"),
            ("-app", "`-app` is not the key of a label"),
            ("Under_score/app", "`Under_score/app` is not the key"),
            ("app=a/b", "`a/b` is not the value of a label"),
            ("app>1", "`app>1` is not the key"),
            ("app is web", "`is` after `app`: expected `=`"),
            ("app=web tier=x", "`tier` after `app`: expected `=`"),
            ("!app=web", "`=` after `app`"),
            ("app in web", "write `app in (a, b)`"),
            ("app in (web", "write `app in (a, b)`"),
            ("app in (a b)", "write `app in (a, b)`"),
            (&"a".repeat(5000), "over the limit of 4096 bytes"),
        ] {
            let error = parse_selector(wrong).unwrap_err().to_string();
            assert!(error.contains(told), "{wrong}: {error}");
        }
    }

    #[test]
    fn a_displayed_selector_parses_to_the_same_selector() {
        let text = "a=1,b!=2,c in (y,x),d notin (z),e,!f,g in ()";
        let selector = parse_selector(text).unwrap();
        let written = selector.to_string();
        assert_eq!(written, "a=1,b!=2,c in (x,y),d!=z,e,!f,g=");
        assert_eq!(parse_selector(&written).unwrap(), selector);
    }
}
