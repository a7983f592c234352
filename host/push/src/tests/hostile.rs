//! Agents that send anything, and agents of another release.

mod limits;

use kindsight_model::{KindState, Scope};

use super::*;

const SUBJECT: &str = r#""subject":{"application":"-/shop/-/web","app":"front"},"origin":"found""#;

fn config_map(name: &str) -> String {
    format!(
        r#"{{"object":{{"json":{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{name}","namespace":"web"}}}}}}}}"#
    )
}

/// The line of a report with these members.
fn report(members: &str) -> String {
    format!(r#"{{"report":{{{SUBJECT}{members}}}}}"#)
}

/// The reports among events.
fn reports(events: Vec<ClusterEvent>) -> Vec<(Subject, Report)> {
    let reports = events.into_iter().filter_map(|event| match event {
        ClusterEvent::Reports { reports, .. } => Some(reports),
        _ => None,
    });
    reports.flatten().collect()
}

#[tokio::test(start_paused = true)]
async fn replayed_and_skipped_numbers_are_refused_with_the_expected_one() {
    let mut host = Host::start().await;
    let lines = [
        &*config_map("a"),
        &report(r#","objects":[1]"#),
        r#"{"commit":{}}"#,
    ];
    let body = body(&lines);
    let unknown = host.send(5, 3, &body).await;
    assert!(
        matches!(unknown, Err(PushRefusal::NewEpoch(_))),
        "{unknown:?}"
    );
    assert_eq!(host.send(5, 0, &body).await, Ok(1));
    for got in [0, 2, u64::MAX] {
        let refused = host.send(5, got, &body).await;
        assert_eq!(refused, Err(PushRefusal::Sequence { got, expected: 1 }));
    }
    let old = host.send(4, 0, &body).await;
    assert!(matches!(old, Err(PushRefusal::NewEpoch(_))), "{old:?}");
    assert_eq!(reports(host.take()).len(), 1);
    // A heartbeat takes no number.
    assert_eq!(host.send(5, 1, &[]).await, Ok(1));
    assert_eq!(host.send(5, 1, &[]).await, Ok(1));
}

#[tokio::test(start_paused = true)]
async fn another_agent_takes_over_once_the_first_is_silent_or_has_left() {
    let host = Host::start().await;
    let lines = body(&[r#"{"heard":{}}"#]);
    let other = parameters("b", 9, 0);
    assert_eq!(host.send(5, 0, &lines).await, Ok(1));
    let refused = host.send_as(&other, &lines).await;
    assert_eq!(refused, Err(PushRefusal::OtherAgent("a".to_owned())));
    sleep(kindsight_clusters::SILENT_MAX).await;
    assert_eq!(host.send_as(&other, &lines).await, Ok(1));
    let refused = host.send(5, 1, &lines).await;
    assert_eq!(refused, Err(PushRefusal::OtherAgent("b".to_owned())));
    let leaving = PushParameters {
        leaving: true,
        sequence: 1,
        ..other
    };
    assert_eq!(host.send_as(&leaving, &[]).await, Ok(1));
    // The first agent needs a complete report, because another one reported meanwhile.
    let again = host.send(5, 1, &lines).await;
    assert!(matches!(again, Err(PushRefusal::NewEpoch(_))), "{again:?}");
    assert_eq!(host.send(6, 0, &lines).await, Ok(1));
}

#[tokio::test(start_paused = true)]
async fn a_bomb_is_refused_before_it_takes_memory() {
    let host = Host::start().await;
    let line = format!("{{\"text\":\"{}\"}}", "x".repeat(64 * 1024 * 1024));
    let bomb = body(&[&line]);
    assert!(bomb.len() < 1024 * 1024, "{}", bomb.len());
    let refused = host.send(1, 0, &bomb).await;
    assert!(
        matches!(refused, Err(PushRefusal::TooLarge(_))),
        "{refused:?}"
    );
    let many = vec![r#"{"heard":{}}"#; 2_000_000];
    let refused = host.send(2, 0, &body(&many)).await;
    assert!(
        matches!(refused, Err(PushRefusal::TooLarge(_))),
        "{refused:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn lines_that_do_not_fit_are_refused_with_their_number() {
    let mut host = Host::start().await;
    for (epoch, (line, part)) in (1..).zip([
        ("not JSON", "line 2: "),
        (r#"{"report":{"origin":"found"}}"#, "line 2: "),
        (&*report(r#","objects":[1]"#), "0 before it"),
        (&*report(r#","objects":[[0,1]]"#), "of a list of 0"),
        (
            &*report(r#","objects":[[18446744073709551615,1]]"#),
            "of a list of 0",
        ),
        (
            &*report(r#","objects":[18446744073709551615,1]"#),
            "of a list of 0",
        ),
        (&*report(r#","coverage":3"#), "slot 3 has no coverage"),
        (r#"{"coverage":{"slot":77}}"#, "slot 77 has no coverage"),
        (r#"{"coverage-slot":{"slot":77}}"#, "from 0"),
        (r#"{"gone":{"deployment":"x"}}"#, "`x`"),
        (
            r#"{"report":{"subject":{"application":"shop","app":"a"},"origin":"found"}}"#,
            "`shop`",
        ),
        (
            r#"{"report":{"subject":{"deployment":"7-a"},"origin":"found"}}"#,
            "has the origin",
        ),
    ]) {
        let refused = host.send(epoch, 0, &body(&[r#"{"heard":{}}"#, line])).await;
        match refused {
            Err(PushRefusal::Invalid(why)) => assert!(why.contains(part), "{line}: {why}"),
            other => panic!("{line}: {other:?}"),
        }
    }
    let refused = host.send(100, 0, b"no gzip").await;
    assert!(
        matches!(refused, Err(PushRefusal::Invalid(_))),
        "{refused:?}"
    );
    // Nothing of a refused body was reported.
    let events = host.take();
    assert!(
        !events
            .iter()
            .any(|event| matches!(event, ClusterEvent::Heard { .. })),
        "{events:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn an_object_that_cannot_be_read_affects_only_itself() {
    let mut host = Host::start().await;
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let deep = format!(
        r#"{{"object":{{"json":{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"deep","namespace":"web"}},"data":{deep}}}}}}}"#
    );
    let lines = [
        &*config_map("a"),
        &deep,
        r#"{"object":{"json":{"metadata":{"name":"none"}}}}"#,
        &config_map("z\\u001b\\u202e"),
        &report(r#","objects":[4],"hooks":[3]"#),
        r#"{"commit":{}}"#,
    ];
    assert_eq!(host.send(1, 0, &body(&lines)).await, Ok(1));
    let (_, first) = reports(host.take()).remove(0);
    assert_eq!((first.objects.len(), first.rejected.len()), (2, 2));
    assert_eq!(first.hooks, [1].into());
    let identity = first.rejected[0].identity.as_ref().unwrap();
    assert_eq!(&*identity.name, "deep");
    // A later report names positions of the agent: the last object, then the unreadable one.
    let lines = [
        &*config_map("b"),
        &report(r#","objects":[[3,1],[1,1],1]"#),
        r#"{"commit":{}}"#,
    ];
    assert_eq!(host.send(1, 1, &body(&lines)).await, Ok(2));
    let (_, second) = reports(host.take()).remove(0);
    assert_eq!((second.objects.len(), second.rejected.len()), (2, 1));
    assert_eq!(
        second.objects.get(1).map(|object| object.name.to_string()),
        Some("b".to_owned())
    );
}

#[tokio::test(start_paused = true)]
async fn the_content_of_a_secret_is_removed() {
    let mut host = Host::start().await;
    let secret = r#"{"object":{"json":{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{"password":"aHVudGVyMg=="}}}}"#;
    let lines = [secret, &report(r#","objects":[1]"#), r#"{"commit":{}}"#];
    assert_eq!(host.send(1, 0, &body(&lines)).await, Ok(1));
    let (_, report) = reports(host.take()).remove(0);
    let json = &report.objects.get(0).unwrap().json;
    assert!(!json.contains("aHVudGVyMg"), "{json}");
}

#[tokio::test(start_paused = true)]
async fn an_agent_reports_only_on_subjects_of_its_cluster() {
    let mut host = Host::start().await;
    host.record(&["7-front"]).await;
    let of = |subject: &str, origin: &str| {
        format!(r#"{{"report":{{"subject":{subject},"origin":"{origin}"}}}}"#)
    };
    let lines = [
        of(r#"{"deployment":"7-front"}"#, "direct"),
        of(r#"{"deployment":"8-other"}"#, "direct"),
        of(
            r#"{"application":"shop/web/v1/prod","app":"front"}"#,
            "found",
        ),
        of(r#"{"application":"-/shop/-/web","app":"a b"}"#, "found"),
        of(r#"{"application":"-/shop/-/web","app":"front"}"#, "found"),
    ];
    let mut lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    lines.push(r#"{"commit":{}}"#);
    assert_eq!(host.send(1, 0, &body(&lines)).await, Ok(1));
    let subjects: BTreeSet<Subject> = reports(host.take())
        .into_iter()
        .map(|(subject, _)| subject)
        .collect();
    assert_eq!(subjects.len(), 2, "{subjects:?}");
}

#[tokio::test(start_paused = true)]
async fn a_complete_report_withdraws_what_it_lacks() {
    let mut host = Host::start().await;
    host.record(&["7-front"]).await;
    let slot = r#"{"coverage-slot":{"slot":0,"others":"complete"}}"#;
    let first = [
        &*config_map("a"),
        slot,
        &report(r#","fresh":true,"objects":[1],"coverage":0"#),
        r#"{"report":{"subject":{"deployment":"7-front"},"origin":"direct","fresh":true}}"#,
        r#"{"missing":{"gvk":{"kind":"Pod"},"name":"a"}}"#,
        r#"{"missing-of":{"application":"-/shop/-/web","count":1}}"#,
        r#"{"commit":{}}"#,
        r#"{"coverage":{"slot":0}}"#,
        r#"{"complete":{}}"#,
        r#"{"synced":{}}"#,
    ];
    assert_eq!(host.send(1, 0, &body(&first)).await, Ok(1));
    assert_eq!(reports(host.take()).len(), 2);
    // The next epoch begins with another coverage, which counts for the absence.
    let begin = [
        r#"{"coverage-slot":{"slot":0,"others":"unavailable"}}"#,
        r#"{"coverage":{"slot":0,"worse-only":true}}"#,
    ];
    assert_eq!(host.send(2, 0, &body(&begin)).await, Ok(1));
    assert_eq!(
        reports(host.take()).len(),
        0,
        "nothing is withdrawn before the end"
    );
    assert_eq!(host.send(2, 1, &body(&[r#"{"complete":{}}"#])).await, Ok(2));
    let events = host.take();
    let gone = |event: &ClusterEvent| matches!(event, ClusterEvent::Gone { .. });
    assert_eq!(events.iter().filter(|event| gone(event)).count(), 1);
    let missing = events.iter().any(|event| match event {
        ClusterEvent::Reports { missing, .. } => {
            missing.iter().any(|missing| missing.resources.is_empty())
        }
        _ => false,
    });
    assert!(missing, "{events:?}");
    let reports = reports(events);
    assert_eq!(reports.len(), 1);
    assert!(reports[0].1.is_empty());
    let pod = reports[0].1.coverage.of(Some(""), "Pod", Scope::Cluster);
    assert_eq!(pod.state, KindState::Unavailable);
}

#[tokio::test(start_paused = true)]
async fn another_format_is_refused_and_another_release_is_not() {
    let mut host = Host::start().await;
    let other = PushParameters {
        format: 2,
        ..parameters("a", 1, 0)
    };
    let lines = [
        r#"{"forecast":{"rain":true}}"#,
        r#"{"heard":{"since":7},"trace":1}"#,
    ];
    let refused = host.send_as(&other, &body(&lines)).await;
    assert_eq!(refused, Err(PushRefusal::Format(2)));
    assert_eq!(host.send(1, 0, &body(&lines)).await, Ok(1));
    let events = host.take();
    assert!(
        events
            .iter()
            .any(|event| matches!(event, ClusterEvent::Heard { .. }))
    );
    let nameless = parameters("a b", 1, 0);
    let refused = host.send_as(&nameless, &[]).await;
    assert!(
        matches!(refused, Err(PushRefusal::Invalid(_))),
        "{refused:?}"
    );
}
