//! One application: its tree, the details of a resource, its history.

use std::fs;

use serde_json::{Value, json};

use crate::applications::three;
use crate::browser::Browser;
use crate::content::{CLUSTER, config_map, deployment, file_of, place_of, write_report};
use crate::stage::Stage;
use crate::visit;

/// The place of a resource of an application, as the page writes it into its URL.
pub(crate) fn place_of_resource(application: &str, kind: (&str, &str), name: &str) -> String {
    let key = json!([kind.0, kind.1, "default", name]).to_string();
    let place = json!(["app", CLUSTER, key]).to_string();
    let encoded = place.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    });
    format!(
        "{}?r={}",
        place_of(application),
        encoded.collect::<String>()
    )
}

/// The text of the details, once they show the object.
fn details(browser: &Browser) -> String {
    browser.wait_for(".details pre");
    browser.text(".details")
}

#[test]
fn a_deep_link_opens_an_application() {
    visit(
        || Stage::filled(three),
        |_, browser| {
            browser.open(&place_of("payment"));
            browser.wait_for(".row[data-key]");
            assert_eq!(browser.text("h1"), "payment");
            let tree = browser.text(".tree");
            for part in [
                "bank",
                "rates",
                "the image does not exist",
                CLUSTER,
                "2 resources",
            ] {
                assert!(tree.contains(part), "{part} in {tree}");
            }
            assert_eq!(browser.count(".details:not([hidden])"), 0);
        },
    );
}

#[test]
fn a_deep_link_opens_a_resource_with_its_verdict_and_object() {
    visit(
        || Stage::filled(three),
        |_, browser| {
            browser.open(&place_of_resource(
                "payment",
                ("apps", "Deployment"),
                "bank",
            ));
            let details = details(browser);
            for part in [
                "Failed",
                "ProgressDeadlineExceeded",
                "the image does not exist",
                "Interpreter",
                "\"observedGeneration\": 1",
            ] {
                assert!(details.contains(part), "{part} in {details}");
            }
        },
    );
}

#[test]
fn a_chosen_resource_is_kept_in_the_url() {
    visit(
        || Stage::filled(three),
        |_, browser| {
            browser.open(&place_of("payment"));
            browser.wait_for(".row[data-key]");
            browser.type_into("#tree-search", "configmap");
            browser.wait_for_count(".row[data-key]", 1);
            browser.click(".row[data-key]");
            assert!(details(browser).contains("\"colour\": \"blue\""));
            let place = browser.place();
            browser.open(&place);
            assert!(details(browser).contains("\"colour\": \"blue\""));
            assert_eq!(browser.count(".row[data-key]"), 1);
            browser.click(".details button");
            browser.wait_for_count(".details:not([hidden])", 0);
            assert!(!browser.place().contains("r="));
        },
    );
}

#[test]
fn a_link_to_a_removed_resource_says_so() {
    visit(
        || Stage::filled(three),
        |_, browser| {
            browser.open(&place_of_resource("payment", ("", "Secret"), "none"));
            browser.wait_for_text(".details", "no longer has this resource");
        },
    );
}

#[test]
fn a_link_to_an_unknown_application_shows_the_answer_of_the_server() {
    visit(
        || Stage::filled(three),
        |_, browser| {
            browser.open(&place_of("none"));
            browser.wait_for_text(".head .error", "`shop/store/v1/none`");
            let refusals = browser.log();
            // The browser logs the refused requests, and nothing else.
            assert!(
                refusals.iter().all(|entry| entry.message.contains("404")),
                "{refusals:?}"
            );
        },
    );
}

#[test]
fn a_change_reaches_the_tree_the_open_details_and_the_history() {
    visit(
        || Stage::filled(three),
        |stage, browser| {
            browser.open(&place_of_resource(
                "payment",
                ("apps", "Deployment"),
                "bank",
            ));
            assert!(details(browser).contains("Failed"));
            let bank = deployment("bank", None);
            let lists =
                json!({"deploymentStatuses": [bank], "configMapStatuses": [config_map("rates")]});
            write_report(&stage.report(CLUSTER, &file_of(2)), 2, &lists);
            browser.wait_for_text(".details .badge", "Ready");
            browser.wait_for_text(".head .badge", "Ready");
            browser.click(".tabs button:last-child");
            browser.wait_for_text(".timeline", "bank");
            let history = browser.text(".timeline");
            assert!(history.contains("the application"), "{history}");
        },
    );
}

#[test]
fn changes_in_quick_succession_all_reach_the_open_history() {
    visit(
        || Stage::filled(three),
        |stage, browser| {
            browser.open(&format!("{}?tab=history", place_of("payment")));
            browser.wait_for(".timeline .badge");
            for (failed, state) in [(None, "Ready"), (Some("no quota"), "Failed")] {
                let lists = json!({
                    "deploymentStatuses": [deployment("bank", failed)],
                    "configMapStatuses": [config_map("rates")],
                });
                write_report(&stage.report(CLUSTER, &file_of(2)), 2, &lists);
                browser.wait_for_text(".head .badge", state);
            }
            browser.wait_for_text(".timeline", "no quota");
        },
    );
}

#[test]
fn a_stale_cluster_marks_its_app_its_resources_and_the_open_details() {
    visit(
        || Stage::filled(three),
        |stage, browser| {
            let place = place_of_resource("checkout", ("apps", "Deployment"), "web");
            browser.open(&place);
            assert!(details(browser).contains("Ready"));
            assert_eq!(browser.count(".stale"), 0);
            fs::write(stage.report(CLUSTER, &file_of(1)), "not JSON").expect("a file");
            browser.wait_for_text(".tree-app .stale", "stale for");
            browser.wait_for_text(".row[data-key] .stale", "stale");
            browser.wait_for_text(".details .stale", "stale for");
            browser.wait_for_text(".details", "not a ResourceBundleState");
            browser.wait_for(".details pre");
        },
    );
}

#[test]
fn the_recorded_application_shows_apps_clusters_and_redacted_secrets() {
    visit(Stage::demo, |_, browser| {
        browser.open("#/applications");
        browser.wait_for("tbody th a");
        browser.click("tbody th a");
        browser.wait_for(".tree-app");
        assert_eq!(browser.count(".tree-app"), 3);
        assert_eq!(browser.count(".group"), 6);
        browser.type_into("#tree-search", "sink-credentials");
        browser.wait_for(".row[data-key]");
        browser.click(".row[data-key]");
        let object = details(browser);
        assert!(object.contains("Secret"), "{object}");
        let value: Value = browser.run(
            "const it = JSON.parse(document.querySelector('.details pre').textContent); \
             return Object.values(it.data)",
            &[],
        );
        let values = value.as_array().expect("values");
        assert!(!values.is_empty());
        for shown in values {
            assert_eq!(shown, "REDACTED");
        }
    });
}
