//! Writes JSON text with little code, because the code becomes part of each component.

use std::fmt::Write as _;

/// Appends `text` as a JSON string.
pub fn write_string(text: &str, to: &mut String) {
    to.push('"');
    for letter in text.chars() {
        match letter {
            '"' => to.push_str("\\\""),
            '\\' => to.push_str("\\\\"),
            '\n' => to.push_str("\\n"),
            letter if u32::from(letter) < 0x20 => {
                // Writing to a String does not fail.
                let _ = write!(to, "\\u{:04x}", u32::from(letter));
            }
            letter => to.push(letter),
        }
    }
    to.push('"');
}

/// Appends an object, member by member. Call [`Self::end`] to close it.
pub(crate) struct ObjectWriter<'t> {
    to: &'t mut String,
    is_empty: bool,
}

impl<'t> ObjectWriter<'t> {
    pub(crate) fn begin(to: &'t mut String) -> Self {
        to.push('{');
        Self { to, is_empty: true }
    }

    /// Appends a key; the caller appends its value.
    pub(crate) fn key(&mut self, name: &str) -> &mut String {
        if !self.is_empty {
            self.to.push(',');
        }
        self.is_empty = false;
        write_string(name, self.to);
        self.to.push(':');
        self.to
    }

    pub(crate) fn text(&mut self, name: &str, text: &str) {
        write_string(text, self.key(name));
    }

    /// Appends a list, if it has items.
    pub(crate) fn list<T>(
        &mut self,
        name: &str,
        items: &[T],
        mut write: impl FnMut(&T, &mut String),
    ) {
        if items.is_empty() {
            return;
        }
        let to = self.key(name);
        to.push('[');
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                to.push(',');
            }
            write(item, to);
        }
        to.push(']');
    }

    /// Appends a list of texts, if it has items.
    pub(crate) fn texts(&mut self, name: &str, texts: &[String]) {
        self.list(name, texts, |text, to| write_string(text, to));
    }

    pub(crate) fn end(self) {
        self.to.push('}');
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_string_is_read_as_it_was_written(text in any::<String>()) {
            let mut json = String::new();
            write_string(&text, &mut json);
            prop_assert_eq!(serde_json::from_str::<String>(&json).expect("JSON"), text);
        }
    }
}
