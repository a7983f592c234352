//! Use without a pointer.

use serde_json::json;

use crate::applications::three;
use crate::browser::{Browser, Key};
use crate::content::{CLUSTER, deployment, file_of, place_of, write_report};
use crate::stage::Stage;
use crate::visit;

/// The most steps of the focus to an element.
const TABS_MAX: usize = 40;

/// Presses Tab until the focus is on an element.
fn tab_to(browser: &Browser, selector: &str) {
    for _ in 0..TABS_MAX {
        browser.press(Key::Tab);
        if is_focused(browser, selector) {
            return;
        }
    }
    panic!("{TABS_MAX} tabs do not reach {selector}");
}

fn is_focused(browser: &Browser, selector: &str) -> bool {
    let script = "return document.activeElement.matches(arguments[0])";
    browser.run(script, &[selector]) == true
}

#[test]
fn the_first_tab_offers_to_skip_to_the_content() {
    visit(
        || Stage::filled(three),
        |_, browser| {
            browser.open("#/applications");
            browser.wait_for("tbody th a");
            browser.press(Key::Tab);
            assert!(is_focused(browser, ".skip"));
            browser.press(Key::Enter);
            assert!(is_focused(browser, "main"));
            assert_eq!(browser.place(), "#/applications");
        },
    );
}

#[test]
fn the_keyboard_opens_an_application_and_its_resource_and_closes_the_resource() {
    visit(
        || Stage::filled(three),
        |_, browser| {
            browser.open("#/applications");
            browser.wait_for("tbody th a");
            tab_to(browser, "tbody th a");
            browser.press(Key::Enter);
            browser.wait_for(".row[data-key]");
            tab_to(browser, ".row[data-key]");
            let row = "return document.activeElement.dataset.key";
            let chosen = browser.text_from(row);
            browser.press(Key::Enter);
            browser.wait_for(".details pre");
            assert!(is_focused(browser, ".details"));
            browser.press(Key::Escape);
            browser.wait_for(".details[hidden]");
            assert_eq!(browser.text_from(row), chosen);
        },
    );
}

#[test]
fn the_focus_stays_in_the_tree_when_a_change_arrives() {
    visit(
        || Stage::filled(three),
        |stage, browser| {
            browser.open(&place_of("payment"));
            browser.wait_for(".row[data-key]");
            tab_to(browser, ".row[data-key]");
            let chosen = browser.text_from("return document.activeElement.dataset.key");
            let lists = json!({"deploymentStatuses": [deployment("bank", None)]});
            write_report(&stage.report(CLUSTER, &file_of(2)), 2, &lists);
            browser.wait(
                "!document.querySelector('.tree').innerText.includes('the image does not exist')",
            );
            assert_eq!(
                browser.text_from("return document.activeElement.dataset.key"),
                chosen
            );
        },
    );
}
