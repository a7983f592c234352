//! Lists of objects that share their unchanged parts.

use std::sync::Arc;

use kindsight_contract::RelativeList;

use crate::Object;

/// Number of objects in a leaf.
const LEAF: usize = 16;

/// Number of leaves in a group.
const GROUP: usize = 16;

/// Objects at consecutive positions.
type Leaf = Arc<[Object]>;

/// Consecutive leaves.
type Group = Arc<[Leaf]>;

/// The objects of a report, in its order. A clone costs one pointer.
///
/// Consecutive reports share the leaves and the groups without a changed object. So a report on 5,000 objects of which
/// one changed costs a new leaf, a new group and a new list of groups. The receiver finds the change by comparing
/// pointers.
#[derive(Debug, Clone, Default)]
pub struct ObjectList {
    /// All but the last have [`GROUP`] leaves. All leaves but the last have [`LEAF`] objects.
    groups: Arc<[Group]>,
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
        let leaves = self.groups.get(position / LEAF / GROUP)?;
        leaves.get(position / LEAF % GROUP)?.get(position % LEAF)
    }

    /// All objects, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Object> + Clone {
        let leaves = self.groups.iter().flat_map(|leaves| leaves.iter());
        leaves.flat_map(|leaf| leaf.iter())
    }

    /// The same list with other objects at some positions. A position after the end is ignored.
    #[must_use]
    pub fn with(&self, changed: impl IntoIterator<Item = (usize, Object)>) -> Self {
        let mut list = self.clone();
        for (position, object) in changed {
            if let Some(known) = list.get_mut(position) {
                *known = object;
            }
        }
        list
    }

    /// The object at a position. Copies the leaf and the group of the object if another list shares them.
    fn get_mut(&mut self, position: usize) -> Option<&mut Object> {
        let groups = Arc::make_mut(&mut self.groups);
        let leaves = Arc::make_mut(groups.get_mut(position / LEAF / GROUP)?);
        let objects = Arc::make_mut(leaves.get_mut(position / LEAF % GROUP)?);
        objects.get_mut(position % LEAF)
    }

    /// The positions of the objects that differ from an earlier list, if both have the same number of objects. A
    /// shared leaf or group costs one comparison of pointers.
    pub fn changed_since(&self, before: &Self) -> Option<Vec<usize>> {
        if self.len != before.len {
            return None;
        }
        let mut changed = Vec::new();
        for (group, before, leaves) in differing(&before.groups, &self.groups) {
            for (leaf, before, objects) in differing(before, leaves) {
                let begin = (group * GROUP + leaf) * LEAF;
                let objects = before.iter().zip(objects.iter()).zip(begin..);
                let objects = objects.filter(|((before, object), _)| !object.is_unchanged(before));
                changed.extend(objects.map(|(_, position)| position));
            }
        }
        Some(changed)
    }
}

/// The parts that two lists do not share, with their numbers.
fn differing<'l, T>(
    before: &'l [Arc<[T]>],
    after: &'l [Arc<[T]>],
) -> impl Iterator<Item = (usize, &'l [T], &'l [T])> {
    let pairs = before.iter().zip(after).enumerate();
    let pairs = pairs.filter(|(_, (before, after))| !Arc::ptr_eq(before, after));
    pairs.map(|(number, (before, after))| (number, &**before, &**after))
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
        let leaves: Vec<Leaf> = objects.chunks(LEAF).map(Arc::from).collect();
        Self {
            groups: leaves.chunks(GROUP).map(Arc::from).collect(),
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

    /// All leaves of a list.
    fn leaves(list: &ObjectList) -> Vec<&Leaf> {
        list.groups
            .iter()
            .flat_map(|leaves| leaves.iter())
            .collect()
    }

    #[test]
    fn a_changed_object_replaces_one_leaf() {
        for len in [1, LEAF, 5 * LEAF + 1, 2 * GROUP * LEAF + 1] {
            let before: ObjectList = (0..len).map(|name| object(name, 1)).collect();
            assert_eq!(before.changed_since(&before), Some(Vec::new()));
            let last = len - 1;
            let after = before.with([(last, object(last, 2)), (len, object(len, 2))]);
            assert_eq!(after.changed_since(&before), Some(vec![last]));
            assert_eq!(after.iter().count(), len);
            let json = &after.get(last).unwrap().json;
            assert!(json.contains(r#""resourceVersion": "2""#), "{json}");
            let (before, after) = (leaves(&before), leaves(&after));
            let shared = before.iter().zip(&after);
            let shared = shared.filter(|(before, after)| Arc::ptr_eq(before, after));
            assert_eq!(shared.count(), before.len() - 1);
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
