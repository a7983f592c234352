//! Writers of the two encodings of an input, and their common part.

use std::collections::HashMap;

use crate::fields::Fields;
use crate::node::Node;

/// A writer of one encoding: JSON text, or the view.
///
/// Values are written in the order of the text. The caller closes what it opens, with the number of
/// its parts.
pub trait Writer {
    /// A position to which the writer can return.
    type Mark;

    /// The position before the next value.
    fn mark(&self) -> Self::Mark;
    /// Returns to a position, and discards everything written after it.
    fn rewind(&mut self, mark: Self::Mark);
    /// The size of the encoding so far, in bytes.
    fn bytes(&self) -> usize;
    /// The length of the text so far. The range of a value is from its place to the position after
    /// it.
    fn position(&self) -> usize;
    /// Opens an object. Returns its place, which is needed to close it.
    fn open_object(&mut self, key: Option<&str>) -> usize;
    /// Opens an array. Returns its place, which is needed to close it.
    fn open_array(&mut self, key: Option<&str>) -> usize;
    /// Closes the object or array at `place`, which has this number of parts.
    fn close(&mut self, place: usize, count: u32);
    /// Writes a string.
    fn text(&mut self, key: Option<&str>, text: &str);
    /// Writes a whole number.
    fn number(&mut self, key: Option<&str>, number: usize);
    /// Writes `null`.
    fn null(&mut self, key: Option<&str>);
    /// Copies a value with all its parts. Of several members with the same name, only the last one
    /// is copied.
    fn copy(&mut self, key: Option<&str>, node: Node<'_>);
}

/// Version and Kind of an object that lacks them.
#[derive(Debug, Clone, Copy)]
pub struct Identity<'i> {
    /// `group/version`, or the version of the core group.
    pub api_version: &'i str,
    /// The Kind.
    pub kind: &'i str,
}

/// Writes an object, reduced to these fields, with the given identity instead of its own. If the
/// node is not an object, writes an empty one. Returns its place.
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

/// Writes a member of an object if it is requested.
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

/// Writes a value, reduced to these fields, which are parts of it.
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
            // An item that has none of the fields keeps its position.
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

/// Returns whether a part of a value must be written: fields below the value are requested, and the
/// value has parts there.
fn leads_into(fields: &Fields, node: Node<'_>) -> bool {
    fields.is_whole() || node.is_object() || (node.is_array() && fields.of_items().is_some())
}

/// The members of an object. Of several members with the same name, only the last one.
fn members(node: Node<'_>) -> impl Iterator<Item = (&str, Node<'_>)> {
    let last = (!node.document().is_unique()).then(|| last_of_each(node));
    node.members().filter(move |(name, member)| {
        let last = last.as_ref().and_then(|last| last.get(name));
        last.is_none_or(|last| *last == member.index())
    })
}

/// The position of the last member with each name.
pub(crate) fn last_of_each(node: Node<'_>) -> HashMap<&str, u32> {
    let members = node.members();
    members
        .map(|(name, member)| (name, member.index()))
        .collect()
}

#[cfg(test)]
mod tests;
