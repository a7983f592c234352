//! A session of `WebDriver`: commands as JSON over HTTP (<https://www.w3.org/TR/webdriver2/>).

use std::time::Duration;

use serde_json::{Value, json};
use ureq::Agent;

/// Time in which the driver must answer a command, on a loaded machine.
const ANSWER_MAX: Duration = Duration::from_mins(2);
/// The largest answer, in bytes: an image of the page.
const ANSWER_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// The member that names an element in answers.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A session of one browser.
pub(super) struct Session {
    agent: Agent,
    /// The address of the session.
    url: String,
}

/// An element of the page, by the driver's id.
pub(super) struct Element(String);

impl Session {
    /// Starts a browser with `capabilities`.
    pub(super) fn start(driver: &str, capabilities: &Value) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(ANSWER_MAX));
        let mut session = Self {
            agent: config.build().into(),
            url: driver.to_owned(),
        };
        let body = json!({"capabilities": {"alwaysMatch": capabilities}});
        let answer = session.post("session", &body);
        let id = answer["sessionId"].as_str().expect("a session");
        session.url = format!("{driver}/session/{id}");
        session
    }

    /// Sends a command, and returns the value of its answer.
    pub(super) fn post(&self, command: &str, body: &Value) -> Value {
        let answer = self.agent.post(self.address(command)).send_json(body);
        value(command, answer)
    }

    pub(super) fn get(&self, command: &str) -> Value {
        value(command, self.agent.get(self.address(command)).call())
    }

    /// Ends the session and its browser.
    pub(super) fn end(&self) {
        value("end", self.agent.delete(&self.url).call());
    }

    /// The first element that a CSS selector finds.
    pub(super) fn find(&self, selector: &str) -> Element {
        let body = json!({"using": "css selector", "value": selector});
        let found = self.post("element", &body);
        Element(found[ELEMENT].as_str().expect("an element").to_owned())
    }

    /// Sends a command about an element.
    pub(super) fn post_to(&self, element: &Element, command: &str, body: &Value) -> Value {
        self.post(&format!("element/{}/{command}", element.0), body)
    }

    pub(super) fn get_of(&self, element: &Element, command: &str) -> Value {
        self.get(&format!("element/{}/{command}", element.0))
    }

    fn address(&self, command: &str) -> String {
        format!("{}/{command}", self.url)
    }
}

/// The value of an answer; an error of the driver fails the test with its message.
fn value(command: &str, answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Value {
    let mut answer = answer.unwrap_or_else(|error| panic!("{command}: {error}"));
    let body = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX);
    let mut body: Value = body.read_json().expect("JSON");
    assert!(
        answer.status().is_success(),
        "{command}: {}",
        body["value"]["message"]
    );
    body["value"].take()
}
