//! The interpreters: uploads, and the changes that a candidate would cause.

use serde_json::json;

use crate::browser::Key;
use crate::content::{CLUSTER, Content, crane, file_of, write_report};
use crate::stage::Stage;
use crate::visit;

/// The interpreter of cranes.
const CRANE: &str = "#/interpreter/crane";

/// An application of one crane, whose state the built-in interpreters do not know.
fn harbour(content: &Content) {
    content.application(1, "harbour", &[("Crane", "crane-1")]);
    content.report(
        1,
        &json!({"resourceStatuses": [crane("crane-1", "Draining")]}),
    );
}

/// The first version: a draining crane is `Draining`.
fn first() -> &'static [u8] {
    let mut guests = kindsight_tests::GUESTS.iter();
    let guest = guests.find(|guest| guest.name == "crane");
    guest.expect("the guest was built").wasm
}

/// A later version: every crane is `Parked`.
fn second() -> Vec<u8> {
    let description = json!({
        "name": "crane",
        "version": "2.0.0",
        "kinds": [["example.com", "*", "Crane"]],
        "states": ["Parked", "Ready"],
    });
    kindsight_tests::hostile(&description.to_string())
}

/// Uploads a version of the interpreter of cranes.
fn upload(stage: &Stage, parameters: &str, component: &[u8]) {
    Stage::compile(component);
    let url = format!("{}/v2/interpreters/crane{parameters}", stage.origin());
    let request = ureq::put(url).header("Content-Type", "application/wasm");
    request.send(component).expect("an accepted component");
}

#[test]
fn the_changes_that_a_candidate_would_cause_are_shown() {
    visit(
        || Stage::filled(harbour),
        |stage, browser| {
            upload(stage, "", first());
            upload(stage, "?candidate=true", &second());
            browser.open(CRANE);
            browser.wait_for_text("main", "Candidate 2.0.0");
            browser.run("document.querySelector('section.card button').focus()", &[]);
            browser.press(Key::Enter);
            browser.wait_for_text("section.card", "1 of 1 verdicts would change");
            let focused = browser.text_from("return document.activeElement.textContent");
            assert_eq!(focused, "Show the changes that it would cause");
            let report = browser.text("section.card");
            for part in [
                "Faults: 0 live, 0 candidate",
                "1 × example.com/v1/Crane: Draining → Parked",
                "default/crane-1",
            ] {
                assert!(report.contains(part), "{part} in {report}");
            }
        },
    );
}

#[test]
fn uploads_appear_in_the_open_views_and_keep_the_focus_and_the_comparison() {
    visit(
        || Stage::filled(harbour),
        |stage, browser| {
            browser.open("#/interpreters");
            browser.wait_for("tbody th a");
            browser.run("document.querySelector('tbody th a').focus()", &[]);
            let focused = "return document.activeElement.textContent";
            let chosen = browser.text_from(focused);
            upload(stage, "", first());
            browser.wait_for("tbody a[href='#/interpreter/crane']");
            assert_eq!(browser.text_from(focused), chosen);

            browser.open(CRANE);
            browser.wait_for_text("main", "Versions");
            upload(stage, "?candidate=true", &second());
            browser.click("section.card button");
            browser.wait_for_text("section.card", "would change");
            let calls = "const heads = [...document.querySelectorAll('h2')]; \
                 return heads.find((it) => it.textContent === 'Faults').nextElementSibling.textContent";
            let before = browser.text_from(calls);
            let again = json!({"resourceStatuses": [crane("crane-1", "Lifting")]});
            write_report(&stage.report(CLUSTER, &file_of(1)), 1, &again);
            let changed = format!("(() => {{ {calls} }})() !== {}", json!(before));
            browser.wait(&changed);
            browser.wait_for_text("section.card", "would change");
            let third = second();
            let third = [&third[..], &[0, 5, 3, b'a', b'b', b'c', b'd']].concat();
            upload(stage, "?candidate=true", &third);
            browser.wait_for_count("section.card [role=status]:empty", 1);
        },
    );
}
