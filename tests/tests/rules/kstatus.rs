//! The component with the rules of kstatus.

use std::fs;

use serde_json::Value;

use crate::{judged, published, root};

#[test]
fn kstatus_judges_its_own_cases_as_it_does() {
    let path = root().join("../shared/conformance/kstatus.jsonl");
    let Ok(text) = fs::read_to_string(&path) else {
        println!("NOT RUN: {} is missing", path.display());
        return;
    };
    let interpreters = published(kindsight_conversion::kstatus());
    let cases: Vec<Value> = text
        .lines()
        .map(|line| line.replace("{{NOW}}", "2027-01-01T00:00:00Z"))
        .map(|line| serde_json::from_str(&line).expect("a case"))
        .collect();
    assert!(cases.len() >= 40, "{} cases", cases.len());
    let objects: Vec<Value> = cases.iter().map(|case| case["object"].clone()).collect();
    let mut wrong = Vec::new();
    for (case, verdict) in cases.iter().zip(judged(&interpreters, &objects)) {
        let expected = match case["expected_state"].as_str().unwrap_or_default() {
            "Current" => "Ready",
            "InProgress" => "Pending",
            other => other,
        };
        if &*verdict.state != expected {
            wrong.push(format!(
                "{}: {expected} expected, not {} {}: {}",
                case["id"], verdict.state, verdict.reason, verdict.message
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
