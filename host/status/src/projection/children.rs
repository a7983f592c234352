//! Children: objects that belong to another object of the same app and cluster. Only the owner counts in the
//! roll-up.
//!
//! Ownership is read from `metadata.ownerReferences`. An object is a child if a chain of owners, of any
//! length, leads from it to a root. A root is a resource that was sent, or an object without an owner in the
//! report. If the chain ends at an owner that is not in the report, or is a cycle, the object counts as if it
//! had no owner.

use std::collections::VecDeque;

use kindsight_model::{Identity, Object, Owner};

use crate::map::{Map, map_for};
use crate::resource_view::{ResourceView, Role};

/// Sets the owner of each child. A resource that was sent is never a child.
///
/// `known` has positions of resources without an object, with the identities of their owners.
///
/// Linear in the number of resources and owner references.
pub(super) fn set_owners(resources: &mut [ResourceView], known: &[(usize, Identity)]) {
    let mut links = links(resources);
    links.extend(known_links(resources, known));
    if links.is_empty() {
        return;
    }
    let steps = steps(resources, &links);
    let step = |at: usize| steps.get(at).copied().flatten();
    for Link { child, owner } in links {
        // Only an owner nearer to a root is set, so every chain of owners ends at a root.
        if let (Some(of_child), Some(of_owner)) = (step(child), step(owner))
            && of_owner < of_child
            && let Some(resource) = resources.get_mut(child)
        {
            resource.owner.get_or_insert(owner);
        }
    }
}

/// Positions of a resource and of one of its owners.
struct Link {
    child: usize,
    owner: usize,
}

/// The owners of all resources that were not sent, in the order of their references.
fn links(resources: &[ResourceView]) -> Vec<Link> {
    let owned =
        |resource: &&ResourceView| resource.role == Role::Unsent && !owners(resource).is_empty();
    if !resources.iter().any(|resource| owned(&resource)) {
        return Vec::new();
    }
    let index = Index::of(resources);
    let owned = resources
        .iter()
        .enumerate()
        .filter(|(_, resource)| owned(resource));
    let links = owned.flat_map(|(child, resource)| {
        let namespace = resource
            .object
            .as_ref()
            .map_or("", |object| &object.namespace);
        let index = &index;
        let found = owners(resource).iter();
        let found = found.filter_map(move |owner| index.find(owner, namespace, child));
        found.map(move |owner| Link { child, owner })
    });
    links.collect()
}

/// The owners of resources without an object.
fn known_links(resources: &[ResourceView], known: &[(usize, Identity)]) -> Vec<Link> {
    if known.is_empty() {
        return Vec::new();
    }
    let identities = resources.iter().enumerate();
    let positions: Map<Identity, usize> = identities
        .map(|(position, resource)| (resource.identity(), position))
        .collect();
    let without_object = known.iter().filter(|(child, _)| {
        let resource = resources.get(*child);
        resource.is_some_and(|resource| resource.object.is_none())
    });
    let links = without_object.filter_map(|(child, owner)| {
        let (child, owner) = (*child, *positions.get(owner)?);
        Some(Link { child, owner })
    });
    links.collect()
}

fn owners(resource: &ResourceView) -> &[Owner] {
    resource
        .object
        .as_ref()
        .map_or(&[], |object| &object.owners)
}

/// The number of steps from each resource to a root; `None` if it has no chain to a root.
fn steps(resources: &[ResourceView], links: &[Link]) -> Vec<Option<usize>> {
    let mut has_owner = vec![false; resources.len()];
    let mut children: Map<usize, Vec<usize>> = map_for(links.len());
    for Link { child, owner } in links {
        if let Some(mark) = has_owner.get_mut(*child) {
            *mark = true;
        }
        children.entry(*owner).or_default().push(*child);
    }
    let counts = has_owner.iter().map(|has_owner| (!has_owner).then_some(0));
    let mut steps: Vec<Option<usize>> = counts.collect();
    let first = steps.iter().enumerate().filter(|(_, step)| step.is_some());
    let mut waiting: VecDeque<(usize, usize)> = first.map(|(at, _)| (at, 0)).collect();
    while let Some((owner, step)) = waiting.pop_front() {
        for &child in children.get(&owner).into_iter().flatten() {
            if let Some(unset @ None) = steps.get_mut(child) {
                *unset = Some(step + 1);
                waiting.push_back((child, step + 1));
            }
        }
    }
    steps
}

/// Kind, namespace and name.
type Name<'a> = (&'a str, &'a str, &'a str);

/// Positions of resources, by uid and by name.
struct Index<'a> {
    uids: Map<&'a str, usize>,
    names: Map<Name<'a>, FirstTwo>,
    /// Only objects without a uid.
    names_without_uid: Map<Name<'a>, FirstTwo>,
}

impl<'a> Index<'a> {
    fn of(resources: &'a [ResourceView]) -> Self {
        let mut index = Self {
            uids: map_for(resources.len()),
            names: map_for(resources.len()),
            names_without_uid: map_for(0),
        };
        for (position, resource) in resources.iter().enumerate() {
            match &resource.object {
                Some(object) => index.add(object, position),
                None if !resource.is_sent() => index.add_by_name(resource, position),
                None => {}
            }
        }
        index
    }

    fn add(&mut self, object: &'a Object, position: usize) {
        let name: Name<'a> = (&object.gvk.kind, &object.namespace, &object.name);
        self.names.entry(name).or_default().add(position);
        if object.uid.is_empty() {
            let without_uid = self.names_without_uid.entry(name).or_default();
            without_uid.add(position);
        } else {
            self.uids.entry(&object.uid).or_insert(position);
        }
    }

    /// Adds a resource without an object, so without a uid: its item cannot be read, or it is known from
    /// before the start.
    fn add_by_name(&mut self, resource: &'a ResourceView, position: usize) {
        let name: Name<'a> = (&resource.gvk.kind, &resource.namespace, &resource.name);
        self.names.entry(name).or_default().add(position);
        let without_uid = self.names_without_uid.entry(name).or_default();
        without_uid.add(position);
    }

    /// The position of the owner that a reference names. Compares uids if both sides have one, else Kind and
    /// name in the namespace of the child. Never returns the child itself.
    fn find(&self, owner: &Owner, namespace: &str, child: usize) -> Option<usize> {
        let name: Name<'_> = (&owner.kind, namespace, &owner.name);
        let named = |index: &Map<Name<'_>, FirstTwo>| {
            let named = index.get(&name).filter(|_| !owner.name.is_empty());
            named.and_then(|named| named.other_than(child))
        };
        if owner.uid.is_empty() {
            return named(&self.names);
        }
        let by_uid = self.uids.get(&*owner.uid).copied();
        let by_uid = by_uid.filter(|&found| found != child);
        by_uid.or_else(|| named(&self.names_without_uid))
    }
}

/// The first two positions of a name. At most one of them is the child itself.
#[derive(Default)]
struct FirstTwo(Option<usize>, Option<usize>);

impl FirstTwo {
    fn add(&mut self, position: usize) {
        if self.0.is_none() {
            self.0 = Some(position);
        } else {
            self.1.get_or_insert(position);
        }
    }

    fn other_than(&self, position: usize) -> Option<usize> {
        self.0.filter(|&first| first != position).or(self.1)
    }
}

#[cfg(test)]
mod tests;
