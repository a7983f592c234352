//! Audits: comparisons of the index with pages of consistent lists.
//!
//! A page shows a range of the names of a Kind. API servers sort the objects of a list by namespace and name.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use super::comparison::{ConsistentList, ObjectName};
use super::entry::Entry;
use super::{ClusterIndex, ScopeId};
use crate::decoded::Decoded;
use crate::uid::Uid;

/// One page of a consistent list of a Kind.
#[derive(Debug)]
pub struct ListedPage {
    list: ConsistentList,
    /// The last object of the previous page; none for the first page.
    after: Option<ObjectName>,
    /// The last object of this page, if it is the last one that was added.
    last: Option<ObjectName>,
    /// True if further pages follow.
    has_more: bool,
}

impl ListedPage {
    /// A page without objects, which follows after an object of the previous page.
    pub fn new(scope: ScopeId, after: Option<ObjectName>) -> Self {
        Self {
            list: ConsistentList::new(scope, None),
            after,
            last: None,
            has_more: false,
        }
    }

    /// Adds an object, in the order of the list.
    pub fn add(&mut self, object: Decoded) {
        let name = (Arc::clone(&object.namespace), Arc::clone(&object.name));
        // An item without a readable identity may be any object. The coverage of the Kind shows this.
        if !name.1.is_empty() {
            self.last = Some(name);
            self.list.add(object);
        }
    }

    /// Ends the page. The version is 0 if versions have no order.
    pub fn end(&mut self, version: u64, has_more: bool) {
        self.list.version = version;
        self.has_more = has_more;
    }

    /// The Kind in its scope.
    pub fn scope(&self) -> ScopeId {
        self.list.scope
    }

    /// The version of the list; 0 if versions have no order.
    pub fn version(&self) -> u64 {
        self.list.version
    }

    /// The last object of the page.
    pub fn last(&self) -> Option<&ObjectName> {
        self.last.as_ref()
    }

    /// Number of objects.
    pub fn count(&self) -> usize {
        self.list.len()
    }

    /// Returns whether the page would contain an object with this name.
    fn contains(&self, namespace: &str, name: &str) -> bool {
        let is_after = |after: &ObjectName| order((namespace, name), after) == Ordering::Greater;
        let is_until = |last: &ObjectName| order((namespace, name), last) != Ordering::Greater;
        let last = self.last.as_ref().filter(|_| self.has_more);
        self.after.as_ref().is_none_or(is_after) && last.is_none_or(is_until)
    }

    /// Returns whether the page may contain objects of a namespace.
    fn may_contain(&self, namespace: &str) -> bool {
        // `0` is the byte after `/`: names of the namespace are between both.
        let compare = |end: u8, object: &ObjectName| {
            let bytes = namespace.bytes().chain([end]);
            bytes.cmp(key((&object.0, &object.1)))
        };
        let is_after = |after: &ObjectName| compare(b'0', after) == Ordering::Greater;
        let is_until = |last: &ObjectName| compare(b'/', last) != Ordering::Greater;
        let last = self.last.as_ref().filter(|_| self.has_more);
        namespace.is_empty()
            || self.after.as_ref().is_none_or(is_after) && last.is_none_or(is_until)
    }
}

/// The order of API servers: the order of the keys `namespace/name` of their store.
fn order((namespace, name): (&str, &str), other: &ObjectName) -> Ordering {
    key((namespace, name)).cmp(key((&other.0, &other.1)))
}

/// The bytes of the key of an object.
fn key<'n>((namespace, name): (&'n str, &'n str)) -> impl Iterator<Item = u8> + use<'n> {
    let slash = if namespace.is_empty() { "" } else { "/" };
    let parts = namespace.bytes().chain(slash.bytes());
    parts.chain(name.bytes())
}

/// An object whose state in the index differs from a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The namespace and the name of the object.
    pub object: ObjectName,
    /// The uid and the version in the list; none if the list does not have the object.
    listed: Option<(Uid, u64)>,
    /// True if the index has the object.
    is_known: bool,
}

impl Difference {
    /// Returns whether a later list has the object in the same state. The index lacked this state between both lists.
    pub fn is_confirmed_by(&self, later: &ConsistentList) -> bool {
        later.find(&self.object) == self.listed
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (namespace, name) = &self.object;
        let slash = if namespace.is_empty() { "" } else { "/" };
        let what = match (self.listed, self.is_known) {
            (None, _) => "was deleted",
            (Some(_), true) => "has another version",
            (Some(_), false) => "is missing",
        };
        write!(f, "{namespace}{slash}{name} {what}")
    }
}

impl ClusterIndex {
    /// Number of objects of a Kind in a scope.
    pub fn count_of(&self, scope: ScopeId) -> usize {
        self.objects.count_of(scope)
    }

    /// The objects whose state in the index differs from a page. An object with a version after the page does not
    /// differ. If the watch has not sent every event before the page, events may explain the differences. An object
    /// that was deleted after the page is missing in the index.
    pub fn differences(&self, page: &ListedPage) -> Vec<Difference> {
        let version = page.version();
        let listed = page.list.iter().filter_map(|(object, found)| {
            let id = self.objects.find(page.scope(), &object.0, &object.1);
            let known = id.and_then(|id| self.objects.get(id));
            let is_current = known.is_some_and(|entry| {
                (entry.uid, entry.version) == found || entry.version > version || entry.version == 0
            });
            (!is_current).then(|| Difference {
                object: object.clone(),
                listed: Some(found),
                is_known: known.is_some(),
            })
        });
        listed.chain(self.unlisted(page)).collect()
    }

    /// The objects in the range of a page that the page does not have, and that are not newer than the page.
    fn unlisted<'p>(&'p self, page: &'p ListedPage) -> impl Iterator<Item = Difference> + 'p {
        let known = self
            .objects
            .of_namespaces(page.scope(), |namespace| page.may_contain(namespace));
        known.filter_map(|(_, entry)| {
            let Entry { name, version, .. } = entry;
            let is_comparable = (1..=page.version()).contains(version) && !name.is_empty();
            if !is_comparable || !page.contains(entry.namespace(), name) {
                return None;
            }
            let object = (Arc::clone(entry.namespace()), Arc::from(&**name));
            page.list.find(&object).is_none().then_some(Difference {
                object,
                listed: None,
                is_known: true,
            })
        })
    }
}
