use super::*;

/// Checks the groups of a stream: names of objects, `!` for a document that is no object, related
/// ones in square brackets.
fn check(text: &str, expected: &str) {
    let mut seen = String::new();
    read_documents(text.as_bytes(), |group| {
        let names: Vec<&str> = group
            .documents
            .iter()
            .map(|document| match document {
                Document::Object(object) => &*object.name,
                Document::Other(_) => "!",
            })
            .collect();
        let names = names.join(" ");
        let (open, close) = if group.related {
            ("[", "]")
        } else {
            ("(", ")")
        };
        seen.extend([open, &names, close]);
        Ok::<_, io::Error>(())
    })
    .unwrap();
    assert_eq!(seen, expected, "{text}");
}

fn object(name: &str) -> String {
    format!(r#"{{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "{name}"}}}}"#)
}

#[test]
fn one_object_in_any_layout_is_read() {
    check(&object("a"), "(a)");
    check(&object("a").replace(' ', "\n  "), "(a)");
    check("apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n", "[a]");
    check(&format!("\u{feff}{}", object("a")), "(a)");
}

#[test]
fn lists_in_every_form() {
    let (a, b) = (object("a"), object("b"));
    check(
        &format!(r#"{{"apiVersion": "v1", "items": [{a}, {b}], "kind": "List"}}"#),
        "[a b]",
    );
    check(
        &format!("{{\n\"kind\": \"List\",\n\"items\": [\n{a},\n{b}\n]\n}}\n"),
        "[a b]",
    );
    check(&format!("[{a},\n{b}]"), "[a b]");
    check(r#"{"kind": "List", "items": []}"#, "");
    check(
        &format!(r#"{{"kind": "List", "items": [{a}, 3, null, "x"]}}"#),
        "[a ! ! !]",
    );
    check(
        "kind: List\nitems:\n- kind: Pod\n  metadata: {name: a}\n- kind: Pod\n  metadata: {name: b}\n",
        "[a b]",
    );
}

#[test]
fn a_list_that_is_cut_off_is_reported() {
    let a = object("a");
    let list = format!(r#"{{"kind": "List", "items": [{a}, {a}], "metadata": {{}}}}"#);
    for (end, expected) in [
        (r#""items": ["#, "[!]"),
        (r#""name": "a""#, "[!]"),
        ("}}, ", "[a !]"),
        // Every item was read.
        ("], ", "[a a]"),
    ] {
        let (cut_off, _) = list.split_at(list.find(end).unwrap() + end.len());
        check(cut_off, expected);
    }
}

#[test]
fn lines_and_documents_and_mixtures() {
    let (a, b) = (object("a"), object("b"));
    check(&format!("{a}\n{b}\n"), "(a b)");
    check(&format!("{a}{b}"), "(a b)");
    let yaml = "kind: Pod\nmetadata:\n  name: y\n";
    check(&format!("{yaml}---\n{yaml}"), "[y y]");
    check(
        &format!("---\n{yaml}---\n# nothing\n---\n{a}\n---\n{yaml}"),
        "[y](a)[y]",
    );
    check(
        &format!("{a}\n{{\"kind\": \"List\", \"items\": [{b}]}}\n{a}\n"),
        "(a)[b](a)",
    );
}

#[test]
fn a_line_is_read_as_the_scanner_reads_it() {
    let (a, b) = (object("a"), object("b"));
    // A line without its line break is left to the scanner.
    check(&format!("{a}\r\n{b}"), "(a b)");
    check(&format!("{a} \n\n {b}\t\n"), "(a b)");
    // Two values in a line, a value after an object, and the rest of an object in the next line.
    check(&format!("{a}{b}\n{a}\n"), "(a b a)");
    check(&format!("{a} {{\n{b}\n"), "(a ! b)");
    check(&format!("{}\n}}\n{b}\n", a.trim_end_matches('}')), "(! b)");
    let list = format!(r#"{{"kind": "PodList", "items": [{a}], "metadata": {{}}}}"#);
    check(&format!("{list}\n{b}\n"), "[a](b)");
    let object_items = r#"{"kind": "Pod", "metadata": {"name": "c"}, "items": {"a": [1]}}"#;
    check(&format!("{object_items}\n{list}\n"), "(c)[a]");
}

#[test]
fn a_line_that_the_buffer_cuts_off_is_read() {
    let a = object("a");
    let lines = (BUFFER_BYTES / a.len() + 2) * 2;
    let mut seen = 0;
    let text = format!("{a}\n").repeat(lines);
    read_documents(text.as_bytes(), |group| {
        let are_objects = group
            .documents
            .iter()
            .all(|it| matches!(it, Document::Object(_)));
        assert!(are_objects);
        seen += group.documents.len();
        Ok::<_, io::Error>(())
    })
    .unwrap();
    assert_eq!(seen, lines);
}

#[test]
fn a_document_that_is_no_object_does_not_affect_its_neighbours() {
    let (a, b) = (object("a"), object("b"));
    for bad in [
        "{\"kind\": ",
        "{\"kind\": \"Po",
        "{}",
        "3",
        "\"x\"",
        "no yaml: [",
        "{\"a\" 1}",
        "null",
    ] {
        let text = format!("{a}\n{bad}\n{b}\n");
        let mut seen = Vec::new();
        read_documents(text.as_bytes(), |group| {
            seen.extend(group.documents.into_iter().map(|document| match document {
                Document::Object(object) => object.name.to_string(),
                Document::Other(_) => "!".to_owned(),
            }));
            Ok::<_, io::Error>(())
        })
        .unwrap();
        assert_eq!(seen, ["a", "!", "b"], "{text}");
    }
}

#[test]
fn an_object_over_the_limit_is_reported() {
    let big = object(&"x".repeat(OBJECT_BYTES_MAX));
    check(
        &format!("{}\n{big}\n{}\n", object("a"), object("b")),
        "(a ! b)",
    );
}

proptest::proptest! {
    #[test]
    fn reading_is_total(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..400)) {
        let read = read_documents(bytes.as_slice(), |_| Ok::<_, io::Error>(()));
        proptest::prop_assert!(read.is_ok());
    }

    #[test]
    fn every_line_of_json_lines_has_one_verdict(count in 0_usize..50, bad in 0_usize..50) {
        let lines: Vec<String> = (0..count)
            .map(|at| if at == bad { "{broken".to_owned() } else { object("a") })
            .collect();
        let text = lines.join("\n");
        let mut seen = 0;
        let count_all = |group: Group| {
            seen += group.documents.len();
            Ok::<_, io::Error>(())
        };
        read_documents(text.as_bytes(), count_all).unwrap();
        proptest::prop_assert_eq!(seen, count);
    }
}
