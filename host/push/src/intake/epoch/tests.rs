use super::*;
use crate::intake::CLUSTER_OBJECTS_MAX;

/// Number of letters of a long text, at most the limit of a cleaned text.
const LONG: usize = 600;

const REJECTED: &str = r#"{"rejected":{"pointer":"p","error":"no-kind"}}"#;
const COMMIT: &str = r#"{"commit":{}}"#;

fn cluster() -> ClusterName {
    "p+edge".parse().unwrap()
}

/// An epoch that took these lines.
fn epoch(lines: &[&str]) -> Epoch {
    let mut epoch = Epoch::new(1, Reported::default());
    take(&mut epoch, lines);
    epoch
}

fn take(epoch: &mut Epoch, lines: &[&str]) {
    let mut batch = PushedBatch::default();
    for text in lines {
        let line = Line::read(text).unwrap().unwrap();
        let line = (line, text.len());
        let taken = epoch.take(line, &cluster(), &PushedNeeds::default(), &mut batch);
        assert_eq!(taken, Ok(()), "{text}");
    }
}

/// The line of a report on an app, with these members.
fn report(app: &str, members: &str) -> String {
    let subject = format!(r#"{{"application":"-/shop/-/web","app":"{app}"}}"#);
    format!(r#"{{"report":{{"subject":{subject},"origin":"found"{members}}}}}"#)
}

#[test]
fn each_text_of_a_report_counts_until_another_report_replaces_it() {
    let long = "x".repeat(LONG);
    let rejected = r#"{"rejected":{"pointer":"p","error":"no-kind"}}"#;
    let with_rejected = report("front", r#","rejected":1"#);
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let gone = report("front", r#","fresh":true"#);
    for (name, lines, after) in [
        (
            "app",
            [rejected.to_owned(), report(&long, r#","rejected":1"#)],
            report(&long, r#","fresh":true"#),
        ),
        (
            "fault",
            [
                rejected.to_owned(),
                report("front", &format!(r#","rejected":1,"faults":["{long}"]"#)),
            ],
            gone.clone(),
        ),
        (
            "reason",
            [
                format!(
                    r#"{{"rejected":{{"pointer":"p","error":"not-reported","text":"{long}"}}}}"#
                ),
                with_rejected,
            ],
            gone.clone(),
        ),
        (
            "name of an object that cannot be read",
            [
                format!(
                    r#"{{"object":{{"json":{{"apiVersion":"v1","kind":"K","metadata":{{"name":"{long}"}},"data":{deep}}}}}}}"#
                ),
                report("front", r#","objects":[1]"#),
            ],
            gone,
        ),
        (
            "name of a missing resource",
            [
                format!(r#"{{"missing":{{"gvk":{{"kind":"K"}},"name":"{long}"}}}}"#),
                r#"{"missing-of":{"application":"-/shop/-/web","count":1}}"#.to_owned(),
            ],
            r#"{"missing-of":{"application":"-/shop/-/web","count":0}}"#.to_owned(),
        ),
    ] {
        let [item, line] = &lines;
        let now = epoch(&[item, line]);
        assert!(now.size.bytes >= LONG, "{name}: {:?}", now.size);
        assert!(now.made.uncommitted.bytes >= LONG, "{name}: {:?}", now.made);
        let later = epoch(&[item, line, &after]);
        assert_eq!(later.size, Size::default(), "{name}");
    }
}

#[test]
fn the_names_of_removed_objects_count_until_the_end_of_the_body() {
    let long = "x".repeat(LONG);
    let removed = format!(r#"{{"removed":{{"kind":"K","name":"{long}","reason":"deleted"}}}}"#);
    let line = report("front", r#","removed":1"#);
    let mut epoch = epoch(&[&removed, &line, r#"{"commit":{}}"#]);
    assert_eq!(epoch.size, Size::default());
    assert!(epoch.made.committed.bytes >= LONG, "{:?}", epoch.made);
    epoch.end_body();
    assert_eq!(epoch.made.committed, Size::default());
}

#[test]
fn an_app_that_the_pipeline_cannot_have_is_not_remembered() {
    let rejected = r#"{"rejected":{"pointer":"p","error":"no-kind"}}"#;
    for (app, remembered) in [("front", 1), ("system:reader", 0)] {
        let line = report(app, r#","rejected":1"#);
        let reported = epoch(&[rejected, &line]).end();
        assert_eq!(reported.subjects.len(), remembered, "{app}");
    }
}

/// Begins an epoch after others. Returns whether the pipeline forgets the cluster.
fn begin(unseen: Reported) -> (Epoch, bool) {
    let mut batch = PushedBatch::default();
    let epoch = Epoch::begin(2, unseen, &cluster(), &mut batch);
    let is_forgotten = match &*batch.events {
        [] => false,
        [ClusterEvent::Removed { .. }, ClusterEvent::Added { .. }] => true,
        other => panic!("{other:?}"),
    };
    (epoch, is_forgotten)
}

#[test]
fn the_cluster_is_forgotten_if_earlier_epochs_reported_more_than_a_cluster_has() {
    let mut earlier = Reported::default();
    for (app, is_forgotten) in [
        ("front", false),
        // The agent began again and again, and reported the same.
        ("front", false),
        ("back", false),
        ("side", true),
    ] {
        let (mut epoch, forgotten) = begin(std::mem::take(&mut earlier));
        assert_eq!(forgotten, is_forgotten, "{app}");
        let lines = [REJECTED, &report(app, r#","rejected":1"#), COMMIT];
        take(&mut epoch, &lines);
        epoch.end_body();
        earlier = epoch.end();
        for size in earlier.subjects.values_mut() {
            size.objects = CLUSTER_OBJECTS_MAX / 2 + 1;
        }
    }
    assert_eq!(earlier.subjects.len(), 1);
}

#[test]
fn a_withdrawn_report_is_remembered_until_the_event_that_withdraws_it_is_sent() {
    let missing = r#"{"missing":{"gvk":{"kind":"K"},"name":"n"}}"#;
    let missing_of = r#"{"missing-of":{"application":"-/shop/-/web","count":1}}"#;
    let (reported, gone) = (
        report("front", r#","rejected":1"#),
        report("front", r#","fresh":true"#),
    );
    let has_both = |reported: &Reported| (reported.subjects.len(), reported.missing.len());
    let known = || epoch(&[REJECTED, &reported, missing, missing_of]).end();
    assert_eq!(has_both(&known()), (1, 1));
    for lines in [
        &[
            &*gone,
            r#"{"missing-of":{"application":"-/shop/-/web","count":0}}"#,
            COMMIT,
        ][..],
        &[r#"{"complete":{}}"#],
        &[r#"{"forget":{}}"#],
    ] {
        let after = |is_sent: bool| {
            let (mut epoch, _) = begin(known());
            take(&mut epoch, lines);
            if is_sent {
                epoch.end_body();
                return epoch.end();
            }
            epoch.end_refused()
        };
        assert_eq!(has_both(&after(false)), (1, 1), "{lines:?}");
        assert_eq!(has_both(&after(true)), (0, 0), "{lines:?}");
    }
    // The `commit` is in a later body, which does not come.
    let (mut next, _) = begin(known());
    take(&mut next, &[&gone]);
    next.end_body();
    assert_eq!(has_both(&next.end()), (1, 1));
    // A deployment that is withdrawn in a refused body.
    let monitor = r#"{"report":{"subject":{"deployment":"7-front"},"origin":"monitor"}}"#;
    let (mut next, _) = begin(epoch(&[monitor]).end());
    take(&mut next, &[r#"{"gone":{"deployment":"7-front"}}"#]);
    assert_eq!(next.end_refused().subjects.len(), 1);
}

#[test]
fn after_a_refused_body_the_last_coverage_proves_nothing() {
    let slot = r#"{"coverage-slot":{"slot":0,"others":"complete"}}"#;
    let mut epoch = epoch(&[slot, r#"{"coverage":{"slot":0}}"#]);
    epoch.end_body();
    let known = epoch.end_refused();
    let nothing = Coverage::of_others(KindState::Unavailable);
    assert_eq!(known.coverage.as_deref(), Some(&nothing));
}
