use proptest::prelude::*;
use serde_json::Value as Json;

use super::*;
use crate::Node;
use crate::document::are_same;

/// Returns whether a node reads as `json`, on every path.
fn agrees(node: Node<'_>, json: &Json) -> bool {
    let shape = (node.is_object(), node.is_array(), node.is_present());
    if shape != (json.is_object(), json.is_array(), !json.is_null()) {
        return false;
    }
    match json {
        Json::Null => node.is_empty() && node.text().is_none() && node.integer().is_none(),
        Json::Bool(flag) => node.flag() == Some(*flag),
        Json::String(text) => node.text() == Some(text) && node.is_empty() == text.is_empty(),
        Json::Number(number) => agrees_with_number(node, number),
        Json::Array(items) => {
            let nodes = node.items();
            nodes.len() == items.len()
                && node.is_empty() == items.is_empty()
                && nodes.zip(items).all(|(node, item)| agrees(node, item))
        }
        Json::Object(members) => {
            node.is_empty() == members.is_empty()
                && node.members().all(|(key, _)| members.contains_key(key))
                && members
                    .iter()
                    .all(|(key, json)| agrees(node.get(key), json))
        }
    }
}

fn agrees_with_number(node: Node<'_>, number: &serde_json::Number) -> bool {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "checked to be whole and small"
    )]
    let whole = || {
        let float = number.as_f64()?;
        (float.fract() == 0.0 && float.abs() <= 9_007_199_254_740_992.0).then_some(float as i64)
    };
    node.integer() == number.as_i64().or_else(whole)
}

fn check(text: &str) -> Result<(), String> {
    match (Tree::read(text), serde_json::from_str::<Json>(text)) {
        (Ok(tree), Ok(json)) if agrees(tree.document(text).root(), &json) => Ok(()),
        (Err(_), Err(_)) => Ok(()),
        (read, json) => Err(format!("{text}: {:?}, {json:?}", read.map(|_| "read"))),
    }
}

/// Valid and invalid texts for every rule of the grammar.
pub(crate) const ODD_TEXTS: &[&str] = &[
    "",
    " ",
    "{",
    "}",
    "[",
    "[]",
    "{}",
    " {} ",
    "{}x",
    "[1,]",
    "[,]",
    "{,}",
    "nul",
    "null",
    "nulll",
    "true",
    "tru",
    "falsee",
    "-",
    "-0",
    "00",
    "01",
    "1.",
    ".1",
    "1.5",
    "1e",
    "1e+",
    "+1",
    "1e2",
    "-1E-2",
    "1e999",
    "3.0",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "123456789012345678901234567890",
    "NaN",
    "'a'",
    "\"",
    "\"a",
    "\"\\\"",
    r#""\u0000""#,
    r#""\ud83d\ude00""#,
    r#""\ud83d""#,
    r#""\ude00""#,
    r#""\ud83dx""#,
    r#""\ud83d\u0041""#,
    r#""\u12""#,
    r#""\u12G4""#,
    r#""\u+123""#,
    r#""\x""#,
    r#""\"\\\/\b\f\n\r\t""#,
    "\"\u{1}\"",
    "\"\u{7f}ä€😀\"",
    "\"eight by\u{1f}te\"",
    r#"{"a":1,"a":2}"#,
    r#"{"a":1,"\u0061":{"b":[]}}"#,
    r#"{"a"}"#,
    r#"{"a":}"#,
    r"{1:2}",
    r#"{"a":1 "b":2}"#,
    r"[1 2]",
    r#"{"":""}"#,
    r#"{"a":{"a":{}},"b":[[],[{}]]}"#,
    "\u{feff}{}",
    "[1]\0",
    "{\"a\":1}\n\t\r ",
    "{\u{a0}}",
    r#"{"a long key of sixteen":1,"a long key of sixteem":2}"#,
];

