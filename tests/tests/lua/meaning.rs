//! The meaning of statuses, time, deletion and patterns.

use std::collections::BTreeMap;

use kindsight_conversion::{argo, karmada};
use serde_json::{Value, json};

use crate::{NOW_MS, judged, of_scripts, published};

fn object(kind: &str, status: &Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": kind, "metadata": {"name": "x"}, "status": status})
}

#[test]
fn each_status_of_argo_cd_has_its_state() {
    let interpreters = of_scripts(&[(
        "Widget",
        "if obj.status.none then return nil end
         return {status = obj.status.word, message = 'it is ' .. obj.status.word}",
    )]);
    for (word, state, phase) in [
        ("Healthy", "Ready", "ready"),
        ("Progressing", "Pending", "pending"),
        ("Degraded", "Failed", "failed"),
        ("Suspended", "Suspended", "suspended"),
        ("Missing", "Missing", "not-present"),
        ("Unknown", "Unknown", "unknown"),
    ] {
        let verdicts = judged(&interpreters, &[object("Widget", &json!({"word": word}))]);
        let verdict = &verdicts[0];
        assert_eq!((&*verdict.state, &*verdict.reason), (state, word));
        assert_eq!(verdict.phase.as_str(), phase);
        assert_eq!(*verdict.message, format!("it is {word}"));
        assert_eq!(
            verdict.recheck_at_ms, None,
            "the script does not read the time"
        );
    }
    let verdicts = judged(
        &interpreters,
        &[
            object("Widget", &json!({"none": true})),
            object("Widget", &json!({"word": "Fine"})),
        ],
    );
    assert_eq!(
        (&*verdicts[0].state, &*verdicts[0].reason),
        ("Present", "NoHealth")
    );
    assert_eq!(
        (&*verdicts[1].state, &*verdicts[1].reason),
        ("Unknown", "InvalidStatus")
    );
}

#[test]
fn only_a_script_that_reads_the_time_depends_on_it() {
    let interpreters = of_scripts(&[
        (
            "Clock",
            "return {status = 'Healthy', message = os.date('!%Y-%m-%d') .. ' ' .. os.time()}",
        ),
        ("Still", "return {status = 'Healthy'}"),
    ]);
    let verdicts = judged(
        &interpreters,
        &[object("Clock", &json!({})), object("Still", &json!({}))],
    );
    assert_eq!(&*verdicts[0].message, "2026-12-31 1798675200");
    assert_eq!(verdicts[0].recheck_at_ms, Some(NOW_MS + 60_000));
    assert_eq!(verdicts[1].recheck_at_ms, None);
}

#[test]
fn an_object_that_is_being_deleted_does_not_reach_its_script() {
    let interpreters = of_scripts(&[("Widget", "return {status = 'Healthy'}")]);
    let mut deleted = object("Widget", &json!({}));
    deleted["metadata"]["deletionTimestamp"] = json!("2026-12-30T23:59:00Z");
    let verdicts = judged(&interpreters, &[deleted]);
    assert_eq!(&*verdicts[0].state, "Terminating");
}

#[test]
fn an_exact_kind_comes_before_a_pattern_and_others_are_not_judged() {
    let older = "
'*.example.com/*': {health.lua: \"return {status = 'Healthy', message = 'pattern'}\"}
'a.example.com/Widget': {health.lua: \"return {status = 'Healthy', message = 'exact'}\"}
";
    let key = "resource.customizations".to_owned();
    let data = BTreeMap::from([(key, older.to_owned())]);
    let conversion = argo::from_config_map(argo::NAME, &data).expect("an interpreter");
    let interpreters = published(&conversion.component);
    let of = |group: &str| json!({"apiVersion": format!("{group}/v1"), "kind": "Widget", "metadata": {"name": "x"}});
    let verdicts = judged(
        &interpreters,
        &[of("a.example.com"), of("b.example.com"), of("example.com")],
    );
    assert_eq!(&*verdicts[0].message, "exact");
    assert_eq!(&*verdicts[1].message, "pattern");
    assert!(verdicts[2].by.is_none(), "no interpreter claims it");
}

#[test]
fn a_decision_of_karmada_is_ready_or_pending() {
    let rule = "
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: widgets}
spec:
  target: {apiVersion: example.com/v1, kind: Widget}
  customizations:
    healthInterpretation:
      luaScript: |
        function InterpretHealth(observedObj)
          if observedObj.status.text then return 'yes' end
          return observedObj.status.ready == true
        end
";
    let conversion = karmada::from_yaml(karmada::NAME, rule, "rule").expect("an interpreter");
    let interpreters = published(&conversion.component);
    let verdicts = judged(
        &interpreters,
        &[
            object("Widget", &json!({"ready": true})),
            object("Widget", &json!({"ready": false})),
            object("Widget", &json!({"text": true})),
        ],
    );
    let seen: Vec<(&str, &str)> = verdicts
        .iter()
        .map(|verdict| (&*verdict.state, &*verdict.reason))
        .collect();
    assert_eq!(
        seen,
        [
            ("Ready", "Healthy"),
            ("Pending", "Unhealthy"),
            ("Unknown", "ScriptFailed")
        ]
    );
    assert_eq!(
        &*verdicts[2].message,
        "InterpretHealth returned a string and not a boolean"
    );
}
