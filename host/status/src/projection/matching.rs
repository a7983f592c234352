//! Finds for each expected resource the object it became.

use kindsight_model::Object;

use super::Expected;
use crate::map::{Map, map_for};

/// Where a manifest that names no namespace lands if the deployment names none either.
const DEFAULT_NAMESPACE: &str = "default";

/// Objects by Kind and name, with their positions ascending.
type Index<'a> = Map<(&'a str, &'a str), Vec<usize>>;

/// For each expected resource the position of its object.
///
/// First everything that fits exactly, then what is left over: a guess never takes away what
/// another resource names in full.
pub(super) fn match_up(
    expected: &[Expected],
    objects: &[Object],
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
        namespace: if namespace.is_empty() {
            DEFAULT_NAMESPACE
        } else {
            namespace
        },
    };
    let mut matches: Vec<_> = expected.iter().map(|one| search.exact(one)).collect();
    let mut taken = vec![false; objects.len()];
    for &position in matches.iter().flatten() {
        take(&mut taken, position);
    }
    for (found, expected) in matches.iter_mut().zip(expected) {
        if found.is_none() {
            *found = search.near(expected, &taken);
            if let Some(position) = *found {
                take(&mut taken, position);
            }
        }
    }
    matches
}

fn take(taken: &mut [bool], position: usize) {
    if let Some(mark) = taken.get_mut(position) {
        *mark = true;
    }
}

struct Search<'a> {
    objects: &'a [Object],
    index: Index<'a>,
    namespace: &'a str,
}

impl<'a> Search<'a> {
    /// The object in the namespace that the manifest names, or that the deployment names for it.
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

    /// An object that has no namespace, or whose reporter left it out; else, where the manifest
    /// names none, the only one there is.
    fn near(&self, expected: &Expected, taken: &[bool]) -> Option<usize> {
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

/// Whether objects of a Kind of one group are served as the other too: Kubernetes moved some out of
/// `extensions`, and an older monitor still reports them from there.
fn is_same_group(one: &str, other: &str) -> bool {
    const MOVED_TO: [&str; 2] = ["apps", "networking.k8s.io"];
    one == other
        || (one == "extensions" && MOVED_TO.contains(&other))
        || (other == "extensions" && MOVED_TO.contains(&one))
}
