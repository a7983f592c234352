use serde_json::Value;

use super::*;

/// Answers as in the specification, and one answer that contains every member.
const ANSWERS: [&str; 7] = [
    include_str!("../../../status/src/answer/explained.json"),
    include_str!("../../../../tests/golden/cluster-network-intents.json"),
    include_str!("../../../../tests/golden/dig-by-cluster.json"),
    include_str!("../../../../tests/golden/dig-default.json"),
    include_str!("../../../../tests/golden/dig-detail-cluster-sink-configmap.json"),
    include_str!("../../../../tests/golden/dig-instance-two-resources.json"),
    include_str!("../../../../tests/golden/dig-summary.json"),
];

#[test]
fn every_answer_survives_a_round_trip() {
    for answer in ANSWERS {
        let status: Status<'_> = serde_json::from_str(answer).unwrap();
        let expected: Value = serde_json::from_str(answer).unwrap();
        assert_eq!(serde_json::to_value(&status).unwrap(), expected);
        let again = serde_json::to_string(&status).unwrap();
        assert_eq!(serde_json::from_str::<Status<'_>>(&again).unwrap(), status);
    }
    let list = include_str!("../../../../tests/golden/dig-instances-list.json");
    let instances: Instances<'_> = serde_json::from_str(list).unwrap();
    let expected: Value = serde_json::from_str(list).unwrap();
    assert_eq!(serde_json::to_value(&instances).unwrap(), expected);
}

#[test]
fn an_answer_borrows_from_the_text_it_is_read_from() {
    let status: Status<'_> = serde_json::from_str(ANSWERS[0]).unwrap();
    let resource = &status.apps[0].clusters[0].resources[0];
    assert!(matches!(resource.name, Cow::Borrowed(_)));
    assert!(matches!(resource.message, Cow::Borrowed(_)));
}

#[test]
fn members_that_a_newer_server_adds_are_passed_over() {
    let answer = r#"{"name": "dig", "state": {"Actions": [], "x": 1}, "x": {"y": [null]}}"#;
    let status: Status<'_> = serde_json::from_str(answer).unwrap();
    assert_eq!((&*status.name, status.apps.len()), ("dig", 0));
}

#[test]
fn a_member_that_is_not_understood_is_an_error() {
    for member in [r#""ready-phase": "well""#, r#""stale-since": "yesterday""#] {
        let answer = format!(r#"{{"name": "dig", "state": {{"Actions": []}}, {member}}}"#);
        assert!(serde_json::from_str::<Status<'_>>(&answer).is_err());
    }
}

#[test]
fn details_are_written_as_they_came() {
    let text = r#"{"b": 1.10, "a":[ ]}"#;
    let detail: Detail = serde_json::from_str(text).unwrap();
    assert_eq!(detail.as_str(), text);
    assert_eq!(serde_json::to_string(&detail).unwrap(), text);
    let broken = Detail::new("{".into());
    assert_eq!(serde_json::to_string(&broken).unwrap(), "null");
}
