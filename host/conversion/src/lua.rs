//! Makes an interpreter from scripts in Lua.
//!
//! scripts -> compiled for a check -> cases run -> **data** -> template

use std::collections::BTreeSet;

use kindsight_contract::Tree;
use kindsight_contract::limits::{FIXTURE_NAME_BYTES_MAX, FIXTURES_MAX, KINDS_MAX, NAME_BYTES_MAX};
use kindsight_contract::pattern::KindPattern;
use kindsight_lua::rules::{Call, Rule, Rules};
use kindsight_lua::{Health, Input, Libraries, Script};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::{Conversion, ConversionError, Refused, splice, template};

/// Maximum number of reasons in the error of a conversion without any rule.
const REASONS_MAX: usize = 4;

/// A script with the Kinds that it is for.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    /// Its file or key.
    pub(crate) origin: String,
    /// Group and Kind with `/` between them, or the Kind of the core group; with `*` and `?`.
    pub(crate) key: String,
    pub(crate) call: Call,
    pub(crate) libraries: Libraries,
    pub(crate) script: String,
}

/// An object with the health that its script must state.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    /// Its file.
    pub(crate) origin: String,
    /// The name of the fixture.
    pub(crate) name: String,
    pub(crate) object: Value,
    pub(crate) status: String,
    pub(crate) message: String,
}

/// A source whose script compiles.
struct Checked<'s> {
    source: &'s Source,
    claim: KindPattern,
    pattern: &'s str,
    script: Script,
}

/// Makes the interpreter.
///
/// # Errors
/// If the name is invalid, no rule is left, or the rules do not fit.
pub(crate) fn convert(
    name: &str,
    summary: &str,
    sources: &[Source],
    cases: &[Case],
    mut refused: Vec<Refused>,
) -> Result<Conversion, ConversionError> {
    check_name(name)?;
    let mut checked: Vec<Checked<'_>> = Vec::new();
    let mut claims = BTreeSet::new();
    for source in sources {
        match check(source, &checked) {
            Ok(rule) => {
                claims.insert((rule.claim.group.clone(), rule.claim.kind.clone()));
                if claims.len() > KINDS_MAX {
                    let reason = format!("one interpreter has at most {KINDS_MAX} Kinds");
                    refused.push(refusal(&source.origin, reason));
                    break;
                }
                checked.push(rule);
            }
            Err(reason) => refused.push(refusal(&source.origin, reason)),
        }
    }
    if checked.is_empty() {
        let reasons = refused.iter().take(REASONS_MAX);
        let reasons: Vec<String> = reasons.map(ToString::to_string).collect();
        return Err(ConversionError::AllRefused(reasons.join("; ")));
    }
    // Exact Kinds first, then longer patterns before shorter ones, which match more.
    checked.sort_by_key(|rule| {
        (
            std::cmp::Reverse(rule.pattern.is_empty()),
            std::cmp::Reverse(rule.pattern.len()),
        )
    });
    let fixtures = fixtures(&checked, cases, &mut refused);
    let component = component(name, summary, &checked, &fixtures)?;
    Ok(Conversion {
        component,
        rules: checked.len(),
        fixtures: fixtures.len(),
        refused,
    })
}

fn refusal(origin: &str, reason: String) -> Refused {
    Refused {
        origin: origin.to_owned(),
        reason,
    }
}

fn check_name(name: &str) -> Result<(), ConversionError> {
    let is_letter = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.')
    };
    let is_valid = (1..=NAME_BYTES_MAX).contains(&name.len()) && name.bytes().all(is_letter);
    if is_valid {
        Ok(())
    } else {
        Err(ConversionError::Name(name.to_owned()))
    }
}

/// Compiles the script, and determines what the interpreter claims.
fn check<'s>(source: &'s Source, earlier: &[Checked<'_>]) -> Result<Checked<'s>, String> {
    let (group, kind) = source.key.rsplit_once('/').unwrap_or(("", &source.key));
    let is_pattern = |text: &str| text.contains(['*', '?']);
    if source.key.contains(['[', '{', '\\', '!']) {
        return Err(format!(
            "the pattern `{}` is not supported: use `*` and `?`",
            source.key
        ));
    }
    let any = "*".to_owned();
    let (claim_group, pattern) = match group.strip_prefix("*.") {
        _ if !is_pattern(&source.key) => (group.to_owned(), ""),
        Some(suffix) if !is_pattern(suffix) => (group.to_owned(), source.key.as_str()),
        _ if !is_pattern(group) && source.key.contains('/') => {
            (group.to_owned(), source.key.as_str())
        }
        _ => (any.clone(), source.key.as_str()),
    };
    let claim = KindPattern {
        group: claim_group,
        version: any.clone(),
        kind: if is_pattern(kind) {
            any
        } else {
            kind.to_owned()
        },
    };
    if let Some((part, problem)) = claim.problems().next() {
        return Err(format!("`{}` has an invalid {part}: {problem}", source.key));
    }
    if earlier.iter().any(|other| other.source.key == source.key) {
        return Err(format!("there is another script for `{}`", source.key));
    }
    let script = Script::compile(&source.script)
        .map_err(|error| format!("the script of {} is not valid: {error}", source.key))?;
    if source.call == Call::Karmada && !script.names("InterpretHealth") {
        return Err(format!(
            "the script of {} does not define the function InterpretHealth",
            source.key
        ));
    }
    Ok(Checked {
        source,
        claim,
        pattern,
        script,
    })
}

impl Checked<'_> {
    fn rule(&self) -> Rule<'_> {
        Rule {
            group: &self.claim.group,
            kind: &self.claim.kind,
            pattern: self.pattern,
            call: self.source.call,
            libraries: self.source.libraries,
            script: &self.source.script,
        }
    }
}

