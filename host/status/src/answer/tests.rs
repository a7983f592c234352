use expect_test::expect_file;
use kindsight_api::problem::PartialProblem;
use kindsight_model::{DigName, Object, Phase, RsyncStatus, SubjectSet};

use super::*;
use crate::samples::{
    FIRST, NOW_MS, SECOND, app, ask, context, expected, input, object, observed, owned, projected,
    query, record, report, snapshot, verdict, vfw, vfw_apps, vfw_record, vfw_snapshot,
};
use crate::{Expected, Snapshot, Staleness};

mod claims;
mod rolled_up;
mod sent_and_reported;

/// The sink in three clusters: the first has a pending and a missing resource, the second cannot be reached,
/// and the third has no report.
fn sink() -> Snapshot {
    let sent = || {
        vec![
            expected("apps/v1", "Deployment", "fw0-sink"),
            expected("v1", "ConfigMap", "sink-configmap"),
            expected("v1", "Service", "sink-service"),
        ]
    };
    let pending = verdict(Phase::Pending, "Progressing", "1 of 2 replicas are ready");
    let mut edge01 = input("edge01", sent());
    let manifest = r#"{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "sink-service"}, "spec": {}}"#;
    edge01.expected[2].manifest = Object::from_json(manifest).ok();
    let mut pod = owned(
        ("Pod", "default", "fw0-sink-5d5c", ""),
        &[("Deployment", "fw0-sink", "")],
    );
    pod.restarts = 7;
    report(
        &mut edge01,
        vec![
            observed(pod, verdict(Phase::Failed, "Evicted", "")),
            observed(
                object("apps/v1", "Deployment", "default", "fw0-sink"),
                pending,
            ),
            observed(
                object("v1", "Service", "default", "sink-service"),
                verdict(Phase::Ready, "", ""),
            ),
        ],
    );
    edge01.reported.as_mut().unwrap().claims = claims::claims_on(0);
    edge01.faults = vec!["/status/podStatuses/3: it has no `kind`".into()];
    let mut edge02 = input("edge02", sent());
    report(&mut edge02, vec![]);
    edge02.reported.as_mut().unwrap().stale = Some(Staleness {
        since_ms: NOW_MS,
        reason: "no answer".into(),
    });
    let edge03 = input("edge03", sent());
    let clusters = [edge01, edge02, edge03].map(projected).into();
    vfw_snapshot(vec![app("sink", clusters)])
}

fn not_found(snapshot: &Snapshot, pairs: &[(&str, &str)]) -> Vec<PartialProblem> {
    let query = query(pairs);
    let subject = snapshot
        .visible_to(&SubjectSet::Everything)
        .dig(&vfw(), &query)
        .map_err(QueryError::from);
    match subject.and_then(|subject| subject.answer(&query).map(drop)) {
        Err(QueryError::NotFound(problems)) => problems,
        other => panic!("{other:?}"),
    }
}

fn pointer<'a>(answer: &'a serde_json::Value, pointer: &str) -> &'a serde_json::Value {
    answer.pointer(pointer).unwrap_or(&serde_json::Value::Null)
}

#[test]
fn the_complete_status_with_type_cluster() {
    let snapshot = sink();
    let query = query(&[("type", "cluster"), ("explain", "true")]);
    let subject = snapshot
        .visible_to(&SubjectSet::Everything)
        .dig(&vfw(), &query)
        .unwrap();
    let text = serde_json::to_string_pretty(&subject.answer(&query).unwrap()).unwrap();
    expect_file!["explained.json"].assert_eq(&(text + "\n"));
}

#[test]
fn the_rsync_status_has_only_resources_that_were_sent() {
    let answer = ask(&sink(), &vfw(), &[("resource", "fw0-sink-5d5c")]);
    assert_eq!(answer.get("apps"), None);
    assert_eq!(answer.get("rsync-status"), None);
    let all = ask(&sink(), &vfw(), &[]);
    assert_eq!(pointer(&all, "/rsync-status/Applied"), 9);
    assert_eq!(all.get("ready-status"), None);
}

#[test]
fn a_summary_has_the_same_counts_as_the_full_answer() {
    for pairs in [
        vec![],
        vec![("type", "cluster")],
        vec![("type", "cluster"), ("resource", "sink-service")],
        vec![
            ("resource", "sink-service"),
            ("cluster", "vfw-cluster-provider+edge02"),
        ],
    ] {
        let mut whole = ask(&sink(), &vfw(), &pairs);
        whole.as_object_mut().unwrap().remove("apps").unwrap();
        let summary = [&pairs[..], &[("output", "summary")]].concat();
        assert_eq!(ask(&sink(), &vfw(), &summary), whole);
    }
}

