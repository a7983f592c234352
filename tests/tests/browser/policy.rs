//! The content security policy, and proof that [`inspection`] finds its violations.

use serde_json::json;

use crate::inspection;
use crate::stage::Stage;
use crate::visit;

/// Adds an element with an attribute to the page.
const ADD: &str = "const element = document.createElement(arguments[0]); \
     element.setAttribute(arguments[1], arguments[2]); document.body.append(element);";

#[test]
fn an_injected_violation_is_a_fault_of_the_page() {
    let foreign = "https://other.example/image.png";
    for (tag, attribute, value, blocked) in [
        ("img", "src", foreign, "img-src"),
        ("iframe", "src", foreign, "default-src"),
        ("p", "style", "color: red", "style-src"),
    ] {
        visit(Stage::demo, |_, browser| {
            browser.open("#/applications");
            browser.wait_for("tbody th a");
            assert_eq!(inspection::faults(browser), [""; 0]);
            browser.run(ADD, &[tag, attribute, value]);
            let faults = inspection::faults(browser).join("\n");
            assert!(
                faults.contains("Content Security Policy"),
                "{tag}: {faults}"
            );
            assert!(faults.contains(blocked), "{tag}: {faults}");
            // A fresh document has no faults.
            browser.open("#/applications");
            browser.wait_for("tbody th a");
        });
    }
}

#[test]
fn markup_from_a_string_is_refused() {
    visit(Stage::demo, |_, browser| {
        browser.open("#/applications");
        browser.wait_for("tbody th a");
        let refusal = browser.text_from(
            "try { document.body.innerHTML = '<b>bold</b>'; return 'taken' } catch (error) { return error.name }",
        );
        assert_eq!(refusal, "TypeError");
        let faults = inspection::faults(browser).join("\n");
        assert!(faults.contains("TrustedHTML"), "{faults}");
    });
}

#[test]
fn a_request_to_another_origin_is_a_fault_of_the_page() {
    visit(Stage::demo, |_, browser| {
        let other = Stage::demo();
        browser.devtools("Page.setBypassCSP", &json!({"enabled": true}));
        browser.open("#/applications");
        browser.wait_for("tbody th a");
        let image = format!("{}/page/icon.svg", other.origin());
        browser.run(ADD, &["img", "src", &image]);
        browser.wait("document.querySelector('body > img').complete");
        let faults = inspection::faults(browser);
        assert!(
            faults.contains(&format!("loaded from another origin: {image}")),
            "{faults:?}"
        );
        browser.open("#/applications");
        browser.wait_for("tbody th a");
    });
}
