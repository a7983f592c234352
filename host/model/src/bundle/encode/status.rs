//! The text of a status.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::BundleDialect;
use super::piece::Piece;
use crate::Coverage;
use crate::bundle::items::ANY_KIND;
use crate::bundle::lists::LISTS;

/// The largest size of a status without items, in bytes: the names of all lists, with the other members.
pub(super) const FRAME_BYTES: usize = 400;

/// The lists that the status of the first object has.
pub(super) struct Lists<'l> {
    pub(super) coverage: &'l Coverage,
    pub(super) dialect: BundleDialect,
    /// Lists of one Kind with objects that are in further objects.
    pub(super) moved: &'l BTreeSet<usize>,
    /// True if objects of the list of any Kind are in further objects.
    pub(super) is_any_moved: bool,
}

/// The status of the first object.
///
/// An empty list means that the app has no object of the Kind, so a Kind that is not covered, or whose objects are all in
/// further objects, has no list. `resourceCount` is the number of items: the original monitors do not keep it up to
/// date, and printer columns can show no other number. `ready` is false as in the original, because a monitor does not
/// evaluate objects.
pub(super) fn first(pieces: &[Piece<'_>], lists: &Lists<'_>) -> String {
    let bytes: usize = pieces.iter().map(Piece::bytes).sum();
    let mut status = begun(pieces.len(), bytes);
    for (at, list) in LISTS.iter().enumerate() {
        let items: Vec<&Piece<'_>> = in_list(pieces, Some(at)).collect();
        let is_supported = list.is_in_all() || lists.dialect == BundleDialect::Onap;
        let is_known = list.state(lists.coverage).is_covered() && !lists.moved.contains(&at);
        if !items.is_empty() || is_supported && is_known {
            write_list(&mut status, list.field, &items);
        }
    }
    let entries: Vec<&Piece<'_>> = in_list(pieces, None).collect();
    let is_known = lists.dialect == BundleDialect::V22 && !lists.is_any_moved;
    if !entries.is_empty() || is_known {
        write_list(&mut status, ANY_KIND, &entries);
    }
    status.push('}');
    status
}

/// The status of a further object. It has only the list of any Kind, whose entries no definition of the Kind changes.
pub(super) fn further(pieces: &[&Piece<'_>]) -> String {
    let bytes = pieces.iter().map(|piece| piece.entry_bytes()).sum();
    let mut status = begun(pieces.len(), bytes);
    write_list(&mut status, ANY_KIND, pieces);
    status.push('}');
    status
}

fn begun(items: usize, bytes: usize) -> String {
    let mut status = String::with_capacity(bytes + FRAME_BYTES);
    // The field is a signed number of 32 bits.
    let count = i32::try_from(items).unwrap_or(i32::MAX);
    // Writing to a String does not fail.
    let _ = write!(status, r#"{{"ready":false,"resourceCount":{count}"#);
    status
}

fn in_list<'p, 'r>(
    pieces: &'p [Piece<'r>],
    list: Option<usize>,
) -> impl Iterator<Item = &'p Piece<'r>> {
    pieces.iter().filter(move |piece| piece.list() == list)
}

fn write_list(status: &mut String, field: &str, pieces: &[&Piece<'_>]) {
    let _ = write!(status, r#","{field}":["#);
    for (at, piece) in pieces.iter().enumerate() {
        if at > 0 {
            status.push(',');
        }
        if field == ANY_KIND {
            piece.write_entry(status);
        } else {
            piece.write_item(status);
        }
    }
    status.push(']');
}
