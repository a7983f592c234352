//! Texts of objects at JSON pointers.

use std::sync::Arc;

use kindsight_contract::{EVERY_ITEM, Node, pointer};

/// The texts at a pointer, without empty texts. The token `*` stands for every item of a list.
pub(super) fn texts_at(root: Node<'_>, at: &str) -> Vec<Arc<str>> {
    let steps: Vec<String> = pointer::tokens(at).collect();
    let mut texts = Vec::new();
    collect(root, &steps, &mut texts);
    texts
}

fn collect(node: Node<'_>, steps: &[String], texts: &mut Vec<Arc<str>>) {
    let Some((step, rest)) = steps.split_first() else {
        texts.extend(node.text().filter(|text| !text.is_empty()).map(Arc::from));
        return;
    };
    if node.is_array() && step == EVERY_ITEM {
        for item in node.items() {
            collect(item, rest, texts);
        }
    } else {
        collect(node.get(step), rest, texts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_in_lists_and_behind_escapes() {
        let root = r#"{"a": [{"n/m": "x"}, {"n/m": ""}, {"n/m": 3}, {"n/m": "y"}], "b": "z"}"#;
        let tree = kindsight_contract::Tree::read(root).unwrap();
        let document = tree.document(root);
        let at = |pointer| texts_at(document.root(), pointer);
        assert_eq!(at("/a/*/n~1m"), ["x".into(), "y".into()]);
        assert_eq!(at("/b"), ["z".into()]);
        assert!(at("/c/*").is_empty());
    }
}
