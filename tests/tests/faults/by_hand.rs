//! Guests written by hand, as no compiler would make them.
//!
//! A core module in text, with records laid out as the canonical ABI requires; the host makes a
//! component of it, as it does with an author's module.

use std::fmt::Write as _;

use wit_component::StringEncoding;
use wit_parser::Resolve;

/// Address of the data.
const DATA_AT: u32 = 1024;
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
    /// The body of `describe`; the description otherwise.
    pub(crate) describe: Option<String>,
    /// The body of `interpret`; a pointer to `answer` otherwise.
    pub(crate) interpret: Option<String>,
    /// `result<verdict, failure>` in words of four bytes.
    pub(crate) answer: Answer,
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
    /// Length of extras of `x`; none where 0.
    pub(crate) extras_bytes: u32,
}

impl Default for Module {
    fn default() -> Self {
        Self {
            pages: 2,
            fields: String::new(),
            realloc: format!("i32.const {ARGUMENTS_AT}"),
            describe: None,
            interpret: None,
            answer: Answer::default(),
        }
    }
}

impl Module {
    /// A core module that carries the contract's types.
    pub(crate) fn build(&self) -> Vec<u8> {
        let mut data = Data::default();
        let described = description(&mut data);
        let answered = answer(&mut data, self.answer);
        let pointer = |to: u32| format!("i32.const {to}");
        let describe = self.describe.clone().unwrap_or_else(|| pointer(described));
        let interpret = self.interpret.clone().unwrap_or_else(|| pointer(answered));
        let text = format!(
            r#"(module
                (memory (export "memory") {pages})
                (data (i32.const {DATA_AT}) "{data}")
                (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) {realloc})
                (func (export "kindsight:interpreter/interpreter@1.0.0#describe") (result i32)
                    {describe})
                (func (export "kindsight:interpreter/interpreter@1.0.0#interpret")
                    (param i32 i32 i32 i32 i32 i64 i32 i32 i32 i32 i32 i32) (result i32)
                    {interpret})
                {fields})"#,
            pages = self.pages,
            data = data.escaped(),
            realloc = self.realloc,
            fields = self.fields,
        );
        let mut module = wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut resolve = Resolve::default();
        let (package, _) = resolve.push_path("../wit").expect("the contract");
        let world = resolve
            .select_world(&[package], Some("plugin"))
            .expect("its world");
        wit_component::embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)
            .expect("metadata");
        module
    }
}

/// A module's data, laid out piece by piece.
#[derive(Default)]
struct Data(Vec<u8>);

impl Data {
    fn here(&self) -> u32 {
        DATA_AT + u32::try_from(self.0.len()).expect("small")
    }

    /// Pointer and length of a text.
    fn text(&mut self, text: &str) -> (u32, u32) {
        let at = self.here();
        self.0.extend_from_slice(text.as_bytes());
        (at, u32::try_from(text.len()).expect("small"))
    }

    /// The pointer of some words, aligned to eight bytes.
    fn words(&mut self, words: &[u32]) -> u32 {
        self.0.resize(self.0.len().next_multiple_of(8), 0);
        let at = self.here();
        self.0
            .extend(words.iter().flat_map(|word| word.to_le_bytes()));
        at
    }

    fn escaped(&self) -> String {
        self.0.iter().fold(String::new(), |mut text, byte| {
            write!(text, "\\{byte:02x}").expect("text");
            text
        })
    }
}

/// A description that is right: one Kind of `hand.example.com`, one state.
fn description(data: &mut Data) -> u32 {
    const READY: u32 = 5;
    let (name, name_bytes) = data.text("by-hand");
    let (version, version_bytes) = data.text("1.0.0");
    let (group, group_bytes) = data.text("hand.example.com");
    let (any, any_bytes) = data.text("*");
    let (ready, ready_bytes) = data.text("Ready");
    let pattern = [group, group_bytes, any, any_bytes, any, any_bytes];
    let fields_and_related = [0; 4];
    let kinds = data.words(&[&pattern[..], &fields_and_related[..]].concat());
    let states = data.words(&[ready, ready_bytes, READY, ready, ready_bytes]);
    let texts = [name, name_bytes, version, version_bytes, name, name_bytes];
    let schema_and_extras = [0; 6];
    data.words(&[&texts[..], &[kinds, 1, states, 1], &schema_and_extras].concat())
}

fn answer(data: &mut Data, answer: Answer) -> u32 {
    let ready = data.text("Ready");
    let (state, state_bytes) = answer.state.unwrap_or(ready);
    let (text, _) = data.text(&"x".repeat(24 * 1024));
    let recheck_at = [0; 4];
    let extras = [
        u32::from(answer.extras_bytes > 0),
        text,
        answer.extras_bytes,
        0,
    ];
    let texts = [state, state_bytes, text, answer.reason_bytes, text, 1];
    data.words(&[&[answer.case, 0], &texts[..], &recheck_at, &extras].concat())
}

/// Modules that load, and whose `interpret` returns garbage.
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
    let interprets = |body: &str| Module {
        interpret: Some(body.to_owned()),
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
        ("an answer beyond its memory", interprets("i32.const -64")),
        (
            "an answer that is not aligned",
            interprets("i32.const 1025"),
        ),
        ("neither verdict nor failure", case(7)),
        ("a failure that is none of the three", no_failure),
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
    let long_extras = Answer {
        extras_bytes: 20 * 1024,
        ..Answer::default()
    };
    vec![
        ("a state beyond its memory", state(0xffff_0000, 16)),
        ("a state of 4 GiB", state(DATA_AT, u32::MAX)),
        ("a state that is not UTF-8", not_utf8),
        ("a reason of 129 bytes", answers(long_reason)),
        ("extras of 20 KiB", answers(long_extras)),
    ]
}

/// Faults in the functions around a call.
fn wrong_ways() -> Vec<(&'static str, Module)> {
    let realloc = |body: &str| Module {
        realloc: body.to_owned(),
        ..Module::default()
    };
    let spins =
        "(export \"cabi_post_kindsight:interpreter/interpreter@1.0.0#interpret\" (func $spin))
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
