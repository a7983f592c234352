//! Limits of the host: the table of `docs/serving.md` is generated from the code.
//!
//! `UPDATE_EXPECT=1 cargo test -p kindsight-tests --test limits` writes them again.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// The document, from the root of the repository.
const DOCUMENT: &str = "docs/serving.md";
/// The lines between which the table is.
const BEGIN: &str = "<!-- limits: made from the code by tests/tests/limits.rs -->\n";
const END: &str = "<!-- end of limits -->\n";

/// Endings of the names of constants that are limits.
const ENDINGS: [&str; 3] = ["_MAX", "_MIN", "_DEADLINE"];

/// A limit as the code declares it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Limit {
    name: String,
    value: String,
    /// The first sentence of its doc comment.
    summary: String,
}

#[test]
fn the_document_lists_every_limit_that_can_be_set() {
    let path = root().join(DOCUMENT);
    let document = fs::read_to_string(&path).expect("the document");
    let (before, rest) = document.split_once(BEGIN).expect("where the table begins");
    let (found, after) = rest.split_once(END).expect("where the table ends");
    let expected = table();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let document = [before, BEGIN, &expected, END, after].concat();
        fs::write(path, document).expect("the document is written");
        return;
    }
    assert!(
        found == expected,
        "{DOCUMENT} is not what the code says; `UPDATE_EXPECT=1 cargo test -p kindsight-tests \
         --test limits` writes it again. Expected:\n{expected}"
    );
}

#[test]
fn every_limit_has_a_doc_comment() {
    let silent: Vec<String> = constants()
        .into_iter()
        .flat_map(|(krate, limits)| limits.into_iter().map(move |limit| (krate.clone(), limit)))
        .filter(|(_, limit)| limit.summary.is_empty())
        .map(|(krate, limit)| format!("{krate}: {}", limit.name))
        .collect();
    assert!(silent.is_empty(), "without a doc comment: {silent:?}");
}

#[test]
fn values_are_shown_in_units() {
    let shown = [
        ("1024", "1,024"),
        ("64 * 1024", "64 Ki"),
        ("4 * 1024 * 1024", "4 Mi"),
        ("Duration::from_mins(2)", "2 min"),
        ("Duration::from_millis(50)", "50 ms"),
        (
            "OBJECT_BYTES_MAX.div_ceil(3) * 4",
            "`OBJECT_BYTES_MAX.div_ceil(3) * 4`",
        ),
    ];
    for (code, expected) in shown {
        assert_eq!(value(code), expected);
    }
}

/// The table in the form of the document.
fn table() -> String {
    let mut text = String::from("\n| flag of `serve` | default | |\n|---|---|---|\n");
    for Limit {
        name,
        value,
        summary,
    } in settings()
    {
        let _ = writeln!(text, "| `--{name}` | {value} | {summary} |");
    }
    text.push('\n');
    text
}

/// The constants of the contract and of every crate of the host, by crate.
fn constants() -> BTreeMap<String, Vec<Limit>> {
    let mut found = BTreeMap::new();
    let sources = [("host", "host"), ("sdk", "sdk/contract")];
    let sources = sources.iter().flat_map(|(parent, folder)| {
        let files = files(&root().join(folder)).into_iter();
        files.map(move |file| (root().join(parent), file))
    });
    for (parent, file) in sources {
        let text = fs::read_to_string(&file).expect("a source file");
        let krate = file.strip_prefix(parent).ok();
        let krate = krate.and_then(|path| path.iter().next()?.to_str());
        let limits = declared(&text, constant);
        let known: &mut Vec<Limit> = found.entry(krate.unwrap_or("").to_owned()).or_default();
        known.extend(limits);
    }
    for limits in found.values_mut() {
        limits.sort();
        limits.dedup();
    }
    found.retain(|_, limits| !limits.is_empty());
    found
}

/// The flags of `serve` that are limits, with the values of the constants that are their defaults.
fn settings() -> Vec<Limit> {
    let file = root().join("host/kindsight/src/config/limits.rs");
    let text = fs::read_to_string(file).expect("the declaration of the flags");
    let mut constants = constants();
    // Most defaults are limits of the REST API. Other crates have constants of the same names.
    let rest = constants.remove("rest").unwrap_or_default();
    let constants: Vec<Limit> = rest
        .into_iter()
        .chain(constants.into_values().flatten())
        .collect();
    let mut settings = declared(&text, flag);
    for setting in &mut settings {
        let constant = setting
            .value
            .trim_matches('`')
            .trim_end_matches(".as_secs()");
        let constant = constants.iter().find(|limit| limit.name == constant);
        if let Some(constant) = constant {
            setting.value.clone_from(&constant.value);
        }
    }
    settings
}

