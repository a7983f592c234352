//! Lists of objects that share their unchanged parts.

use std::collections::BTreeMap;
use std::sync::Arc;

use kindsight_contract::RelativeList;

use crate::Object;

/// Number of objects in a leaf.
const LEAF: usize = 64;

/// The objects of a report, in its order.
///
/// Consecutive reports share the leaves without a changed object. So a report on 5,000 objects of which one
/// changed costs a new leaf, and the receiver finds the change by comparing pointers.
#[derive(Debug, Clone, Default)]
pub struct ObjectList {
    /// All but the last have [`LEAF`] objects.
    leaves: Vec<Arc<[Object]>>,
    len: usize,
}

impl ObjectList {
    /// The number of objects.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the list has no object.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The object at a position.
    pub fn get(&self, position: usize) -> Option<&Object> {
        self.leaves.get(position / LEAF)?.get(position % LEAF)
    }

    /// All objects, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Object> + Clone {
        self.leaves.iter().flat_map(|leaf| leaf.iter())
    }

    /// The same list with other objects at some positions. A position after the end is ignored.
    #[must_use]
    pub fn with(&self, changed: impl IntoIterator<Item = (usize, Object)>) -> Self {
        let mut of_leaves: BTreeMap<usize, Vec<(usize, Object)>> = BTreeMap::new();
        for (position, object) in changed {
            let of_leaf = of_leaves.entry(position / LEAF).or_default();
            of_leaf.push((position % LEAF, object));
        }
        let mut list = self.clone();
        for (leaf, changed) in of_leaves {
            let Some(leaf) = list.leaves.get_mut(leaf) else {
                continue;
            };
            let mut objects: Vec<Object> = leaf.to_vec();
            for (at, object) in changed {
                if let Some(known) = objects.get_mut(at) {
                    *known = object;
                }
            }
            *leaf = objects.into();
        }
        list
    }

    /// The positions of the objects that differ from an earlier list, if both have the same number of objects. A
    /// shared leaf costs one comparison of pointers.
    pub fn changed_since(&self, before: &Self) -> Option<Vec<usize>> {
        if self.len != before.len {
            return None;
        }
        let leaves = before
            .leaves
            .iter()
            .zip(&self.leaves)
            .zip((0..).step_by(LEAF));
        let leaves = leaves.filter(|((before, leaf), _)| !Arc::ptr_eq(before, leaf));
        let objects =
            leaves.flat_map(|((before, leaf), begin)| before.iter().zip(leaf.iter()).zip(begin..));
        let changed = objects.filter(|((before, object), _)| !object.is_unchanged(before));
        Some(changed.map(|(_, position)| position).collect())
    }
}

impl FromIterator<Object> for ObjectList {
    fn from_iter<I: IntoIterator<Item = Object>>(objects: I) -> Self {
        objects.into_iter().collect::<Vec<Object>>().into()
    }
}

impl From<Vec<Object>> for ObjectList {
    fn from(objects: Vec<Object>) -> Self {
        Self::from(&*objects)
    }
}

impl<const N: usize> From<[Object; N]> for ObjectList {
    fn from(objects: [Object; N]) -> Self {
        Self::from(objects.as_slice())
    }
}

impl From<&[Object]> for ObjectList {
    fn from(objects: &[Object]) -> Self {
        Self {
            leaves: objects.chunks(LEAF).map(Arc::from).collect(),
            len: objects.len(),
        }
    }
}

impl From<&Arc<[Object]>> for ObjectList {
    fn from(objects: &Arc<[Object]>) -> Self {
        Self::from(&**objects)
    }
}

impl<'o> IntoIterator for &'o ObjectList {
    type Item = &'o Object;
    type IntoIter = Box<dyn Iterator<Item = &'o Object> + 'o>;

    fn into_iter(self) -> Self::IntoIter {
        Box::new(self.iter())
    }
}

impl RelativeList for ObjectList {
    type Relative = Object;

    fn get(&self, position: usize) -> Option<&Object> {
        Self::get(self, position)
    }

    fn len(&self) -> usize {
        self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(name: usize, version: usize) -> Object {
        let json = format!(
            r#"{{"kind": "Pod", "metadata": {{"name": "{name}", "resourceVersion": "{version}"}}}}"#
        );
        Object::from_json(json).unwrap()
    }

    #[test]
    fn a_changed_object_replaces_one_leaf() {
        for len in [1, LEAF, 5 * LEAF + 1] {
            let before: ObjectList = (0..len).map(|name| object(name, 1)).collect();
            assert_eq!(before.changed_since(&before), Some(Vec::new()));
            let last = len - 1;
            let after = before.with([(last, object(last, 2)), (len, object(len, 2))]);
            assert_eq!(after.changed_since(&before), Some(vec![last]));
            assert_eq!(after.iter().count(), len);
            let shared = before.leaves.iter().zip(&after.leaves);
            let shared = shared.filter(|(before, after)| Arc::ptr_eq(before, after));
            assert_eq!(shared.count(), before.leaves.len() - 1);
            let json = &after.get(last).unwrap().json;
            assert!(json.contains(r#""resourceVersion": "2""#), "{json}");
        }
    }

    #[test]
    fn lists_of_other_objects_are_compared_by_their_content() {
        let before: ObjectList = (0..3).map(|name| object(name, 1)).collect();
        let same: ObjectList = (0..3).map(|name| object(name, 1)).collect();
        assert_eq!(same.changed_since(&before), Some(Vec::new()));
        let fewer: ObjectList = (0..2).map(|name| object(name, 1)).collect();
        assert_eq!(fewer.changed_since(&before), None);
    }
}
