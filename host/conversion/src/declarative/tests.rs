use super::*;

const WIDGETS: &str = r#"
name: widgets
version: 1.0.0
states: [{name: Draining, phase: pending, summary: Finishes its work}]
rules:
- group: example.com
  kind: Widget
  variables: [{name: phase, expression: "status.?phase.orValue('')"}]
  cases:
  - {if: "phase == 'Running'", state: Ready, reason: Running, message: "runs ${spec.name}"}
  - {if: "conditions.exists(t, t == 'Stalled')", state: Failed, since: conditions.Stalled.lastTransitionTime}
  - {if: "phase == 'Draining'", state: Draining}
"#;

fn problems(from: &str, to: &str) -> Vec<String> {
    let text = WIDGETS.replace(from, to);
    let error = read("w.yaml", &text).and_then(|rules| rules.component());
    let error = error.expect_err(to).to_string();
    error.lines().map(str::to_owned).collect()
}

#[test]
fn rules_become_a_component() {
    let rules = read("w.yaml", WIDGETS).expect("a file");
    let component = rules.component().expect("a component");
    assert!(component.starts_with(b"\0asm\x0d"));
}

#[test]
fn problems_name_file_kind_and_position() {
    let place = "w.yaml: rules[0] (Widget.example.com)";
    let table = [
        (
            "phase == 'Draining'",
            "phase = 'D'",
            format!("{place}: cases[2].if: column 7: expected the end, found `=` in `phase = 'D'`"),
        ),
        (
            "runs ${spec.name}",
            "runs ${spec.name",
            format!(
                "{place}: cases[0].message: column 6: the closing `}}` is missing in `runs ${{spec.name`"
            ),
        ),
        (
            "state: Draining}",
            "state: Drained}",
            format!(
                "{place}: cases[2].state: `Drained` is not a state: use Ready, Succeeded, Present, Suspended, Degraded, Pending, Terminating, Failed or Unknown, or declare it in `states`"
            ),
        ),
        (
            "name: phase,",
            "name: status,",
            format!("{place}: variables[0]: the name `status` is taken: choose another one"),
        ),
        (
            "reason: Running",
            "reason: is running",
            format!(
                "{place}: cases[0].reason: `is running` is not a reason: write one word in CamelCase"
            ),
        ),
    ];
    for (from, to, expected) in table {
        assert_eq!(problems(from, to), [expected], "{to}");
    }
    let version = problems("1.0.0", "one");
    assert!(version[0].starts_with("version: "), "{version:?}");
    let group = problems("group: example.com", "group: core");
    assert!(group[0].starts_with("rules[0].group: "), "{group:?}");
    let unknown = problems("version: 1.0.0", "version: 1.0.0\nkinds: []");
    assert!(
        unknown[0].starts_with("w.yaml: ") && unknown[0].contains("kinds"),
        "{unknown:?}"
    );
    let phase = problems("phase: pending", "phase: waiting");
    assert!(
        phase[0].contains("`waiting` of Draining is not a phase"),
        "{phase:?}"
    );
}
