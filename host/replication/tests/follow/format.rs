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
    expect![[r#"
        {"begin":{"format":1,"heartbeat-ms":2000,"histories":true}}
        {"connection":{"cluster":"p+edge01","connection":{"fence":3,"state":"connected","since-ms":5,"heard-ms":6}}}
        {"application":{"of":"-/shop/-/web","meta":"-/shop/-/web","apps":[{"name":"app","clusters":["p+edge01","p+edge02"]}]}}
        {"interpreter":{"number":0,"by":{"name":"core","version":"1.0.0","digest":"sha256:0d45f5fd462b8c70bffb10021ac1bcff3f58f29b1faf7568595095427d42812c"},"final-states":["Failed"],"reasons":[{"name":"Slow","summary":"It takes long"}]}}
        {"placement":{"of":"-/shop/-/web","app":"app","cluster":"p+edge01","fence":3,"received":true,"connectivity":"Unknown","rows":{"ops":[{"row":{"GVK":{"Group":"","Version":"v1","Kind":"ConfigMap"},"namespace":"web","name":"a","manifest":{"json":"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"},\"data\":{\"of\":\"one\"}}"},"object":{"json":"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"},\"data\":{\"of\":\"one\"}}"},"phase":"ready","state":"Ready","reason":"Slow","told-since-ms":7,"by":0,"since-ms":8,"role":"unsent"}},{"row":{"GVK":{"Group":"","Version":"v1","Kind":"ConfigMap"},"namespace":"web","name":"b","manifest":{"json":"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"b\"},\"data\":{\"of\":\"one\"}}"},"object":{"json":"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"b\"},\"data\":{\"of\":\"one\"}}"},"phase":"ready","state":"Ready","reason":"Slow","told-since-ms":7,"by":0,"since-ms":8,"role":"unsent","owner":0}}]}}}
        {"placement":{"of":"-/shop/-/web","app":"app","cluster":"p+edge02","received":true,"connectivity":"Unknown","rows":{"ops":[{"row":{"GVK":{"Group":"","Version":"v1","Kind":"ConfigMap"},"namespace":"web","name":"a","manifest":{"json":"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"},\"data\":{\"of\":\"far\"}}"},"object":{"json":"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"},\"data\":{\"of\":\"far\"}}"},"phase":"ready","state":"Ready","reason":"Slow","told-since-ms":7,"by":0,"since-ms":8,"role":"unsent"}}]}}}
        {"history":{"of":"-/shop/-/web","replace":{"dropped":0,"application":{"id":0,"at-ms":1,"reason":"Gone","by":0,"cause":"observed"}},"transitions":[{"id":1,"at-ms":1,"reason":"Gone","by":0,"cause":"observed"}]}}
        {"record":{"kind":"group","name":"p/c/v1/d","record":{"profile":"profile","actions":[{"state":"Approved","time":"2026-11-27T12:00:00Z","revision":1}],"own":true}}}
        {"end":{"generation":3}}
        {"application":{"of":"-/shop/-/web","meta":"-/shop/-/web","apps":[{"name":"app","clusters":["p+edge01"]}]}}
        {"placement":{"of":"-/shop/-/web","app":"app","cluster":"p+edge01","fence":3,"received":true,"connectivity":"Unknown","rows":{"ops":[{"row":{"like":0,"GVK":{"Group":"","Version":"v1","Kind":"ConfigMap"},"namespace":"web","name":"a","manifest":{"json":"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"},\"data\":{\"of\":\"two\"}}"},"object":{"json":"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"},\"data\":{\"of\":\"two\"}}"},"phase":"ready","state":"Ready","reason":"Slow","told-since-ms":7,"by":0,"since-ms":8,"role":"unsent"}},{"keep":[1,1]}]}}}
        {"history":{"of":"-/shop/-/web","transitions":[{"id":2,"at-ms":2,"reason":"Gone","by":0,"cause":"observed"}]}}
        {"end":{"generation":4}}
        {"gone":{"of":"-/shop/-/web"}}
        {"end":{"generation":5}}"#]].assert_eq(&lines.join("\n"));
}
