use super::*;

fn findings_of(rule: Rule, count: usize) -> Vec<Finding> {
    let numbers = 0..count;
    let findings = numbers.map(|number| Finding {
        rule,
        what: number.to_string(),
    });
    findings.collect()
}

/// The listed findings, as lines.
fn lines(mistakes: &[Finding]) -> Vec<String> {
    let listed = listed("a", mistakes).into_iter();
    let lines = listed.map(|finding| format!("{} {}", finding.rule.as_str(), finding.what));
    lines.collect()
}

#[test]
fn mistakes_that_are_not_listed_are_counted_for_their_own_rule() {
    let greens = findings_of(Rule::WrongGreen, DAMAGES_TOLD_MAX + 1);
    assert_eq!(
        lines(&greens),
        [
            "wrong-green 0",
            "wrong-green 1",
            "wrong-green 2",
            "wrong-green 3",
            "wrong-green 4",
            "wrong-green fixture `a`: 1 more",
        ]
    );
    let failures = findings_of(Rule::FailsOnDamage, DAMAGES_TOLD_MAX + 2);
    let both = lines(&[greens, failures].concat());
    assert_eq!(both.len(), 2 * (DAMAGES_TOLD_MAX + 1));
    assert_eq!(
        both.last().map(String::as_str),
        Some("fails-on-damage fixture `a`: 2 more")
    );
}

#[test]
fn an_empty_status_is_none() {
    let of = |text: &str| is_without_status(&serde_json::from_str(text).unwrap());
    assert!(of(r#"{"spec": {}}"#));
    assert!(of(r#"{"status": null}"#));
    assert!(of(r#"{"status": {}}"#));
    assert!(!of(r#"{"status": {"phase": ""}}"#));
    assert!(!of(r#"{"status": "many"}"#));
}
