use super::*;
use crate::fixture::{Coverage, Expectation};
use crate::pattern::KindPattern;

fn fixture() -> Fixture {
    Fixture {
        name: "a".to_owned(),
        object:
            r#"{"kind": "A", "metadata": {"name": "a", "namespace": "n"}, "spec": {"replicas": 1},
            "status": {"list": [{"x": 1}, {"y": 1}], "a/b": {"c": 1, "d": 2}}}"#
                .to_owned(),
        related: vec![
            r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "n"},
                "status": {"phase": "Up"}}"#
                .to_owned(),
        ],
        coverage: Coverage::Complete,
        now_ms: 0,
        settings: None,
        expect: Expectation::default(),
    }
}

/// The search for a rule that needs these fields of the object, and those of its Pods, and finds them
/// by no relation.
fn told(needed: &[&str], of_pods: &[&str], needs_pod: bool) -> Option<String> {
    let asks = |fields: &[String], needed: &str| {
        let pointers = fields.iter();
        pointers
            .into_iter()
            .any(|it| needed.starts_with(it.as_str()))
    };
    let rule = RelatedRule {
        pattern: KindPattern {
            group: String::new(),
            version: "*".to_owned(),
            kind: "Pod".to_owned(),
        },
        relation: Relation::SelectedBy("/spec/selector".to_owned()),
        fields: Vec::new(),
        limit: 9,
    };
    let of_rule = Fields::of_related(&rule.fields);
    let request = Request {
        fields: &Fields::new(&["/spec"]),
        rules: vec![(&rule, &of_rule)],
    };
    unasked(&fixture(), &request, |wider| {
        let has_fields = needed.iter().all(|it| asks(&wider.fields, it));
        let has_pods = of_pods.iter().all(|it| asks(wider.of_rule(0), it));
        Some(has_fields && has_pods && (!needs_pod || wider.ignores_relations))
    })
}

#[test]
fn one_field_is_named_however_deep_it_is() {
    let told = |needed: &[&str]| told(needed, &[], false).unwrap();
    assert_eq!(
        told(&["/status/list/*/y"]),
        "`/status/list/*/y` is not asked for: add it to the Kind's fields"
    );
    assert_eq!(
        told(&["/status/a~1b/c", "/status/a~1b/d"]),
        "`/status/a~1b/c` and `/status/a~1b/d` are not asked for: add them to the Kind's fields"
    );
    assert_eq!(
        told(&["/metadata/name", "/status/list/*/x"]),
        "`/metadata` and `/status` are not asked for: add them to the Kind's fields"
    );
}

#[test]
fn a_field_of_related_objects_is_named_with_its_rule() {
    assert_eq!(
        told(&[], &["/status/phase"], false).unwrap(),
        "`/status/phase` of objects of related[0] is not asked for: add it to the fields of that rule"
    );
}

#[test]
fn a_relation_that_finds_too_little_is_named_with_what_it_does_not_find() {
    assert_eq!(
        told(&[], &[], true).unwrap(),
        "related[0] (selected-by /spec/selector) does not find Pod n/p"
    );
}

#[test]
fn nothing_is_told_of_a_rule_that_is_wrong_on_the_whole_object() {
    assert_eq!(
        told(&["nowhere"], &[], false).as_deref(),
        Some("the whole object is not asked for")
    );
    let request = Request {
        fields: &Fields::new(&["/spec"]),
        rules: Vec::new(),
    };
    assert_eq!(unasked(&fixture(), &request, |_| Some(false)), None);
    assert_eq!(unasked(&fixture(), &request, |_| None), None);
}
