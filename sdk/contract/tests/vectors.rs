//! The published examples of views, with which parsers in other languages are checked.
//!
//! `UPDATE_EXPECT=1` writes them again.

use std::path::Path;

use expect_test::expect_file;
use kindsight_contract::{Document, Tree, ViewWriter, Writer};
use serde_json::{Value, json};

/// Documents that together contain every kind of node, and every form of text.
fn documents() -> Vec<Value> {
    vec![
        json!(null),
        json!([]),
        json!({}),
        json!([null, true, false, 0, -12.5, 1500, "", "text"]),
        json!({"a": {"b": [{"c": 1}, [2, [3]]]}, "d": "e"}),
        json!({"quotes \" and \\": "line\nbreak", "größe": "€ 漢字 🙂"}),
        json!({
            "object": {
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "spec": {"replicas": 3},
                "status": {"conditions": [{"type": "Available", "status": "True"}]},
            },
            "related": [{"coverage": "complete", "total": 0, "objects": []}],
            "settings": {},
        }),
    ]
}

fn view(json: &str) -> Vec<u8> {
    let tree = Tree::read(json).expect("JSON");
    let mut writer = ViewWriter::default();
    writer.copy(None, tree.document(json).root());
    let mut view = Vec::new();
    writer.finish(&mut view);
    view
}

#[test]
fn the_vectors_match_the_writer_and_the_reader() {
    let vectors = documents().into_iter().map(|document| {
        let json = document.to_string();
        let bytes = view(&json);
        let tree = Tree::read(&json).expect("JSON");
        let read = Document::view(&bytes).expect("a view");
        assert!(read.root().is_same(tree.document(&json).root()), "{json}");
        let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        json!({"document": document, "view": hex.concat()})
    });
    let vectors: Vec<Value> = vectors.collect();
    let text = serde_json::to_string_pretty(&vectors).expect("JSON") + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit/view-vectors.json");
    expect_file![path].assert_eq(&text);
}
