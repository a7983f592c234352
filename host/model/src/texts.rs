//! Texts that many objects have in common: Kinds, namespaces, labels and owners.

use std::collections::HashSet;
use std::sync::Arc;

use crate::Gvk;

/// Texts of the objects of one report: those that are equal are one.
///
/// Holds as much as its objects do, so it goes with the report that is read.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    known: HashSet<Arc<str>>,
    is_alone: bool,
}

impl Texts {
    /// For an object that is read alone, which shares nothing.
    pub(crate) fn alone() -> Self {
        Self {
            is_alone: true,
            ..Self::default()
        }
    }

    /// This text, which all with an equal one hold together.
    pub(crate) fn share(&mut self, text: &str) -> Arc<str> {
        if self.is_alone {
            return text.into();
        }
        if let Some(known) = self.known.get(text) {
            return Arc::clone(known);
        }
        let new = Arc::<str>::from(text);
        self.known.insert(Arc::clone(&new));
        new
    }

    /// A Kind of these parts.
    pub(crate) fn gvk(&mut self, group: &str, version: &str, kind: &str) -> Gvk {
        Gvk {
            group: self.share(group),
            version: self.share(version),
            kind: self.share(kind),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_one_unless_an_object_is_alone() {
        for (mut texts, is_one) in [(Texts::default(), true), (Texts::alone(), false)] {
            let (one, other) = (texts.share("a"), texts.share("a"));
            assert_eq!((&*one, &*other), ("a", "a"));
            assert_eq!(Arc::ptr_eq(&one, &other), is_one);
            assert_eq!(&*texts.share("b"), "b");
        }
    }
}
