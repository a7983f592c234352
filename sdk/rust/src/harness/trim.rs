//! Trims an object to declared fields, as the host does.

use crate::Node;

/// The object as JSON text with `apiVersion`, `kind` and the values at the pointers; all of it where
/// one of them is empty.
pub(super) fn text(root: Node<'_>, fields: &[String]) -> String {
    let always = [vec!["apiVersion".to_owned()], vec!["kind".to_owned()]];
    let mut paths: Vec<Vec<String>> = always.into();
    paths.extend(fields.iter().map(|field| tokens(field)));
    let mut text = String::new();
    write(root, &paths, &mut text);
    text
}

fn tokens(pointer: &str) -> Vec<String> {
    let tokens = pointer.split('/').skip(1);
    tokens
        .map(|token| token.replace("~1", "/").replace("~0", "~"))
        .collect()
}

/// Writes the values at the paths; an empty path selects the whole value.
fn write(node: Node<'_>, paths: &[Vec<String>], text: &mut String) {
    if !node.is_object() || paths.iter().any(Vec::is_empty) {
        return write_whole(node, text);
    }
    text.push('{');
    let start = text.len();
    for (key, member) in node.members() {
        let below: Vec<Vec<String>> = paths
            .iter()
            .filter_map(|path| path.split_first())
            .filter(|(head, rest)| *head == key && (rest.is_empty() || member.is_object()))
            .map(|(_, rest)| rest.to_vec())
            .collect();
        if !below.is_empty() {
            write_key(key, text.len() > start, text);
            write(member, &below, text);
        }
    }
    text.push('}');
}

fn write_whole(node: Node<'_>, text: &mut String) {
    if node.is_object() {
        text.push('{');
        for (index, (key, member)) in node.members().enumerate() {
            write_key(key, index > 0, text);
            write_whole(member, text);
        }
        text.push('}');
    } else if node.is_array() {
        text.push('[');
        for (index, item) in node.items().enumerate() {
            text.push_str(if index > 0 { "," } else { "" });
            write_whole(item, text);
        }
        text.push(']');
    } else {
        write_scalar(node, text);
    }
}

fn write_scalar(node: Node<'_>, text: &mut String) {
    if let Some(string) = node.text() {
        write_string(string, text);
    } else if let Some(digits) = node.number() {
        text.push_str(digits);
    } else {
        text.push_str(match node.flag() {
            Some(true) => "true",
            Some(false) => "false",
            None => "null",
        });
    }
}

fn write_key(key: &str, comma: bool, text: &mut String) {
    text.push_str(if comma { "," } else { "" });
    write_string(key, text);
    text.push(':');
}

fn write_string(string: &str, text: &mut String) {
    // Writing a string does not fail.
    text.push_str(&serde_json::to_string(string).unwrap_or_default());
}
