//! The views of clusters and interpreters, and the way between views.

use std::fs;

use crate::inspection::assert_no_faults;
use crate::stage::{DEMO_CLUSTER, Stage};
use crate::visit;

/// The application of the demo.
const VFW: &str = "#/application/testvfw/compositevfw/v1/vfw_deployment_intent_group";

#[test]
fn the_clusters_show_their_connection_and_coverage() {
    visit(Stage::demo, |_, browser| {
        browser.open("#/clusters");
        browser.wait_for_count(".card", 2);
        let card = browser.text(".card");
        for part in [DEMO_CLUSTER, "connected", "Last event"] {
            assert!(card.contains(part), "{part} in {card}");
        }
    });
}

#[test]
fn a_lost_cluster_is_stale_in_words_with_its_reason() {
    visit(Stage::demo, |stage, browser| {
        browser.open("#/clusters");
        browser.wait_for_count(".card", 2);
        let reports = stage.report(DEMO_CLUSTER, "");
        fs::rename(&reports, reports.with_extension("away")).expect("another name");
        browser.wait_for(".connection-stale");
        let card = browser.text(".connection-stale");
        assert!(card.contains("cannot be reached"), "{card}");
        browser.click("nav a");
        browser.wait_for_text("tbody", "stale for");
    });
}

#[test]
fn the_interpreters_lead_to_their_states_and_versions() {
    visit(Stage::demo, |_, browser| {
        browser.open("#/interpreters");
        browser.wait_for("tbody th a");
        assert!(browser.count("tbody tr") > 5);
        let twice = "return [...document.querySelectorAll('.kinds')].some((it) => { \
             const kinds = [...it.children].map((kind) => kind.textContent); return new Set(kinds).size < kinds.length; })";
        assert_eq!(browser.run(twice, &[]), false);
        let names = browser.text("tbody");
        assert!(names.contains("apps"), "{names}");
        browser.click("tbody th a");
        browser.wait_for_text("main", "Versions");
        for part in ["States", "Kinds", "Faults"] {
            browser.wait_for_text("main", part);
        }
    });
}

/// A window of 1280 pixels that shows 320 pixels of the page at 400 %.
#[test]
fn at_400_percent_each_view_fits_and_its_header_scrolls_away() {
    visit(Stage::demo, |_, browser| {
        browser.resize(320, 256);
        for (place, ready) in [
            ("#/applications", "tbody th a"),
            (VFW, ".row[data-key]"),
            (&format!("{VFW}?tab=history"), ".timeline .badge"),
            ("#/clusters", ".card"),
            ("#/interpreters", "tbody th a"),
            ("#/interpreter/apps", "dl"),
        ] {
            browser.open(place);
            browser.wait_for(ready);
            assert_no_faults(browser);
            let cut = "return [...document.querySelectorAll('.row .badge > bdi')].filter((it) => it.scrollWidth > it.clientWidth).length";
            assert_eq!(browser.run(cut, &[]), 0, "{place}");
            browser.run("window.scrollTo(0, 200)", &[]);
            let bottom =
                "return document.querySelector('.top').getBoundingClientRect().bottom <= 0";
            assert_eq!(browser.run(bottom, &[]), true, "{place}");
        }
    });
}

#[test]
fn the_cluster_with_a_problem_is_the_first_of_its_app() {
    visit(Stage::demo, |_, browser| {
        browser.open(VFW);
        browser.wait_for(".row[data-key]");
        let first = browser.text(".group summary");
        assert!(first.contains("edge02"), "{first}");
        assert!(first.contains("Failed"), "{first}");
    });
}

#[test]
fn a_link_to_an_unknown_view_says_so() {
    visit(Stage::demo, |_, browser| {
        browser.open("#/nosuchview/x");
        browser.wait_for_text("main", "There is no view “nosuchview”");
        assert_eq!(
            browser.text_from("return document.title"),
            "Unknown view – kindsight"
        );
        browser.click("main a");
        browser.wait_for("tbody th a");
    });
}

#[test]
fn the_views_are_linked_and_the_present_view_is_marked() {
    visit(Stage::demo, |_, browser| {
        browser.open("");
        for (number, title) in ["Applications", "Clusters", "Interpreters"]
            .iter()
            .enumerate()
        {
            browser.click(&format!("nav li:nth-child({}) a", number + 1));
            browser.wait_for_text("h1", title);
            assert_eq!(browser.text("nav [aria-current=page]"), *title);
        }
        browser.run("window.history.back()", &[]);
        browser.wait_for_text("h1", "Clusters");
    });
}
