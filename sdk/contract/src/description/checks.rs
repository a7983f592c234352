//! Checks of the texts of a description.

use serde_json::Value;

use super::{Reason, State};
use crate::limits::{
    NAME_BYTES_MAX, REASON_BYTES_MAX, STATE_BYTES_MAX, SUMMARY_BYTES_MAX, URL_BYTES_MAX,
    VERSION_BYTES_MAX,
};
use crate::phase::{Phase, RESERVED_STATES};
use crate::reading::{Members, Report, cut};

pub(super) fn name(members: &Members<'_>, report: &mut Report) -> Option<String> {
    let name = members.text("name", report)?;
    let allowed =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte);
    if !(1..=NAME_BYTES_MAX).contains(&name.len()) || !name.bytes().all(allowed) {
        let what = format!(
            "`{}` is not 1 to {NAME_BYTES_MAX} lower-case letters, digits, `-` or `.`",
            cut(name)
        );
        report.problem("name", &what);
    }
    Some(name.to_owned())
}

pub(super) fn version(members: &Members<'_>, report: &mut Report) -> Option<String> {
    let version = members.text("version", report)?;
    if version.len() > VERSION_BYTES_MAX || !is_semantic(version) {
        let what = format!(
            "`{}` is not a semantic version of at most {VERSION_BYTES_MAX} bytes, such as 1.0.0",
            cut(version)
        );
        report.problem("version", &what);
    }
    Some(version.to_owned())
}

/// Returns whether a text is a version according to semver.org.
fn is_semantic(version: &str) -> bool {
    let (version, build) = match version.split_once('+') {
        Some((version, build)) => (version, Some(build)),
        None => (version, None),
    };
    let (core, pre_release) = match version.split_once('-') {
        Some((core, pre_release)) => (core, Some(pre_release)),
        None => (version, None),
    };
    let is_word = |part: &str| {
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        !part.is_empty() && part.bytes().all(letter)
    };
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let is_number =
        |part: &str| !part.is_empty() && is_digits(part) && (part == "0" || !part.starts_with('0'));
    core.split('.').count() == 3
        && core.split('.').all(is_number)
        && build.is_none_or(|build| build.split('.').all(is_word))
        && pre_release.is_none_or(|parts| {
            let mut parts = parts.split('.');
            parts.all(|part| is_word(part) && (!is_digits(part) || is_number(part)))
        })
}

/// Reads `summary`, which must be one line.
pub(super) fn summary(members: &Members<'_>, report: &mut Report) -> Option<String> {
    let summary = members.text("summary", report)?;
    if summary.len() > SUMMARY_BYTES_MAX || summary.contains(char::is_control) {
        let what = format!("not one line of at most {SUMMARY_BYTES_MAX} bytes");
        report.problem(&members.at("summary"), &what);
    }
    Some(summary.to_owned())
}

pub(super) fn state(value: &Value, place: &str, report: &mut Report) -> Option<State> {
    let known = ["name", "phase", "summary", "final"];
    let members = Members::of(value, place, &known, report)?;
    let name = camel_case(&members, STATE_BYTES_MAX, report);
    let phase = phase(&members, report);
    let summary = summary(&members, report);
    let is_final = members.flag("final", report);
    let state = State {
        name: name?,
        phase: phase?,
        summary: summary?,
        is_final,
    };
    let mut reserved = RESERVED_STATES.iter();
    if let Some((name, phase)) = reserved.find(|(name, _)| *name == state.name)
        && *phase != state.phase
    {
        let what = format!(
            "the state {name} means {phase} everywhere, not {}",
            state.phase
        );
        report.problem(&members.at("phase"), &what);
    }
    Some(state)
}

pub(super) fn reason(value: &Value, place: &str, report: &mut Report) -> Option<Reason> {
    let members = Members::of(value, place, &["name", "summary", "help-url"], report)?;
    let name = camel_case(&members, REASON_BYTES_MAX, report);
    let summary = summary(&members, report);
    let help_url = members.optional_text("help-url", report);
    if let Some(url) = help_url
        && !is_url(url)
    {
        let what = format!(
            "`{}` is not a URL of at most {URL_BYTES_MAX} bytes that begins with https://",
            cut(url)
        );
        report.problem(&members.at("help-url"), &what);
    }
    Some(Reason {
        name: name?,
        summary: summary?,
        help_url: help_url.map(str::to_owned),
    })
}

fn is_url(url: &str) -> bool {
    let rest = url.strip_prefix("https://");
    let rest = rest.or_else(|| url.strip_prefix("http://"));
    url.len() <= URL_BYTES_MAX
        && rest.is_some_and(|rest| {
            !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_graphic())
        })
}

/// Reads `name`, which must be one word that begins with an upper-case letter.
fn camel_case(members: &Members<'_>, bytes_max: usize, report: &mut Report) -> Option<String> {
    let name = members.text("name", report)?;
    let is_word = name.starts_with(|letter: char| letter.is_ascii_uppercase())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if !is_word || name.len() > bytes_max {
        let what = format!(
            "`{}` is not one CamelCase word of at most {bytes_max} letters and digits",
            cut(name)
        );
        report.problem(&members.at("name"), &what);
    }
    Some(name.to_owned())
}

fn phase(members: &Members<'_>, report: &mut Report) -> Option<Phase> {
    let word = members.text("phase", report)?;
    let phase = Phase::of(word);
    if phase.is_none() {
        let what = format!(
            "the phase `{}` is not known to this host, which knows {}",
            cut(word),
            Phase::words()
        );
        report.problem(&members.at("phase"), &what);
    }
    phase
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_semantic() {
        for right in [
            "0.0.0",
            "1.2.3",
            "10.20.30-rc.1+build.007",
            "1.0.0--",
            "1.0.0-0a",
        ] {
            assert!(is_semantic(right), "{right}");
        }
        for wrong in [
            "", "1", "1.0", "v1.0.0", "01.0.0", "1.0.0-", "1.0.0-01", "1.0.0+", "1.0.0.0",
        ] {
            assert!(!is_semantic(wrong), "{wrong}");
        }
    }
}
