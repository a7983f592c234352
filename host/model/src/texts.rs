//! Interns texts that many objects share: Kinds, namespaces, labels, owners and states.

use std::collections::HashSet;
use std::sync::Arc;

use crate::Gvk;

/// Maximum number of interned texts. At the limit all are forgotten, and texts that were interned earlier are stored a
/// second time.
const TEXTS_MAX: usize = 65_536;

/// Largest text that is interned, in bytes. Names, labels and states are shorter.
const TEXT_BYTES_MAX: usize = 256;

/// Interned texts: equal texts share one allocation.
///
/// Keeps each text until the limit is reached, also if no object has the text any more: 16 MiB at most. A report of a
/// monitor, the index of a cluster, and the received state of another host each have one.
#[derive(Debug, Default)]
pub struct Texts {
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

    /// The shared copy of a text. A longer text than 256 bytes is not shared. Called for each text of a changed object.
    pub fn share(&mut self, text: impl AsRef<str> + Into<Arc<str>>) -> Arc<str> {
        if self.is_alone || text.as_ref().len() > TEXT_BYTES_MAX {
            return text.into();
        }
        if let Some(known) = self.known.get(text.as_ref()) {
            return Arc::clone(known);
        }
        if self.known.len() >= TEXTS_MAX {
            self.known.clear();
        }
        let new = text.into();
        self.known.insert(Arc::clone(&new));
        new
    }

    /// A Kind with shared parts. Called for each changed object.
    pub fn gvk(&mut self, group: &str, version: &str, kind: &str) -> Gvk {
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

    #[test]
    fn neither_many_texts_nor_long_ones_are_kept() {
        let mut texts = Texts::default();
        let long = "a".repeat(TEXT_BYTES_MAX + 1);
        let (one, other) = (texts.share(&*long), texts.share(&*long));
        assert_eq!(one, other);
        assert!(!Arc::ptr_eq(&one, &other));
        for number in 0..=TEXTS_MAX {
            texts.share(number.to_string());
        }
        assert_eq!(texts.known.len(), 1);
    }
}
