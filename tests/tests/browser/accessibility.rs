//! Barriers for people with disabilities, as axe-core finds them.

use std::fs;

use kindsight_cluster::axe_or_skip;

use crate::application::place_of_resource;
use crate::applications::{long_message, three};
use crate::browser::Browser;
use crate::content::{CLUSTER, file_of, place_of};
use crate::stage::Stage;
use crate::visit;

/// Runs axe-core, and returns each violated rule with the elements that violate it.
const RUN: &str = "return axe.run(document, { preload: false, resultTypes: ['violations'] }).then(({ violations }) => \
     violations.map((it) => `${it.id}: ${it.help}\\n${it.nodes.map((node) => `  ${node.html}\\n  ${node.failureSummary}`).join('\\n')}`))";

fn assert_no_barrier(browser: &Browser, axe: &str, place: &str) {
    for scheme in ["light", "dark"] {
        browser.prefer_colours(scheme);
        browser.run(axe, &[]);
        let violations = browser.run(RUN, &[]);
        let violations: Vec<_> = violations.as_array().expect("a list").iter().collect();
        assert!(violations.is_empty(), "{place}, {scheme}: {violations:#?}");
    }
}

#[test]
fn no_view_has_a_barrier_in_either_theme() {
    let Some(axe) = axe_or_skip() else {
        return;
    };
    visit(
        || Stage::filled(three),
        |stage, browser| {
            fs::write(stage.report(CLUSTER, &file_of(1)), "not JSON").expect("a file");
            let resource = place_of_resource("payment", ("apps", "Deployment"), "bank");
            let history = format!("{}?tab=history", place_of("payment"));
            for (place, ready) in [
                ("#/applications", ".stale"),
                (&*place_of("checkout"), ".stale"),
                (&*resource, ".details pre"),
                (&*history, ".timeline .badge"),
                ("#/clusters", ".card"),
                ("#/interpreters", "tbody th a"),
                ("#/interpreter/apps", "dl"),
                ("#/sign-in", ".sign-in"),
            ] {
                browser.open(place);
                browser.wait_for(ready);
                assert_no_barrier(browser, &axe, place);
            }
        },
    );
}

#[test]
fn long_messages_are_no_barrier() {
    let Some(axe) = axe_or_skip() else {
        return;
    };
    let place = place_of_resource("payment", ("apps", "Deployment"), "bank");
    visit(
        || Stage::filled(long_message),
        |_, browser| {
            for (place, ready) in [
                ("#/applications", "tbody .message"),
                (&*place, ".details pre"),
            ] {
                browser.open(place);
                browser.wait_for(ready);
                assert_no_barrier(browser, &axe, place);
            }
        },
    );
}

#[test]
fn a_barrier_is_found() {
    let Some(axe) = axe_or_skip() else {
        return;
    };
    visit(
        || Stage::filled(three),
        |_, browser| {
            browser.open("#/applications");
            browser.wait_for("tbody th a");
            browser.run("document.querySelector('label').remove()", &[]);
            browser.run(
                "document.querySelector('#search').removeAttribute('placeholder')",
                &[],
            );
            browser.run(&axe, &[]);
            let violations = browser.run(RUN, &[]).to_string();
            assert!(violations.contains("label"), "{violations}");
        },
    );
}

#[test]
fn both_colour_schemes_are_used() {
    visit(
        || Stage::filled(three),
        |_, browser| {
            browser.open("#/applications");
            browser.wait_for("tbody th a");
            let ground = "return getComputedStyle(document.body).backgroundColor";
            browser.prefer_colours("light");
            let light = browser.text_from(ground);
            browser.prefer_colours("dark");
            assert_ne!(browser.text_from(ground), light);
        },
    );
}
