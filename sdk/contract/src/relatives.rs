//! Related objects: the search among objects that were reported together.
//!
//! The host searches in reports, and the SDK's harness searches among the objects of a fixture.

mod index;

use std::sync::Arc;

use crate::fields::{EVERY_ITEM, tokens};
use crate::label_selector::LabelSelector;
use crate::node::Node;
use crate::relation::{RelatedRule, Relation};
use index::Index;

/// Maximum number of intermediate owners between an object and its descendant. Real chains of
/// owners are only a few steps long.
const STEPS_MAX: usize = 16;

/// Maximum number of candidates that are checked for one rule if no index can narrow the search,
/// which is the case for a selector that only excludes. Objects beyond it are not found, and the
/// coverage shows that there may be more.
const SCANNED_MAX: usize = 1000;

/// The properties of an object that relations use.
pub trait Relative {
    /// Group, version and Kind.
    fn gvk(&self) -> (&str, &str, &str);
    /// Namespace; empty for cluster-scoped objects.
    fn namespace(&self) -> &str;
    /// Name.
    fn name(&self) -> &str;
    /// Uid; may be empty.
    fn uid(&self) -> &str;
    /// Owners: Kind, name and uid, some of which may be empty.
    fn owners(&self) -> impl Iterator<Item = (&str, &str, &str)>;
    /// Labels.
    fn labels(&self) -> impl Iterator<Item = (&str, &str)>;
}

/// A list of objects among which relations are searched.
pub trait RelativeList {
    /// The objects.
    type Relative: Relative;

    /// The object at a position.
    fn get(&self, position: usize) -> Option<&Self::Relative>;

    /// The number of objects.
    fn len(&self) -> usize;

    /// Returns whether there are no objects.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<R: Relative, L: std::ops::Deref<Target = [R]>> RelativeList for L {
    type Relative = R;

    fn get(&self, position: usize) -> Option<&R> {
        self.deref().get(position)
    }

    fn len(&self) -> usize {
        self.deref().len()
    }
}

/// Returns whether `owner` is an owner of `owned`. Compares the uid if both sides have one, or else
/// Kind and name in the same namespace.
fn is_owned<R: Relative>(owned: &R, owner: &R) -> bool {
    let (_, _, owner_kind) = owner.gvk();
    owned.owners().any(|(kind, name, uid)| {
        if uid.is_empty() || owner.uid().is_empty() {
            !name.is_empty()
                && name == owner.name()
                && kind == owner_kind
                && owned.namespace() == owner.namespace()
        } else {
            uid == owner.uid()
        }
    })
}

/// The value of a label of an object.
fn label<'r>(relative: &'r impl Relative, key: &str) -> Option<&'r str> {
    let mut labels = relative.labels();
    labels.find(|(name, _)| *name == key).map(|pair| pair.1)
}

/// The smallest set of candidates from `labelled` for a requirement that names the values of a label. `None` if the
/// selector has no such requirement.
fn narrowest<I: ExactSizeIterator<Item = usize>>(
    selector: &LabelSelector,
    labelled: impl Fn(&str, &str) -> I,
) -> Option<Vec<usize>> {
    let sets = selector.one_of_each().map(|(key, values)| {
        let lists = values.iter().map(|value| labelled(key, value));
        lists.collect::<Vec<I>>()
    });
    let size = |lists: &Vec<I>| lists.iter().map(ExactSizeIterator::len).sum::<usize>();
    let smallest = sets.min_by_key(size);
    smallest.map(|lists| lists.into_iter().flatten().collect())
}

/// Objects that were reported together, with an index.
#[derive(Debug, Default)]
pub struct Relatives<L> {
    objects: L,
    index: Arc<Index>,
    ignores_relations: bool,
}

/// The objects that a rule found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The positions of the objects, in order of namespace and name, up to the rule's limit.
    pub positions: Vec<usize>,
    /// Number of all objects that were found.
    pub total: usize,
    /// False if there were more candidates than the search checks.
    pub is_whole: bool,
}

impl<R: Relative, L: RelativeList<Relative = R>> Relatives<L> {
    /// Objects that were reported together.
    pub fn of(objects: L) -> Self {
        Self {
            objects,
            index: Arc::default(),
            ignores_relations: false,
        }
    }

