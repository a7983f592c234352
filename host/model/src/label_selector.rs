//! Label selectors, in the form that `kubectl --selector` takes.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::is_label_value;

/// Maximum length of a selector, in bytes.
pub const SELECTOR_BYTES_MAX: usize = 4096;

/// A label selector: requirements that all have to hold.
///
/// `key=value` (or `==`), `key!=value`, `key in (a,b)`, `key notin (a,b)`, `key` and `!key`, separated by
/// commas. As in Kubernetes, `!=` and `notin` also hold where the label is not there.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LabelSelector {
    requirements: Arc<[Requirement]>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Requirement {
    key: String,
    test: Test,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Test {
    In(BTreeSet<String>),
    NotIn(BTreeSet<String>),
    Exists,
    DoesNotExist,
}

/// The reason why a text is not a label selector; the message gives the valid form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectorError {
    /// Nothing is required.
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
    /// Something else than an operator after a key.
    #[error(
        "`{found}` after `{key}`: expected `=`, `==`, `!=`, `in (…)`, `notin (…)`, `,` or the end"
    )]
    NotAnOperator {
        /// The key before it.
        key: String,
        /// The text in its place.
        found: String,
    },
    /// A list of values that does not begin or end.
    #[error("the values of `{0}` are not a list: write `{0} in (a, b)`")]
    NotAList(String),
}

impl LabelSelector {
    /// Returns whether it selects an object with these labels, by their keys.
    pub fn selects<'l>(&self, label: impl Fn(&str) -> Option<&'l str>) -> bool {
        self.requirements.iter().all(|requirement| {
            let value = label(&requirement.key);
            match &requirement.test {
                Test::In(values) => value.is_some_and(|it| values.contains(it)),
                Test::NotIn(values) => value.is_none_or(|it| !values.contains(it)),
                Test::Exists => value.is_some(),
                Test::DoesNotExist => value.is_none(),
            }
        })
    }
}

impl FromStr for LabelSelector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, SelectorError> {
        if text.len() > SELECTOR_BYTES_MAX {
            return Err(SelectorError::TooLong(text.len()));
        }
        let mut tokens = Tokens(text);
        let mut requirements = Vec::new();
        loop {
            requirements.push(requirement(&mut tokens)?);
            match tokens.next() {
                "" => break,
                "," => {}
                found => {
                    let key = requirements.pop().map(|it| it.key).unwrap_or_default();
                    let found = found.to_owned();
                    return Err(SelectorError::NotAnOperator { key, found });
                }
            }
        }
        Ok(Self {
            requirements: requirements.into(),
        })
    }
}

impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, Requirement { key, test }) in self.requirements.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            let list = |values: &BTreeSet<String>| {
                let values: Vec<&str> = values.iter().map(String::as_str).collect();
                values.join(",")
            };
            let one = match test {
                Test::In(values) | Test::NotIn(values) if values.len() == 1 => values.first(),
                _ => None,
            };
            match test {
                Test::In(_) if let Some(value) = one => write!(f, "{comma}{key}={value}")?,
                Test::NotIn(_) if let Some(value) = one => write!(f, "{comma}{key}!={value}")?,
                Test::In(values) => write!(f, "{comma}{key} in ({})", list(values))?,
                Test::NotIn(values) => write!(f, "{comma}{key} notin ({})", list(values))?,
                Test::Exists => write!(f, "{comma}{key}")?,
                Test::DoesNotExist => write!(f, "{comma}!{key}")?,
            }
        }
        Ok(())
    }
}

fn requirement(tokens: &mut Tokens<'_>) -> Result<Requirement, SelectorError> {
    let first = tokens.next();
    if first.is_empty() {
        return Err(SelectorError::Empty);
    }
    let is_negated = first == "!";
    let key = key(if is_negated { tokens.next() } else { first })?;
    let test = match tokens.peek() {
        "" | "," if is_negated => Test::DoesNotExist,
        "" | "," => Test::Exists,
        "=" | "==" if !is_negated => Test::In(one(tokens)?),
        "!=" if !is_negated => Test::NotIn(one(tokens)?),
        "in" if !is_negated => Test::In(list(&key, tokens)?),
        "notin" if !is_negated => Test::NotIn(list(&key, tokens)?),
        found => {
            let found = found.to_owned();
            return Err(SelectorError::NotAnOperator { key, found });
        }
    };
    Ok(Requirement { key, test })
}

/// The value after an operator, which may be empty.
fn one(tokens: &mut Tokens<'_>) -> Result<BTreeSet<String>, SelectorError> {
    tokens.next();
    let text = match tokens.peek() {
        "," => "",
        _ => tokens.next(),
    };
    Ok([value(text)?].into())
}

/// The values in parentheses after an operator.
fn list(key: &str, tokens: &mut Tokens<'_>) -> Result<BTreeSet<String>, SelectorError> {
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
            ")" => return Ok(values),
            _ => return Err(not_a_list()),
        }
    }
}

fn key(text: &str) -> Result<String, SelectorError> {
    let (prefix, name) = match text.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, text),
    };
    let is_prefix = prefix.is_none_or(|it| {
        let part = |part: &str| is_label_value(part) && !part.contains(['_', '.']);
        it.len() <= 253 && it.split('.').all(part)
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

/// The words and operators of a selector that were not read yet.
struct Tokens<'t>(&'t str);

impl<'t> Tokens<'t> {
    /// The next one; empty at the end.
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
        let operator = operators.iter().find(|it| text.starts_with(**it));
        let is_end = |it: char| it.is_whitespace() || "=!,()".contains(it);
        let end = operator.map_or_else(|| text.find(is_end), |it| Some(it.len()));
        text.split_at(end.unwrap_or(text.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selects(selector: &str, labels: &[(&str, &str)]) -> bool {
        let selector: LabelSelector = selector.parse().unwrap();
        selector.selects(|key| labels.iter().find(|it| it.0 == key).map(|it| it.1))
    }

    #[test]
    fn requirements_hold_as_kubernetes_documents_them() {
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
    fn what_is_wrong_is_named_with_what_would_be_right() {
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
            let error = wrong.parse::<LabelSelector>().unwrap_err().to_string();
            assert!(error.contains(told), "{wrong}: {error}");
        }
    }

    #[test]
    fn a_selector_is_read_back_as_it_is_written() {
        let text = "a=1,b!=2,c in (y,x),d notin (z),e,!f,g in ()";
        let selector: LabelSelector = text.parse().unwrap();
        let written = selector.to_string();
        assert_eq!(written, "a=1,b!=2,c in (x,y),d!=z,e,!f,g=");
        assert_eq!(written.parse::<LabelSelector>().unwrap(), selector);
    }
}
