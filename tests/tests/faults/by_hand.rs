//! Guests written by hand, with code that no compiler would generate.
//!
//! A core module in text, with records laid out as the canonical ABI requires; the host makes a
//! component of it, as it does with an author's module.

use std::fmt::Write as _;

use wit_component::StringEncoding;
use wit_parser::Resolve;

/// Address of the data.
const DATA_AT: u32 = 1024;
/// Address of the answers of `describe` and `fixtures`.
const TEXTS_AT: u32 = 2 * PAGE_BYTES;
/// Bytes of one page of memory.
const PAGE_BYTES: u32 = 64 * 1024;
/// Address of arguments: the same at every call.
const ARGUMENTS_AT: u32 = 32 * 1024;

/// The parts of a module that a test changes.
pub(crate) struct Module {
    /// Pages of 64 KiB that its memory begins with.
    pub(crate) pages: u32,
    /// Anything else in the module.
    pub(crate) fields: String,
    /// The body of `cabi_realloc`, which allocates arguments.
    pub(crate) realloc: String,
    /// The body of `describe`; a pointer to the description otherwise.
    pub(crate) describe: Option<String>,
    /// The answer of `describe`; a description that is right otherwise.
    pub(crate) description: Option<String>,
    /// The answer of `fixtures`; none otherwise.
    pub(crate) fixtures: Option<String>,
    /// The body of `judge-view`; a pointer to `answer` otherwise.
    pub(crate) judge: Option<String>,
    /// The functions that judge.
    pub(crate) ways: Ways,
    /// `result<verdict, failure>` in words of four bytes.
    pub(crate) answer: Answer,
}

/// The functions that a module exports to judge.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ways {
    /// `judge-view`.
    View,
    /// `judge`, which does what `judge-view` would.
    Text,
    /// Both; `judge` traps.
    Both,
}

impl Ways {
    /// The functions, where `body` judges.
    fn functions(self, body: &str) -> String {
        let view = |body: &str| {
            format!(
                r#"(func (export "kindsight:interpreter/view@1.0.0#judge-view")
                    (param i32 i32 i32 i64) (result i32) {body})"#
            )
        };
        let text = |body: &str| {
            format!(
                r#"(func (export "kindsight:interpreter/text@1.0.0#judge")
                    (param i32 i32 i32 i32 i32 i64 i32 i32) (result i32) {body})"#
            )
        };
        match self {
            Self::View => view(body),
            Self::Text => text(body),
            Self::Both => view(body) + &text("unreachable"),
        }
    }

    /// The world of such a module.
    fn world(self) -> &'static str {
        match self {
            Self::View => "include kindsight:interpreter/view-interpreter@1.0.0;",
            Self::Text => "include kindsight:interpreter/interpreter@1.0.0;",
            Self::Both => {
                "include kindsight:interpreter/view-interpreter@1.0.0;
                include kindsight:interpreter/interpreter@1.0.0;"
            }
        }
    }
}

/// The texts of a verdict, with their addresses and lengths.
#[derive(Clone, Copy, Default)]
pub(crate) struct Answer {
    /// 0 for a verdict, 1 for a failure.
    pub(crate) case: u32,
    /// Pointer and length of the state; `Ready` otherwise.
    pub(crate) state: Option<(u32, u32)>,
    /// Length of a reason of `x`.
    pub(crate) reason_bytes: u32,
    /// 1 if the answer has a start time, else 0.
    pub(crate) since_tag: u32,
    /// The start time of the state, in milliseconds.
    pub(crate) since_ms: i64,
    /// Time of the recheck, in milliseconds.
    pub(crate) recheck_ms: Option<i64>,
}

impl Default for Module {
    fn default() -> Self {
        Self {
            pages: 2,
            fields: String::new(),
            realloc: format!("i32.const {ARGUMENTS_AT}"),
            describe: None,
            description: None,
            fixtures: None,
            judge: None,
            ways: Ways::View,
            answer: Answer::default(),
        }
    }
}

impl Module {
    /// A core module that carries the contract's types.
    pub(crate) fn build(&self) -> Vec<u8> {
        let mut data = Data::new(DATA_AT);
        let answered = answer(&mut data, self.answer);
        let mut texts = Data::new(TEXTS_AT);
        let describe = texts.answer(self.description.as_deref().unwrap_or(DESCRIPTION));
        let fixtures = texts.answer(self.fixtures.as_deref().unwrap_or("[]"));
        let pages = self.pages.max(texts.here() / PAGE_BYTES + 1);
        let pointer = |to: u32| format!("i32.const {to}");
        let describe = self.describe.clone().unwrap_or_else(|| pointer(describe));
        let judge = self.judge.clone().unwrap_or_else(|| pointer(answered));
        let text = format!(
            r#"(module
                (memory (export "memory") {pages})
                (data (i32.const {DATA_AT}) "{data}")
                (data (i32.const {TEXTS_AT}) "{texts}")
                (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) {realloc})
                (func (export "kindsight:interpreter/description@1.0.0#describe") (result i32)
                    {describe})
                (func (export "kindsight:interpreter/description@1.0.0#fixtures") (result i32)
                    i32.const {fixtures})
                {judges}
                {fields})"#,
            data = data.escaped(),
            texts = texts.escaped(),
            realloc = self.realloc,
            judges = self.ways.functions(&judge),
            fields = self.fields,
        );
        let mut module = wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut resolve = Resolve::default();
        resolve.push_path("../wit").expect("the contract");
        let world = format!("package by:hand; world it {{ {} }}", self.ways.world());
        let package = resolve.push_str("it.wit", &world).expect("a world");
        let world = resolve.select_world(&[package], Some("it"));
        let world = world.expect("its world");
        wit_component::embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)
            .expect("metadata");
        module
    }
}

