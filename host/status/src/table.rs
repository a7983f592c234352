//! The resources of one app in one cluster, in leaves that consecutive views share.
//!
//! If one of 5,000 resources changes, the new view shares all leaves except one with the previous view. Each
//! leaf and each group of leaves has the counts of its resources. So a change copies and recounts one leaf and one
//! group, and merges the counts of the other groups. The number of groups is a 256th of the number of resources.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use crate::resource_view::{ResourceKey, ResourceView};
use crate::tally::Tally;
use crate::transition::identity;

/// Number of resources in a leaf.
const LEAF: usize = 16;

/// Number of leaves in a group.
const GROUP: usize = 16;

/// Counts of resources; a place is a position in the table.
pub(crate) type Counts = Tally<Arc<str>, usize>;

/// Resources at consecutive positions.
#[derive(Debug, Clone)]
struct Leaf {
    rows: Vec<Arc<ResourceView>>,
    counts: Arc<Counts>,
}

/// Consecutive leaves.
#[derive(Debug, Clone)]
struct Group {
    leaves: Vec<Arc<Leaf>>,
    counts: Arc<Counts>,
}

/// The resources of one app in one cluster, by position, with precomputed counts. A clone is cheap.
///
/// The pipeline creates a table for each changed view; queries and streams read it.
#[derive(Debug, Clone, Default)]
pub struct ResourceTable {
    groups: Vec<Arc<Group>>,
    counts: Arc<Counts>,
    /// Shared by all tables that have the same resources in the same order.
    names: Arc<Names>,
    len: usize,
}

/// Positions of resources in the order of their names.
#[derive(Debug, Default)]
struct Names {
    by_name: Box<[usize]>,
    /// Number of different names.
    count: usize,
    /// True if two resources have the same group, Kind, namespace and name.
    has_duplicates: bool,
}

impl Names {
    fn of(resources: &[Arc<ResourceView>]) -> Self {
        let name = |position: &usize| resources.get(*position).map(|resource| &*resource.name);
        let mut by_name: Box<[usize]> = (0..resources.len()).collect();
        // The sort is stable: resources with the same name keep their order.
        by_name.sort_by(|left, right| name(left).cmp(&name(right)));
        let names = by_name.chunk_by(|left, right| name(left) == name(right));
        let identities: HashSet<_> = resources
            .iter()
            .map(|resource| identity(resource))
            .collect();
        Self {
            count: names.count(),
            has_duplicates: identities.len() < resources.len(),
            by_name,
        }
    }
}

impl FromIterator<ResourceView> for ResourceTable {
    fn from_iter<I: IntoIterator<Item = ResourceView>>(resources: I) -> Self {
        let resources: Vec<Arc<ResourceView>> = resources.into_iter().map(Arc::new).collect();
        let leaves = resources.chunks(LEAF).map(|rows| {
            Arc::new(Leaf {
                rows: rows.to_vec(),
                counts: Arc::default(),
            })
        });
        let leaves: Vec<Arc<Leaf>> = leaves.collect();
        let groups = leaves.chunks(GROUP).map(|leaves| {
            Arc::new(Group {
                leaves: leaves.to_vec(),
                counts: Arc::default(),
            })
        });
        let mut table = Self {
            groups: groups.collect(),
            names: Arc::new(Names::of(&resources)),
            len: resources.len(),
            ..Self::default()
        };
        let all: Vec<usize> = (0..leaves.len()).collect();
        drop(leaves);
        table.count_again(&all);
        table
    }
}

impl ResourceTable {
    /// The number of resources.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether it has no resources.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The resource at a position.
    pub fn get(&self, position: usize) -> Option<&ResourceView> {
        self.row(position).map(AsRef::as_ref)
    }

    /// The first resource.
    pub fn first(&self) -> Option<&ResourceView> {
        self.get(0)
    }

