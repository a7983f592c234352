use expect_test::expect;
use serde_json::json;

use super::*;
use crate::table::without_styles;

#[test]
fn every_application_is_a_line_with_its_worst_resource() {
    let answer = json!({"applications": [
        {
            "project": "-", "composite-app-name": "shop", "composite-app-version": "-", "name": "web",
            "clusters": ["k+a", "k+b", "k+c", "k+d"],
            "cluster-status": {"Ready": 11, "Failed": 1},
            "ready-status": "Failed", "ready-phase": "failed",
            "ready-reason": "Deployment front of front in k+a is Failed (Crashing)",
            "stale-since": "2026-11-22T00:00:00Z",
            "since": "2026-11-22T10:00:00Z",
            "worst": {
                "app": "front", "cluster": "k+a", "GVK": {"Group": "apps", "Version": "v1", "Kind": "Deployment"},
                "name": "front", "state": "Failed", "reason": "Crashing", "message": "it \u{1b}[31mcrashes",
            },
        },
        {
            "project": "p", "composite-app-name": "ca", "composite-app-version": "v1", "name": "dig",
            "clusters": [], "message": "it was never instantiated",
        },
    ], "more": 3})
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
        APPLICATION  CLUSTERS        STATE           SINCE  RESOURCES           REASON    MESSAGE
        web/shop     k+a and 3 more  Failed (stale)  5m     1 Failed, 11 Ready  Crashing  Deployment front: it  [31mcrashes
        p/ca/v1/dig  -               -               -      -                   -         it was never instantiated
        and 3 more; --state, --cluster or a name lists fewer
    "#]].assert_eq(&without_styles(&out));
}

#[test]
fn an_empty_list_of_applications_says_so() {
    let mut out = Vec::new();
    print(&mut out, &ApplicationList::default(), 0).unwrap();
    assert_eq!(out, b"no applications\n");
}
