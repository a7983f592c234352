use proptest::prelude::*;
use serde_json::value::RawValue;
use serde_json::{Value as Json, json};

use super::*;
use crate::tree::tests as trees;

/// Texts that a tree and the standard parser reject, but that can be skipped.
const PASSED_OVER: &[&str] = &["1e999", r#""\ud83d""#, r#"{"\ude00":[-1E+999]}"#];

fn skipped(text: &str) -> Result<&str, ReadError> {
    let mut cursor = Cursor::of(text);
    let value = cursor.skip()?;
    cursor.end()?;
    Ok(value)
}

fn raw(text: &str) -> Option<&str> {
    serde_json::from_str::<&RawValue>(text)
        .ok()
        .map(RawValue::get)
}

/// Members and items of the outermost value, as texts, with the keys of members.
fn parts(text: &str) -> Result<Vec<(String, &str)>, ReadError> {
    let mut cursor = Cursor::of(text);
    let mut parts = Vec::new();
    if cursor.first() == Some(b'{') {
        cursor.object(|cursor, key| {
            parts.push((key.to_owned(), cursor.skip()?));
            Ok(())
        })?;
    } else {
        cursor.array(|cursor| {
            parts.push((String::new(), cursor.skip()?));
            Ok(())
        })?;
    }
    cursor.end()?;
    Ok(parts)
}

#[test]
fn odd_texts_are_passed_over_as_by_the_standard_reader() {
    for text in trees::ODD_TEXTS.iter().chain(PASSED_OVER) {
        assert_eq!(skipped(text).ok(), raw(text), "{text}");
    }
    for text in PASSED_OVER {
        assert!(Cursor::of(text).tree().is_none(), "{text}");
        assert!(Tree::read(text).is_err(), "{text}");
    }
}

#[test]
fn a_value_that_is_too_deep_for_a_tree_does_not_affect_its_neighbours() {
    let deep = ["[".repeat(100_000), "]".repeat(100_000)].concat();
    let text = format!(r#" [ {deep} ,{{"a" : "\n"}}] "#);
    let mut cursor = Cursor::of(&text);
    let mut read = Vec::new();
    let array = cursor.array(|cursor| {
        match cursor.tree() {
            Some((text, tree)) => {
                let document = tree.document(text);
                read.push(document.root().get("a").text_or_empty().to_owned());
            }
            None => assert_eq!(cursor.skip()?, deep),
        }
        Ok(())
    });
    assert_eq!(array, Ok(text.trim()));
    assert_eq!(cursor.end(), Ok(()));
    assert_eq!(read, ["\n"]);
}

#[test]
fn an_error_names_the_byte() {
    let problem = |text: &str| parts(text).unwrap_err().to_string();
    let table = [
        ("", "no value at byte 0"),
        ("7", "no value at byte 0"),
        ("{", "no key at byte 1"),
        (r#"{"a""#, "no `:` after a key at byte 4"),
        (r#"{"a":1,}"#, "no key at byte 7"),
        (r#"{"a":1]"#, "no `,` or `}` after a member at byte 6"),
        ("[1,]", "no value at byte 3"),
        ("[1", "no `,` or `]` after an item at byte 2"),
        (r#"["a"#, "a string without an end at byte 3"),
        (r#"["\u12"]"#, "a wrong escape at byte 2"),
        ("[]]", "text after the end at byte 2"),
    ];
    for (text, expected) in table {
        assert_eq!(problem(text), expected, "{text}");
    }
}

proptest! {
    #[test]
    fn any_json_is_passed_over_whole(json in trees::json()) {
        for text in [json.to_string(), format!(" {json:#} ")] {
            prop_assert_eq!(skipped(&text), Ok(text.trim()));
        }
    }

    #[test]
    fn any_text_is_passed_over_where_the_standard_reader_does(
        text in "[\\[\\]{}\",:\\\\0-9a-f.eE+ntrlsu -]{0,24}|.{0,24}",
    ) {
        prop_assert_eq!(skipped(&text).ok(), raw(&text));
    }

    #[test]
    fn damaged_json_is_refused_where_the_standard_reader_refuses_it(
        json in trees::json(),
        at in any::<prop::sample::Index>(),
        put in "[\\x00-\\x7f]|[\"\\\\{}\\[\\],:0-9eE.+-]|\\\\u[dD][89a-fA-F][0-9]{2}",
        removed in 0_usize..3,
    ) {
        let characters: Vec<char> = json.to_string().chars().collect();
        let at = at.index(characters.len());
        let head: String = characters.iter().take(at).collect();
        let tail: String = characters.iter().skip(at + removed).collect();
        let text = [head, put, tail].concat();
        prop_assert_eq!(skipped(&text).ok(), raw(&text));
    }

    #[test]
    fn parts_are_those_of_the_standard_reader(
        items in prop::collection::vec(trees::json(), 0..5),
        keys in prop::collection::vec(".{0,4}", 5),
        is_object in any::<bool>(),
    ) {
        let json = if is_object {
            keys.into_iter().zip(items).collect()
        } else {
            json!(items)
        };
        let text = format!("{json:#}");
        let found = parts(&text).expect("JSON").into_iter();
        let found = found.map(|(key, value)| (key, serde_json::from_str(value).expect("JSON")));
        let expected: Vec<(String, Json)> = match serde_json::from_str(&text).expect("JSON") {
            Json::Object(members) => members.into_iter().collect(),
            Json::Array(items) => items.into_iter().map(|item| (String::new(), item)).collect(),
            _ => Vec::new(),
        };
        prop_assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_value_becomes_the_same_tree_with_and_without_neighbours(json in trees::json()) {
        let alone = format!("{json:#}");
        let text = format!("[1, {alone} , 2]");
        let mut found = Vec::new();
        Cursor::of(&text).array(|cursor| {
            found.push(cursor.tree().expect("JSON"));
            Ok(())
        }).expect("JSON");
        let (same_text, tree) = &found[1];
        prop_assert_eq!(*same_text, &*alone);
        let expected = Tree::read(&alone).expect("JSON");
        let (one, other) = (tree.document(&alone), expected.document(&alone));
        prop_assert!(one.root().is_same(other.root()));
    }
}
