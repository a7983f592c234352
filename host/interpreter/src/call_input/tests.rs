//! Tests of inputs.

use kindsight_contract::{KindPattern, RelatedRule, Relation, member};

use super::*;
use crate::describe::HandledRule;

/// A Kind that requests complete objects of a Kind by eight rules.
fn handled(kind: &str, relation: Relation) -> HandledKind {
    let pattern = |kind: &str| KindPattern {
        group: "*".to_owned(),
        version: "*".to_owned(),
        kind: kind.to_owned(),
    };
    let rule = RelatedRule {
        pattern: pattern(kind),
        relation,
        fields: vec![String::new()],
        limit: 256,
    };
    let rule = HandledRule {
        fields: Fields::of_related(&rule.fields),
        rule,
    };
    HandledKind {
        pattern: pattern("*"),
        when: None,
        fields: Fields::new(&[""]),
        uses_now: false,
        related: vec![rule; 8],
    }
}

/// The input of an object whose Kind requests complete objects by eight rules, among reported
/// objects.
fn filled(encoding: Encoding, related: Vec<Object>) -> CallInput {
    let handled = handled("*", Relation::Owned);
    let object = r#"{"kind": "Owner", "metadata": {"name": "o", "uid": "u"}}"#;
    let object = Object::from_json(object).expect("an object");
    let siblings = Siblings::of(related);
    let tree = object.tree();
    let objects = InputObjects {
        object: &object,
        tree: &tree,
        siblings: &siblings,
    };
    let mut input = CallInput::default();
    input.fill(encoding, &handled, objects, &Settings::of(None));
    input
}

fn owned(number: usize, bytes: usize) -> Object {
    let pad = "x".repeat(bytes);
    let json = format!(
        r#"{{"kind": "Owned", "metadata": {{"name": "{number:03}", "ownerReferences": [{{"uid": "u"}}]}}, "pad": "{pad}"}}"#
    );
    Object::from_json(json).expect("an object")
}

#[test]
fn related_objects_that_do_not_fit_are_omitted_but_counted() {
    let many: Vec<Object> = (0..200).map(|number| owned(number, 200 * 1024)).collect();
    let siblings = Siblings::of(many.clone());
    for encoding in [Encoding::Text, Encoding::View] {
        let mut input = filled(encoding, many.clone());
        // The sets that follow contain at least the information that they are empty.
        assert!(input.key(encoding).len() <= INPUT_BYTES_MAX + 1024);
        let passed: usize = input.sets.iter().map(|set| set.count).sum();
        assert!((35..42).contains(&passed), "{passed}");
        assert!(input.sets.iter().all(|set| set.total == 200));
        let related = input.related_siblings(&siblings);
        let second = related.objects().get(1).expect("several objects");
        assert_eq!(&*second.name, "001");
        input.clear();
        assert!(input.bytes.capacity() <= BUFFER_BYTES_KEPT_MAX);
        assert!(input.related.is_empty(), "all objects are released");
    }
}

/// A failed call is repeated among these objects.
#[test]
fn descendants_are_kept_with_the_owners_between_and_their_coverage() {
    let object = |kind: &str, name: &str, owner: &str| {
        let json = format!(
            r#"{{"kind": "{kind}", "metadata": {{"name": "{name}", "uid": "{name}", "ownerReferences": [{{"name": "{owner}", "uid": "{owner}"}}]}}}}"#
        );
        Object::from_json(json).expect("an object")
    };
    let (handled, owner) = (
        handled("Pod", Relation::Descendant),
        object("Owner", "o", "none"),
    );
    let siblings = Siblings::of([
        object("Pod", "p", "r"),
        object("Other", "x", "o"),
        object("ReplicaSet", "r", "o"),
    ]);
    let siblings = siblings.given(Coverage::Complete);
    let tree = owner.tree();
    let objects = InputObjects {
        object: &owner,
        tree: &tree,
        siblings: &siblings,
    };
    let mut input = CallInput::default();
    input.fill(Encoding::Text, &handled, objects, &Settings::of(None));
    let kept = input.related_siblings(&siblings);
    let names = kept.objects().iter().map(|object| &*object.name);
    assert_eq!(names.collect::<Vec<&str>>(), ["p", "r"]);
    let document = tree.document(&owner.json);
    for rule in &handled.related {
        let found = kept.find(&rule.rule, &owner, document.root());
        assert_eq!((found.total, found.coverage), (1, Coverage::Complete));
    }
}

#[test]
fn both_encodings_say_the_same() {
    let related: Vec<Object> = (0..3).map(|number| owned(number, 9)).collect();
    let text = filled(Encoding::Text, related.clone());
    let text = std::str::from_utf8(text.key(Encoding::Text)).expect("UTF-8");
    let tree = Tree::read(text).expect("JSON");
    let document = tree.document(text);
    let text = document.root();

    let view = filled(Encoding::View, related);
    let view = Document::view(view.key(Encoding::View)).expect("a view");
    let view = view.root();
    assert!(!text.is_same(view), "only the view contains the settings");
    for part in [member::OBJECT, member::RELATED] {
        assert!(view.get(part).is_present());
        assert!(text.get(part).is_same(view.get(part)), "{part}");
    }
    assert!(view.get(member::SETTINGS).is_object());
}

#[test]
fn both_encodings_are_shown_as_the_same_json() {
    for encoding in [Encoding::Text, Encoding::View] {
        let input = filled(encoding, Vec::new());
        let json = input.to_json(encoding, Some(7), &Settings::of(None));
        let set = r#"{"coverage":"unknown","total":0,"objects":[]}"#;
        let object = r#"{"metadata":{"name":"o","uid":"u"},"apiVersion":"","kind":"Owner"}"#;
        let related = [set; 8].join(",");
        assert_eq!(
            json,
            format!(r#"{{"object":{object},"related":[{related}],"settings":{{}},"now-ms":7}}"#)
        );
    }
}

#[test]
fn the_text_for_judge_contains_one_text_per_object() {
    let input = filled(Encoding::Text, vec![owned(1, 2), owned(2, 3)]);
    input.with_text(None, &Settings::of(None), |input| {
        assert_eq!(
            input.object,
            r#"{"metadata":{"name":"o","uid":"u"},"apiVersion":"","kind":"Owner"}"#
        );
        assert_eq!(input.settings, "{}");
        let set = input.related.first().expect("a set for each rule");
        assert_eq!((input.related.len(), set.total), (8, 2));
        let names: Vec<&str> = set.objects.clone();
        assert!(names[1].contains(r#""name":"002""#), "{names:?}");
        assert!(
            names
                .iter()
                .all(|json| json.starts_with('{') && json.ends_with('}'))
        );
    });
}