#[test]
fn unknown_names_are_listed_with_known_names() {
    let problems = not_found(
        &sink(),
        &[
            ("app", "sinc"),
            ("cluster", "p+edge09"),
            ("resource", "sink"),
            ("resource", "sink-service"),
        ],
    );
    let lines: Vec<_> = problems
        .iter()
        .map(|one| format!("{}: {}: {}", one.parameter, one.detail, one.expected))
        .collect();
    assert_eq!(
        lines,
        [
            "app: there is no `sinc`: one of `sink`",
            "cluster: there is no `p+edge09`: one of `vfw-cluster-provider+edge01`, `vfw-cluster-provider+edge02`, `vfw-cluster-provider+edge03`",
            "resource: there is no `sink`: one of `fw0-sink`, `fw0-sink-5d5c`, `sink-configmap`, `sink-service`",
        ]
    );
}

#[test]
fn existing_names_may_select_no_resource() {
    let mut apps = vfw_apps(&["edge01"], RsyncStatus::Applied);
    apps.push(app(
        "probe",
        vec![projected(input(
            "edge02",
            vec![expected("v1", "Service", "probe")],
        ))],
    ));
    let snapshot = vfw_snapshot(apps);
    let pairs = [("app", "sink"), ("cluster", "vfw-cluster-provider+edge02")];
    let answer = ask(&snapshot, &vfw(), &pairs);
    assert_eq!(answer.get("apps"), None);
    assert_eq!(pointer(&answer, "/status"), "Instantiated");
    let answer = ask(
        &snapshot,
        &vfw(),
        &[&pairs[..], &[("type", "cluster")]].concat(),
    );
    assert_eq!(pointer(&answer, "/ready-status"), "Unknown");
    assert_eq!(
        pointer(&answer, "/ready-reason"),
        "there are no resources to roll up"
    );
}

#[test]
fn the_list_of_known_names_is_limited() {
    let many = (0..30).map(|n| expected("v1", "Service", &format!("service-{n:02}")));
    let snapshot = vfw_snapshot(vec![app(
        "many",
        vec![projected(input("edge01", many.collect()))],
    )]);
    let problems = not_found(&snapshot, &[("resource", "x")]);
    assert!(
        problems[0].expected.ends_with("`service-19` and 10 more"),
        "{}",
        problems[0].expected
    );
}

#[test]
fn an_instance_of_another_group_is_not_found() {
    let problems = not_found(&sink(), &[("instance", "9116473999070524329")]);
    assert_eq!(
        problems[0].expected,
        format!("one of `{FIRST}`, `{SECOND}`")
    );
}

#[test]
fn an_instance_that_is_no_longer_stored_is_reported_as_such() {
    let problems = not_found(&sink(), &[("instance", FIRST)]);
    assert_eq!(
        problems[0].expected,
        format!("the AppContext {FIRST} is no longer stored")
    );
    let snapshot = snapshot(&vfw(), vfw_record(), vec![]);
    let answer = ask(&snapshot, &vfw(), &[]);
    assert_eq!(
        pointer(&answer, "/message"),
        &*format!("the AppContext {SECOND} is no longer stored")
    );
}

#[test]
fn an_unknown_group_is_not_found() {
    let other = DigName::new("testvfw", "compositevfw", "v1", "other").unwrap();
    let missing = sink()
        .visible_to(&SubjectSet::Everything)
        .dig(&other, &query(&[]))
        .unwrap_err();
    let QueryError::NotFound(problems) = missing.into() else {
        panic!("its name is valid");
    };
    assert_eq!(problems[0].parameter, "deployment-intent-group");
    assert_eq!(problems[0].expected, format!("one of `{}`", vfw()));
    assert!(
        sink()
            .visible_to(&SubjectSet::Everything)
            .cluster(&crate::samples::cluster("edge01"), &query(&[]))
            .is_err()
    );
}

#[test]
fn a_group_that_was_never_instantiated_has_only_a_state() {
    let created = record(None, &[("Created", "", "2020-08-21T05:36:54.186Z")]);
    let snapshot = snapshot(&vfw(), created, vec![]);
    let answer = ask(&snapshot, &vfw(), &[("type", "cluster"), ("app", "sink")]);
    assert_eq!(pointer(&answer, "/state/Actions/0/State"), "Created");
    assert_eq!(pointer(&answer, "/message"), "it was never instantiated");
    assert_eq!(answer.get("status"), None);
    assert_eq!(
        ask(&snapshot, &vfw(), &[("instance", "")])["instances"],
        serde_json::json!([])
    );
}

