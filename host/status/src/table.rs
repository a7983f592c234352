//! The resources of one app in one cluster, in leaves that consecutive views share.
//!
//! If one of 5,000 resources changes, the new view shares all leaves except one with the previous view. Each
//! leaf and each group of leaves has the counts of its resources. So a change recounts one leaf and merges
//! the other counts. The cost of a change grows with the number of groups, which is a thousandth of the
//! number of resources.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use crate::resource_view::{ResourceKey, ResourceView};
use crate::tally::Tally;
use crate::transition::identity;

/// Number of resources in a leaf.
const LEAF: usize = 32;

/// Number of leaves in a group.
const GROUP: usize = 32;

/// Counts of resources; a place is a position in the table.
pub(crate) type Counts = Tally<Arc<str>, usize>;

type Leaf = Arc<[Arc<ResourceView>]>;

/// The resources of one app in one cluster, by position, with precomputed counts. A clone is cheap.
///
/// The pipeline creates a table for each changed view; queries and streams read it.
#[derive(Debug, Clone, Default)]
pub struct ResourceTable {
    leaves: Vec<Leaf>,
    /// Counts of each leaf.
    of_leaves: Vec<Arc<Counts>>,
    /// Counts of each group of [`GROUP`] leaves.
    of_groups: Vec<Arc<Counts>>,
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
        let mut table = Self {
            leaves: resources.chunks(LEAF).map(Arc::from).collect(),
            names: Arc::new(Names::of(&resources)),
            len: resources.len(),
            ..Self::default()
        };
        let of_leaves = (0..table.leaves.len()).map(|leaf| Arc::new(table.count_leaf(leaf)));
        table.of_leaves = of_leaves.collect();
        let groups = table.of_leaves.chunks(GROUP);
        table.of_groups = groups.map(|group| Arc::new(table.merged(group))).collect();
        table.counts = Arc::new(table.merged(&table.of_groups));
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
        self.leaves
            .iter()
            .flat_map(|leaf| leaf.iter())
            .map(AsRef::as_ref)
    }

    /// The same resources in the same order, with new views of some resources.
    ///
    /// A changed view must have the key of the resource at its position; [`Names`] is shared.
    #[must_use]
    pub(crate) fn with(&self, changed: BTreeMap<usize, ResourceView>) -> Self {
        let mut table = self.clone();
        let mut leaves: Vec<usize> = Vec::new();
        for (position, resource) in changed {
            let leaf = position / LEAF;
            let Some(rows) = table.leaves.get_mut(leaf) else {
                continue;
            };
            if leaves.last() != Some(&leaf) {
                leaves.push(leaf);
                *rows = rows.iter().cloned().collect();
            }
            let row = Arc::get_mut(rows).and_then(|rows| rows.get_mut(position % LEAF));
            if let Some(row) = row {
                *row = Arc::new(resource);
            }
        }
        table.count_again(&leaves);
        table
    }

    /// Recounts the changed leaves, which must be in order, and their groups.
    fn count_again(&mut self, leaves: &[usize]) {
        for leaf in leaves {
            let counts = Arc::new(self.count_leaf(*leaf));
            if let Some(known) = self.of_leaves.get_mut(*leaf) {
                *known = counts;
            }
        }
        let mut groups: Vec<usize> = leaves.iter().map(|leaf| leaf / GROUP).collect();
        groups.dedup();
        for group in &groups {
            let leaves = self.of_leaves.chunks(GROUP).nth(*group);
            let counts = Arc::new(self.merged(leaves.unwrap_or_default()));
            if let Some(known) = self.of_groups.get_mut(*group) {
                *known = counts;
            }
        }
        if !groups.is_empty() {
            self.counts = Arc::new(self.merged(&self.of_groups));
        }
    }

    fn row(&self, position: usize) -> Option<&Arc<ResourceView>> {
        self.leaves.get(position / LEAF)?.get(position % LEAF)
    }

    fn count_leaf(&self, leaf: usize) -> Counts {
        let mut tally = Tally::default();
        let rows = self
            .leaves
            .get(leaf)
            .into_iter()
            .flat_map(|leaf| leaf.iter());
        for (position, resource) in (leaf * LEAF..).zip(rows) {
            let state = Arc::clone(&resource.verdict.state);
            tally.add(resource, state, self.row_place(position));
        }
        tally.with_places(|place| place.position)
    }

    fn merged(&self, parts: &[Arc<Counts>]) -> Counts {
        let mut all = Tally::default();
        for part in parts {
            all.merge(part.with_places(|position| self.row_place(*position)));
        }
        all.with_places(|place| place.position)
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
    /// do not have the same resources in the same order. A shared leaf costs one comparison of pointers.
    pub(crate) fn changed_since<'t>(
        &'t self,
        before: &'t Self,
    ) -> Option<impl Iterator<Item = (&'t ResourceView, &'t ResourceView)>> {
        let leaves = before.leaves.iter().zip(&self.leaves);
        let leaves = leaves.filter(|(before, leaf)| !Arc::ptr_eq(before, leaf));
        let rows = leaves.flat_map(|(before, leaf)| before.iter().zip(leaf.iter()));
        let changed = rows.filter(|(before, row)| !Arc::ptr_eq(before, row));
        let is_same_shape = Arc::ptr_eq(&self.names, &before.names);
        is_same_shape.then(|| changed.map(|(before, row)| (&**before, &**row)))
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
