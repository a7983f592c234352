//! Evidence from errors in the status: texts, lists of errors and messages of a validation.

use kindsight_sdk::prelude::*;

use crate::evidence::{Evidence, Says};

/// Members that are set only after an error: a text, an object with a message, or a list of them.
/// They mean that the object is not ready. The state shows whether the controller retries.
const ERRORS: &[&str] = &[
    "errMsg",
    "error",
    "errorDescription",
    "errorMessage",
    "errorReason",
    "errors",
    "failureMessage",
    "failureReason",
    "validationErrors",
];

/// Evidence from all errors in the status itself.
pub(crate) fn evidence(status: Node<'_>) -> Vec<Evidence> {
    let errors = ERRORS.iter().filter_map(|name| {
        let error = status.get(name);
        let text = text(error).or_else(|| error.items().find_map(text))?;
        Some(Evidence::new(Says::Pending, &["ErrorReported"], text))
    });
    errors.chain(validation(status)).collect()
}

/// The text of one error.
fn text(error: Node<'_>) -> Option<&str> {
    let texts = [error, error.get("message"), error.get("error")];
    let mut texts = texts.into_iter().filter_map(Node::text);
    texts.find(|text| !text.is_empty())
}

/// The first error that an analysis found in the spec, as Istio lists it. The object is in use, but a
/// part of it has no effect.
fn validation(status: Node<'_>) -> Option<Evidence> {
    let mut messages = status.get("validationMessages").items().enumerate();
    messages.find_map(|(index, message)| {
        let level = message.get("level").text()?;
        if !level.eq_ignore_ascii_case("error") {
            return None;
        }
        let kind = message.get("type");
        let names = [kind.get("name"), kind.get("code"), message.get("code")];
        let [name, code, plain_code] = names.map(Node::text_or_empty);
        let reasons = [name, code, plain_code, "ValidationFailed"];
        let text = [
            message.get("message"),
            message.get("description"),
            kind.get("name"),
        ];
        let mut text = text.into_iter().map(Node::text_or_empty);
        let text = text.find(|text| !text.is_empty()).unwrap_or_default();
        let signal = format!("validationMessages[{index}].level is {level}");
        Some(Evidence::new(Says::Impaired, &reasons, text).signal(signal))
    })
}
