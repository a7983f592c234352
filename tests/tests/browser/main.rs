//! The web page in a real Chromium, which `WebDriver` controls.
//!
//! A test calls [`visit()`] with the start of its server and with its steps. At the end of each test, [`inspection`]
//! checks that the browser logged no error, that no content security policy was violated, and that no request left the
//! server. [`Stage`] starts servers, [`Browser`] has the steps of a user.
//!
//! `KINDSIGHT_SCREENSHOTS=1 cargo test -p kindsight-tests --test browser screenshots` writes the images in
//! `docs/images` again.

mod accessibility;
mod application;
mod applications;
mod browser;
#[path = "../common/code_cache.rs"]
mod code_cache;
mod content;
mod hostile;
mod inspection;
mod interpreters;
mod keyboard;
mod large;
mod lost_connection;
mod policy;
mod screenshots;
mod sign_in;
mod stage;
mod tabs;
mod views;

use kindsight_cluster::ChromiumPrograms;

use browser::Browser;
use stage::Stage;

/// Starts a server and a browser, does the steps of a test, and inspects the page. Without Chromium, one line says
/// that the test did not run.
fn visit(start: impl FnOnce() -> Stage, steps: impl FnOnce(&Stage, &Browser)) {
    let Some(programs) = ChromiumPrograms::or_skip() else {
        return;
    };
    let stage = start();
    let browser = Browser::start(&programs, stage.origin());
    steps(&stage, &browser);
    inspection::assert_no_faults(&browser);
    browser.close();
}
