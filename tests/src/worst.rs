//! Largest values of the worst shapes: JSON values that take an interpreter the longest time to read.

use std::fmt::Write as _;

/// A shape: its name, and the function that makes a JSON value of limited size in bytes.
pub type Shape = (&'static str, fn(usize) -> String);

/// All shapes.
pub const SHAPES: &[Shape] = &[
    ("numbers", |bytes| list("0", bytes)),
    ("empty objects", |bytes| list("{}", bytes)),
    ("deep nesting", |bytes| {
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        list(&deep, bytes)
    }),
    ("deep objects", |bytes| {
        let deep = format!("{}1{}", r#"{"a":"#.repeat(60), "}".repeat(60));
        list(&deep, bytes)
    }),
    ("one string", |bytes| {
        format!(r#""{}""#, "x".repeat(bytes - 2))
    }),
    ("words", |bytes| {
        format!(r#"{{"phase":"{}"}}"#, "aB".repeat(bytes / 2 - 8))
    }),
    ("error", |bytes| {
        format!(
            r#"{{"phase":"Running","error":"{}"}}"#,
            "a ".repeat(bytes / 2 - 20)
        )
    }),
    ("escapes", |bytes| {
        format!(r#""{}""#, r"\u00e4".repeat(bytes / 6 - 1))
    }),
    ("small members", |bytes| {
        members(bytes, |number| format!(r#""m{number:x}":0"#))
    }),
    ("states", |bytes| {
        members(bytes, |number| format!(r#""{number:x}Phase":"aB""#))
    }),
    ("counts", |bytes| {
        members(bytes, |number| format!(r#""readyA{number:x}":0"#))
    }),
    ("objects", |bytes| {
        members(bytes, |number| format!(r#""m{number:x}":{{"state":"a"}}"#))
    }),
    ("nested lists", |bytes| {
        members(bytes, |number| format!(r#""m{number:x}":[{{}}]"#))
    }),
    ("conditions", |bytes| {
        let conditions = members(bytes - 20, |number| {
            format!(r#"{{"type":"A{number:x}","status":"True"}}"#)
        });
        wrapped(&conditions)
    }),
    ("least conditions", |bytes| wrapped(&list("{}", bytes - 20))),
    ("false conditions", |bytes| {
        wrapped(&list(
            r#"{"type":"PodsReady","status":"False","reason":"NotReady","message":"not ready"}"#,
            bytes - 20,
        ))
    }),
    ("one condition", |bytes| {
        let text = "not Ready yet ".repeat(bytes / 14 - 10);
        wrapped(&format!(
            r#"[{{"type":"Ready","status":"False","message":"{text}"}}]"#
        ))
    }),
    ("map of conditions", |bytes| {
        let map = members(bytes - 20, |number| format!(r#""A{number:x}":true"#));
        format!(r#"{{"conditions":{map}}}"#)
    }),
    ("items", |bytes| list(ITEM, bytes)),
    ("parts with conditions", |bytes| {
        let part = r#"{"name":"a","conditions":[{"type":"Accepted","status":"False"}]}"#;
        list(part, bytes)
    }),
];

/// An item with the members that lists of containers, pods, listeners and ports have.
const ITEM: &str = concat!(
    r#"{"name":"a","type":"A","status":"False","reason":"B","message":"c","ready":false,"#,
    r#""restartCount":7,"started":false,"state":{"waiting":{"reason":"CrashLoopBackOff"}},"#,
    r#""lastState":{"terminated":{"exitCode":1}},"parentRef":{"name":"p"},"controllerName":"c/d","#,
    r#""conditions":[{"type":"Accepted","status":"False","observedGeneration":1}]}"#
);

fn list(item: &str, bytes: usize) -> String {
    let count = (bytes - 2) / (item.len() + 1);
    format!("[{}]", vec![item; count].join(","))
}

/// An object with as many members as fit, or a list if the members have no names.
fn members(bytes: usize, member: impl Fn(usize) -> String) -> String {
    let mut text = String::with_capacity(bytes);
    let (open, close) = if member(0).starts_with('{') {
        ('[', ']')
    } else {
        ('{', '}')
    };
    text.push(open);
    for number in 0.. {
        let next = member(number);
        if text.len() + next.len() + 2 > bytes {
            break;
        }
        let comma = if number == 0 { "" } else { "," };
        // Writing to a String does not fail.
        let _ = write!(text, "{comma}{next}");
    }
    text.push(close);
    text
}

fn wrapped(conditions: &str) -> String {
    format!(r#"{{"conditions":{conditions}}}"#)
}

/// An object of that Kind, as large as it may be, with a value of that shape at a pointer.
pub fn object(group: &str, kind: &str, pointer: &str, shape: &Shape, bytes: usize) -> String {
    let version = if group.is_empty() {
        "v1".to_owned()
    } else {
        format!("{group}/v1")
    };
    let path: Vec<&str> = pointer.split('/').skip(1).collect();
    let open = path.join(r#"":{""#);
    let open = format!(r#"{{"{open}":"#);
    // If an interpreter requests `/metadata` or `/spec` itself, the member occurs twice, and the last one counts.
    let head = format!(
        r#"{{"apiVersion":"{version}","kind":"{kind}","metadata":{{"name":"a","generation":2}},"spec":{{"replicas":3}},"#
    );
    let (open, close) = (
        open.strip_prefix('{').unwrap_or(&open),
        "}".repeat(path.len()),
    );
    let value = (shape.1)(bytes - head.len() - open.len() - close.len());
    format!("{head}{open}{value}{close}")
}
