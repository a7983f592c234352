//! Images and times for the documentation.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::Instant;

use serde_json::json;

use crate::applications::three;
use crate::browser::{Browser, WIDTH};
use crate::content::{CLUSTER, Content, config_map, deployment, file_of, write_report};
use crate::large::many_applications;
use crate::stage::Stage;
use crate::visit;

/// The variable that asks for new images.
const VARIABLE: &str = "KINDSIGHT_SCREENSHOTS";
/// The folder of the images, from the folder of this crate.
const IMAGES: &str = "../docs/images";
/// The largest image, in bytes.
const IMAGE_BYTES_MAX: usize = 200_000;

/// Notes the time of the first row since the start of the navigation, in milliseconds.
const NOTE_FIRST_ROW: &str = "new MutationObserver((_, observer) => { if (document.querySelector('tbody th a')) { \
     window.firstRow = performance.now(); observer.disconnect(); } }).observe(document, { childList: true, subtree: true })";

/// Applications beside the recorded one.
fn neighbours(content: &Content) {
    for (id, name, failed) in [
        (1, "checkout", None),
        (
            2,
            "payment",
            Some("ReplicaSet \"bank-7d9c\" has timed out progressing."),
        ),
        (3, "search", None),
        (4, "delivery", None),
    ] {
        let web = format!("{name}-web");
        let settings = format!("{name}-settings");
        content.application(id, name, &[("Deployment", &web), ("ConfigMap", &settings)]);
        content.report(
            id,
            &json!({"deploymentStatuses": [deployment(&web, failed)], "configMapStatuses": [config_map(&settings)]}),
        );
    }
    content.application(5, "newsletter", &[("Deployment", "newsletter-web")]);
}

fn write_image(browser: &Browser, name: &str) {
    let image = browser.screenshot();
    assert!(
        image.len() < IMAGE_BYTES_MAX,
        "{name}: {} bytes",
        image.len()
    );
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(IMAGES);
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join(name), image).expect("an image");
}

#[test]
fn screenshots_are_written_on_request() {
    if std::env::var_os(VARIABLE).is_none() {
        return;
    }
    visit(
        || Stage::demo_with(neighbours),
        |_, browser| {
            browser.resize(WIDTH, 660);
            browser.open("#/applications");
            browser.wait_for_count("tbody tr", 6);
            write_image(browser, "applications.png");
            browser.resize(WIDTH, 760);
            let vfw = "#/application/testvfw/compositevfw/v1/vfw_deployment_intent_group";
            browser.open(vfw);
            browser.wait_for(".row[data-key]");
            browser.run(
                "document.querySelector('.row .phase-failed').closest('button').click()",
                &[],
            );
            browser.wait_for(".details pre");
            browser.run("window.scrollTo(0, 0)", &[]);
            write_image(browser, "application.png");
            browser.prefer_colours("dark");
            write_image(browser, "application-dark.png");
        },
    );
}

#[test]
fn the_times_to_the_first_table_and_of_a_change_are_printed() {
    for (title, fill) in [
        ("3 applications", three as fn(&Content)),
        ("1,000 applications", many_applications),
    ] {
        visit(
            || Stage::filled(fill),
            |stage, browser| {
                let script = json!({"source": NOTE_FIRST_ROW});
                browser.devtools("Page.addScriptToEvaluateOnNewDocument", &script);
                browser.open("#/applications");
                browser.wait("window.firstRow");
                let first = browser.run("return Math.round(window.firstRow)", &[]);
                browser.type_into("#search", "a new reason");
                browser.wait_for_count("tbody th a", 0);
                let web = deployment("web", Some("a new reason"));
                let begin = Instant::now();
                write_report(
                    &stage.report(CLUSTER, &file_of(1)),
                    1,
                    &json!({"deploymentStatuses": [web]}),
                );
                browser.wait_for("tbody th a");
                let change = begin.elapsed().as_millis();
                // Only this way libtest shows the line of a test that passes.
                let _ = writeln!(
                    io::stderr(),
                    "page, {title}: {first} ms to the first table, {change} ms from a changed file to its row"
                );
            },
        );
    }
}