    /// All resources, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &ResourceView> + Clone {
        let leaves = self.groups.iter().flat_map(|group| &group.leaves);
        leaves.flat_map(|leaf| &leaf.rows).map(AsRef::as_ref)
    }

    /// The same resources in the same order, with new views of some resources.
    ///
    /// A changed view must have the key of the resource at its position; [`Names`] is shared.
    #[must_use]
    pub(crate) fn with(&self, changed: BTreeMap<usize, ResourceView>) -> Self {
        let mut table = self.clone();
        let mut leaves: Vec<usize> = Vec::new();
        for (position, resource) in changed {
            let number = position / LEAF;
            let leaf = table.leaf_mut(number);
            if let Some(row) = leaf.and_then(|leaf| leaf.rows.get_mut(position % LEAF)) {
                *row = Arc::new(resource);
                leaves.push(number);
            }
        }
        leaves.dedup();
        table.count_again(&leaves);
        table
    }

    /// Recounts the changed leaves, which must be in order, and their groups.
    fn count_again(&mut self, leaves: &[usize]) {
        for number in leaves {
            let counts = Arc::new(self.count_leaf(*number));
            if let Some(leaf) = self.leaf_mut(*number) {
                leaf.counts = counts;
            }
        }
        let mut groups: Vec<usize> = leaves.iter().map(|leaf| leaf / GROUP).collect();
        groups.dedup();
        for number in &groups {
            let leaves = self.groups.get(*number).into_iter();
            let leaves = leaves.flat_map(|group| &group.leaves);
            let counts = self.together(leaves.map(|leaf| &leaf.counts));
            if let Some(group) = self.groups.get_mut(*number) {
                Arc::make_mut(group).counts = counts;
            }
        }
        if !groups.is_empty() {
            let groups = self.groups.iter();
            self.counts = self.together(groups.map(|group| &group.counts));
        }
    }

    fn leaf(&self, number: usize) -> Option<&Arc<Leaf>> {
        let group = self.groups.get(number / GROUP)?;
        group.leaves.get(number % GROUP)
    }

    /// A leaf. Copies it and its group if another table shares them.
    fn leaf_mut(&mut self, number: usize) -> Option<&mut Leaf> {
        let group = Arc::make_mut(self.groups.get_mut(number / GROUP)?);
        group.leaves.get_mut(number % GROUP).map(Arc::make_mut)
    }

    fn row(&self, position: usize) -> Option<&Arc<ResourceView>> {
        self.leaf(position / LEAF)?.rows.get(position % LEAF)
    }

    fn count_leaf(&self, number: usize) -> Counts {
        let mut tally = Tally::default();
        let rows = self.leaf(number).into_iter().flat_map(|leaf| &leaf.rows);
        for (position, resource) in (number * LEAF..).zip(rows) {
            let state = Arc::clone(&resource.verdict.state);
            tally.add(resource, state, self.row_place(position));
        }
        tally.with_places(|place| place.position)
    }

    /// The counts of several parts together. Shares the counts of a single part: most apps have few resources.
    fn together<'t>(&'t self, mut parts: impl Iterator<Item = &'t Arc<Counts>>) -> Arc<Counts> {
        let Some(first) = parts.next() else {
            return Arc::default();
        };
        let mut parts = parts.peekable();
        if parts.peek().is_none() {
            return Arc::clone(first);
        }
        let mut all = Tally::default();
        for part in std::iter::once(first).chain(parts) {
            all.merge_mapped(part, Arc::clone, |position| self.row_place(*position));
        }
        Arc::new(all.with_places(|place| place.position))
    }

    /// The place of a resource in this table.
    pub(crate) fn row_place(&self, position: usize) -> RowPlace<'_> {
        RowPlace {
            table: self,
            position,
        }
    }

    /// Counts of all resources.
    pub(crate) fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Returns whether both share all resources, so that there was no change between them.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.counts, &other.counts)
    }

    /// The resources that differ from an earlier table, each with its earlier view; `None` if the two tables
    /// do not have the same resources in the same order. A shared leaf or group costs one comparison of
    /// pointers.
    pub(crate) fn changed_since<'t>(
        &'t self,
        before: &'t Self,
    ) -> Option<impl Iterator<Item = (&'t ResourceView, &'t ResourceView)>> {
        let groups = differing(&before.groups, &self.groups);
        let leaves = groups.flat_map(|(before, group)| differing(&before.leaves, &group.leaves));
        let changed = leaves.flat_map(|(before, leaf)| differing(&before.rows, &leaf.rows));
        let is_same_shape = Arc::ptr_eq(&self.names, &before.names);
        is_same_shape.then_some(changed)
    }

    /// The positions of the resources that differ from an earlier table, ascending; `None` if the two tables do not have
    /// the same resources in the same order. A shared leaf or group costs one comparison of pointers. For hosts that follow this host.
    pub fn changed_positions(&self, before: &Self) -> Option<Vec<usize>> {
        if !Arc::ptr_eq(&self.names, &before.names) {
            return None;
        }
        let mut changed = Vec::new();
        for (group, now) in differing_at(&before.groups, &self.groups) {
            let Some(known) = before.groups.get(group) else {
                continue;
            };
            for (leaf, now) in differing_at(&known.leaves, &now.leaves) {
                let Some(known) = known.leaves.get(leaf) else {
                    continue;
                };
                let first = (group * GROUP + leaf) * LEAF;
                let rows = differing_at(&known.rows, &now.rows);
                changed.extend(rows.map(|(row, _)| first + row));
            }
        }
        Some(changed)
    }

    /// Returns whether two resources have the same group, Kind, namespace and name.
    pub(crate) fn has_duplicates(&self) -> bool {
        self.names.has_duplicates
    }

    /// The number of different names.
    pub(crate) fn name_count(&self) -> usize {
        self.names.count
    }

    /// The different names, in order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        let positions = self.names.by_name.iter();
        let names = positions.filter_map(|position| Some(&self.get(*position)?.name));
        let mut previous = None;
        names.filter(move |name| previous.replace(*name) != Some(name))
    }

    /// Positions of the resources with a name, ascending.
    pub(crate) fn positions(&self, name: &str) -> &[usize] {
        let all = &*self.names.by_name;
        let name_at = |position: &usize| self.get(*position).map(|resource| &*resource.name);
        let is_before = |position: &usize| name_at(position).is_some_and(|at| at < name);
        let (_, from) = all.split_at(all.partition_point(is_before));
        let is_named = |position: &usize| name_at(position) == Some(name);
        let (found, _) = from.split_at(from.partition_point(is_named));
        found
    }
}

