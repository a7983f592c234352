//! Faults of the page that every test looks for at its end.

use serde_json::Value;

use crate::browser::Browser;

/// Collects what the page loaded: the address of each document, script, style, image and request.
const LOADED: &str = "return performance.getEntries().filter((it) => it.entryType === 'navigation' || \
     it.entryType === 'resource').map((it) => it.name)";

/// Width of the page beyond the window in pixels, and the start of the innermost element that reaches furthest.
const BEYOND: &str = "const width = document.documentElement.clientWidth; \
     const beyond = document.scrollingElement.scrollWidth - width; if (beyond <= 0) return ''; \
     const wide = [...document.querySelectorAll('body *')].filter((it) => it.getBoundingClientRect().right > width); \
     return `${beyond} pixels: ${wide.at(-1)?.outerHTML.slice(0, 300)}`";

/// Fails the test for an error in the browser log, a violated content security policy, a request to another origin,
/// and a page that is wider than the window.
pub(crate) fn assert_no_faults(browser: &Browser) {
    let faults = faults(browser);
    assert!(faults.is_empty(), "faults of the page: {faults:#?}");
}

/// The faults since the start of the document; the log has those of earlier documents too.
pub(crate) fn faults(browser: &Browser) -> Vec<String> {
    let log = browser.log().into_iter();
    let mut faults: Vec<String> = log
        .filter(|entry| matches!(entry.level.as_str(), "SEVERE" | "WARNING"))
        .map(|entry| format!("log: {}", entry.message))
        .collect();
    let loaded = browser.run(LOADED, &[]);
    let loaded = loaded.as_array().expect("a list").iter();
    let own = format!("{}/", browser.origin());
    let foreign = loaded.filter_map(Value::as_str);
    let foreign = foreign.filter(|address| !address.starts_with(&own));
    faults.extend(foreign.map(|address| format!("loaded from another origin: {address}")));
    let beyond = browser.text_from(BEYOND);
    if !beyond.is_empty() {
        faults.push(format!("the page is wider than the window by {beyond}"));
    }
    faults
}
