//! Tests of related objects in files.

use serde_json::Value;

use super::*;

const WIDGETS: &str = r#"
name: widgets
version: 1.0.0
rules:
- group: example.com
  kind: Widget
  related:
  - {name: pods, kind: Pod, relation: labelled, label: example.com/widget}
  variables:
  - {name: stuck, expression: "related.pods.filter(p, p.status.phase == 'Failed')"}
  cases:
  - {if: "size(stuck) > 0", state: Degraded, message: "${stuck[0].metadata.name}: ${stuck[0].status.message}"}
  - {if: "coverage.pods == 'complete' && size(related.pods) == 0", state: Pending, reason: NoPods}
  - {if: "status.phase == 'Running'", state: Ready}
"#;

fn rules(from: &str, to: &str) -> Result<RuleSet, RulesError> {
    assert!(WIDGETS.contains(from), "{from}");
    read("w.yaml", &WIDGETS.replace(from, to))
}

/// The members of the rule in the data of the component.
fn data(rules: &RuleSet) -> Value {
    let data: Value = serde_json::from_str(&crate::cel::data_of(rules)).expect("JSON");
    data["rules"][0].clone()
}

#[test]
fn the_fields_of_related_objects_follow_from_the_expressions() {
    let rules = rules("widgets", "widgets").expect("a file");
    rules.component().expect("a component");
    let rule = data(&rules);
    let expected = serde_json::json!([{
        "name": "pods", "group": "", "kind": "Pod", "relation": "labelled", "by": "example.com/widget",
        "fields": ["/metadata/name", "/status/message", "/status/phase"], "limit": 256,
    }]);
    assert_eq!(rule["related"], expected);
    // The variables are no fields of the object.
    let fields = rule["fields"].to_string();
    assert!(
        !fields.contains("related") && !fields.contains("coverage"),
        "{fields}"
    );
}

#[test]
fn a_complete_object_is_requested_if_it_is_used_as_a_whole() {
    let rules = rules("size(related.pods) == 0", "related.pods == []").expect("a file");
    assert_eq!(
        data(&rules)["related"][0]["fields"],
        serde_json::json!([""])
    );
}

#[test]
fn problems_of_related_objects_name_their_place() {
    let place = "w.yaml: rules[0] (Widget.example.com)";
    let list = "{name: pods, kind: Pod, relation: labelled, label: example.com/widget}";
    let table = [
        ("label: example.com/widget", "at: /a", "w.yaml: rules[0].related[0].label: is missing\nrules[0].related[0].at: belongs to the relation selected-by and named, not to labelled".to_owned()),
        ("relation: labelled", "relation: cousin", "w.yaml: rules[0].related[0].relation: the relation `cousin` is not known to this host, which knows owned, descendant, owner, selected-by, labelled, named".to_owned()),
        ("label: example.com/widget", "label: example.com/widget, limit: 300", "w.yaml: rules[0].related[0].limit: 300 is not a number from 1 to 256".to_owned()),
        ("name: pods", "name: the pods", format!("{place}: related[0].name: `the pods` is not a name: use letters, digits and _")),
        ("name: stuck", "name: coverage", format!("{place}: variables[0]: the name `coverage` is taken: choose another one")),
        ("size(related.pods)", "size(related.pod)", format!("{place}: cases[1].if: `pod` is not a name in `related`, which has pods")),
        ("size(related.pods)", "size(related[spec.a])", format!("{place}: cases[1].if: write `related.` and the name of a list in `related`")),
        ("status.phase == 'Running'", "size(stuck) == 0", format!("{place}: cases[2].if: Ready depends on `related.pods`, which may lack objects: put a case for the problem before this one, or test `coverage.pods == 'complete'` too")),
        (list, "{name: pods, kind: Pod, relation: owned}\n  - {name: sets, kind: Set, relation: owned}", format!("{place}: related[1]: no expression reads `related.sets`: remove it")),
    ];
    for (from, to, expected) in table {
        let error = rules(from, to).and_then(|rules| rules.component());
        let error = error.expect_err(to).to_string();
        assert!(error.starts_with(&expected), "{to}: {error}");
    }
    let nine = (0..9).map(|index| format!("{{name: pods{index}, kind: Pod, relation: owned}}"));
    let nine = nine.collect::<Vec<_>>().join("\n  - ");
    let error = rules(list, &nine).and_then(|rules| rules.component());
    assert!(error.is_err());
}
