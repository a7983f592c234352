//! Many applications, and an application of many resources.

use serde_json::json;

use crate::content::{CLUSTER, Content, config_map, deployment, file_of, place_of, write_report};
use crate::stage::Stage;
use crate::visit;

const APPLICATIONS: usize = 1000;
const RESOURCES: usize = 5000;
/// Rows that the page shows before the user asks for more.
const ROWS: usize = 200;

/// Applications of one Deployment each; every hundredth failed.
pub(crate) fn many_applications(content: &Content) {
    for id in 1..=APPLICATIONS {
        content.application(id, &format!("app-{id:04}"), &[("Deployment", "web")]);
        let failed = (id % 100 == 0).then_some("the quota is exceeded");
        content.report(
            id,
            &json!({"deploymentStatuses": [deployment("web", failed)]}),
        );
    }
}

/// One application of ConfigMaps and a Deployment.
fn many_resources(content: &Content) {
    content.application(1, "large", &[("Deployment", "web")]);
    content.report(1, &lists(None));
}

fn lists(failed: Option<&str>) -> serde_json::Value {
    let maps = (1..RESOURCES).map(|number| config_map(&format!("settings-{number:04}")));
    json!({"deploymentStatuses": [deployment("web", failed)], "configMapStatuses": maps.collect::<Vec<_>>()})
}

#[test]
fn a_thousand_applications_are_shown_in_steps_and_found_by_search() {
    visit(
        || Stage::filled(many_applications),
        |_, browser| {
            browser.open("#/applications");
            browser.wait_for_count("tbody tr", ROWS);
            assert!(browser.text("tbody tr").contains("app-0100"));
            browser.wait_for_text(".chips", "10 failed");
            browser.wait_for_text(".chips", "990 ready");
            let more = "main > p > button";
            assert_eq!(browser.text(more), "Show more (800 further applications)");
            browser.click(more);
            browser.wait_for_count("tbody tr", 2 * ROWS);
            browser.type_into("#search", "app-0999");
            browser.wait_for_count("tbody tr", 1);
            assert!(browser.text("tbody th").contains("app-0999"));
        },
    );
}

#[test]
fn an_application_of_five_thousand_resources_has_rows_on_demand() {
    visit(
        || Stage::filled(many_resources),
        |stage, browser| {
            browser.open(&place_of("large"));
            browser.wait_for_text(".group > summary", "5000 resources");
            assert_eq!(
                browser.count(".row[data-key]"),
                0,
                "a large group begins closed"
            );
            browser.click(".group > summary");
            browser.wait_for_count(".row[data-key]", ROWS);
            browser.type_into("#tree-search", "settings-4999");
            browser.wait_for_count(".row[data-key]", 1);
            browser.click(".row[data-key]");
            browser.wait_for_text(".details pre", "settings-4999");
            write_report(
                &stage.report(CLUSTER, &file_of(1)),
                1,
                &lists(Some("the quota is exceeded")),
            );
            browser.wait_for_text(".head .badge", "Failed");
            assert_eq!(browser.count(".row[data-key]"), 1, "the search remains");
            browser.wait_for_text(".details pre", "settings-4999");
        },
    );
}
