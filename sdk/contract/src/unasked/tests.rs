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

/// The result of the search for a rule that needs these fields of the object and these fields of
/// its Pods, and that finds the Pods by no relation.
fn told(needed: &[&str], of_pods: &[&str], needs_pod: bool) -> Option<String> {
    let asks = |fields: &[String], needed: &str| {
        let pointers = fields.iter();
        pointers
            .into_iter()
            .any(|pointer| needed.starts_with(pointer.as_str()))
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
        let has_fields = needed.iter().all(|field| asks(&wider.fields, field));
        let has_pods = of_pods.iter().all(|field| asks(wider.of_rule(0), field));
        Some(has_fields && has_pods && (!needs_pod || wider.ignores_relations))
    })
}

#[test]
fn one_field_is_named_at_any_depth() {
    let told = |needed: &[&str]| told(needed, &[], false).unwrap();
    assert_eq!(
        told(&["/status/list/*/y"]),
        "`/status/list/*/y` is not requested: add it to the Kind's fields"
    );
    assert_eq!(
        told(&["/status/a~1b/c", "/status/a~1b/d"]),
        "`/status/a~1b/c` and `/status/a~1b/d` are not requested: add them to the Kind's fields"
    );
    assert_eq!(
        told(&["/metadata/name", "/status/list/*/x"]),
        "`/metadata` and `/status` are not requested: add them to the Kind's fields"
    );
}

#[test]
fn a_field_of_related_objects_is_named_with_its_rule() {
    assert_eq!(
        told(&[], &["/status/phase"], false).unwrap(),
        "`/status/phase` of objects of related[0] is not requested: add it to the fields of that rule"
    );
}

#[test]
fn a_relation_that_finds_too_few_objects_is_named_with_the_missing_objects() {
    assert_eq!(
        told(&[], &[], true).unwrap(),
        "related[0] (selected-by /spec/selector) does not find Pod n/p"
    );
}

#[test]
fn a_rule_that_is_wrong_on_the_complete_object_gets_no_explanation() {
    assert_eq!(
        told(&["nowhere"], &[], false).as_deref(),
        Some("the complete object is not requested")
    );
    let request = Request {
        fields: &Fields::new(&["/spec"]),
        rules: Vec::new(),
    };
    assert_eq!(unasked(&fixture(), &request, |_| Some(false)), None);
    assert_eq!(unasked(&fixture(), &request, |_| None), None);
}
