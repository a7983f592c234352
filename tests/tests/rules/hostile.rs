//! Hostile expressions: the verdicts on other Kinds of the component continue.

use std::time::{Duration, Instant};

use kindsight_conversion::declarative;
use serde_json::{Value, json};

use crate::{component, judged, published};

/// Expressions that need too many steps, too much memory, or a value that they do not have.
fn expressions() -> Vec<(&'static str, String)> {
    let range = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]";
    let mut nested = "true".to_owned();
    for level in 0..12 {
        nested = format!("{range}.all(x{level}, {nested})");
    }
    let deep = |open: &str, close: &str| format!("{}1{} == 1", open.repeat(60), close.repeat(60));
    let doubled = |levels: usize| {
        let start = "[spec.text]".to_owned();
        (0..levels).fold(start, |list, _| format!("{list}.map(x, x + x)"))
    };
    vec![
        ("NestedMacros", nested),
        ("Memory", format!("{}[0].size() > 0", doubled(40))),
        (
            "Split",
            "spec.text.split('').map(c, spec.text.split('')).size() > 0".to_owned(),
        ),
        ("Pattern", "spec.text.matches('((a*)*)*b')".to_owned()),
        (
            "Repetition",
            "spec.text.matches('(a{1,500}){1,500}b')".to_owned(),
        ),
        (
            "Comparison",
            "spec.list.all(x, spec.list.exists(y, x == y && spec.list == [0]))".to_owned(),
        ),
        (
            "Replace",
            "spec.text.replace('a', spec.text).size() > 0".to_owned(),
        ),
        (
            "Format",
            "'%s%s%s'.format([spec.list, spec.list, spec.text.split('')]) == ''".to_owned(),
        ),
        (
            "Parentheses",
            format!("{} && spec.none == 1", deep("(", ")")),
        ),
        ("Missing", "spec.none == 1".to_owned()),
        ("Division", "1 / (1 - 1) == 1".to_owned()),
        ("WrongType", "spec.text".to_owned()),
    ]
}

#[test]
fn a_hostile_expression_affects_only_its_own_kind() {
    let expressions = expressions();
    let rule = |kind: &str, condition: &str| json!({"group": "example.com", "kind": kind, "cases": [{"if": condition, "state": "Ready"}]});
    let mut rules: Vec<Value> = expressions
        .iter()
        .map(|(kind, text)| rule(kind, text))
        .collect();
    rules.push(rule("Good", "spec.ready"));
    let file = json!({"name": "hostile", "version": "1.0.0", "rules": rules}).to_string();
    let rules = declarative::read("hostile.yaml", &file).unwrap_or_else(|error| panic!("{error}"));
    let interpreters = published(&component(&rules));
    let object = |kind: &str| {
        let list: Vec<u32> = (0..20_000).collect();
        json!({
            "apiVersion": "example.com/v1", "kind": kind, "metadata": {"name": "x"},
            "spec": {"text": "a".repeat(200_000), "list": list, "ready": true},
        })
    };
    let objects: Vec<Value> = expressions
        .iter()
        .flat_map(|(kind, _)| [object(kind), object("Good")])
        .collect();
    let begin = Instant::now();
    let verdicts = judged(&interpreters, &objects);
    let took = begin.elapsed();
    for (pair, (kind, _)) in verdicts.chunks(2).zip(&expressions) {
        assert_eq!(&*pair[0].state, "Unknown", "{kind}: {}", pair[0].message);
        println!("{kind}: {} {}", pair[0].reason, pair[0].message);
        assert_eq!(
            &*pair[1].state, "Ready",
            "after {kind}: {}",
            pair[1].message
        );
    }
    assert!(took < Duration::from_secs(30), "{took:?}");
}

#[test]
fn an_expression_that_is_too_deep_or_long_is_refused_at_conversion() {
    let error = |condition: String| {
        let file = json!({
            "name": "deep", "version": "1.0.0",
            "rules": [{"kind": "Deep", "cases": [{"if": condition, "state": "Ready"}]}],
        });
        let rules = declarative::read("deep.yaml", &file.to_string()).expect("a file");
        rules.component().expect_err("an error").to_string()
    };
    for open in [
        "(",
        "[",
        "!(",
        "-(",
        "{1: ",
        "a[",
        "a.all(x, ",
        "size(",
        "a ? b : ",
    ] {
        let refused = error(open.repeat(1000));
        assert!(
            refused.contains("deep.yaml: rules[0] (Deep): cases[0].if: column"),
            "{refused}"
        );
        assert!(
            refused.contains("is nested deeper than 64 levels"),
            "{refused}"
        );
    }
    let refused = error("1 + ".repeat(8000));
    assert!(
        refused.contains("bytes, over the limit of 16384"),
        "{refused}"
    );
}
