//! The keys of a store among all keys of an etcd.

/// The keys that begin with a prefix. Users of the store do not see the prefix.
#[derive(Debug, Clone)]
pub(super) struct KeySpace {
    prefix: String,
}

/// The keys from the first one up to the second one, which is excluded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) from: Vec<u8>,
    pub(super) end: Vec<u8>,
}

impl KeySpace {
    pub(super) fn new(prefix: &str) -> Self {
        Self {
            prefix: prefix.to_owned(),
        }
    }

    /// Converts a key to its form in etcd.
    pub(super) fn key(&self, key: &str) -> Vec<u8> {
        [self.prefix.as_bytes(), key.as_bytes()].concat()
    }

    /// The span in etcd of all keys under a prefix.
    pub(super) fn under(&self, prefix: &str) -> Span {
        let from = self.key(prefix);
        let last = from.iter().rposition(|byte| *byte < u8::MAX);
        let end = match last.and_then(|last| from.get(..=last)) {
            Some([head @ .., last]) => [head, &[last.saturating_add(1)]].concat(),
            // All keys.
            _ => vec![0],
        };
        // An etcd key cannot be empty.
        let from = if from.is_empty() { vec![0] } else { from };
        Span { from, end }
    }

    /// Converts an etcd key to its form for users of the store. Returns `None` if the key is
    /// outside this key space or is not UTF-8.
    pub(super) fn stripped(&self, key: &[u8]) -> Option<String> {
        let key = key.strip_prefix(self.prefix.as_bytes())?;
        String::from_utf8(key.to_vec()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(space: &str, prefix: &str) -> (Vec<u8>, Vec<u8>) {
        let Span { from, end } = KeySpace::new(space).under(prefix);
        (from, end)
    }

    #[test]
    fn a_span_ends_with_its_prefix() {
        assert_eq!(span("", "/a/"), (b"/a/".to_vec(), b"/a0".to_vec()));
        assert_eq!(span("/t", "/a/"), (b"/t/a/".to_vec(), b"/t/a0".to_vec()));
        assert_eq!(span("", ""), (vec![0], vec![0]));
        assert_eq!(span("/t", ""), (b"/t".to_vec(), b"/u".to_vec()));
    }

    #[test]
    fn keys_of_others_and_those_that_are_no_text_are_passed_over() {
        let space = KeySpace::new("/t");
        assert_eq!(space.key("/a/"), b"/t/a/");
        assert_eq!(space.stripped(b"/t/a/").as_deref(), Some("/a/"));
        assert_eq!(space.stripped(b"/u/a/"), None);
        assert_eq!(space.stripped(b"/t/\xff/"), None);
    }
}
