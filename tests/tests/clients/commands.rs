//! Commands to interpreters: junk does not fill the catalog, and no command delays a rollback.

use std::io::Write as _;

use crate::http::{Answer, Request};
use crate::stage::Stage;
use crate::transport::Transport;

/// Uploads of junk: slightly fewer than the maximum number of names.
const JUNK: usize = 987;
/// Clients that send the head of an upload, some bytes of it, and no more.
const SLOW_UPLOADS: usize = 8;

/// A component of that name and version.
fn component(name: &str, version: &str, more: &str) -> Vec<u8> {
    kindsight_tests::hostile(&format!(
        r#"{{"name": "{name}", "version": "{version}", "kinds": [["{name}", "*", "Thing"]]{more}}}"#
    ))
}

fn load(stage: &Stage, name: &str, version: &str) -> Answer {
    let answer = stage.upload(name, &component(name, version, ""));
    assert_eq!(answer.status, 200, "{answer:?}");
    answer
}

/// A settings schema of `parts` parts. Each part refers twice to the next part.
fn bomb(parts: usize) -> String {
    let each = (0..parts).map(|number| {
        let next = format!(r##"{{"$ref": "#/$defs/d{}"}}"##, number + 1);
        format!(r#""d{number}": {{"allOf": [{next}, {next}]}}"#)
    });
    let parts: Vec<String> = each.chain([format!(r#""d{parts}": {{}}"#)]).collect();
    let schema = format!(
        r##"{{"$ref": "#/$defs/d0", "$defs": {{{}}}}}"##,
        parts.join(",")
    );
    format!(
        r#", "settings-schema": {}"#,
        serde_json::Value::String(schema)
    )
}

/// A validation with this schema would never end, or take half a minute.
pub(crate) fn a_schema_bomb_does_not_block_the_host(transport: Transport) {
    let stage = Stage::start(transport);
    for parts in [40, 27, 12] {
        let refused = stage.upload("widgets", &component("widgets", "1.0.0", &bomb(parts)));
        assert_eq!(refused.status, 422, "{refused:?}");
        assert_eq!(refused.json()["step"], "validated", "{refused:?}");
        let set = stage.json("PUT", "/v2/interpreters/widgets/settings", "{}");
        assert_eq!(set.status, 404, "{set:?}");
        assert_eq!(stage.get("/v2/interpreters").status, 200);
        stage.assert_healthy();
    }
    let allowed = component("widgets", "1.0.0", &bomb(4));
    let allowed = stage.upload("widgets", &allowed);
    assert_eq!(allowed.status, 200, "{allowed:?}");
    let set = stage.json("PUT", "/v2/interpreters/widgets/settings", "{}");
    assert_eq!(set.status, 200, "{set:?}");
    stage.assert_healthy();
}

pub(crate) fn junk_fills_no_names(transport: Transport) {
    let stage = Stage::start(transport);
    for number in 0..JUNK {
        let name = format!("junk-{number}");
        let refused = stage.upload(&name, b"junk");
        assert_eq!(refused.status, 422, "{refused:?}");
        if number % 50 == 0 {
            let disabled = stage.json("POST", &format!("/v2/interpreters/{name}/disable"), "");
            assert_eq!(disabled.status, 404, "{disabled:?}");
            stage.assert_healthy();
        }
    }
    let list = stage.get("/v2/interpreters").json();
    let names = list["interpreters"].as_array().map_or(0, Vec::len);
    assert!(names < 50, "{names} names");
    let refused = list["refused"].as_array().map_or(0, Vec::len);
    assert!((1..=64).contains(&refused), "{refused} refusals");
    load(&stage, "good", "1.0.0");
    let removed = stage.send(&Request {
        method: "DELETE",
        target: "/v2/interpreters?unused=true",
        ..Request::default()
    });
    assert_eq!(removed.status, 200, "{removed:?}");
    assert_eq!(stage.get("/v2/interpreters/good").status, 200);
}

pub(crate) fn slow_uploads_do_not_delay_a_rollback(transport: Transport) {
    let stage = Stage::start(transport);
    load(&stage, "widgets", "1.0.0");
    load(&stage, "widgets", "2.0.0");
    let slow: Vec<_> = (0..SLOW_UPLOADS)
        .map(|number| {
            let mut stream = stage.connect().expect("a connection");
            let address = stage.address();
            let head = format!(
                "PUT /v2/interpreters/slow-{number} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/wasm\r\nContent-Length: 1000000\r\n\r\n\0asm"
            );
            stream.write_all(head.as_bytes()).expect("a head is read");
            stream
        })
        .collect();
    stage.assert_healthy();
    for (command, version) in [
        ("rollback", "1.0.0"),
        ("disable", "1.0.0"),
        ("enable", "1.0.0"),
    ] {
        let target = format!("/v2/interpreters/widgets/{command}");
        let begin = std::time::Instant::now();
        let answer = stage.json("POST", &target, "");
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(answer.json()["version"], version, "{answer:?}");
        let took = begin.elapsed();
        // A command may wait for up to two seconds until answers show its effect.
        assert!(took.as_secs() < 5, "{command} took {took:?}");
        stage.assert_healthy();
    }
    drop(slow);
}

/// Two operators see the same faults. Only one of them rolls back.
pub(crate) fn a_rollback_under_a_condition_is_made_once(transport: Transport) {
    let stage = Stage::start(transport);
    for version in ["1.0.0", "2.0.0", "3.0.0"] {
        load(&stage, "widgets", version);
    }
    let inspected = stage.get("/v2/interpreters/widgets");
    let tag = inspected
        .head
        .lines()
        .find_map(|line| line.strip_prefix("etag: "));
    let tag = tag.expect("an ETag").to_owned();
    let rollback = || {
        stage.send(&Request {
            method: "POST",
            target: "/v2/interpreters/widgets/rollback",
            headers: &[("If-Match", &tag)],
            body: b"",
        })
    };
    let (first, second) = std::thread::scope(|scope| {
        let one = scope.spawn(rollback);
        let two = scope.spawn(rollback);
        (
            one.join().expect("an answer"),
            two.join().expect("an answer"),
        )
    });
    let mut statuses = [first.status, second.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 412], "{first:?} {second:?}");
    let live = stage.get("/v2/interpreters/widgets").json();
    assert_eq!(live["version"], "2.0.0", "{live}");
}
