//! The relations that are asked about, and what an object names by them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kindsight_contract::Relation;
use kindsight_model::Object;

use super::WatchId;
use super::queries::Query;
use crate::kubernetes::discovery::ApiKind;
use crate::kubernetes::selector::{LabelSelector, texts_at};
use crate::kubernetes::uid::Uid;
use crate::needs::{RelatedKinds, RelatedRules};

/// A watch, as far as relations go.
#[derive(Debug)]
pub(super) struct Watched {
    pub(super) kind: Arc<ApiKind>,
    /// The only namespace it is about; none for all.
    pub(super) namespace: Option<Arc<str>>,
    /// True while everything is known that there is.
    pub(super) is_complete: bool,
    /// The relations that are asked about objects of its Kind.
    pub(super) rules: Arc<[Rule]>,
}

/// A relation of objects of one Kind.
#[derive(Debug)]
pub(super) struct Rule {
    relation: Relation,
    /// Group and Kind of the related objects; none where the pattern is of several.
    pub(super) kind: Option<(Arc<str>, Arc<str>)>,
    /// The watches of related objects.
    watches: Vec<WatchId>,
}

/// The objects that an object names by the rules of its Kind, in their order.
pub(super) type Sought = Box<[Names]>;

/// The objects that an object names by one rule.
#[derive(Debug)]
pub(super) enum Names {
    Nothing,
    Texts(Box<[Arc<str>]>),
    Selector(Arc<LabelSelector>),
    Owned,
    Descendants,
    Owners,
}

/// The rules about objects of a Kind, over these watches.
pub(super) fn rules_of(
    rules: &RelatedRules,
    kind: &ApiKind,
    watched: &BTreeMap<WatchId, Watched>,
) -> Arc<[Rule]> {
    let rule = |rule: &RelatedKinds| {
        let related = watched.iter().filter(|(_, it)| {
            let (group, version, kind) = it.kind.names();
            rule.related.matches(group, version, kind)
        });
        Rule {
            relation: rule.relation.clone(),
            kind: rule.kind().map(|(group, kind)| (group.into(), kind.into())),
            watches: related.map(|(id, _)| *id).collect(),
        }
    };
    rules.about(kind.names()).map(rule).collect()
}

/// Reads what an object names.
pub(super) fn sought(rules: &[Rule], object: &Object) -> Sought {
    let tree = object.tree();
    let document = tree.document(&object.json);
    let root = document.root();
    let names = rules.iter().map(|rule| match &rule.relation {
        Relation::Owned => Names::Owned,
        Relation::Descendant => Names::Descendants,
        Relation::Owner => Names::Owners,
        Relation::Named(at) => Names::Texts(texts_at(root, at).into()),
        Relation::SelectedBy(at) => LabelSelector::of(root.at(at))
            .map_or(Names::Nothing, |it| Names::Selector(Arc::new(it))),
        Relation::Labelled(_) if object.name.is_empty() => Names::Nothing,
        Relation::Labelled(key) => {
            Names::Selector(Arc::new(LabelSelector::labelled(key, &object.name)))
        }
    });
    names.collect()
}

impl Rule {
    /// The namespace in which a watch is searched for an object of a namespace, the empty one for
    /// cluster-scoped objects; none where it has no objects that the relation may name.
    fn namespace<'n>(&self, watched: &Watched, namespace: &'n Arc<str>) -> Option<&'n str> {
        let is_near = match &self.relation {
            Relation::Owned | Relation::Descendant | Relation::Owner => true,
            Relation::Named(_) => !watched.kind.is_namespaced || !namespace.is_empty(),
            Relation::SelectedBy(_) | Relation::Labelled(_) => {
                watched.kind.is_namespaced != namespace.is_empty()
            }
        };
        let wanted = if watched.kind.is_namespaced {
            &**namespace
        } else {
            ""
        };
        let only = watched.namespace.as_deref();
        let is_seen = only.is_none_or(|it| wanted.is_empty() || it == wanted);
        (is_near && is_seen).then_some(wanted)
    }

    /// Returns whether everything was searched that the relation may name of an object in this namespace.
    pub(super) fn is_searched(
        &self,
        watched: &BTreeMap<WatchId, Watched>,
        namespace: &Arc<str>,
    ) -> bool {
        let related = self.watches.iter().filter_map(|id| watched.get(id));
        let mut searched = related.filter(|it| self.namespace(it, namespace).is_some());
        // One watch has all that is looked for: of the namespace, or of the whole cluster.
        let has_all = |it: &Watched| {
            let is_seen = match (&it.namespace, it.kind.is_namespaced) {
                (Some(only), true) => only == namespace,
                _ => true,
            };
            it.is_complete && is_seen
        };
        searched.any(has_all)
    }

    /// Adds the searches for what an object names. `owned` are uids of what it owns over some steps.
    pub(super) fn ask(
        &self,
        names: &Names,
        object: &Asker<'_>,
        watched: &BTreeMap<WatchId, Watched>,
        queries: &mut BTreeSet<Query>,
    ) {
        let mut add = |query: Query| queries.insert(query);
        for (&id, watch) in self
            .watches
            .iter()
            .filter_map(|id| watched.get_key_value(id))
        {
            let Some(namespace) = self.namespace(watch, object.namespace) else {
                continue;
            };
            match names {
                Names::Nothing => {}
                Names::Texts(names) => {
                    for name in names {
                        add(Query::Named(id, namespace.into(), Arc::clone(name)));
                    }
                }
                Names::Selector(selector) => {
                    add(Query::Selected(id, namespace.into(), Arc::clone(selector)));
                }
                Names::Owned => {
                    add(Query::OwnedBy(id, object.uid));
                }
                Names::Descendants => {
                    for uid in [object.uid].iter().chain(&object.owned) {
                        add(Query::OwnedBy(id, *uid));
                    }
                }
                Names::Owners => {
                    for uid in object.owners {
                        add(Query::Uid(id, *uid));
                    }
                }
            }
        }
    }

    /// Returns whether it asks for what an object owns over any number of steps.
    pub(super) fn asks_for_descendants(&self) -> bool {
        self.relation == Relation::Descendant
    }
}

/// An object whose relations are asked about.
pub(super) struct Asker<'e> {
    pub(super) namespace: &'e Arc<str>,
    pub(super) uid: Uid,
    /// Uids of its owners.
    pub(super) owners: &'e [Uid],
    /// Uids of what it owns over any number of steps, where that is asked for.
    pub(super) owned: Vec<Uid>,
}
