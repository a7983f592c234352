use super::*;
use crate::{Coverage, KindCoverage, KindState, Scope};

fn through_a_header(coverage: &Coverage) -> Coverage {
    let json = Header::of(Stated::of(coverage)).json();
    assert!(json.len() < HEADER_BYTES_MAX, "{}", json.len());
    Header::read(&json).unwrap().coverage.coverage()
}

#[test]
fn a_header_keeps_every_state_of_a_coverage() {
    let mut coverage = Coverage::nothing();
    for (number, state) in KindState::ALL.iter().enumerate() {
        let kind = format!("Kind{number}");
        coverage.set(
            "example.org",
            &kind,
            Scope::Cluster,
            KindCoverage::new(*state),
        );
        let caused = KindCoverage::caused(*state, "the cause");
        coverage.set("", &kind, Scope::Namespace("web"), caused);
    }
    let silent = KindCoverage::caused(KindState::Unavailable, "no answer");
    coverage.set_group("metrics.k8s.io", silent);
    assert_eq!(through_a_header(&coverage), coverage);
    coverage.leave_out("too many objects");
    assert_eq!(through_a_header(&coverage), coverage);
    for coverage in [
        Coverage::default(),
        Coverage::nothing(),
        Coverage::partial(),
    ] {
        assert_eq!(through_a_header(&coverage), coverage);
    }
}

#[test]
fn kinds_over_the_limit_of_a_header_are_incomplete() {
    let mut coverage = Coverage::nothing();
    for number in 0..10_000 {
        let complete = KindCoverage::new(KindState::Complete);
        coverage.set(
            "example.org",
            &format!("Kind{number}"),
            Scope::Cluster,
            complete,
        );
    }
    let forbidden = KindCoverage::caused(KindState::Forbidden, "not permitted");
    coverage.set("", "Secret", Scope::Cluster, forbidden.clone());
    let read = through_a_header(&coverage);
    assert_eq!(read.of(Some(""), "Secret", Scope::Cluster), forbidden);
    let states = (0..10_000).map(|number| {
        let kind = format!("Kind{number}");
        read.of(Some("example.org"), &kind, Scope::Cluster).state
    });
    let complete = states.clone().filter(|state| *state == KindState::Complete);
    let incomplete = states.filter(|state| *state == KindState::Incomplete);
    let (complete, incomplete) = (complete.count(), incomplete.count());
    assert!(
        complete > 1000 && incomplete > 1000,
        "{complete} {incomplete}"
    );
    assert_eq!(complete + incomplete, 10_000);
}

#[test]
fn a_header_of_another_version_is_read_as_far_as_it_is_known() {
    let json = r#"{"format": 1, "new": {"a": 1}, "coverage": [
        {"group": "", "kind": "Pod", "state": "half-known", "new": 1},
        {"group": "apps", "state": "unavailable"}
    ]}"#;
    let coverage = Header::read(json).unwrap().coverage.coverage();
    let state = |group, kind| coverage.of(Some(group), kind, Scope::Cluster).state;
    assert_eq!(state("", "Pod"), KindState::Incomplete);
    assert_eq!(state("apps", "Deployment"), KindState::Unavailable);
    assert_eq!(state("", "Service"), KindState::NotRequested);
    let newer = Header::read(r#"{"format": 2}"#).unwrap_err();
    assert_eq!(
        newer.to_string(),
        "format 2 is newer than format 1, the latest that this version reads"
    );
}

#[test]
fn a_damaged_header_is_refused() {
    for bad in [
        "",
        "[]",
        "{}",
        r#"{"format": "1"}"#,
        r#"{"format": 1, "complete": []}"#,
    ] {
        assert!(Header::read(bad).is_err(), "{bad}");
    }
    let large = format!(
        r#"{{"format": 1, "new": "{}"}}"#,
        "x".repeat(HEADER_BYTES_MAX)
    );
    assert!(matches!(
        Header::read(&large),
        Err(HeaderError::TooLarge(_))
    ));
}
