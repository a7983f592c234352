//! Interns texts that many objects share: Kinds, namespaces, labels and owners.

use std::collections::HashSet;
use std::sync::Arc;

use crate::Gvk;

/// Interned texts of the objects of one report: equal texts share one allocation.
///
/// Holds all texts of the objects, so it is dropped after the report was decoded.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    known: HashSet<Arc<str>>,
    is_alone: bool,
}

impl Texts {
    /// Interns nothing, for an object that is read alone.
    pub(crate) fn alone() -> Self {
        Self {
            is_alone: true,
            ..Self::default()
        }
    }

    /// The shared copy of a text.
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

    /// A Kind with shared parts.
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
    fn equal_texts_are_shared_unless_an_object_is_read_alone() {
        for (mut texts, is_one) in [(Texts::default(), true), (Texts::alone(), false)] {
            let (one, other) = (texts.share("a"), texts.share("a"));
            assert_eq!((&*one, &*other), ("a", "a"));
            assert_eq!(Arc::ptr_eq(&one, &other), is_one);
            assert_eq!(&*texts.share("b"), "b");
        }
    }
}
