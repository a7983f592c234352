//! Matches expected resources with reported objects.

use kindsight_model::{Object, ObjectList, Rejected, RejectedIdentity};

use super::Expected;
use crate::map::{Map, map_for};

/// The namespace if neither the manifest nor the deployment has one.
const DEFAULT_NAMESPACE: &str = "default";

/// Positions of objects by Kind and name, ascending.
type Index<'a> = Map<(&'a str, &'a str), Vec<usize>>;

/// Returns the position of each expected resource's object. `namespace` is the namespace of manifests that name none.
///
/// Called once for each report that is joined with its manifests. Exact matches precede fallbacks, so that a fallback never takes an object that another resource matches
/// exactly.
pub fn match_objects(
    expected: &[Expected],
    objects: &ObjectList,
    namespace: &str,
) -> Vec<Option<usize>> {
    let mut index: Index<'_> = map_for(objects.len());
    for (position, object) in objects.iter().enumerate() {
        let positions = index.entry((&object.gvk.kind, &object.name)).or_default();
        positions.push(position);
    }
    let search = Search {
        objects,
        index,
        namespace: or_default(namespace),
    };
    let mut matches: Vec<_> = expected.iter().map(|one| search.exact(one)).collect();
    let mut taken = vec![false; objects.len()];
    for &position in matches.iter().flatten() {
        take(&mut taken, position);
    }
    for (found, expected) in matches.iter_mut().zip(expected) {
        if found.is_none() {
            *found = search.fallback(expected, &taken);
            if let Some(position) = *found {
                take(&mut taken, position);
            }
        }
    }
    matches
}

/// The namespace of an expected resource; the namespace of the deployment if the manifest has none.
pub(super) fn namespace_of<'a>(expected: &'a Expected, deployment: &'a str) -> &'a str {
    match &*expected.namespace {
        "" => or_default(deployment),
        own => own,
    }
}

fn or_default(namespace: &str) -> &str {
    if namespace.is_empty() {
        DEFAULT_NAMESPACE
    } else {
        namespace
    }
}

/// Unreadable items of a report, by the Kind and name of their object.
pub(super) struct Unread<'a>(Map<(&'a str, &'a str), Vec<(&'a Rejected, &'a RejectedIdentity)>>);

impl<'a> Unread<'a> {
    pub(super) fn of(rejected: &'a [Rejected]) -> Self {
        let mut items: Map<_, Vec<_>> = map_for(rejected.len());
        for item in rejected {
            if let Some(identity) = &item.identity {
                let key = (&*identity.gvk.kind, &*identity.name);
                items.entry(key).or_default().push((item, identity));
            }
        }
        Self(items)
    }

    /// The item that may be this resource: it has the same Kind and name, and no other namespace.
    pub(super) fn item_of(&self, expected: &Expected) -> Option<&'a Rejected> {
        let items = self.0.get(&(&*expected.gvk.kind, &*expected.name))?;
        let fits = |identity: &RejectedIdentity| {
            let is_in_group = expected.manifest.is_none()
                || is_same_group(&expected.gvk.group, &identity.gvk.group);
            let namespaces = [&expected.namespace, &identity.namespace];
            let is_open = namespaces.iter().any(|namespace| namespace.is_empty());
            is_in_group && (is_open || expected.namespace == identity.namespace)
        };
        let mut items = items.iter();
        items.find_map(|(item, identity)| fits(identity).then_some(*item))
    }
}

fn take(taken: &mut [bool], position: usize) {
    if let Some(mark) = taken.get_mut(position) {
        *mark = true;
    }
}

struct Search<'a> {
    objects: &'a ObjectList,
    index: Index<'a>,
    namespace: &'a str,
}

impl<'a> Search<'a> {
    /// The object in the namespace of the manifest, or of the deployment if the manifest has none. An object
    /// with the same API version is preferred.
    fn exact(&self, expected: &Expected) -> Option<usize> {
        let namespace = if expected.namespace.is_empty() {
            self.namespace
        } else {
            &expected.namespace
        };
        let in_namespace = |object: &Object| &*object.namespace == namespace;
        let fits = |position: &usize| self.object(*position).is_some_and(in_namespace);
        let same_version = |position: &usize| {
            self.object(*position)
                .is_some_and(|object| object.gvk.version == expected.gvk.version)
        };
        let fitting = || self.candidates(expected).filter(fits);
        fitting().find(same_version).or_else(|| fitting().next())
    }

    /// An object without a namespace (cluster-scoped, or omitted by the reporter); else the only candidate,
    /// if the manifest has no namespace.
    fn fallback(&self, expected: &Expected, taken: &[bool]) -> Option<usize> {
        let free = |position: &usize| taken.get(*position) == Some(&false);
        let no_namespace = |position: &usize| {
            self.object(*position)
                .is_some_and(|object| object.namespace.is_empty())
        };
        let mut candidates = self.candidates(expected).filter(free);
        let first = candidates.clone().find(no_namespace);
        if first.is_some() || !expected.namespace.is_empty() {
            return first;
        }
        candidates.next().filter(|_| candidates.next().is_none())
    }

    /// Objects of the same group, Kind and name.
    fn candidates<'s>(
        &'s self,
        expected: &'s Expected,
    ) -> impl Iterator<Item = usize> + Clone + use<'s, 'a> {
        let key = (&*expected.gvk.kind, &*expected.name);
        let group = expected.manifest.is_some().then(|| &*expected.gvk.group);
        let positions = self.index.get(&key).map_or(&[][..], Vec::as_slice);
        positions.iter().copied().filter(move |position| {
            let object = self.object(*position);
            object.is_some_and(|object| {
                group.is_none_or(|group| is_same_group(group, &object.gvk.group))
            })
        })
    }

    fn object(&self, position: usize) -> Option<&'a Object> {
        self.objects.get(position)
    }
}

/// Returns whether two groups are equal or serve the same Kinds. Kubernetes moved some Kinds out of
/// `extensions`, but older monitors still report them in that group.
fn is_same_group(one: &str, other: &str) -> bool {
    const MOVED_TO: [&str; 2] = ["apps", "networking.k8s.io"];
    one == other
        || (one == "extensions" && MOVED_TO.contains(&other))
        || (other == "extensions" && MOVED_TO.contains(&one))
}
