//! The lines of the format.

use expect_test::expect;
use kindsight_replication::Image;
use kindsight_replication::wire::WireError;

use crate::stage::{EDGE, Stage, context, filled, key, placement, resource, transition};

#[tokio::test(start_paused = true)]
async fn unknown_members_and_lines_are_ignored_and_another_format_is_not() {
    let mut stage = Stage::new(filled());
    stage.follow().await;
    for line in [
        r#"{"later":{"of":"x"}}"#,
        r#"{"connection":{"cluster":"p+new","connection":{"state":"connected","since-ms":1,"later":[1]}}}"#,
    ] {
        assert!(stage.image.take(line.as_bytes()).unwrap().is_none());
    }
    let end = stage.image.take(br#"{"end":{"generation":9,"later":1}}"#);
    assert_eq!(end.unwrap().unwrap().connections.len(), 1);
    let other = br#"{"begin":{"format":2,"heartbeat-ms":2000}}"#;
    let refused = stage.image.take(other);
    assert!(matches!(refused, Err(WireError::Format(2))));
}

#[test]
fn lines_that_refer_to_nothing_are_errors() {
    let mut image = Image::default();
    image.restart();
    for line in [
        r#"{"placement":{"of":"7","app":"a","cluster":"p+c","received":true,"connectivity":"Unknown"}}"#,
        r#"{"rows":{"ops":[]}}"#,
        r#"{"history":{"of":"7","transitions":[]}}"#,
        r#"{"application":{"of":"no name/","apps":[]}}"#,
        "{",
    ] {
        assert!(image.take(line.as_bytes()).is_err(), "{line}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_format_is_this() {
    let mut stage = Stage::new(filled());
    let mut lines = stage.follow().await;
    let shop = resource("a", "two", None);
    let view = context(
        "shop",
        vec![placement(EDGE, vec![shop, resource("b", "one", Some(0))])],
    );
    stage
        .upstream
        .publish(&key("shop"), view, vec![transition(2)]);
    lines.extend(stage.follow().await);
    stage.upstream.remove(&key("shop"));
    lines.extend(stage.follow().await);
    let lines: Vec<String> = lines
        .iter()
        .map(|line| serde_json::to_string(line).unwrap())
        .collect();
    expect![[""]].assert_eq(&lines.join("\n"));
}
