//! Bodies over the limits of what they may make.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_list_that_repeats_its_objects_is_limited() {
    let host = Host::start().await;
    let objects: Vec<String> = (0..1000).map(|at| config_map(&format!("c{at}"))).collect();
    let mut lines: Vec<&str> = objects.iter().map(String::as_str).collect();
    let first = report(r#","objects":[1000]"#);
    lines.push(&first);
    let repeated = vec!["[0,1000]"; 1000].join(",");
    let second = report(&format!(r#","objects":[{repeated}]"#));
    lines.push(&second);
    let refused = host.send(1, 0, &body(&lines)).await;
    assert!(
        matches!(refused, Err(PushRefusal::TooLarge(_))),
        "{refused:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn reports_without_an_end_are_limited() {
    let host = Host::start().await;
    let empty = report("");
    let (missing, commit) = (
        r#"{"missing-of":{"application":"-/shop/-/web","count":0}}"#,
        r#"{"commit":{}}"#,
    );
    let half = crate::BODY_OBJECTS_MAX / 2;
    for (epoch, line) in [(1, &*empty), (2, missing)] {
        let mut lines = vec![line; half];
        assert_eq!(host.send(epoch, 0, &body(&lines)).await, Ok(1));
        lines.push(line);
        let refused = host.send(epoch, 1, &body(&lines)).await;
        let is_refused = matches!(refused, Err(PushRefusal::TooLarge(_)));
        assert!(is_refused, "{refused:?}");
    }
    let mut lines = vec![missing; half];
    lines.push(commit);
    for sequence in 0..3 {
        let taken = host.send(3, sequence, &body(&lines)).await;
        assert_eq!(taken, Ok(sequence + 1));
    }
}

#[tokio::test(start_paused = true)]
async fn reports_that_repeat_their_items_in_a_body_are_limited() {
    let host = Host::start().await;
    let items = crate::BODY_OBJECTS_MAX / 5 - 1;
    let mut first = vec![r#"{"rejected":{"pointer":"p","error":"no-kind"}}"#; items];
    let (report, unchanged) = (report(&format!(r#","rejected":{items}"#)), report(""));
    let commit = r#"{"commit":{}}"#;
    first.extend([&*report, commit]);
    assert_eq!(host.send(1, 0, &body(&first)).await, Ok(1));
    // Each report has a copy of all items, with the subject as one more.
    let repeated = |count: usize| body(&[&*unchanged, commit].repeat(count));
    for sequence in 1..3 {
        let taken = host.send(1, sequence, &repeated(5)).await;
        assert_eq!(taken, Ok(sequence + 1));
    }
    let refused = host.send(1, 3, &repeated(6)).await;
    assert!(
        matches!(refused, Err(PushRefusal::TooLarge(_))),
        "{refused:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn moments_that_repeat_an_application_in_a_body_are_limited() {
    let host = Host::start().await;
    let empty = report("");
    let moments = |count: usize| body(&[&*empty, r#"{"commit":{}}"#].repeat(count));
    let most = crate::BODY_REPEATS_MAX + 1;
    for sequence in 0..2 {
        let taken = host.send(1, sequence, &moments(most)).await;
        assert_eq!(taken, Ok(sequence + 1));
    }
    let refused = host.send(1, 2, &moments(most + 1)).await;
    assert!(
        matches!(refused, Err(PushRefusal::TooLarge(_))),
        "{refused:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn the_signals_of_a_body_are_limited() {
    let mut host = Host::start().await;
    let slot = r#"{"coverage-slot":{"slot":0,"rows":[{"kind":"Pod","state":"complete"}]}}"#;
    for (epoch, line) in (1..).zip([
        r#"{"coverage":{"slot":0,"worse-only":true}}"#,
        r#"{"facts":{}}"#,
        r#"{"faults":[]}"#,
        r#"{"heard":{}}"#,
        r#"{"synced":{}}"#,
        r#"{"stale":{"reason":"away"}}"#,
        r#"{"complete":{}}"#,
        r#"{"forget":{}}"#,
    ]) {
        let mut lines = vec![slot];
        lines.extend([line; crate::BODY_SIGNALS_MAX]);
        for sequence in 0..2 {
            let taken = host.send(epoch, sequence, &body(&lines)).await;
            assert_eq!(taken, Ok(sequence + 1), "{line}");
        }
        host.take();
        lines.push(line);
        let refused = host.send(epoch, 2, &body(&lines)).await;
        let is_refused = matches!(refused, Err(PushRefusal::TooLarge(_)));
        assert!(is_refused, "{line}: {refused:?}");
        assert_eq!(host.take().len(), 0, "{line}");
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_coverage_over_the_limit_the_last_coverage_proves_nothing() {
    let mut host = Host::start().await;
    let half = crate::COVERAGE_ROWS_MAX / 2 + 1;
    let slot = |slot: usize, prefix: &str| {
        let rows = (0..half).map(|at| format!(r#"{{"kind":"{prefix}{at}","state":"complete"}}"#));
        let rows = rows.collect::<Vec<String>>().join(",");
        format!(r#"{{"coverage-slot":{{"slot":{slot},"rows":[{rows}]}}}}"#)
    };
    let (first, second) = (slot(0, "A"), slot(1, "B"));
    let lines = [&*first, r#"{"coverage":{"slot":0}}"#];
    assert_eq!(host.send(1, 0, &body(&lines)).await, Ok(1));
    let merged = r#"{"coverage":{"slot":1,"worse-only":true}}"#;
    let refused = host.send(1, 1, &body(&[&*second, merged])).await;
    assert!(
        matches!(refused, Err(PushRefusal::TooLarge(_))),
        "{refused:?}"
    );
    host.take();
    // The agent begins again. Its coverage is worse than known until its reports are complete.
    let lines = [
        r#"{"coverage-slot":{"slot":0,"rows":[{"kind":"Pod","state":"complete"}]}}"#,
        r#"{"coverage":{"slot":0,"worse-only":true}}"#,
        r#"{"coverage":{"slot":0}}"#,
    ];
    assert_eq!(host.send(2, 0, &body(&lines)).await, Ok(1));
    let coverages = host.take().into_iter().filter_map(|event| match event {
        ClusterEvent::Coverage { coverage, .. } => Some(coverage),
        _ => None,
    });
    let states = coverages.map(|coverage| {
        let pod = coverage.of(Some(""), "Pod", Scope::Cluster);
        pod.state
    });
    let states: Vec<KindState> = states.collect();
    assert_eq!(states, [KindState::Unavailable, KindState::Complete]);
}
