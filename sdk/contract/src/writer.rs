//! Writers of the two encodings of an input, and what both write.

use std::collections::HashMap;

use crate::fields::Fields;
use crate::node::Node;

/// A writer of one encoding: JSON text, or the view.
///
/// Values come in the order of the text. The caller closes what it opens, with the number of its parts.
pub trait Writer {
    /// A place to go back to.
    type Mark;

    /// The place before the next value.
    fn mark(&self) -> Self::Mark;
    /// Goes back to a place, as if nothing had been written since.
    fn rewind(&mut self, mark: Self::Mark);
    /// Bytes of the encoding so far.
    fn bytes(&self) -> usize;
    /// Length of the text so far: a value's place and the position after it are its range.
    fn position(&self) -> usize;
    /// Opens an object; returns its place, to close it.
    fn open_object(&mut self, key: Option<&str>) -> usize;
    /// Opens an array; returns its place, to close it.
    fn open_array(&mut self, key: Option<&str>) -> usize;
    /// Closes the object or array at `place`, of so many parts.
    fn close(&mut self, place: usize, count: u32);
    /// Writes a string.
    fn text(&mut self, key: Option<&str>, text: &str);
    /// Writes a whole number.
    fn number(&mut self, key: Option<&str>, number: usize);
    /// Writes `null`.
    fn null(&mut self, key: Option<&str>);
    /// Copies a value with all its parts. Of members of one name only the last one.
    fn copy(&mut self, key: Option<&str>, node: Node<'_>);
}

/// Version and Kind of an object that does not name itself.
#[derive(Debug, Clone, Copy)]
pub struct Identity<'i> {
    /// `group/version`, or the version of the core group.
    pub api_version: &'i str,
    /// The Kind.
    pub kind: &'i str,
}

/// Writes an object, cut down to these fields; with this identity in place of its own, where it is
/// given. What is no object is written as an empty one. Returns its place.
pub fn write_object<W: Writer>(
    writer: &mut W,
    key: Option<&str>,
    object: Node<'_>,
    fields: &Fields,
    identity: Option<Identity<'_>>,
) -> usize {
    let place = writer.open_object(key);
    let mut count = 0;
    for (name, member) in members(object) {
        let is_replaced = identity.is_some() && matches!(name, "apiVersion" | "kind");
        if !is_replaced && write_member(writer, name, member, fields) {
            count += 1;
        }
    }
    if let Some(Identity { api_version, kind }) = identity {
        writer.text(Some("apiVersion"), api_version);
        writer.text(Some("kind"), kind);
        count += 2;
    }
    writer.close(place, count);
    place
}

/// Writes a member of an object if it is asked for.
fn write_member<W: Writer>(writer: &mut W, name: &str, member: Node<'_>, fields: &Fields) -> bool {
    if fields.is_whole() {
        writer.copy(Some(name), member);
        return true;
    }
    match fields.get(name).filter(|below| leads_into(below, member)) {
        Some(below) => {
            write_cut(writer, Some(name), member, below);
            true
        }
        None => false,
    }
}

/// Writes a value, cut down to these fields, which lead into it.
fn write_cut<W: Writer>(writer: &mut W, key: Option<&str>, node: Node<'_>, fields: &Fields) {
    if fields.is_whole() {
        return writer.copy(key, node);
    }
    let mut count = 0;
    if node.is_object() {
        let place = writer.open_object(key);
        for (name, member) in members(node) {
            count += u32::from(write_member(writer, name, member, fields));
        }
        writer.close(place, count);
    } else if let Some(of_items) = fields.of_items() {
        let place = writer.open_array(key);
        for item in node.items() {
            // An item that has none of the fields keeps its place.
            if leads_into(of_items, item) {
                write_cut(writer, None, item, of_items);
            } else {
                writer.null(None);
            }
            count += 1;
        }
        writer.close(place, count);
    }
}

/// Returns whether there is anything of a value to write: fields below it are asked for, and it has
/// parts where they say.
fn leads_into(fields: &Fields, node: Node<'_>) -> bool {
    fields.is_whole() || node.is_object() || (node.is_array() && fields.of_items().is_some())
}

/// The members of an object; of those of one name the last one.
fn members(node: Node<'_>) -> impl Iterator<Item = (&str, Node<'_>)> {
    let last = (!node.document().is_unique()).then(|| last_of_each(node));
    node.members().filter(move |(name, member)| {
        let last = last.as_ref().and_then(|last| last.get(name));
        last.is_none_or(|last| *last == member.index())
    })
}

/// The place of the last member of each name.
pub(crate) fn last_of_each(node: Node<'_>) -> HashMap<&str, u32> {
    let members = node.members();
    members
        .map(|(name, member)| (name, member.index()))
        .collect()
}

#[cfg(test)]
mod tests;