#[test]
fn odd_texts_read_as_the_standard_reader_does() {
    let wrong: Vec<String> = ODD_TEXTS
        .iter()
        .filter_map(|text| check(text).err())
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_document_may_be_as_deep_as_for_the_standard_reader_and_no_deeper() {
    let nested = |depth| ["[".repeat(depth), "]".repeat(depth)].concat();
    let members = |depth| [r#"{"a":"#.repeat(depth), "1".to_owned(), "}".repeat(depth)].concat();
    for depth in [1, DEPTH_MAX - 1, DEPTH_MAX, DEPTH_MAX + 1, 10_000] {
        for text in [nested(depth), members(depth)] {
            assert_eq!(Tree::read(&text).is_ok(), depth <= DEPTH_MAX, "{depth}");
            check(&text).expect("agree");
        }
    }
}

#[test]
fn of_a_member_that_is_there_twice_the_last_one_counts() {
    let text = r#"{"a":1,"b":{"a":3},"a":2,"c":4}"#;
    let tree = Tree::read(text).expect("JSON");
    let document = tree.document(text);
    let root = document.root();
    assert_eq!(root.get("a").integer(), Some(2));
    let keys: Vec<&str> = root.members().map(|(key, _)| key).collect();
    assert_eq!(keys, ["a", "b", "a", "c"]);
}

#[test]
fn a_duplicate_member_is_detected_at_any_position() {
    let object = |depth: usize, member: &str| {
        let inner = format!(r#"{{"app":{{"x":1}},"b":[1,{{"c":2}}],{member}}}"#);
        let open = r#"{"o":"#.repeat(depth);
        format!("{open}{inner}{}", "}".repeat(depth))
    };
    for depth in 0..4 {
        for (member, expected) in [
            (r#""app":2"#, Some(2)),
            (r#""apq":2"#, None),
            (r#""x":3"#, None),
        ] {
            let text = object(depth, member);
            let tree = Tree::read(&text).expect("JSON");
            let document = tree.document(&text);
            let node = (0..depth).fold(document.root(), |node, _| node.get("o"));
            assert_eq!(node.get("app").integer(), expected, "{text}");
        }
    }
}

#[test]
fn a_pointer_leads_through_objects_and_arrays() {
    let text = r#"{"a":[{"b/c":{"~":[1,2]}}],"0":3}"#;
    let tree = Tree::read(text).expect("JSON");
    let document = tree.document(text);
    let root = document.root();
    let table = [
        ("/a/0/b~1c/~0/1", Some(2)),
        ("/a/0/b~1c/~0/2", None),
        ("/a/x", None),
        ("/0", Some(3)),
        ("/b/c", None),
    ];
    for (pointer, expected) in table {
        assert_eq!(root.at(pointer).integer(), expected, "{pointer}");
    }
    assert!(root.at("").is_object());
}

pub(crate) fn json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        (-1000_i32..1000).prop_map(|number| Json::from(f64::from(number))),
        any::<String>().prop_map(Json::from),
        "[ -~]{0,40}".prop_map(Json::from),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Json::from),
            prop::collection::vec(("[a-c]{0,2}|[a-z]{0,20}|.{0,4}", inner), 0..8)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_json_reads_as_with_the_standard_reader(json in json()) {
        for text in [json.to_string(), format!("{json:#}")] {
            prop_assert_eq!(check(&text), Ok(()));
        }
    }

    #[test]
    fn damaged_json_is_refused_where_the_standard_reader_refuses_it(
        json in json(),
        at in any::<prop::sample::Index>(),
        put in "[\\x00-\\x7f]|[\"\\\\{}\\[\\],:0-9eE.+-]|\\\\u[dD][89a-fA-F][0-9]{2}",
        removed in 0_usize..3,
    ) {
        let characters: Vec<char> = json.to_string().chars().collect();
        let at = at.index(characters.len());
        let head: String = characters.iter().take(at).collect();
        let tail: String = characters.iter().skip(at + removed).collect();
        prop_assert_eq!(check(&[head, put, tail].concat()), Ok(()));
    }

    #[test]
    fn any_text_is_accepted_where_the_standard_reader_accepts_it(
        text in "[\\[\\]{}\",:\\\\0-9a-f.eE+ntrlsu -]{0,24}|.{0,24}",
    ) {
        prop_assert_eq!(check(&text), Ok(()));
    }

    #[test]
    fn slices_are_the_same_where_their_bytes_are(
        left in "[ab]{0,20}",
        right in "[ab]{0,20}",
        at in any::<prop::sample::Index>(),
    ) {
        prop_assert!(are_same(left.as_bytes(), left.clone().as_bytes()));
        if left.len() == right.len() {
            prop_assert_eq!(are_same(left.as_bytes(), right.as_bytes()), left == right);
        }
        if !left.is_empty() {
            let mut other = left.clone().into_bytes();
            other[at.index(left.len())] = b'x';
            prop_assert!(!are_same(left.as_bytes(), &other));
        }
    }
}
