//! Lints of right rules.

use kindsight_authoring::{TestReport, findings};
use kindsight_conversion::declarative;
use kindsight_interpreter::Examination;

use crate::{component, engine};

/// A rule that reads the status, a rule that reads only the spec, and a rule for objects that have a status. Two fixtures
/// promise a ready object without the name of a state.
const LAMPS: &str = r#"
name: lamps
version: 1.0.0
rules:
- group: example.com
  kind: Lamp
  cases:
  - {if: "status.?phase.orValue('') == 'Lit'", state: Ready, reason: Lit}
  otherwise: {state: Pending, reason: Dark}
- group: example.com
  kind: Plan
  checks: {deletion: false, observedGeneration: false}
  cases:
  - {if: "spec.?approved.orValue(false)", state: Present, reason: Approved}
  otherwise: {state: Pending, reason: NotApproved}
- group: example.com
  kind: Meter
  when: /status/phase
  cases:
  - {if: "status.phase == 'Up'", state: Ready, reason: Up}
  otherwise: {state: Pending, reason: Down}
fixtures:
- name: a phase
  object: &lit {apiVersion: example.com/v1, kind: Lamp, metadata: {name: a, generation: 2}, spec: {watts: 5}, status: {phase: Lit, observedGeneration: 2}}
  expect: {phase: ready}
- name: a reason
  object: *lit
  expect: {reason: Lit}
- name: no status
  object: {apiVersion: example.com/v1, kind: Lamp, metadata: {name: a}, spec: {watts: 5}}
  expect: {state: Pending, reason: Dark}
- name: an approved plan
  object: {apiVersion: example.com/v1, kind: Plan, metadata: {name: a}, spec: {approved: true}, status: {lamps: 1}}
  expect: {state: Present, reason: Approved}
- name: a plan
  object: {apiVersion: example.com/v1, kind: Plan, metadata: {name: a}, spec: {approved: false}, status: {lamps: 1}}
  expect: {state: Pending, reason: NotApproved}
- name: a meter
  object: {apiVersion: example.com/v1, kind: Meter, metadata: {name: a}, status: {phase: Up}}
  expect: {state: Ready, reason: Up}
"#;

fn examined(rules: &str) -> Examination {
    let rules = declarative::read("lamps.yaml", rules).expect("rules");
    let examined = engine().examine(&component(&rules));
    examined.unwrap_or_else(|error| panic!("{}", error.with_step()))
}

fn found(rules: &str) -> Vec<String> {
    let found = findings(&examined(rules)).expect("lints").into_iter();
    let found = found.map(|finding| format!("{}: {}", finding.rule.as_str(), finding.what));
    found.collect()
}

#[test]
fn right_rules_have_no_findings() {
    assert_eq!(found(LAMPS), [""; 0]);
}

#[test]
fn only_the_states_of_the_author_need_an_example() {
    let report = TestReport::of(&examined(LAMPS), &[]).expect("usable settings");
    assert_eq!(report.failed(), 0);
    assert_eq!(report.coverage.states.all, 2);
    assert_eq!(report.coverage.states.missing, [""; 0]);
    let broken = LAMPS.replace(
        "  otherwise: {state: Pending, reason: Dark}",
        "  - {if: \"status.?phase.orValue('') == 'Broken'\", state: Failed}\n  otherwise: {state: Pending, reason: Dark}",
    );
    assert_eq!(
        found(&broken),
        ["unreached-state: no fixture reaches the state Failed"]
    );
}
