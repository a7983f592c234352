//! Cursors: one pass over a text that holds many objects, of which each becomes a tree of its own.

use std::borrow::Cow;

use super::reader::{closing, no_closing, skip_space};
use super::skip::{colon_end, value_end};
use super::{ReadError, Tree, string};

/// A place in JSON text, before a value. Every byte is read once, and in order.
///
/// What it passes over is checked against the grammar alone, so that a value that no tree can be made of
/// (too deep, too large, a number out of range) does not affect what is beside it.
#[derive(Debug)]
pub struct Cursor<'t> {
    text: &'t str,
    at: usize,
    /// Memory in which each tree is read.
    scratch: Tree,
}

impl<'t> Cursor<'t> {
    /// The place at the start of a text.
    pub fn of(text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            scratch: Tree::default(),
        }
    }

    /// First byte of the next value; none at the end of the text.
    pub fn first(&self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        bytes.get(skip_space(bytes, self.at)).copied()
    }

    /// Passes over the next value; returns its text.
    ///
    /// # Errors
    /// Not JSON.
    pub fn skip(&mut self) -> Result<&'t str, ReadError> {
        let start = self.start();
        self.at = value_end(self.text.as_bytes(), start)?;
        Ok(self.since(start))
    }

    /// Reads the next value, if a tree can be made of it; returns its text too. Otherwise the cursor stays
    /// where it is.
    pub fn tree(&mut self) -> Option<(&'t str, Tree)> {
        let start = self.start();
        let rest = self.text.get(start..).unwrap_or_default();
        let end = self.scratch.reread(rest).ok()?;
        self.at = start + end;
        Some((self.since(start), self.scratch.compact()))
    }

    /// Calls `member` at the value of each member of the next value, an object, with the member's name;
    /// returns the object's text. `member` has to leave the value behind.
    ///
    /// # Errors
    /// Not JSON, no object, or an error of `member`.
    pub fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, &str) -> Result<(), ReadError>,
    ) -> Result<&'t str, ReadError> {
        self.parts(true, |cursor| {
            let key = cursor.key()?;
            member(cursor, &key)
        })
    }

    /// Calls `item` at each item of the next value, an array; returns the array's text. `item` has to leave
    /// the item behind.
    ///
    /// # Errors
    /// Not JSON, no array, or an error of `item`.
    pub fn array(
        &mut self,
        item: impl FnMut(&mut Self) -> Result<(), ReadError>,
    ) -> Result<&'t str, ReadError> {
        self.parts(false, item)
    }

    /// Checks that the text ends here.
    ///
    /// # Errors
    /// There is more.
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

    /// Reads a member's key and the colon after it.
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

    /// Moves on to the next byte that is not white space; returns its place.
    fn start(&mut self) -> usize {
        self.at = skip_space(self.text.as_bytes(), self.at);
        self.at
    }

    /// The text from a place to this one.
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
