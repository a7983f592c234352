//! A browser with the steps of a user.

mod session;

use std::thread;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use kindsight_cluster::{ChromeDriver, ChromiumPrograms};
use serde_json::{Value, json};

use session::Session;

/// The size of the window, in pixels.
pub(crate) const WIDTH: u32 = 1280;
pub(crate) const HEIGHT: u32 = 900;

/// Time in which the page must show what a test waits for, on a loaded machine.
const WAIT_MAX: Duration = Duration::from_mins(1);
/// The interval of polling.
const PERIOD: Duration = Duration::from_millis(10);

/// A new browser without stored data. It ends when it is dropped, even if a test panics.
pub(crate) struct Browser {
    session: Session,
    origin: String,
    /// The process of the driver.
    _driver: ChromeDriver,
}

/// One entry of the browser log.
#[derive(Debug)]
pub(crate) struct LogEntry {
    pub(crate) level: String,
    pub(crate) message: String,
}

/// A tab of the browser.
#[derive(Debug)]
pub(crate) struct Tab(String);

/// A key of the keyboard, with its code in `WebDriver`.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Key {
    Tab = 0xE004,
    Enter = 0xE007,
    Escape = 0xE00C,
}

impl Browser {
    /// Starts a browser for the page of a server.
    pub(crate) fn start(programs: &ChromiumPrograms, origin: &str) -> Self {
        let driver = ChromeDriver::start(programs);
        let session = Session::start(driver.url(), &driver.capabilities());
        let browser = Self {
            session,
            origin: origin.to_owned(),
            _driver: driver,
        };
        browser.resize(WIDTH, HEIGHT);
        browser
    }

    /// Ends the browser as a user does.
    pub(crate) fn close(self) {
        self.session.end();
    }

    /// Scheme, address and port of the server.
    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    /// Opens a place of the page, such as `#/clusters`, in a fresh document.
    pub(crate) fn open(&self, place: &str) {
        // A change of the fragment alone would keep the document.
        self.session.post("url", &json!({"url": "about:blank"}));
        let url = format!("{}/{place}", self.origin);
        self.session.post("url", &json!({"url": url}));
    }

    /// Opens an empty tab, and shows it instead of the present one.
    pub(crate) fn open_tab(&self) -> Tab {
        let tab = self.session.post("window/new", &json!({"type": "tab"}));
        let tab = Tab(tab["handle"].as_str().expect("a tab").to_owned());
        self.show_tab(&tab);
        tab
    }

    /// The shown tab.
    pub(crate) fn tab(&self) -> Tab {
        let tab = self.session.get("window");
        Tab(tab.as_str().expect("a tab").to_owned())
    }

    /// Shows a tab. The other tabs are hidden, but continue to run.
    pub(crate) fn show_tab(&self, tab: &Tab) {
        self.devtools("Target.activateTarget", &json!({"targetId": tab.0}));
        self.session.post("window", &json!({"handle": tab.0}));
    }

    /// The fragment of the URL.
    pub(crate) fn place(&self) -> String {
        self.text_from("return window.location.hash")
    }

    /// Runs the body of a function in the page with `arguments`, and returns its result. If the result is a promise,
    /// its value is returned.
    pub(crate) fn run(&self, script: &str, arguments: &[&str]) -> Value {
        let body = json!({"script": script, "args": arguments});
        self.session.post("execute/sync", &body)
    }

    /// Runs a script that returns a text.
    pub(crate) fn text_from(&self, script: &str) -> String {
        let value = self.run(script, &[]);
        let text = value.as_str().map(str::to_owned);
        text.unwrap_or_else(|| panic!("{script} returned {value}"))
    }

    /// The number of elements that a CSS selector finds.
    pub(crate) fn count(&self, selector: &str) -> u64 {
        let script = "return document.querySelectorAll(arguments[0]).length";
        let number = self.run(script, &[selector]);
        number.as_u64().expect("a number")
    }

