//! Hostile scripts: the verdicts on other Kinds of the component continue, and no call faults.

use std::time::{Duration, Instant};

use kindsight_interpreter::Interpreters;
use kindsight_model::Verdict;
use serde_json::{Value, json};

use crate::{judged, of_scripts};

const SCRIPTS: &[(&str, &str)] = &[
    ("Loop", "while true do end"),
    (
        "ProtectedLoop",
        "while true do pcall(function() while true do end end) end",
    ),
    (
        "Recursion",
        "local function f() return f() + 1 end return f()",
    ),
    (
        "ProtectedRecursion",
        "local function f() return pcall(f) end f() error('caught')",
    ),
    (
        "Metatables",
        "local t = {} setmetatable(t, {__index = function(t, k) return t[k .. 'x'] end}) return t.a",
    ),
    (
        "Sorting",
        "local t = {} for i = 1, 5000 do t[i] = i end local function f() table.sort(t, f) end f()",
    ),
    (
        "Concatenation",
        "local s = 'x' while true do s = s .. s end",
    ),
    ("Tables", "local t = {} while true do t[#t + 1] = {} end"),
    (
        "Closures",
        "local t = {} while true do local n = {} t[#t + 1] = function() return n end end",
    ),
    ("Repetition", "return {message = ('x'):rep(1e9)}"),
    (
        "Repetitions",
        "local t = {} while true do t[#t + 1] = ('x'):rep(1e6) end",
    ),
    (
        "Pattern",
        "return {message = ('a'):rep(30000):find('.-.-.-.-b')}",
    ),
    (
        "DeepPattern",
        "return {message = ('a'):rep(3000):find(('a?'):rep(3000) .. ('a'):rep(3000))}",
    ),
    (
        "Replacement",
        "local s = ('x'):rep(1e5) while true do s = s:gsub('x', '%0%0') end",
    ),
    (
        "PlainSearch",
        "local s = ('a'):rep(1e5) while true do s:find(s .. 'b' .. s, 1, true); (s .. s):find(s .. 'b', 1, true) end",
    ),
    (
        "Comparison",
        "local a, b = obj.spec.text .. 'x', obj.spec.text .. 'x' while true do if a ~= b then return end end",
    ),
    (
        "LongKeys",
        "local t, k = {}, obj.spec.text for i = 1, 20 do t[i .. 'k'] = i end while true do local v = t[k] end",
    ),
    (
        "Matches",
        "local s = obj.spec.text:rep(1e3) for w in s:gmatch('.') do for v in s:gmatch('.') do end end",
    ),
    (
        "Format",
        "local s = '%99d' while true do s = s .. s string.format(s, 1) end",
    ),
    (
        "WideFormat",
        "return {message = string.format('%9999999999999999999d', 1)}",
    ),
    ("Arguments", "return {unpack(obj.spec.list, 1, 1e9)}"),
    ("Bytes", "return {obj.spec.text:rep(7e3):byte(1, -1)}"),
    (
        "Insertion",
        "for i = 1, 1e6 do table.insert(obj.spec.list, 1, i) end",
    ),
    (
        "Collisions",
        "local t = {} for i = 1, 1e7 do t[i / 3] = i end",
    ),
    ("NoTable", "return 5"),
    ("Missing", "return obj.none.none"),
    ("Error", "error({})"),
];

#[test]
fn a_hostile_script_affects_only_its_own_kind() {
    let mut scripts = SCRIPTS.to_vec();
    scripts.push(("Good", "return {status = 'Healthy', message = 'fine'}"));
    let interpreters = of_scripts(&scripts);
    // The deadline of a call is shorter for a small object.
    for (text, items) in [(200_000, 20_000), (10, 3)] {
        check(&verdicts_on(&interpreters, text, items));
    }
}

/// Each hostile script, and after each the good one, on an object with a text and a list of this size.
fn verdicts_on(interpreters: &Interpreters, text: usize, items: u32) -> Vec<Verdict> {
    let object = |kind: &str| {
        let list: Vec<u32> = (0..items).collect();
        json!({
            "apiVersion": "example.com/v1", "kind": kind, "metadata": {"name": "x"},
            "spec": {"text": "a".repeat(text), "list": list},
        })
    };
    let objects: Vec<Value> = SCRIPTS
        .iter()
        .flat_map(|(kind, _)| [object(kind), object("Good")])
        .collect();
    let begin = Instant::now();
    let verdicts = judged(interpreters, &objects);
    let took = begin.elapsed();
    assert!(took < Duration::from_mins(1), "{took:?}");
    verdicts
}

fn check(verdicts: &[Verdict]) {
    for (pair, (kind, _)) in verdicts.chunks(2).zip(SCRIPTS) {
        println!("{kind}: {} {}", pair[0].reason, pair[0].message);
        assert_eq!(&*pair[0].state, "Unknown", "{kind}: {}", pair[0].message);
        // Another reason would be a fault, which counts against the whole component.
        assert_eq!(
            &*pair[0].reason, "ScriptFailed",
            "{kind}: {}",
            pair[0].message
        );
        assert_eq!(
            &*pair[1].state, "Ready",
            "after {kind}: {}",
            pair[1].message
        );
    }
}
