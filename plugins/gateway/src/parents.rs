//! The parents that a route names, and the answers of their controllers.

use kindsight_sdk::prelude::*;

use crate::GROUP;

/// Maximum number of compared pairs of a parent in the spec and a parent in the status. The API
/// permits 32 of each.
const PAIRS_MAX: usize = 64 * 64;

/// The parents that a route names in its spec, and the answers in its status.
#[derive(Clone, Copy)]
pub(crate) struct Parents<'a> {
    references: Node<'a>,
    namespace: Option<&'a str>,
    answers: Node<'a>,
    /// True if the spec is reported, and not too large to be compared with the answers.
    are_comparable: bool,
}

impl<'a> Parents<'a> {
    pub(crate) fn of(object: &Object<'a>) -> Self {
        let references = object.at("/spec/parentRefs");
        let answers = object.at("/status/parents");
        let pairs = references
            .items()
            .len()
            .saturating_mul(answers.items().len());
        Self {
            references,
            namespace: object.at("/metadata/namespace").text(),
            answers,
            are_comparable: object.spec().is_object() && pairs <= PAIRS_MAX,
        }
    }

    /// The answers for these parents. The answer for a parent that the spec no longer names is
    /// omitted, because its controller may never remove it. All answers, if they cannot be compared
    /// with the spec.
    pub(crate) fn answers(self) -> impl Iterator<Item = Node<'a>> + Clone + use<'a> {
        let answers = self.answers.items();
        answers.filter(move |answer| !self.are_comparable || self.names(*answer))
    }

    fn names(self, answer: Node<'_>) -> bool {
        let mut references = self.references.items();
        references.any(|asked| is_same(asked, answer.get("parentRef"), self.namespace))
    }

    /// The verdict on a reported spec if no controller has answered for a parent: Pending, or Present
    /// if there are too many parents to compare.
    pub(crate) fn unanswered(self) -> Option<Verdict> {
        if !self.are_comparable {
            let message = "it has more parents than are compared";
            return Some(Verdict::present("TooManyParents", message));
        }
        let is_answered = |asked: Node<'_>| {
            let mut answers = self.answers.items();
            answers.any(|answer| is_same(asked, answer.get("parentRef"), self.namespace))
        };
        let missing = self.references.items().find(|asked| !is_answered(*asked))?;
        let name = missing.get("name").text_or_empty();
        Some(Verdict::pending(
            "WaitingForController",
            match missing.get("sectionName").text() {
                Some(section) => {
                    format!("no controller answers for parent {name}, section {section}")
                }
                None => format!("no controller answers for parent {name}"),
            },
        ))
    }
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
