use expect_test::expect;
use serde_json::json;

use super::*;
use crate::table::without_styles;

#[test]
fn every_cluster_is_a_line_followed_by_its_uncovered_kinds() {
    let answer = json!({"clusters": [
        {"cluster-provider": "folder", "cluster": "edge01", "connection": "connecting", "since": "2026-11-22T10:04:58Z"},
        {
            "cluster-provider": "kubeconfig", "cluster": "prod", "origin": "admin@prod", "mode": "direct", "selector": "team=web",
            "connection": "stale", "since": "2026-11-22T10:00:00Z",
            "error": "the cluster cannot be reached: refused", "server-version": "v1.34.1",
            "not-covered": ["Secret: forbidden"], "objects": 7, "watches": 50,
            "last-event": "2026-11-22T09:59:00Z", "faults": ["report `x.json`: bad"],
        },
    ]})
    .to_string();
    let mut out = Vec::new();
    let now_ms = "2026-11-22T10:05:00Z".parse::<jiff::Timestamp>().unwrap();
    print(
        &mut out,
        &client::read(&answer).unwrap(),
        now_ms.as_millisecond(),
    )
    .unwrap();
    expect![[r#"
        CLUSTER          CONNECTION  SINCE  VERSION  OBJECTS  LAST EVENT  ORIGIN      ERROR
        folder+edge01    connecting  2s     -        -        -           -           -
        kubeconfig+prod  stale       5m     v1.34.1  7        6m          admin@prod  the cluster cannot be reached: refused
          mode: direct
          selector: team=web
          not covered: Secret: forbidden
          not readable: report `x.json`: bad
    "#]].assert_eq(&without_styles(&out));
}

#[test]
fn an_empty_list_of_clusters_says_so() {
    let mut out = Vec::new();
    print(&mut out, &ClusterList::default(), 0).unwrap();
    assert_eq!(out, b"no clusters are configured\n");
}

#[test]
fn uncovered_kinds_with_one_reason_share_a_line() {
    let text = |n: u32| Arc::from(format!("Kind{n}.x: not allowed: kind{n} is forbidden"));
    let lines = |count: u32| {
        let all: Vec<Arc<str>> = ["a/v1: it does not answer".into()]
            .into_iter()
            .chain((1..=count).map(text))
            .collect();
        not_covered(&all)
    };
    let one = "a/v1: it does not answer";
    let first = "Kind1.x: not allowed: kind1 is forbidden";
    assert_eq!(lines(1), [one, first]);
    assert_eq!(lines(3).len(), 4);
    let next = "Kind2.x, Kind3.x, Kind4.x, Kind5.x and 5 more: not allowed; -o json lists them";
    assert_eq!(lines(10), [one, first, next]);
    let next = "Kind2.x, Kind3.x, Kind4.x: not allowed";
    assert_eq!(lines(4), [one, first, next]);
}
