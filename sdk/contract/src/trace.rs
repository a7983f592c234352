//! A record of everything that is read from a document, for an author's tests.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use crate::entry::NONE;
use crate::fields::{EVERY_ITEM, Fields, escaped};
use crate::node::Node;

/// A record of everything that was read from one document.
///
/// Only the test harness uses it. In other cases, a document has no trace.
#[derive(Debug, Default)]
pub struct Trace(RefCell<BTreeSet<(u32, Look)>>);

/// One access to a node.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Look {
    /// The member with this name, whether it exists or not.
    Member(String),
    /// The member with this name by a reader of the SDK that uses it if it is passed. It needs no
    /// request.
    MemberIfPassed(String),
    /// All members.
    Members,
    /// The items, one by one.
    Items,
}

/// The reads of one part of a document, for example of the judged object.
#[derive(Debug, Clone, Default)]
pub struct Reads(BTreeSet<Read>);

/// One read: the place of a node, and the access to it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Read {
    place: Vec<String>,
    look: Look,
}

impl Trace {
    #[cold]
    pub(crate) fn note(&self, index: u32, look: Look) {
        if index != NONE {
            self.0.borrow_mut().insert((index, look));
        }
    }

    /// The reads of the part of the document with this root.
    pub fn reads(&self, part: Node<'_>) -> Reads {
        let mut places = HashMap::new();
        collect_places(part, &mut Vec::new(), &mut places);
        // The collection of the places above may have added accesses.
        let looks = self.0.borrow();
        let reads = looks.iter().filter_map(|(index, look)| {
            let place = places.get(index)?.clone();
            let look = look.clone();
            Some(Read { place, look })
        });
        Reads(reads.collect())
    }
}

/// Collects the place of every node, with items of arrays as [`EVERY_ITEM`].
fn collect_places(node: Node<'_>, place: &mut Vec<String>, places: &mut HashMap<u32, Vec<String>>) {
    places.insert(node.index(), place.clone());
    for (key, part) in node.parts() {
        place.push(key.unwrap_or(EVERY_ITEM).to_owned());
        collect_places(part, place, places);
        place.pop();
    }
}

impl Reads {
    /// Adds the reads of another call.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Pointers to the values that were read but not requested, in order.
    pub fn unasked(&self, fields: &Fields) -> Vec<String> {
        let reads = self.0.iter().filter(|read| read.is_unasked(fields));
        let pointers: BTreeSet<String> = reads.map(|read| pointer(&read.target())).collect();
        pointers.into_iter().collect()
    }

    /// Returns whether a field, given as a JSON pointer, or a part of it was read.
    pub fn include(&self, field: &str) -> bool {
        let field: Vec<String> = crate::pointer::tokens(field).collect();
        self.0.iter().any(|read| read.includes(&field))
    }
}

impl Read {
    /// The place that was read.
    fn target(&self) -> Vec<String> {
        let mut target = self.place.clone();
        if let Look::Member(key) | Look::MemberIfPassed(key) = &self.look {
            target.push(key.clone());
        }
        target
    }

    fn is_unasked(&self, fields: &Fields) -> bool {
        match &self.look {
            Look::Member(_) => fields.below(&self.target()).is_none(),
            // Listing the members of an object whose members were partly removed.
            Look::Members => {
                let below = fields.below(&self.place);
                below.is_none_or(|below| !below.is_whole())
            }
            Look::Items | Look::MemberIfPassed(_) => false,
        }
    }

    fn includes(&self, field: &[String]) -> bool {
        let target = self.target();
        let is_every_item = |rest: &[String]| matches!(rest, [step] if step == EVERY_ITEM);
        target.starts_with(field)
            || match &self.look {
                Look::Member(_) | Look::MemberIfPassed(_) => false,
                Look::Members => field.starts_with(&target),
                Look::Items => field.strip_prefix(&target[..]).is_some_and(is_every_item),
            }
    }
}

fn pointer(place: &[String]) -> String {
    let steps = place.iter().map(|step| format!("/{}", escaped(step)));
    steps.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tree;

    const OBJECT: &str =
        r#"{"kind": "A", "status": {"phase": "Up", "list": [{"a": 1}], "map": {"x": 1}}}"#;

    fn reads(read: impl FnOnce(Node<'_>)) -> Reads {
        let tree = Tree::read(OBJECT).unwrap();
        let trace = Trace::default();
        let document = tree.document(OBJECT).traced(&trace);
        read(document.root());
        trace.reads(document.root())
    }

    #[test]
    fn fields_that_are_read_but_not_requested_are_named() {
        let fields = Fields::new(&["/status/phase", "/status/list/*/a", "/status/map/x"]);
        let unasked = |read: fn(Node<'_>)| reads(read).unasked(&fields);
        let right = unasked(|root| {
            let _ = root.at("/status/phase/deeper");
            assert_eq!(root.at("/status/list").items().len(), 1);
            let _ = root.at("/status/list/0/a");
            let _ = root.at("/status/map/x");
        });
        assert_eq!(right, [""; 0]);
        let wrong = unasked(|root| {
            let _ = root.at("/spec/replicas");
            let _ = root.at("/status/gone");
            let _ = root.at("/status/list/0/b");
            assert_eq!(root.at("/status/map").members().count(), 1);
        });
        assert_eq!(
            wrong,
            ["/spec", "/status/gone", "/status/list/*/b", "/status/map"]
        );
    }

    #[test]
    fn reading_a_field_or_all_members_of_its_parent_counts_as_a_read() {
        let reads = reads(|root| {
            let _ = root.at("/status/phase");
            assert_eq!(root.at("/status/list").items().len(), 1);
            assert!(root.at("/status/map").is_same(root.at("/status/map")));
        });
        for (field, is_read) in [
            ("/status/phase", true),
            ("/status/phase/deeper", false),
            ("/status/list", true),
            ("/status/list/*", true),
            ("/status/list/*/a", false),
            ("/status/map/x", true),
            ("/status", true),
            ("/spec", false),
        ] {
            assert_eq!(reads.include(field), is_read, "{field}");
        }
    }
}
