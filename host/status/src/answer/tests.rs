use expect_test::expect_file;
use kindsight_api::problem::PartialProblem;
use kindsight_model::{DigName, Object, Phase, RsyncStatus};

use super::*;
use crate::samples::{
    FIRST, NOW_MS, SECOND, app, ask, context, expected, input, object, observed, owned, projected,
    query, read_model, record, report, verdict, vfw, vfw_apps, vfw_read_model, vfw_record,
};
use crate::{Expected, ReadModel, Staleness};

mod rolled_up;

/// The sink in three clusters: one with a pending and a missing resource, one that cannot be reached,
/// and one without a report.
fn sink() -> ReadModel {
    let sent = || {
        vec![
            expected("apps/v1", "Deployment", "fw0-sink"),
            expected("v1", "ConfigMap", "sink-configmap"),
            expected("v1", "Service", "sink-service"),
        ]
    };
    let pending = verdict(Phase::Pending, "Progressing", "1 of 2 replicas are ready");
    let mut edge01 = input("edge01", sent());
    report(
        &mut edge01,
        vec![
            observed(
                owned(
                    ("Pod", "default", "fw0-sink-5d5c", ""),
                    &[("Deployment", "fw0-sink", "")],
                ),
                verdict(Phase::Failed, "Evicted", ""),
            ),
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
    edge01.faults = vec!["/status/podStatuses/3: it has no `kind`".into()];
    let mut edge02 = input("edge02", sent());
    report(&mut edge02, vec![]);
    edge02.reported.as_mut().unwrap().stale = Some(Staleness {
        since_ms: NOW_MS,
        reason: "nobody answers".into(),
    });
    let edge03 = input("edge03", sent());
    let clusters = [edge01, edge02, edge03].map(projected).into();
    vfw_read_model(vec![app("sink", clusters)])
}

fn not_found(read_model: &ReadModel, pairs: &[(&str, &str)]) -> Vec<PartialProblem> {
    let query = query(pairs);
    let subject = read_model.dig(&vfw(), &query);
    match subject.and_then(|subject| subject.answer(&query).map(drop)) {
        Err(QueryError::NotFound(problems)) => problems,
        other => panic!("{other:?}"),
    }
}

fn pointer<'a>(answer: &'a serde_json::Value, pointer: &str) -> &'a serde_json::Value {
    answer.pointer(pointer).unwrap_or(&serde_json::Value::Null)
}

#[test]
fn the_status_by_the_clusters_in_full() {
    let read_model = sink();
    let query = query(&[("type", "cluster"), ("explain", "true")]);
    let subject = read_model.dig(&vfw(), &query).unwrap();
    let text = serde_json::to_string_pretty(&subject.answer(&query).unwrap()).unwrap();
    expect_file!["explained.json"].assert_eq(&(text + "\n"));
}

#[test]
fn the_rsync_status_names_only_what_was_sent() {
    let answer = ask(&sink(), &vfw(), &[("resource", "fw0-sink-5d5c")]);
    assert_eq!(answer.get("apps"), None);
    assert_eq!(answer.get("rsync-status"), None);
    let all = ask(&sink(), &vfw(), &[]);
    assert_eq!(pointer(&all, "/rsync-status/Applied"), 9);
    assert_eq!(all.get("ready-status"), None);
}

