//! Tests: the words for resources, and the staleness of answers.

use super::*;
use crate::StoreAway;
use kindsight_model::SubjectSet;

#[test]
fn the_word_of_every_phase() {
    let lines = Phase::ALL.iter().map(|phase| {
        let (one, rollup) = (emco_ready_status(*phase), of_rollup(*phase));
        format!("{phase}: {one}, rolled up {rollup}\n")
    });
    expect![[r#"
        ready: Ready, rolled up Ready
        present: Ready, rolled up Ready
        suspended: Ready, rolled up Ready
        degraded: Ready, rolled up Ready
        pending: NotReady, rolled up NotReady
        terminating: NotReady, rolled up NotReady
        not-present: NotPresent, rolled up NotReady
        failed: NotReady, rolled up NotReady
        unknown: NotReady, rolled up NotReady
    "#]]
    .assert_eq(&lines.collect::<String>());
}

#[test]
fn a_sent_resource_without_a_report_is_not_present() {
    let judged = |verdict| {
        let input = input("edge01", vec![expected("v1", "Service", "a")]);
        let mut view = projected(input).resources().get(0).unwrap().clone();
        view.verdict = verdict;
        view
    };
    let words = |resource: &ResourceView| ready_status(resource).as_str();
    for reason in [host_reason::NO_REPORT, host_reason::NOT_REPORTED] {
        let mut view = judged(kindsight_model::Verdict::unknown(reason, ""));
        assert_eq!(words(&view), "NotPresent");
        view.role = Role::Unsent;
        assert_eq!(words(&view), "NotReady");
    }
    for reason in [host_reason::UNREADABLE, host_reason::NO_INTERPRETER] {
        assert_eq!(
            words(&judged(kindsight_model::Verdict::unknown(reason, ""))),
            "NotReady"
        );
    }
    let (_, by_guest) = observed(
        object("v1", "Service", "", "a"),
        verdict(Phase::Unknown, host_reason::NO_REPORT, ""),
    );
    assert_eq!(words(&judged(by_guest)), "NotReady");
    let mut gone = judged(verdict(Phase::Ready, "", ""));
    gone.role = Role::Gone;
    assert_eq!(words(&gone), "NotPresent");
}

#[test]
fn the_staleness_of_an_answer_covers_only_what_is_selected() {
    let mut model = group();
    let staleness = |model: &Snapshot, text: &str| {
        let query = EmcoQuery::parse(EmcoSubject::Group, text, &pairs(text)).unwrap();
        let found = model
            .visible_to(&SubjectSet::Everything)
            .dig(&vfw(), &query.selection)
            .unwrap();
        found
            .emco_staleness(&query)
            .map(|stale| stale.reason.to_string())
    };
    let away = "sink in vfw-cluster-provider+edge02: no answer";
    for text in [
        "type=cluster",
        "status=ready&output=summary",
        "resources&type=cluster",
    ] {
        assert_eq!(staleness(&model, text).as_deref(), Some(away), "{text}");
    }
    for text in [
        "",
        "status=deployed",
        "type=cluster&app=firewall",
        "type=cluster&cluster=vfw-cluster-provider+edge01",
        "apps&type=cluster",
    ] {
        assert_eq!(staleness(&model, text), None, "{text}");
    }
    model.set_store(Some(StoreAway {
        since_ms: NOW_MS - 1,
        reason: "refused".into(),
    }));
    let away = "the store of AppContexts is away: refused";
    for text in ["", "apps", "status=ready"] {
        assert_eq!(staleness(&model, text).as_deref(), Some(away), "{text}");
    }
}

#[test]
fn the_content_of_a_secret_is_not_shown() {
    let json =
        r#"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"key"},"data":{"k":"c2VjcmV0"}}"#;
    let secret = || kindsight_model::Object::from_json(json).unwrap();
    let mut edge01 = input("edge01", vec![Expected::new(secret(), None)]);
    report(
        &mut edge01,
        vec![observed(secret(), verdict(Phase::Present, "", ""))],
    );
    let apps = vec![app("sink", vec![projected(edge01)])];
    let model = crate::samples::vfw_snapshot(apps);
    for form in ["type=rsync", "status=ready"] {
        let answer = ask_group(&model, &format!("{form}&output=detail")).unwrap();
        let detail = &answer["apps"][0]["clusters"][0]["resources"][0]["detail"];
        assert_eq!(detail["data"]["k"], "REDACTED");
    }
}
