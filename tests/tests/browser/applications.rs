//! The list of applications.

use std::fs;

use serde_json::json;

use crate::content::{CLUSTER, Content, config_map, deployment, file_of, write_report};
use crate::stage::Stage;
use crate::visit;

/// Three applications: one works, one failed, one has no report.
pub(crate) fn three(content: &Content) {
    content.application(1, "checkout", &[("Deployment", "web")]);
    content.report(1, &json!({"deploymentStatuses": [deployment("web", None)]}));
    content.application(
        2,
        "payment",
        &[("Deployment", "bank"), ("ConfigMap", "rates")],
    );
    let bank = deployment("bank", Some("the image does not exist"));
    content.report(
        2,
        &json!({"deploymentStatuses": [bank], "configMapStatuses": [config_map("rates")]}),
    );
    content.application(3, "search", &[("Deployment", "index")]);
}

/// The end of the message of [`long_message`].
const END: &str = "and this is the end of the message";

/// An application whose only resource failed with a message of many lines.
pub(crate) fn long_message(content: &Content) {
    let message = format!(
        "{}{END}",
        "the image does not exist in the registry, ".repeat(12)
    );
    content.application(1, "payment", &[("Deployment", "bank")]);
    content.report(
        1,
        &json!({"deploymentStatuses": [deployment("bank", Some(&message))]}),
    );
}

#[test]
fn a_long_message_is_cut_and_its_resource_has_the_complete_text() {
    visit(
        || Stage::filled(long_message),
        |_, browser| {
            browser.open("#/applications");
            browser.wait_for("tbody .message");
            let lines = "const it = document.querySelector(arguments[0]); \
                 return Math.round(it.clientHeight / parseFloat(getComputedStyle(it).lineHeight))";
            assert_eq!(browser.run(lines, &["tbody .message"]), 3);
            browser.click("tbody td.reason a");
            browser.wait_for_text(".details", "Deployment bank");
            browser.wait_for(".details pre");
            assert_eq!(browser.run(lines, &[".row .message"]), 3);
            assert!(browser.text(".details .message").ends_with(END));
        },
    );
}

#[test]
fn the_first_table_shows_state_time_and_reason() {
    visit(Stage::demo, |_, browser| {
        browser.open("");
        browser.wait_for("tbody th a");
        assert_eq!(browser.count("tbody tr"), 1);
        let row = browser.text("tbody tr");
        for part in [
            "vfw_deployment_intent_group",
            "testvfw/compositevfw/v1",
            "vfw-cluster-provider+edge01",
        ] {
            assert!(row.contains(part), "{part} in {row}");
        }
        browser.wait_for_text("#connection", "live");
        assert_eq!(
            browser.text_from("return document.title"),
            "Applications – kindsight"
        );
    });
}

#[test]
fn the_worst_application_is_first_and_shows_its_reason() {
    visit(
        || Stage::filled(three),
        |_, browser| {
            browser.open("#/applications");
            browser.wait_for_count("tbody tr", 3);
            let names = browser.text_from(
                "return [...document.querySelectorAll('tbody th a')].map((it) => it.innerText).join(' ')",
            );
            assert_eq!(names, "search payment checkout");
            let row = browser.text("tbody tr:nth-child(2)");
            assert!(row.contains("the image does not exist"), "{row}");
            assert!(row.contains("Deployment bank"), "{row}");
        },
    );
}

#[test]
fn a_changed_report_changes_its_row() {
    visit(
        || Stage::filled(three),
        |stage, browser| {
            browser.open("#/applications");
            browser.wait_for_text("tbody", "the image does not exist");
            let bank = deployment("bank", None);
            let lists =
                json!({"deploymentStatuses": [bank], "configMapStatuses": [config_map("rates")]});
            write_report(&stage.report(CLUSTER, &file_of(2)), 2, &lists);
            browser.wait(
                "!document.querySelector('tbody').innerText.includes('the image does not exist')",
            );
            browser.wait_for_text("#announcements", "payment");
        },
    );
}

#[test]
fn filter_and_search_are_kept_in_the_url() {
    visit(
        || Stage::filled(three),
        |_, browser| {
            browser.open("#/applications");
            browser.wait_for_count("tbody tr", 3);
            browser.type_into("#search", "IMAGE does");
            browser.wait_for_count("tbody tr", 1);
            browser.click("[data-phase=failed]");
            let place = browser.place();
            assert_eq!(place, "#/applications?q=IMAGE+does&state=failed");
            browser.open(&place);
            browser.wait_for("tbody th a");
            assert_eq!(browser.count("tbody tr"), 1);
            assert!(browser.text("tbody th").contains("payment"));
            assert_eq!(
                browser.text_from("return document.getElementById('search').value"),
                "IMAGE does"
            );
            assert_eq!(browser.count("[data-phase=failed][aria-pressed=true]"), 1);
            browser.open("#/applications?q=nothing");
            browser.wait_for_text("tbody", "No application matches the filter.");
            browser.open("#/applications?cluster=provider%2Bedge01&state=ready");
            browser.wait_for_text("tbody", "checkout");
            assert_eq!(browser.count("tbody tr"), 1);
        },
    );
}

#[test]
fn an_unreadable_report_makes_its_application_stale_in_words() {
    visit(
        || Stage::filled(three),
        |stage, browser| {
            browser.open("#/applications?q=checkout");
            browser.wait_for_text("tbody", "Ready");
            fs::write(stage.report(CLUSTER, &file_of(1)), "not JSON").expect("a file");
            browser.wait_for_text("tbody tr.is-stale", "stale for");
            browser.click("tbody th a");
            browser.wait_for_text(".head", "stale for");
            browser.wait_for_text(".group .warning", "not a ResourceBundleState");
        },
    );
}

#[test]
fn an_application_without_a_report_shows_its_state_as_text() {
    visit(
        || Stage::filled(three),
        |_, browser| {
            browser.open("#/applications?q=search");
            browser.wait_for_text("tbody th", "search");
            assert_eq!(browser.text("tbody .badge bdi"), "Unknown");
        },
    );
}