#[test]
fn the_content_of_a_secret_is_not_shown() {
    let json = r#"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"key","namespace":"default"},"data":{"k":"c2VjcmV0"},"stringData":{"k":"secret"}}"#;
    let secret = || Object::from_json(json).unwrap();
    let mut edge01 = input("edge01", vec![Expected::new(secret(), None)]);
    report(
        &mut edge01,
        vec![observed(secret(), verdict(Phase::Present, "", ""))],
    );
    let snapshot = vfw_snapshot(vec![app("sink", vec![projected(edge01)])]);
    for kind in ["rsync", "cluster", "all"] {
        let answer = ask(&snapshot, &vfw(), &[("type", kind), ("output", "detail")]);
        let detail = pointer(&answer, "/apps/0/clusters/0/resources/0/detail");
        assert_eq!(pointer(detail, "/metadata/name"), "key");
        assert!(!answer.to_string().contains("ecret\":"), "{answer}");
        assert!(!answer.to_string().contains("c2VjcmV0"), "{answer}");
    }
}

#[test]
fn a_change_during_serialization_does_not_affect_the_answer() {
    let mut snapshot = sink();
    let query = query(&[]);
    let subject = snapshot
        .visible_to(&SubjectSet::Everything)
        .dig(&vfw(), &query)
        .unwrap();
    let before = serde_json::to_string(&subject.answer(&query).unwrap()).unwrap();
    snapshot.set_group(&vfw(), None);
    snapshot.set_context(&crate::samples::id(SECOND), None);
    assert_eq!(
        serde_json::to_string(&subject.answer(&query).unwrap()).unwrap(),
        before
    );
    assert!(
        snapshot
            .visible_to(&SubjectSet::Everything)
            .dig(&vfw(), &query)
            .is_err()
    );
}

#[test]
fn a_stale_report_is_marked_on_every_level_and_keeps_its_verdicts() {
    let stale_at = |answer: &serde_json::Value, level: &str| {
        let reason = pointer(answer, &format!("{level}/stale-reason")).clone();
        assert_eq!(
            reason.is_null(),
            pointer(answer, &format!("{level}/stale-since")).is_null()
        );
        reason
    };
    let reason = "sink in vfw-cluster-provider+edge02: no answer";
    for output in ["summary", "all", "detail"] {
        let answer = ask(&sink(), &vfw(), &[("type", "cluster"), ("output", output)]);
        assert_eq!(stale_at(&answer, ""), reason, "{output}");
        if output != "summary" {
            assert_eq!(stale_at(&answer, "/apps/0"), reason);
            assert!(stale_at(&answer, "/apps/0/clusters/0").is_null());
            assert_eq!(stale_at(&answer, "/apps/0/clusters/1"), reason);
        }
    }
    let named = [("type", "cluster"), ("resource", "sink-service")];
    assert_eq!(stale_at(&ask(&sink(), &vfw(), &named), ""), reason);
    assert!(
        stale_at(&ask(&sink(), &vfw(), &[]), "").is_null(),
        "rsync does not depend on reports"
    );

    let mut ready = input("edge01", vec![expected("v1", "Service", "sink-service")]);
    let service = object("v1", "Service", "default", "sink-service");
    report(
        &mut ready,
        vec![observed(service, verdict(Phase::Ready, "", ""))],
    );
    ready.reported.as_mut().unwrap().stale = Some(Staleness {
        since_ms: NOW_MS,
        reason: "report `x.json`: bad".into(),
    });
    let snapshot = vfw_snapshot(vec![app("sink", vec![projected(ready)])]);
    let answer = ask(
        &snapshot,
        &vfw(),
        &[("type", "cluster"), ("output", "summary")],
    );
    assert_eq!(
        pointer(&answer, "/ready-status"),
        "Ready",
        "the last verdicts remain"
    );
    assert_eq!(
        stale_at(&answer, ""),
        "sink in vfw-cluster-provider+edge01: report `x.json`: bad"
    );
}