/// The fixtures of the cases whose scripts state what the case expects. The others are refused,
/// because a component with a wrong fixture cannot be loaded.
fn fixtures(checked: &[Checked<'_>], cases: &[Case], refused: &mut Vec<Refused>) -> Vec<Value> {
    let mut fixtures = Vec::new();
    let mut names = BTreeSet::new();
    for case in cases {
        let result = if fixtures.len() >= FIXTURES_MAX {
            Err(format!(
                "one interpreter has at most {FIXTURES_MAX} fixtures"
            ))
        } else if names.contains(&case.name) {
            Err("the case is listed twice".to_owned())
        } else {
            fixture(checked, case)
        };
        match result {
            Ok(fixture) => {
                names.insert(case.name.clone());
                fixtures.push(fixture);
            }
            Err(reason) => refused.push(refusal(&case.origin, reason)),
        }
    }
    fixtures
}

fn fixture(checked: &[Checked<'_>], case: &Case) -> Result<Value, String> {
    if case.name.len() > FIXTURE_NAME_BYTES_MAX {
        return Err(format!(
            "its name has more than {FIXTURE_NAME_BYTES_MAX} bytes"
        ));
    }
    let word = |pointer: &str| case.object.pointer(pointer).and_then(Value::as_str);
    let version = word("/apiVersion").unwrap_or_default();
    let group = version.rsplit_once('/').map_or("", |(group, _)| group);
    let kind = word("/kind").unwrap_or_default();
    let Some(rule) = checked.iter().find(|rule| rule.rule().matches(group, kind)) else {
        return Err(format!("no script is for {group}/{kind}"));
    };
    // As in Argo CD's controller, an object that is being deleted does not reach its script.
    if case.object.pointer("/metadata/deletionTimestamp").is_some() {
        return Ok(
            json!({"name": case.name, "object": case.object, "expect": {"phase": "terminating"}}),
        );
    }
    let stated = stated(rule, &case.object)?;
    let expected = (case.status.clone(), case.message.clone());
    if stated != expected {
        return Err(format!(
            "the case expects {} `{}`, and the script states {} `{}`",
            expected.0, expected.1, stated.0, stated.1
        ));
    }
    let reason = if case.status.is_empty() {
        "NoHealth"
    } else {
        &case.status
    };
    Ok(json!({"name": case.name, "object": case.object, "expect": {"reason": reason}}))
}

/// Status and message that the script states about the object.
fn stated(rule: &Checked<'_>, object: &Value) -> Result<(String, String), String> {
    let text = object.to_string();
    let tree = Tree::read(&text).map_err(|error| error.to_string())?;
    let document = tree.document(&text);
    let input = Input {
        object: document.root(),
        libraries: rule.source.libraries,
        now_ms: 0,
    };
    match rule.script.health(&input) {
        Ok(Health::Stated { status, message }) => Ok((status, message)),
        Ok(Health::None) => Ok((String::new(), String::new())),
        Err(error) => Err(format!("the script failed: {error}")),
    }
}

fn component(
    name: &str,
    summary: &str,
    checked: &[Checked<'_>],
    fixtures: &[Value],
) -> Result<Vec<u8>, ConversionError> {
    let fixtures = Value::from(fixtures).to_string();
    let mut rules = Rules {
        name,
        version: "",
        summary,
        rules: checked.iter().map(Checked::rule).collect(),
        fixtures: &fixtures,
    };
    // The version names the content, so that other rules are another version.
    let hash = Sha256::digest(rules.to_bytes());
    let hash = hash
        .iter()
        .take(6)
        .fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    let version = format!("{}+{hash}", env!("CARGO_PKG_VERSION"));
    rules.version = &version;
    Ok(splice(template("lua"), &rules.to_bytes())?)
}
