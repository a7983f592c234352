//! Several tabs of one browser, which has at most six connections to a server.

use serde_json::json;

use crate::applications::three;
use crate::content::{CLUSTER, config_map, deployment, file_of, write_report};
use crate::stage::Stage;
use crate::visit;

/// One tab more than the connections of a browser.
const TABS: usize = 7;

#[test]
fn every_tab_loads_and_a_shown_tab_is_current_again() {
    visit(
        || Stage::filled(three),
        |stage, browser| {
            let first = browser.tab();
            browser.open("#/applications");
            browser.wait_for_text("tbody", "the image does not exist");
            for _ in 1..TABS {
                browser.open_tab();
                browser.open("#/applications");
                browser.wait_for_text("tbody", "the image does not exist");
                browser.wait_for_text("#connection", "live");
            }
            let lists = json!({
                "deploymentStatuses": [deployment("bank", None)],
                "configMapStatuses": [config_map("rates")],
            });
            write_report(&stage.report(CLUSTER, &file_of(2)), 2, &lists);
            let is_current =
                "!document.querySelector('tbody').innerText.includes('the image does not exist')";
            browser.wait(is_current);
            browser.show_tab(&first);
            browser.wait(is_current);
            browser.wait_for_text("#connection", "live");
        },
    );
}