/// The limits in a source file, without its tests. `read` reads a declaration from a line and the previous line.
fn declared(text: &str, read: impl Fn(&str, &str) -> Option<(String, String)>) -> Vec<Limit> {
    let (code, _) = text
        .split_once("#[cfg(test)]\nmod tests {")
        .unwrap_or((text, ""));
    let (mut comment, mut before, mut limits) = (String::new(), "", Vec::new());
    for line in code.lines().map(str::trim) {
        if let Some(said) = line.strip_prefix("///") {
            comment.push_str(said);
            continue;
        }
        if let Some((name, value)) = read(line, before) {
            limits.push(Limit {
                name,
                value,
                summary: first_sentence(&comment),
            });
        }
        if !line.starts_with('#') {
            comment.clear();
        }
        before = line;
    }
    limits
}

/// A constant whose name has one of [`ENDINGS`].
fn constant(line: &str, _: &str) -> Option<(String, String)> {
    let (_, declaration) = line.split_once("const ")?;
    let (name, rest) = declaration.split_once(':')?;
    let (kind, code) = rest.trim_end_matches(';').split_once('=')?;
    let is_limit = ENDINGS.iter().any(|ending| name.ends_with(ending)) && !kind.contains('&');
    is_limit.then(|| (name.to_owned(), value(code.trim())))
}

/// A field with a flag and a default.
fn flag(line: &str, before: &str) -> Option<(String, String)> {
    let (_, default) = before.split_once("default_value_t = ")?;
    let default = default.strip_suffix(")]")?;
    let (declaration, _) = line.split_once(':')?;
    let name = declaration.rsplit(' ').next()?;
    let default = match default.rsplit_once("::") {
        Some((_, name)) => format!("`{name}`"),
        None => value(default),
    };
    Some((name.replace('_', "-"), default))
}

/// A readable value: a number with digits in groups of three, a power of 1,024 or a time with its unit. Other code is
/// unchanged.
fn value(code: &str) -> String {
    let number = |text: &str| text.replace('_', "").parse::<u64>().ok();
    let unit = [
        ("Duration::from_micros(", "µs"),
        ("Duration::from_millis(", "ms"),
        ("Duration::from_secs(", "s"),
        ("Duration::from_mins(", "min"),
        ("Duration::from_hours(", "h"),
    ];
    for (constructor, unit) in unit {
        let inner = code
            .strip_prefix(constructor)
            .and_then(|rest| rest.strip_suffix(')'));
        if let Some(time) = inner.and_then(number) {
            return format!("{time} {unit}");
        }
    }
    let factors: Option<Vec<u64>> = code
        .split('*')
        .map(|factor| number(factor.trim()))
        .collect();
    let Some(factors) = factors else {
        return format!("`{code}`");
    };
    let is_power = |factor: &&u64| factors.len() > 1 && **factor == 1024;
    let (powers, rest): (Vec<u64>, Vec<u64>) = factors.iter().partition(is_power);
    let rest = grouped(rest.iter().product());
    match powers.len() {
        0 => rest,
        1 => format!("{rest} Ki"),
        2 => format!("{rest} Mi"),
        _ => format!("{rest} Gi"),
    }
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (position, digit) in digits.char_indices() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

fn first_sentence(comment: &str) -> String {
    let comment = comment.trim();
    let end = comment.find(". ").unwrap_or(comment.len());
    let sentence = comment[..end].trim_end_matches('.');
    // Links of the documentation become plain names.
    sentence
        .replace("[`", "`")
        .replace("`]", "`")
        .replace('|', "\\|")
}

/// The source files below a folder that are no tests, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let entries = fs::read_dir(folder).expect("a folder");
    let mut entries: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    entries.sort();
    for path in entries {
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if ["tests", "benches", "contract", "goldens", "samples"].contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension() == Some("rs".as_ref()) {
            found.push(path);
        }
    }
    found
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
