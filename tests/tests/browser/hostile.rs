//! Names and messages that an attacker chose.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::browser::{Browser, HEIGHT, WIDTH};
use crate::content::{Content, config_map, deployment, place_of};
use crate::stage::Stage;
use crate::{inspection, visit};

const MARKUP: &str =
    r#"<img src=x onerror="window.executed = true"><script>window.executed = true</script>"#;
/// Shows the rest of its line from right to left.
const OVERRIDE: &str = "invoice\u{202e}gnp.exe";
/// Widths of windows, in pixels: a laptop, a tablet and a telephone.
const WIDTHS: [u32; 3] = [WIDTH, 768, 360];

fn long() -> String {
    "x".repeat(10_000)
}

/// Objects whose names, namespaces, Kinds and messages are hostile.
fn hostile(content: &Content) {
    let name = "n".repeat(128);
    content.application(1, &name, &[("Deployment", "web")]);
    let failed = |name: &str, message: &str| deployment(name, Some(message));
    let mut namespaced = config_map("in-a-namespace");
    namespaced["metadata"]["namespace"] = json!(MARKUP);
    namespaced["data"] = json!({MARKUP: MARKUP, OVERRIDE: OVERRIDE, "long": long()});
    content.report(
        1,
        &json!({
            "deploymentStatuses": [
                failed("web", &long()), failed(MARKUP, MARKUP), failed(OVERRIDE, OVERRIDE), failed(&long(), "no"),
            ],
            "configMapStatuses": [config_map(MARKUP), namespaced],
            "resourceStatuses": [of_kind(MARKUP), of_kind(OVERRIDE), of_kind(&long())],
        }),
    );
}

/// An object of a Kind and a group of the same name.
fn of_kind(kind: &str) -> Value {
    let object = json!({"apiVersion": format!("{kind}/v1"), "kind": kind, "metadata": {"name": "it", "namespace": "default"}});
    let res = BASE64_STANDARD.encode(object.to_string());
    json!({"group": kind, "version": "v1", "kind": kind, "name": "it", "namespace": "default", "res": res})
}

/// Fails the test if markup became elements or ran, or if the page is too wide for one of the windows.
fn assert_harmless(browser: &Browser) {
    assert_eq!(
        browser.run("return window.executed ?? null", &[]),
        Value::Null
    );
    assert_eq!(browser.count("main img, main script"), 0);
    for width in WIDTHS {
        browser.resize(width, HEIGHT);
        assert_eq!(inspection::faults(browser), [""; 0], "at {width} pixels");
    }
    browser.resize(WIDTH, HEIGHT);
}

#[test]
fn hostile_texts_are_shown_as_text_in_the_list() {
    visit(
        || Stage::filled(hostile),
        |_, browser| {
            browser.open("#/applications");
            browser.wait_for("tbody th a");
            browser.wait_for_text("tbody", "ProgressDeadlineExceeded");
            assert_harmless(browser);
        },
    );
}

#[test]
fn hostile_texts_are_shown_as_text_in_the_tree_and_in_the_details() {
    visit(
        || Stage::filled(hostile),
        |_, browser| {
            browser.open(&place_of(&"n".repeat(128)));
            browser.wait_for(".row[data-key]");
            browser.wait_for_text(".tree", MARKUP);
            assert_harmless(browser);
            let rows = browser.count(".row[data-key]");
            assert!(rows >= 9, "{rows} rows");
            for row in 0..rows {
                let script = "document.querySelectorAll('.row[data-key]')[arguments[0]].click()";
                browser.run(script, &[&row.to_string()]);
                browser.wait("document.querySelector('.details pre, .details .error')");
                assert_harmless(browser);
            }
            browser.click(".tabs button:last-child");
            browser.wait_for_text(".timeline", "the application");
            assert_harmless(browser);
        },
    );
}

#[test]
fn an_override_of_the_direction_does_not_reverse_what_follows() {
    visit(
        || Stage::filled(hostile),
        |_, browser| {
            browser.open(&format!("{}?q=invoice", place_of(&"n".repeat(128))));
            browser.wait_for(".row[data-key]");
            browser.click(".row[data-key]");
            browser.wait_for(".details pre");
            // Outside `bdi` elements, which isolate a name, no text may contain the character.
            let bare = "const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT); const found = []; \
                 while (texts.nextNode()) { const it = texts.currentNode; \
                 if (/[\\u202a-\\u202e\\u2066-\\u2069]/.test(it.data) && !it.parentElement.closest('bdi')) found.push(it.data) } \
                 return found.join('\\n')";
            assert_eq!(browser.text_from(bare), "");
        },
    );
}

#[test]
fn hostile_texts_in_the_url_are_shown_as_text() {
    visit(
        || Stage::filled(hostile),
        |_, browser| {
            for place in [
                "#/applications?q=<img src=x onerror=\"window.executed = true\">&cluster=<b>x</b>&state=<b>y</b>",
                "#/sign-in?error=<img src=x onerror=\"window.executed = true\">&to=javascript:window.executed=true",
                "#/<img src=x onerror=\"window.executed = true\">",
                "#/applications?%ZZ=%ZZ&q=%E0%A4%A",
            ] {
                browser.open(place);
                browser.wait_for("main h1");
                assert_harmless(browser);
            }
        },
    );
}