    /// Later versions of the same objects, at the same positions. Each object must have the namespace, name, uid,
    /// labels and owners of its earlier version: both lists share the index.
    #[must_use]
    pub fn with_versions(&self, objects: L) -> Self {
        Self {
            objects,
            index: Arc::clone(&self.index),
            ignores_relations: self.ignores_relations,
        }
    }

    /// The same objects, but each rule finds all objects that match its pattern, regardless of the
    /// relation. Used to search for a relation that finds too few objects.
    #[must_use]
    pub fn ignoring_relations(self) -> Self {
        Self {
            ignores_relations: true,
            ..self
        }
    }

    /// The objects.
    pub fn objects(&self) -> &L {
        &self.objects
    }

    /// Finds the related objects of an object with the root `json` by a rule. The cost depends on
    /// the number of objects that are found, not on the number of all objects.
    pub fn find(&self, rule: &RelatedRule, object: &R, json: Node<'_>) -> Found {
        let mut is_whole = true;
        let mut positions = match &rule.relation {
            _ if self.ignores_relations => self.others(object),
            Relation::Owned => self.owned(object),
            Relation::Descendant => self.descendants(object),
            Relation::Owner => self.owners(object),
            Relation::SelectedBy(pointer) => {
                self.selected(rule, object, json.at(pointer), &mut is_whole)
            }
            Relation::Labelled(key) => self.labelled(object, key),
            Relation::Named(pointer) => self.named(object, json, pointer),
        };
        positions.retain(|&at| self.matches(rule, at));
        let key = |at: usize| {
            let relative = self.objects.get(at);
            relative.map(|relative| (relative.namespace(), relative.name(), at))
        };
        positions.sort_unstable_by(|&one, &other| key(one).cmp(&key(other)));
        positions.dedup();
        let total = positions.len();
        positions.truncate(usize::try_from(rule.limit).unwrap_or(usize::MAX));
        Found {
            positions,
            total,
            is_whole,
        }
    }

    fn matches(&self, rule: &RelatedRule, at: usize) -> bool {
        self.objects.get(at).is_some_and(|relative| {
            let (group, version, kind) = relative.gvk();
            rule.pattern.matches(group, version, kind)
        })
    }

    /// All objects except this one.
    fn others(&self, object: &R) -> Vec<usize> {
        let key = |relative: &R| {
            (
                relative.gvk().2.to_owned(),
                relative.namespace().to_owned(),
                relative.name().to_owned(),
            )
        };
        let itself = key(object);
        let positions = 0..self.objects.len();
        let is_other = |at: &usize| {
            self.objects
                .get(*at)
                .is_some_and(|other| key(other) != itself)
        };
        positions.filter(is_other).collect()
    }

    /// The positions of the owners of an object, and of their owners, nearest first.
    pub fn ancestors(&self, object: &R) -> Vec<usize> {
        let mut found = self.owners(object);
        found.dedup();
        let (mut begin, mut steps) = (0, 1);
        while begin < found.len() && steps < STEPS_MAX {
            let end = found.len();
            for at in begin..end {
                let owner = found.get(at).and_then(|&at| self.objects.get(at));
                let owners = owner.map(|owner| self.owners(owner));
                found.extend(owners.unwrap_or_default());
            }
            if !dedup_after(&mut found, end) {
                break;
            }
            (begin, steps) = (end, steps + 1);
        }
        found
    }

    /// The positions of the objects that an object owns.
    pub fn owned(&self, owner: &R) -> Vec<usize> {
        let candidates = self.index.owned_by(&self.objects, owner);
        let is_owned = |at: &usize| {
            self.objects
                .get(*at)
                .is_some_and(|relative| is_owned(relative, owner))
        };
        candidates.filter(is_owned).collect()
    }

    /// Objects that the object owns, directly or through any number of other objects.
    fn descendants(&self, owner: &R) -> Vec<usize> {
        let mut found = self.owned(owner);
        let (mut begin, mut steps) = (0, 1);
        // Objects may own each other in a circle, so each object is added only once.
        while begin < found.len() && steps < STEPS_MAX {
            let end = found.len();
            for at in begin..end {
                let parent = found.get(at).and_then(|&at| self.objects.get(at));
                let children = parent.map(|parent| self.owned(parent));
                found.extend(children.unwrap_or_default());
            }
            let new = dedup_after(&mut found, end);
            (begin, steps) = (end, steps + 1);
            if !new {
                break;
            }
        }
        found.retain(|&at| {
            self.objects
                .get(at)
                .is_some_and(|relative| !std::ptr::eq(relative, owner))
        });
        found
    }

