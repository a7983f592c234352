//! The description of the guest: JSON text in its data, which a test can overwrite.
//!
//! All members except `name` are optional: `version`, `summary`, `kinds` (a list of `[group,
//! version, kind]`), `fields`, `states` (a list of names), `more-states` (the number of additional
//! states `MoreN`), `related-limit` and `selector` (of the Pods that an object owns, or that the
//! selector at this pointer selects), `settings-schema`, `reasons` (a list of `[name, summary, help
//! URL]`), `final` (an additional final state), `fixtures` (a list of `[name, object, state]` or `[name,
//! object, state, settings]`), `describe` and `list-fixtures` (a misdeed that is committed first).

use kindsight_sdk::prelude::*;

/// The description if no test has overwritten it. The rest of the buffer is spaces.
const ORIGINAL: &[u8] = br#"{"name": "hostile"}"#;

/// Size of the buffer, in bytes.
const BUFFER_BYTES: usize = 4096;

static TEXT: [u8; BUFFER_BYTES] = buffer();

const fn buffer() -> [u8; BUFFER_BYTES] {
    let mut buffer = [b' '; BUFFER_BYTES];
    let (text, _) = buffer.split_at_mut(ORIGINAL.len());
    text.copy_from_slice(ORIGINAL);
    buffer
}

/// Parses the text. It is hidden from the optimiser, so that the compiler does not evaluate it in
/// advance.
pub(crate) fn read<T>(then: impl FnOnce(&Object<'_>) -> T) -> T {
    let text = std::str::from_utf8(std::hint::black_box(&TEXT)).expect("UTF-8");
    let read = Object::read(text, |description| Ok(then(description)));
    read.expect("a JSON object")
}

/// A state with a name that is only known at run time. Its name is never freed.
fn state(name: &str, phase: Phase, summary: &'static str) -> State {
    State::new(name.to_owned().leak(), phase, summary)
}

/// A state with this name that no description declares.
pub(crate) fn named(name: &str) -> State {
    state(name, Phase::Ready, "")
}

/// Makes the description that the text specifies.
pub(crate) fn describe(text: &Object<'_>) -> Description {
    let part = |name, default| text.root().get(name).text().unwrap_or(default);
    let mut description = Description::new(
        part("name", ""),
        part("version", "1.0.0"),
        part("summary", "Misbehaves on demand"),
    )
    .kinds(kinds(text));
    let states = text.at("/states");
    if states.is_array() {
        for state in states.items().filter_map(Node::text) {
            description = description.states(&[self::state(state, Phase::Ready, "As declared")]);
        }
    } else {
        description = description.states(&[READY, PENDING, PRESENT]);
    }
    for number in 0..text.at("/more-states").integer().unwrap_or(0) {
        let more = state(&format!("More{number}"), Phase::Pending, "One of many");
        description = description.states(&[more]);
    }
    if let Some(name) = text.at("/final").text() {
        description = description.states(&[state(name, Phase::Ready, "For ever").final_()]);
    }
    for reason in text.at("/reasons").items() {
        let part = |at| reason.at(at).text_or_empty();
        description = description.reason(part("/0"), part("/1"), reason.at("/2").text());
    }
    match text.at("/settings-schema").text() {
        Some(schema) => description.settings_schema(schema),
        None => description,
    }
}

fn relation(text: &Object<'_>) -> Relation {
    match text.at("/selector").text() {
        Some(at) => Relation::SelectedBy(at.to_owned().leak()),
        None => Relation::Owned,
    }
}

fn kinds(text: &Object<'_>) -> Vec<Kind> {
    let fields: Vec<&str> = match text.at("/fields") {
        fields if fields.is_array() => fields.items().filter_map(Node::text).collect(),
        _ => vec!["/spec"],
    };
    let limit = text.at("/related-limit").integer();
    let uses_now = text.at("/uses-now").is_true();
    let kind = |group: &str, version: &str, kind: &str| {
        let kind = Kind::new(group, version, kind).fields(&fields);
        let kind = if uses_now { kind.uses_now() } else { kind };
        match limit.and_then(|limit| u32::try_from(limit).ok()) {
            Some(limit) => kind.related(("", "Pod"), relation(text), &["/status"], limit),
            None => kind,
        }
    };
    let kinds = text.at("/kinds");
    if !kinds.is_array() {
        return vec![kind("hostile.example.com", "*", "Thing")];
    }
    let kinds = kinds.items();
    let kinds = kinds.map(|pattern| {
        let part = |at| pattern.at(at).text_or_empty();
        kind(part("/0"), part("/1"), part("/2"))
    });
    kinds.collect()
}

/// The fixtures that the text lists. Their objects are texts, which need not be valid objects.
pub(crate) fn fixtures(text: &Object<'_>) -> Fixtures {
    let fixtures = text.at("/fixtures");
    let fixtures = fixtures.items().map(|fixture| {
        let part = |at: &str| fixture.at(at).text_or_empty();
        let (name, object, state) = (quoted(part("/0")), part("/1"), quoted(part("/2")));
        let settings = match fixture.at("/3").text() {
            Some(settings) => format!(r#""settings": {settings}, "#),
            None => String::new(),
        };
        format!(
            r#"{{"name": {name}, "object": {object}, {settings}"expect": {{"state": {state}}}}}"#
        )
    });
    let fixtures: Vec<String> = fixtures.collect();
    Fixtures::from_json(format!("[{}]", fixtures.join(",")))
}

/// A text as JSON.
fn quoted(text: &str) -> String {
    let escaped = text
        .chars()
        .map(|letter| format!("\\u{:04x}", u32::from(letter)));
    format!("\"{}\"", escaped.collect::<String>())
}