    /// The text that the first such element shows. The element must exist.
    pub(crate) fn text(&self, selector: &str) -> String {
        let element = self.session.find(selector);
        let text = self.session.get_of(&element, "text");
        text.as_str().expect("a text").to_owned()
    }

    /// Waits until a condition is met. `condition` is an expression.
    pub(crate) fn wait(&self, condition: &str) {
        let begin = Instant::now();
        let script = format!("return Boolean({condition})");
        while self.run(&script, &[]) != json!(true) {
            assert!(
                begin.elapsed() < WAIT_MAX,
                "not within {WAIT_MAX:?}: {condition}\n{}\n{:?}",
                self.text_from("return document.body.innerText.slice(0, 5000)"),
                self.log()
            );
            thread::sleep(PERIOD);
        }
    }

    /// Waits until such an element exists.
    pub(crate) fn wait_for(&self, selector: &str) {
        self.wait(&format!("document.querySelector({})", json!(selector)));
    }

    /// Waits until there are so many such elements.
    pub(crate) fn wait_for_count(&self, selector: &str, count: usize) {
        let selector = json!(selector);
        self.wait(&format!(
            "document.querySelectorAll({selector}).length === {count}"
        ));
    }

    /// Waits until the first such element contains a text, whether or not it is visible.
    pub(crate) fn wait_for_text(&self, selector: &str, text: &str) {
        let (selector, text) = (json!(selector), json!(text));
        self.wait(&format!(
            "document.querySelector({selector})?.textContent.includes({text})"
        ));
    }

    /// Waits for an element, and clicks it. Scrolls first, because the header is always at the top of the window.
    pub(crate) fn click(&self, selector: &str) {
        self.wait_for(selector);
        let scroll = "document.querySelector(arguments[0]).scrollIntoView({ block: 'center' })";
        self.run(scroll, &[selector]);
        let element = self.session.find(selector);
        self.session.post_to(&element, "click", &json!({}));
    }

    /// Types a text into a field, after its present text.
    pub(crate) fn type_into(&self, selector: &str, text: &str) {
        let element = self.session.find(selector);
        let body = json!({"text": text});
        self.session.post_to(&element, "value", &body);
    }

    /// Presses a key where the focus is.
    pub(crate) fn press(&self, key: Key) {
        let code = char::from_u32(key as u32).map(String::from);
        let steps = ["keyDown", "keyUp"].map(|kind| json!({"type": kind, "value": code}));
        let keyboard = json!({"type": "key", "id": "keyboard", "actions": steps});
        self.session
            .post("actions", &json!({"actions": [keyboard]}));
    }

    /// Sets the colours that the user prefers: `light` or `dark`.
    pub(crate) fn prefer_colours(&self, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.devtools("Emulation.setEmulatedMedia", &json!({"features": features}));
    }

    /// Sets the size of the visible part of the page, in pixels.
    pub(crate) fn resize(&self, width: u32, height: u32) {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.devtools("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Sends a command of the `DevTools` protocol.
    pub(crate) fn devtools(&self, command: &str, parameters: &Value) -> Value {
        let body = json!({"cmd": command, "params": parameters});
        self.session.post("goog/cdp/execute", &body)
    }

    /// The entries of the browser log since the last call.
    pub(crate) fn log(&self) -> Vec<LogEntry> {
        let entries = self.session.post("se/log", &json!({"type": "browser"}));
        let entries = entries.as_array().expect("a log").iter();
        let text = |entry: &Value, member| entry[member].as_str().unwrap_or_default().to_owned();
        let entries = entries.map(|entry| LogEntry {
            level: text(entry, "level"),
            message: text(entry, "message"),
        });
        entries.collect()
    }

    /// An image of the visible part of the page, as PNG.
    pub(crate) fn screenshot(&self) -> Vec<u8> {
        let image = self.session.get("screenshot");
        let image = image.as_str().expect("an image");
        BASE64_STANDARD.decode(image).expect("Base64")
    }
}
