//! Related objects of declarative rules.

use kindsight_authoring::findings;
use kindsight_conversion::declarative;

use crate::{component, engine, published};

/// A rule about two lists, whose fixtures run when the component is loaded.
const GATES: &str = r#"
name: gates
version: 1.0.0
rules:
- group: example.com
  kind: Gate
  checks: {deletion: false}
  related:
  - {name: pods, kind: Pod, relation: selected-by, at: /spec/selector, limit: 2}
  - {name: keys, kind: ConfigMap, relation: named, at: /spec/key}
  variables:
  - {name: failed, expression: "related.pods.filter(p, p.?status.?phase.orValue('') == 'Failed')"}
  cases:
  - {if: "size(failed) > 0", state: Failed, reason: PodFailed, message: "${failed.map(p, p.metadata.name).join(', ')}"}
  - {if: "size(related.keys) == 0 && coverage.keys == 'complete'", state: Pending, reason: NoKey}
  - {if: "status.?open.orValue(false) && coverage.pods == 'complete'", state: Ready, reason: AllSeen}
  - {if: "status.?open.orValue(false)", state: Ready, reason: Open}
  otherwise: {state: Pending, reason: Closed}
fixtures:
- name: each list has its objects
  object: &open {apiVersion: example.com/v1, kind: Gate, metadata: {name: a, namespace: n}, spec: {key: k, selector: {app: a}}, status: {open: true}}
  related:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: k, namespace: n}}
  - {apiVersion: v1, kind: Pod, metadata: {name: p1, namespace: n, labels: {app: a}}, status: {phase: Running}}
  - {apiVersion: v1, kind: Pod, metadata: {name: p2, namespace: n, labels: {app: b}}, status: {phase: Failed}}
  expect: {state: Ready, reason: AllSeen}
- name: a failed Pod
  object: *open
  related:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: k, namespace: n}}
  - {apiVersion: v1, kind: Pod, metadata: {name: p1, namespace: n, labels: {app: a}}, status: {phase: Failed}}
  expect: {state: Failed, reason: PodFailed}
- name: there is no key
  object: *open
  related: []
  coverage: complete
  expect: {state: Pending, reason: NoKey}
- name: the host does not know the key
  object: *open
  expect: {state: Ready, reason: Open}
- name: a list that its limit cuts is partial
  object: *open
  related:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: k, namespace: n}}
  - {apiVersion: v1, kind: Pod, metadata: {name: p1, namespace: n, labels: {app: a}}}
  - {apiVersion: v1, kind: Pod, metadata: {name: p2, namespace: n, labels: {app: a}}}
  - {apiVersion: v1, kind: Pod, metadata: {name: p3, namespace: n, labels: {app: a}}}
  expect: {state: Ready, reason: Open}
- name: no status
  object: {apiVersion: example.com/v1, kind: Gate, metadata: {name: a, namespace: n}}
  expect: {state: Pending, reason: Closed}
"#;

#[test]
fn rules_read_related_objects_and_their_coverage() {
    let rules = declarative::read("gates.yaml", GATES).expect("rules");
    published(&component(&rules));
}

/// The findings of one lint in a variant of the rules.
fn found(lint: &str, from: &str, to: &str) -> Vec<String> {
    assert!(GATES.contains(from), "{from}");
    let text = GATES.replace(from, to);
    let rules = declarative::read("gates.yaml", &text).expect("rules");
    let engine = engine();
    let examination = engine.examine(&component(&rules)).expect("a component");
    let found = findings(&examination).expect("lints").into_iter();
    let found = found.filter(|finding| finding.rule.as_str() == lint);
    found.map(|finding| finding.what).collect()
}

/// The findings about absence in a variant of the rules.
fn absences(from: &str, to: &str) -> Vec<String> {
    found("wrong-by-absence", from, to)
}

#[test]
fn an_object_that_a_relation_must_not_find_is_no_missing_request() {
    assert_eq!(found("undeclared-field", "gates", "gates"), [""; 0]);
}

#[test]
fn conclusions_from_absence_are_found() {
    assert_eq!(absences("gates", "gates"), [""; 0]);
    let red = absences(
        "\"size(failed) > 0\"",
        "\"size(failed) > 0 || !related.keys.exists(k, k.metadata.name == 'k')\"",
    );
    assert!(
        red.iter()
            .any(|what| what.contains("without its related objects, it is Failed PodFailed")),
        "{red:?}"
    );
    let broken = absences(
        "state: Pending, reason: NoKey",
        "state: Degraded, reason: NoKey",
    )
    .into_iter()
    .chain(absences(
        "size(related.keys) == 0 && coverage.keys == 'complete'",
        "related.keys[0].metadata.name == ''",
    ));
    let broken: Vec<String> = broken.collect();
    assert!(
        broken
            .iter()
            .any(|what| what.contains("it is Unknown ExpressionFailed")),
        "{broken:?}"
    );
}