#[test]
fn a_summary_says_the_same_as_the_whole() {
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
fn names_that_nobody_knows_are_named_with_those_that_are() {
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
fn names_that_together_select_nothing_are_no_error() {
    let mut apps = vfw_apps(&["edge01"], RsyncStatus::Applied);
    apps.push(app(
        "probe",
        vec![projected(input(
            "edge02",
            vec![expected("v1", "Service", "probe")],
        ))],
    ));
    let read_model = vfw_read_model(apps);
    let pairs = [("app", "sink"), ("cluster", "vfw-cluster-provider+edge02")];
    let answer = ask(&read_model, &vfw(), &pairs);
    assert_eq!(answer.get("apps"), None);
    assert_eq!(pointer(&answer, "/status"), "Instantiated");
    let answer = ask(
        &read_model,
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
fn only_so_many_known_names_are_listed() {
    let many = (0..30).map(|n| expected("v1", "Service", &format!("service-{n:02}")));
    let read_model = vfw_read_model(vec![app(
        "many",
        vec![projected(input("edge01", many.collect()))],
    )]);
    let problems = not_found(&read_model, &[("resource", "x")]);
    assert!(
        problems[0].expected.ends_with("`service-19` and 10 more"),
        "{}",
        problems[0].expected
    );
}

#[test]
fn an_instance_of_somebody_else_is_not_found() {
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
    let read_model = read_model(&vfw(), vfw_record(), vec![]);
    let answer = ask(&read_model, &vfw(), &[]);
    assert_eq!(
        pointer(&answer, "/message"),
        &*format!("the AppContext {SECOND} is no longer stored")
    );
}

#[test]
fn a_group_that_nobody_knows_is_not_found() {
    let other = DigName::new("testvfw", "compositevfw", "v1", "other").unwrap();
    let Err(QueryError::NotFound(problems)) = sink().dig(&other, &query(&[])) else {
        panic!("it was found");
    };
    assert_eq!(problems[0].parameter, "deployment-intent-group");
    assert_eq!(problems[0].expected, format!("one of `{}`", vfw()));
    assert!(
        sink()
            .cluster(&crate::samples::cluster("edge01"), &query(&[]))
            .is_err()
    );
}

#[test]
fn what_was_never_instantiated_has_a_state_and_no_more() {
    let created = record(None, &[("Created", "", "2020-08-21T05:36:54.186Z")]);
    let read_model = read_model(&vfw(), created, vec![]);
    let answer = ask(&read_model, &vfw(), &[("type", "cluster"), ("app", "sink")]);
    assert_eq!(pointer(&answer, "/state/Actions/0/State"), "Created");
    assert_eq!(pointer(&answer, "/message"), "it was never instantiated");
    assert_eq!(answer.get("status"), None);
    assert_eq!(
        ask(&read_model, &vfw(), &[("instance", "")])["instances"],
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
    let read_model = vfw_read_model(vec![app("sink", vec![projected(edge01)])]);
    for kind in ["rsync", "cluster"] {
        let answer = ask(&read_model, &vfw(), &[("type", kind), ("output", "detail")]);
        let detail = pointer(&answer, "/apps/0/clusters/0/resources/0/detail");
        assert_eq!(pointer(detail, "/metadata/name"), "key");
        assert!(!answer.to_string().contains("ecret\":"), "{answer}");
        assert!(!answer.to_string().contains("c2VjcmV0"), "{answer}");
    }
}

#[test]
fn what_is_published_while_an_answer_is_written_does_not_mix_in() {
    let read_model = sink();
    let query = query(&[]);
    let subject = read_model.dig(&vfw(), &query).unwrap();
    let before = serde_json::to_string(&subject.answer(&query).unwrap()).unwrap();
    read_model.publish_dig(&vfw(), None);
    read_model.publish_context(&crate::samples::id(SECOND), None);
    assert_eq!(
        serde_json::to_string(&subject.answer(&query).unwrap()).unwrap(),
        before
    );
    assert!(read_model.dig(&vfw(), &query).is_err());
}

#[test]
fn a_stale_report_shows_on_every_level_of_every_output_and_repaints_nothing() {
    let stale_at = |answer: &serde_json::Value, level: &str| {
        let reason = pointer(answer, &format!("{level}/stale-reason")).clone();
        assert_eq!(
            reason.is_null(),
            pointer(answer, &format!("{level}/stale-since")).is_null()
        );
        reason
    };
    let reason = "sink in vfw-cluster-provider+edge02: nobody answers";
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
    let read_model = vfw_read_model(vec![app("sink", vec![projected(ready)])]);
    let answer = ask(
        &read_model,
        &vfw(),
        &[("type", "cluster"), ("output", "summary")],
    );
    assert_eq!(
        pointer(&answer, "/ready-status"),
        "Ready",
        "the last verdicts stay"
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
    let read_model = vfw_read_model(apps);
    let cluster = "vfw-cluster-provider+edge01";
    for output in ["summary", "all"] {
        let faults = |pairs: &[(&str, &str)]| {
            let pairs = [pairs, &[("output", output), ("type", "cluster")]].concat();
            pointer(&ask(&read_model, &vfw(), &pairs), "/faults").clone()
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
fn only_so_many_wrong_names_are_told_and_of_many_known_ones_the_first() {
    let many = |from: usize| {
        let many = (from..from + KNOWN_COUNTED_MAX)
            .map(|n| expected("v1", "Service", &format!("service-{n:05}")));
        projected(input("edge01", many.collect()))
    };
    let apps = vec![app("b", vec![many(5)]), app("a", vec![many(0)])];
    let read_model = vfw_read_model(apps);
    let wrong: Vec<String> = (0..600).map(|n| format!("x{n}")).collect();
    let pairs: Vec<(&str, &str)> = wrong.iter().map(|name| ("resource", &**name)).collect();
    let problems = not_found(&read_model, &pairs);
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
fn the_older_rsync_output_has_metadata_and_spec_of_what_was_sent() {
    let json =
        r#"{"apiVersion":"v1","kind":"Service","metadata":{"name":"probe"},"spec":{"ports":[]}}"#;
    let sent = Expected::new(Object::from_json(json).unwrap(), Some(RsyncStatus::Applied));
    let apps = vec![app("sink", vec![projected(input("edge01", vec![sent]))])];
    let answer = ask(&vfw_read_model(apps), &vfw(), &[("output", "rsync")]);
    let resource = pointer(&answer, "/apps/0/clusters/0/resources/0");
    assert_eq!(resource["rsync-status"], "Applied");
    assert_eq!(
        resource["detail"],
        serde_json::from_str::<serde_json::Value>(json).unwrap()
    );
    assert_eq!(pointer(&answer, "/rsync-status/Applied"), 1);
}