/// The parts that two lists do not share.
fn differing<'t, T>(
    before: &'t [Arc<T>],
    after: &'t [Arc<T>],
) -> impl Iterator<Item = (&'t T, &'t T)> {
    let pairs = before.iter().zip(after);
    let pairs = pairs.filter(|(before, after)| !Arc::ptr_eq(before, after));
    pairs.map(|(before, after)| (&**before, &**after))
}

/// The positions of the parts that two lists do not share, with the later parts.
fn differing_at<'t, T>(
    before: &'t [Arc<T>],
    after: &'t [Arc<T>],
) -> impl Iterator<Item = (usize, &'t T)> {
    let pairs = before.iter().zip(after).enumerate();
    let pairs = pairs.filter(|(_, (before, after))| !Arc::ptr_eq(before, after));
    pairs.map(|(at, (_, after))| (at, &**after))
}

/// The place of a resource in its table. Ordered by the resource's own identity, so that the choice among several
/// bad resources does not depend on the order of a report.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowPlace<'t> {
    table: &'t ResourceTable,
    pub(crate) position: usize,
}

impl<'t> RowPlace<'t> {
    pub(crate) fn resource(&self) -> Option<&'t ResourceView> {
        self.table.get(self.position)
    }

    fn key(&self) -> (Option<ResourceKey<'t>>, usize) {
        let key = self.resource().map(ResourceView::key);
        (key, self.position)
    }
}

impl PartialEq for RowPlace<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for RowPlace<'_> {}

impl PartialOrd for RowPlace<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for RowPlace<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

#[cfg(test)]
mod tests;
