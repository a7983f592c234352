//! Cursors, which pass once over a text with many objects. Each object becomes a tree.

use std::borrow::Cow;

use super::reader::{closing, no_closing, skip_space};
use super::skip::{colon_end, value_end};
use super::{ReadError, Tree, string};

/// A position in JSON text, before a value. Every byte is read once, and in order.
///
/// Skipped values are only checked against the grammar. A value that cannot become a tree (too
/// deep, too large, or with a number out of range) therefore does not affect the values beside it.
#[derive(Debug)]
pub struct Cursor<'t> {
    text: &'t str,
    at: usize,
    /// Memory that is reused for parsing each tree.
    scratch: Tree,
}

impl<'t> Cursor<'t> {
    /// The position at the start of a text.
    pub fn of(text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            scratch: Tree::default(),
        }
    }

    /// The first byte of the next value, or `None` at the end of the text.
    pub fn first(&self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        bytes.get(skip_space(bytes, self.at)).copied()
    }

    /// Skips the next value, and returns its text.
    ///
    /// # Errors
    /// If the text is not JSON.
    pub fn skip(&mut self) -> Result<&'t str, ReadError> {
        let start = self.start();
        self.at = value_end(self.text.as_bytes(), start)?;
        Ok(self.since(start))
    }

    /// Parses the next value if it can become a tree. Also returns its text. Otherwise, the cursor
    /// does not move.
    pub fn tree(&mut self) -> Option<(&'t str, Tree)> {
        let start = self.start();
        let rest = self.text.get(start..).unwrap_or_default();
        let end = self.scratch.reread(rest).ok()?;
        self.at = start + end;
        Some((self.since(start), self.scratch.compact()))
    }

    /// Calls `member` with the name of each member of the next value, which must be an object, at
    /// the position of the member's value. Returns the object's text. `member` must move the cursor
    /// past the value.
    ///
    /// # Errors
    /// If the text is not JSON, if the value is not an object, or the error of `member`.
    pub fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, &str) -> Result<(), ReadError>,
    ) -> Result<&'t str, ReadError> {
        self.parts(true, |cursor| {
            let key = cursor.key()?;
            member(cursor, &key)
        })
    }

    /// Calls `item` at each item of the next value, which must be an array. Returns the array's
    /// text. `item` must move the cursor past the item.
    ///
    /// # Errors
    /// If the text is not JSON, if the value is not an array, or the error of `item`.
    pub fn array(
        &mut self,
        item: impl FnMut(&mut Self) -> Result<(), ReadError>,
    ) -> Result<&'t str, ReadError> {
        self.parts(false, item)
    }

    /// Checks that the text ends at this position.
    ///
    /// # Errors
    /// If there is more text.
    pub fn end(mut self) -> Result<(), ReadError> {
        match self.start() {
            end if end == self.text.len() => Ok(()),
            end => Err(ReadError::Invalid("text after the end", end)),
        }
    }

    fn parts(
        &mut self,
        is_object: bool,
        mut part: impl FnMut(&mut Self) -> Result<(), ReadError>,
    ) -> Result<&'t str, ReadError> {
        let bytes = self.text.as_bytes();
        let start = self.start();
        let opening = if is_object { b'{' } else { b'[' };
        if bytes.get(start) != Some(&opening) {
            return Err(ReadError::Invalid("no value", start));
        }
        self.at += 1;
        if self.first() == Some(closing(is_object)) {
            self.at = self.start() + 1;
            return Ok(self.since(start));
        }
        loop {
            part(self)?;
            let at = self.start();
            self.at = at + 1;
            match bytes.get(at) {
                Some(b',') => {}
                Some(byte) if *byte == closing(is_object) => return Ok(self.since(start)),
                _ => return Err(ReadError::Invalid(no_closing(is_object), at)),
            }
        }
    }

    /// Reads the key of a member, and the colon after it.
    fn key(&mut self) -> Result<Cow<'t, str>, ReadError> {
        let bytes = self.text.as_bytes();
        let start = self.start();
        if bytes.get(start) != Some(&b'"') {
            return Err(ReadError::Invalid("no key", start));
        }
        let plain = string::plain_end(bytes, start + 1);
        let (key, end) = if bytes.get(plain) == Some(&b'"') {
            let key = self.text.get(start + 1..plain).unwrap_or_default();
            (Cow::Borrowed(key), plain + 1)
        } else {
            let mut key = String::new();
            let end = string::decode(self.text, start + 1, &mut key)?;
            (Cow::Owned(key), end)
        };
        self.at = colon_end(bytes, skip_space(bytes, end))?;
        Ok(key)
    }

    /// Moves to the next byte that is not white space. Returns its position.
    fn start(&mut self) -> usize {
        self.at = skip_space(self.text.as_bytes(), self.at);
        self.at
    }

    /// The text from a position to the present one.
    fn since(&self, start: usize) -> &'t str {
        self.text.get(start..self.at).unwrap_or_default()
    }
}

impl From<super::Problem> for ReadError {
    fn from((what, at): super::Problem) -> Self {
        Self::Invalid(what, at)
    }
}

#[cfg(test)]
mod tests;
