//! The parents that a route names, and the parents that answer.

use kindsight_sdk::prelude::*;

use crate::GROUP;

/// Maximum number of compared pairs of a parent in the spec and a parent in the status. The API
/// permits 32 of each.
const PAIRS_MAX: usize = 64 * 64;

/// Pending, if no controller has answered for a parent that the spec names.
pub(crate) fn unanswered(object: &Object<'_>) -> Option<Verdict> {
    let asked = object.at("/spec/parentRefs").items();
    let answers = object.at("/status/parents").items();
    if asked.len().saturating_mul(answers.len()) > PAIRS_MAX {
        let message = "it has more parents than are compared";
        return Some(Verdict::present("TooManyParents", message));
    }
    let namespace = object.at("/metadata/namespace").text();
    let is_answered = |asked: Node<'_>| {
        let mut answers = answers.clone();
        answers.any(|answer| is_same(asked, answer.get("parentRef"), namespace))
    };
    let missing = asked.clone().find(|asked| !is_answered(*asked))?;
    let name = missing.get("name").text_or_empty();
    Some(Verdict::pending(
        "WaitingForController",
        match missing.get("sectionName").text() {
            Some(section) => format!("no controller answers for parent {name}, section {section}"),
            None => format!("no controller answers for parent {name}"),
        },
    ))
}

/// Returns whether two references name the same parent. Controllers fill in defaults, and some omit
/// the section or the port, so these are only compared if both sides have them.
fn is_same(asked: Node<'_>, answered: Node<'_>, namespace: Option<&str>) -> bool {
    let same = |name: &str, default: &str| {
        text_or(asked, name, default) == text_or(answered, name, default)
    };
    let differ = |name: &str| {
        let (asked, answered) = (asked.get(name), answered.get(name));
        let both = asked.is_present() && answered.is_present();
        both && (asked.text(), asked.integer()) != (answered.text(), answered.integer())
    };
    let namespaces =
        [asked, answered].map(|reference| reference.get("namespace").text().or(namespace));
    let same_namespace = match namespaces {
        [Some(asked), Some(answered)] => asked == answered,
        // The namespace of the route itself is not reported.
        _ => true,
    };
    answered.is_object()
        && same("name", "")
        && same("kind", "Gateway")
        && same("group", GROUP)
        && same_namespace
        && !differ("sectionName")
        && !differ("port")
}

fn text_or<'a>(reference: Node<'a>, name: &str, default: &'a str) -> &'a str {
    reference.get(name).text().unwrap_or(default)
}
