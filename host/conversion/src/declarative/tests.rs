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

/// The fields that the rule of a variant of the file requests.
fn fields(from: &str, to: &str) -> Vec<String> {
    assert!(WIDGETS.contains(from), "{from}");
    let rules = read("w.yaml", &WIDGETS.replace(from, to)).expect(to);
    rules.component().expect(to);
    let data: Value = serde_json::from_str(&crate::cel::data_of(&rules)).expect("JSON");
    let fields = data["rules"][0]["fields"].as_array().expect("fields");
    let fields = fields.iter().map(|field| field.as_str().expect("a text"));
    fields.map(str::to_owned).collect()
}

#[test]
fn a_variable_may_have_the_name_of_a_field() {
    let fields = fields(
        "variables: [",
        r#"variables: [{name: data, expression: "data.?phase.orValue(code)"}, {name: code, expression: data}, "#,
    );
    let of_names: Vec<&String> = fields
        .iter()
        .filter(|field| !field.starts_with("/metadata") && !field.starts_with("/status"))
        .collect();
    assert_eq!(of_names, ["/code", "/data/phase", "/spec/name"]);
}

#[test]
fn when_may_lead_through_a_list() {
    let kind = "kind: Widget";
    let when = |pointer: &str| fields(kind, &format!("{kind}\n  when: {pointer}"));
    assert!(when("/status/list/0/type").contains(&"/status/list".to_owned()));
    assert!(when("/status/a~1b").contains(&"/status/a~1b".to_owned()));
}