    /// Objects that own the object.
    fn owners(&self, owned: &R) -> Vec<usize> {
        let namespace = owned.namespace();
        let named = owned.owners().flat_map(|(_, name, _)| {
            let cluster_scoped = self.index.named(&self.objects, "", name);
            self.index
                .named(&self.objects, namespace, name)
                .chain(cluster_scoped)
        });
        let is_owner = |at: &usize| {
            self.objects
                .get(*at)
                .is_some_and(|relative| is_owned(owned, relative))
        };
        named.filter(is_owner).collect()
    }

    fn selected(
        &self,
        rule: &RelatedRule,
        object: &R,
        selector: Node<'_>,
        is_whole: &mut bool,
    ) -> Vec<usize> {
        let Some(selector) = LabelSelector::of(selector) else {
            return Vec::new();
        };
        let namespace = object.namespace();
        let labelled =
            |key: &str, value: &str| self.index.labelled(&self.objects, namespace, key, value);
        let candidates = narrowest(&selector, labelled).unwrap_or_else(|| {
            let of_kind = (0..self.objects.len()).filter(|&at| self.matches(rule, at));
            let candidates: Vec<usize> = of_kind.take(SCANNED_MAX + 1).collect();
            *is_whole = candidates.len() <= SCANNED_MAX;
            candidates
        });
        let is_selected = |at: &usize| {
            let relative = self.objects.get(*at);
            relative.is_some_and(|relative| {
                relative.namespace() == namespace && selector.selects(|key| label(relative, key))
            })
        };
        candidates.into_iter().filter(is_selected).collect()
    }

    fn labelled(&self, object: &R, key: &str) -> Vec<usize> {
        let (namespace, name) = (object.namespace(), object.name());
        let is_labelled = |at: &usize| {
            let relative = self.objects.get(*at);
            relative.is_some_and(|relative| {
                relative.namespace() == namespace
                    && relative.labels().any(|label| label == (key, name))
            })
        };
        if name.is_empty() {
            return Vec::new();
        }
        let candidates = self.index.labelled(&self.objects, namespace, key, name);
        candidates.filter(is_labelled).collect()
    }

    /// Objects whose name is at a pointer: in the object's namespace, or cluster-scoped.
    fn named(&self, object: &R, json: Node<'_>, pointer: &str) -> Vec<usize> {
        let steps: Vec<String> = tokens(pointer).collect();
        let mut names = Vec::new();
        collect_texts(json, &steps, &mut names);
        let namespace = object.namespace();
        let candidates = names.into_iter().flat_map(|name| {
            let found = self
                .index
                .named(&self.objects, namespace, name)
                .chain(self.index.named(&self.objects, "", name));
            found.filter(move |at| {
                let relative = self.objects.get(*at);
                relative.is_some_and(|relative| {
                    relative.name() == name
                        && (relative.namespace() == namespace || relative.namespace().is_empty())
                })
            })
        });
        candidates.collect()
    }
}

/// Removes duplicates after the first `end` positions. Returns whether new positions remain.
fn dedup_after(found: &mut Vec<usize>, end: usize) -> bool {
    let known: std::collections::HashSet<usize> = found.iter().take(end).copied().collect();
    let mut new = found.split_off(end);
    new.sort_unstable();
    new.dedup();
    new.retain(|at| !known.contains(at));
    found.extend(&new);
    !new.is_empty()
}

/// Collects the texts at a pointer. `*` matches every item of an array.
fn collect_texts<'a>(node: Node<'a>, steps: &[String], names: &mut Vec<&'a str>) {
    let Some((step, rest)) = steps.split_first() else {
        names.extend(node.text().filter(|name| !name.is_empty()));
        return;
    };
    if node.is_array() && step == EVERY_ITEM {
        for item in node.items() {
            collect_texts(item, rest, names);
        }
    } else {
        collect_texts(node.get(step), rest, names);
    }
}

#[cfg(test)]
mod tests;