#[test]
fn faults_show_on_every_output_with_their_place() {
    let of_cluster: Vec<std::sync::Arc<str>> = vec!["report `junk.json`: bad".into()];
    let mut edge01 = input("edge01", Vec::new());
    edge01.faults = vec!["report: /status/podStatuses/3: it has no `kind`".into()];
    let edge01 = crate::project(edge01, None, NOW_MS).with_cluster_faults(of_cluster.into());
    let edge01 = std::sync::Arc::new(edge01);
    let apps = vec![
        app("sink", vec![std::sync::Arc::clone(&edge01)]),
        app("firewall", vec![edge01]),
    ];
    let snapshot = vfw_snapshot(apps);
    let cluster = "vfw-cluster-provider+edge01";
    for output in ["summary", "all"] {
        let faults = |pairs: &[(&str, &str)]| {
            let pairs = [pairs, &[("output", output), ("type", "cluster")]].concat();
            pointer(&ask(&snapshot, &vfw(), &pairs), "/faults").clone()
        };
        let own = |app: &str| {
            format!("{app} in {cluster}: report: /status/podStatuses/3: it has no `kind`")
        };
        let of_cluster = format!("{cluster}: report `junk.json`: bad");
        assert_eq!(
            faults(&[]),
            serde_json::json!([of_cluster, own("sink"), own("firewall")])
        );
        assert_eq!(
            faults(&[("app", "sink")]),
            serde_json::json!([of_cluster, own("sink")])
        );
    }
}

#[test]
fn the_numbers_of_wrong_and_known_names_in_an_error_are_limited() {
    let many = |from: usize| {
        let many = (from..from + KNOWN_COUNTED_MAX)
            .map(|n| expected("v1", "Service", &format!("service-{n:05}")));
        projected(input("edge01", many.collect()))
    };
    let apps = vec![app("b", vec![many(5)]), app("a", vec![many(0)])];
    let snapshot = vfw_snapshot(apps);
    let wrong: Vec<String> = (0..600).map(|n| format!("x{n}")).collect();
    let pairs: Vec<(&str, &str)> = wrong.iter().map(|name| ("resource", &**name)).collect();
    let problems = not_found(&snapshot, &pairs);
    assert_eq!(problems.len(), NAMES_WRONG_MAX);
    for problem in problems {
        let expected = problem.expected;
        assert!(
            expected.starts_with("one of `service-00000`, `service-00001`"),
            "{expected}"
        );
        assert!(expected.ends_with("`service-00019` and more"), "{expected}");
    }
}

#[test]
fn the_older_rsync_output_has_metadata_and_spec_of_the_manifest() {
    let json =
        r#"{"apiVersion":"v1","kind":"Service","metadata":{"name":"probe"},"spec":{"ports":[]}}"#;
    let sent = Expected::new(Object::from_json(json).unwrap(), Some(RsyncStatus::Applied));
    let apps = vec![app("sink", vec![projected(input("edge01", vec![sent]))])];
    let answer = ask(&vfw_snapshot(apps), &vfw(), &[("output", "rsync")]);
    let resource = pointer(&answer, "/apps/0/clusters/0/resources/0");
    assert_eq!(resource["rsync-status"], "Applied");
    assert_eq!(
        resource["detail"],
        serde_json::from_str::<serde_json::Value>(json).unwrap()
    );
    assert_eq!(pointer(&answer, "/rsync-status/Applied"), 1);
}

#[test]
fn unanswered_kinds_are_shown_on_every_level_and_in_the_list() {
    let kind = "p+edge02: Crane.example.org: it answers 500";
    let mut apps = vfw_apps(&["edge01", "edge02"], RsyncStatus::Applied);
    let mut clusters = apps[0].clusters().to_vec();
    let view = clusters[1].as_ref().clone();
    clusters[1] = std::sync::Arc::new(view.with_unanswered([kind.into()].into()));
    apps[0] = crate::AppView::new(std::sync::Arc::clone(apps[0].name()), clusters);
    let model = vfw_snapshot(apps);
    let answer = ask(&model, &vfw(), &[("type", "cluster"), ("output", "all")]);
    for level in ["", "/apps/0", "/apps/0/clusters/1"] {
        let told = pointer(&answer, &format!("{level}/unanswered"));
        assert_eq!(*told, serde_json::json!([kind]), "{level}");
    }
    assert!(pointer(&answer, "/apps/0/clusters/0/unanswered").is_null());
    let histories = crate::Histories::default();
    let list = model
        .visible_to(&SubjectSet::Everything)
        .applications(&crate::ApplicationQuery::default(), &histories);
    let list = serde_json::to_value(list.checked().unwrap().answer()).unwrap();
    assert_eq!(
        list["applications"][0]["unanswered"],
        serde_json::json!([kind])
    );
}
