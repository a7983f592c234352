use expect_test::expect;
use serde_json::json;

use super::*;

#[test]
fn every_cluster_is_a_line_and_what_it_does_not_cover_follows() {
    let answer = json!({"clusters": [
        {"cluster-provider": "folder", "cluster": "edge01", "connection": "connecting", "since": "2026-11-22T10:04:58Z"},
        {
            "cluster-provider": "kubeconfig", "cluster": "prod", "origin": "admin@prod",
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
          not covered: Secret: forbidden
          not readable: report `x.json`: bad
    "#]].assert_eq(&String::from_utf8(out).unwrap());
}

#[test]
fn no_clusters_are_told() {
    let mut out = Vec::new();
    print(&mut out, &ClusterList::default(), 0).unwrap();
    assert_eq!(out, b"no clusters are configured\n");
}
