//! Related objects: the search among objects that were reported together.
//!
//! The host searches in reports, and the SDK's harness among the objects of a fixture.

mod index;
mod selector;

use crate::fields::{EVERY_ITEM, tokens};
use crate::node::Node;
use crate::relation::{RelatedRule, Relation};
use index::Index;
use selector::Selector;

/// Owners between an object and its descendant that are followed, and objects that are looked at for
/// one rule: a chain of owners is a few steps long, and a rule passes 256 objects at most.
const STEPS_MAX: usize = 16;

/// Candidates of one rule that are looked at where no index leads to those it means: a selector that only
/// excludes. What lies beyond is not found, and the coverage says that there may be more.
const SCANNED_MAX: usize = 1000;

/// An object as far as relations go.
pub trait Relative {
    /// Group, version and Kind.
    fn gvk(&self) -> (&str, &str, &str);
    /// Namespace; empty for cluster-scoped objects.
    fn namespace(&self) -> &str;
    /// Name.
    fn name(&self) -> &str;
    /// Uid; may be empty.
    fn uid(&self) -> &str;
    /// Owners: Kind, name and uid, of which some may be empty.
    fn owners(&self) -> impl Iterator<Item = (&str, &str, &str)>;
    /// Labels.
    fn labels(&self) -> impl Iterator<Item = (&str, &str)>;
}

/// Returns whether `owner` is an owner of `owned`: by uid where both sides have one, else by Kind and name
/// in the same namespace.
pub fn is_owned<R: Relative>(owned: &R, owner: &R) -> bool {
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

/// Objects that were reported together, with an index.
#[derive(Debug, Default)]
pub struct Relatives<O> {
    objects: O,
    index: Index,
    ignores_relations: bool,
}

/// The objects that one rule found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Their positions, in order of namespace and name; at most the rule's limit.
    pub positions: Vec<usize>,
    /// Number of all that were found.
    pub total: usize,
    /// False where there were more candidates than are looked at.
    pub is_whole: bool,
}

impl<R: Relative, O: std::ops::Deref<Target = [R]>> Relatives<O> {
    /// Objects that were reported together.
    pub fn of(objects: O) -> Self {
        Self {
            objects,
            index: Index::default(),
            ignores_relations: false,
        }
    }

    /// The same objects, of which every rule finds all that its pattern matches, whatever the relation: for
    /// the search of a relation that finds too little.
    #[must_use]
    pub fn ignoring_relations(self) -> Self {
        Self {
            ignores_relations: true,
            ..self
        }
    }

    /// The objects.
    pub fn objects(&self) -> &O {
        &self.objects
    }

    /// Finds the related objects of an object, whose root `json` is, by a rule. The cost grows with what
    /// is found, not with the number of objects.
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
            let it = self.objects.get(at);
            it.map(|it| (it.namespace(), it.name(), at))
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
        self.objects.get(at).is_some_and(|it| {
            let (group, version, kind) = it.gvk();
            rule.pattern.matches(group, version, kind)
        })
    }

    /// All objects but this one.
    fn others(&self, object: &R) -> Vec<usize> {
        let key = |it: &R| {
            (
                it.gvk().2.to_owned(),
                it.namespace().to_owned(),
                it.name().to_owned(),
            )
        };
        let itself = key(object);
        let others = self.objects.iter().enumerate();
        let others = others.filter(|(_, it)| key(it) != itself);
        others.map(|(at, _)| at).collect()
    }

    /// Objects whose owner the object is.
    fn owned(&self, owner: &R) -> Vec<usize> {
        let candidates = self.index.owned_by(&self.objects, owner);
        let is_owned = |at: &usize| self.objects.get(*at).is_some_and(|it| is_owned(it, owner));
        candidates.filter(is_owned).collect()
    }

    /// Objects whose owner the object is, through any number of others.
    fn descendants(&self, owner: &R) -> Vec<usize> {
        let mut found = self.owned(owner);
        let (mut begin, mut steps) = (0, 1);
        // Objects may own each other in a circle: each is entered once, as far as it was not found before.
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
                .is_some_and(|it| !std::ptr::eq(it, owner))
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
        let is_owner = |at: &usize| self.objects.get(*at).is_some_and(|it| is_owned(owned, it));
        named.filter(is_owner).collect()
    }

    fn selected(
        &self,
        rule: &RelatedRule,
        object: &R,
        selector: Node<'_>,
        is_whole: &mut bool,
    ) -> Vec<usize> {
        let Some(selector) = Selector::of(selector) else {
            return Vec::new();
        };
        let namespace = object.namespace();
        let labelled =
            |key: &str, value: &str| self.index.labelled(&self.objects, namespace, key, value);
        let candidates = selector.narrowest(labelled).unwrap_or_else(|| {
            let of_kind = (0..self.objects.len()).filter(|&at| self.matches(rule, at));
            let candidates: Vec<usize> = of_kind.take(SCANNED_MAX + 1).collect();
            *is_whole = candidates.len() <= SCANNED_MAX;
            candidates
        });
        let is_selected = |at: &usize| {
            let it = self.objects.get(*at);
            it.is_some_and(|it| it.namespace() == namespace && selector.selects(it))
        };
        candidates.into_iter().filter(is_selected).collect()
    }

    fn labelled(&self, object: &R, key: &str) -> Vec<usize> {
        let (namespace, name) = (object.namespace(), object.name());
        let is_labelled = |at: &usize| {
            let it = self.objects.get(*at);
            it.is_some_and(|it| {
                it.namespace() == namespace && it.labels().any(|label| label == (key, name))
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
                let it = self.objects.get(*at);
                it.is_some_and(|it| {
                    it.name() == name && (it.namespace() == namespace || it.namespace().is_empty())
                })
            })
        });
        candidates.collect()
    }
}

/// Removes what is there twice behind the first `end` positions; returns whether anything new remains.
fn dedup_after(found: &mut Vec<usize>, end: usize) -> bool {
    let known: std::collections::HashSet<usize> = found.iter().take(end).copied().collect();
    let mut new = found.split_off(end);
    new.sort_unstable();
    new.dedup();
    new.retain(|at| !known.contains(at));
    found.extend(&new);
    !new.is_empty()
}

/// Collects the texts that a pointer leads to, through every item of an array for `*`.
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