/// A module's data, laid out piece by piece.
struct Data {
    begin: u32,
    bytes: Vec<u8>,
}

impl Data {
    fn new(begin: u32) -> Self {
        Self {
            begin,
            bytes: Vec::new(),
        }
    }

    fn here(&self) -> u32 {
        self.begin + u32::try_from(self.bytes.len()).expect("small")
    }

    /// The address of a text's pointer and length, which is the return value of a function that answers with a text.
    fn answer(&mut self, text: &str) -> u32 {
        let (at, len) = self.text(text);
        self.words(&[at, len])
    }

    /// Pointer and length of a text.
    fn text(&mut self, text: &str) -> (u32, u32) {
        let at = self.here();
        self.bytes.extend_from_slice(text.as_bytes());
        (at, u32::try_from(text.len()).expect("small"))
    }

    /// The pointer of some words, aligned to eight bytes.
    fn words(&mut self, words: &[u32]) -> u32 {
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        let at = self.here();
        self.bytes
            .extend(words.iter().flat_map(|word| word.to_le_bytes()));
        at
    }

    fn escaped(&self) -> String {
        self.bytes.iter().fold(String::new(), |mut text, byte| {
            write!(text, "\\{byte:02x}").expect("text");
            text
        })
    }
}

/// A description that is right: one Kind of `hand.example.com`, one state.
const DESCRIPTION: &str = r#"{"name": "by-hand", "version": "1.0.0", "summary": "By hand",
    "kinds": [{"group": "hand.example.com", "kind": "*", "uses-now": true}],
    "states": [{"name": "Ready", "phase": "ready", "summary": "Ready"}]}"#;

fn answer(data: &mut Data, answer: Answer) -> u32 {
    let ready = data.text("Ready");
    let (state, state_bytes) = answer.state.unwrap_or(ready);
    let (text, _) = data.text(&"x".repeat(24 * 1024));
    let recheck_tag = u32::from(answer.recheck_ms.is_some());
    let (since, recheck) = (
        halves(answer.since_ms),
        halves(answer.recheck_ms.unwrap_or(0)),
    );
    let since = [answer.since_tag, 0, since[0], since[1]];
    let recheck = [recheck_tag, 0, recheck[0], recheck[1]];
    let texts = [state, state_bytes, text, answer.reason_bytes, text, 1];
    data.words(&[&[answer.case, 0], &texts[..], &since, &recheck].concat())
}

/// The lower and the upper word of a number.
fn halves(number: i64) -> [u32; 2] {
    let bits = number.cast_unsigned();
    let word = |bits: u64| u32::try_from(bits & u64::from(u32::MAX)).expect("32 bits");
    [word(bits), word(bits >> 32)]
}

/// Modules that load, and whose `judge-view` returns garbage.
pub(crate) fn garbage() -> Vec<(&'static str, Vec<u8>)> {
    let modules = wrong_shapes()
        .into_iter()
        .chain(wrong_texts())
        .chain(wrong_ways());
    modules
        .map(|(what, module)| (what, module.build()))
        .collect()
}

/// Answers whose address or shape breaks the contract.
fn wrong_shapes() -> Vec<(&'static str, Module)> {
    let judges = |body: &str| Module {
        judge: Some(body.to_owned()),
        ..Module::default()
    };
    let case = |case| Module {
        answer: Answer {
            case,
            ..Answer::default()
        },
        ..Module::default()
    };
    // The second word of the state's pointer is read as the failure's case.
    let mut no_failure = case(1);
    no_failure.answer.state = Some((9, 0));
    vec![
        ("a right answer", Module::default()),
        ("an answer beyond its memory", judges("i32.const -64")),
        ("an answer that is not aligned", judges("i32.const 1025")),
        ("neither verdict nor failure", case(7)),
        ("a failure that is none of the four", no_failure),
    ]
}

/// Answers whose texts the contract does not allow.
fn wrong_texts() -> Vec<(&'static str, Module)> {
    let answers = |answer| Module {
        answer,
        ..Module::default()
    };
    let state = |at, bytes| {
        answers(Answer {
            state: Some((at, bytes)),
            ..Answer::default()
        })
    };
    let not_utf8 = Module {
        fields: r#"(data (i32.const 512) "\ff\fe\c0")"#.to_owned(),
        ..state(512, 3)
    };
    let long_reason = Answer {
        reason_bytes: 129,
        ..Answer::default()
    };
    let no_option = Answer {
        since_tag: 2,
        ..Answer::default()
    };
    vec![
        ("a state beyond its memory", state(0xffff_0000, 16)),
        ("a state of 4 GiB", state(DATA_AT, u32::MAX)),
        ("a state that is not UTF-8", not_utf8),
        ("a reason of 129 bytes", answers(long_reason)),
        ("a time that neither is nor is not", answers(no_option)),
    ]
}

/// Faults in the functions around a call.
fn wrong_ways() -> Vec<(&'static str, Module)> {
    let realloc = |body: &str| Module {
        realloc: body.to_owned(),
        ..Module::default()
    };
    let spins = "(export \"cabi_post_kindsight:interpreter/view@1.0.0#judge-view\" (func $spin))
        (func $spin (param i32) (loop (br 0)))";
    let cleaning_up = Module {
        fields: spins.to_owned(),
        ..Module::default()
    };
    vec![
        ("realloc beyond its memory", realloc("i32.const -65536")),
        ("realloc that loops", realloc("(loop (br 0)) unreachable")),
        ("post-return that loops", cleaning_up),
    ]
}
