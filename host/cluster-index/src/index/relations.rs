//! The relations that interpreters ask for, and the objects that an object names by them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kindsight_contract::{LabelSelector, Relation};
use kindsight_model::{KindCoverage, Object};

use super::ScopeId;
use super::descent::Descent;
use super::queries::Query;
use crate::kind::ApiKind;
use crate::labels::Labels;
use crate::pointed_texts::texts_at;
use crate::related_rules::{RelatedKinds, RelatedRules};
use crate::uid::Uid;

/// The relations, the pass and the coverage of one watch.
#[derive(Debug)]
pub(super) struct Watched {
    pub(super) kind: Arc<ApiKind>,
    /// Other scopes of the same Kind, of this configuration or of an earlier one.
    pub(super) others: Arc<[ScopeId]>,
    /// The only watched namespace; none for all.
    pub(super) namespace: Option<Arc<str>>,
    /// The labels that the index keeps of its objects.
    pub(super) labels: Labels,
    /// True while the index knows every object.
    pub(super) is_complete: bool,
    /// The relations that interpreters ask for on objects of its Kind.
    pub(super) rules: Arc<[Rule]>,
    /// True if a relation looks for its objects among the descendants of other objects.
    pub(super) are_descendants_sought: bool,
    /// The running pass over its objects, or the last pass.
    pub(super) pass: u64,
    /// The last coverage that was set; none before the first.
    pub(super) coverage: Option<KindCoverage>,
}

/// A relation of objects of one Kind.
#[derive(Debug)]
pub(super) struct Rule {
    relation: Relation,
    /// JSON pointer of a field that the objects must have; none for all objects.
    when: Option<String>,
    /// True if the related objects are needed without their content.
    is_identity_enough: bool,
    /// Group and Kind of the related objects; none if the pattern matches several.
    pub(super) kind: Option<(Arc<str>, Arc<str>)>,
    /// The watches of related objects.
    watches: Vec<ScopeId>,
}

/// The objects that an object names by the rules of its Kind, in their order.
pub(super) type Sought = Box<[Names]>;

/// The objects that an object names by one rule.
#[derive(Debug, PartialEq, Eq)]
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
    watched: &BTreeMap<ScopeId, Watched>,
) -> Arc<[Rule]> {
    let rule = |rule: &RelatedKinds| {
        let related = watched.iter().filter(|(_, watched)| {
            let (group, version, kind) = watched.kind.names();
            rule.related.matches(group, version, kind)
        });
        Rule {
            relation: rule.relation.clone(),
            when: rule.when.clone(),
            is_identity_enough: rule.is_identity_enough,
            kind: rule.kind().map(|(group, kind)| (group.into(), kind.into())),
            watches: related.map(|(id, _)| *id).collect(),
        }
    };
    rules.about(kind.names()).map(rule).collect()
}

/// Reads the names of related objects from an object. An object is not parsed if its rules only follow owners.
pub(super) fn sought(rules: &[Rule], object: &Object) -> Sought {
    let by_owners = rules.iter().map(Rule::names_by_owners);
    if let Some(names) = by_owners.collect() {
        return names;
    }
    let tree = object.tree();
    let document = tree.document(&object.json);
    let root = document.root();
    let applies = |rule: &Rule| {
        let when = rule.when.as_ref();
        when.is_none_or(|pointer| root.at(pointer).is_present())
    };
    let names = rules.iter().map(|rule| match &rule.relation {
        _ if !applies(rule) => Names::Nothing,
        Relation::Owned => Names::Owned,
        Relation::Descendant => Names::Descendants,
        Relation::Owner => Names::Owners,
        Relation::Named(at) => Names::Texts(texts_at(root, at).into()),
        Relation::SelectedBy(at) => LabelSelector::of(root.at(at))
            .map_or(Names::Nothing, |selector| {
                Names::Selector(Arc::new(selector))
            }),
        Relation::Labelled(_) if object.name.is_empty() => Names::Nothing,
        Relation::Labelled(key) => {
            Names::Selector(Arc::new(LabelSelector::labelled(key, &object.name)))
        }
    });
    names.collect()
}

impl Rule {
    /// The namespace that the search in a watch uses for an object in `namespace`. The result is empty for
    /// cluster-scoped objects, and none if the watch has no objects that the relation may name.
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
        let is_seen = only.is_none_or(|only| wanted.is_empty() || only == wanted);
        (is_near && is_seen).then_some(wanted)
    }

    /// Returns whether every object was searched that the relation of an object in this namespace may name.
    pub(super) fn is_searched(
        &self,
        watched: &BTreeMap<ScopeId, Watched>,
        namespace: &Arc<str>,
    ) -> bool {
        let related = self.watches.iter().filter_map(|id| watched.get(id));
        let mut searched = related.filter(|scope| self.namespace(scope, namespace).is_some());
        // One watch must have all objects of the namespace, or of the cluster.
        let has_all = |scope: &Watched| {
            let is_seen = match (&scope.namespace, scope.kind.is_namespaced) {
                (Some(only), true) => only == namespace,
                _ => true,
            };
            scope.is_complete && is_seen
        };
        searched.any(has_all)
    }

    /// Adds the searches for the related objects of an object.
    pub(super) fn ask(
        &self,
        names: &Names,
        object: &Asker<'_>,
        watched: &BTreeMap<ScopeId, Watched>,
        queries: &mut BTreeSet<Query>,
    ) {
        let mut add = |query: Query| queries.insert(query);
        for (&id, scope) in self
            .watches
            .iter()
            .filter_map(|id| watched.get_key_value(id))
        {
            let Some(namespace) = self.namespace(scope, object.namespace) else {
                continue;
            };
            match names {
                Names::Nothing => {}
                Names::Texts(names) => {
                    let query = if self.is_identity_enough {
                        Query::Exists
                    } else {
                        Query::Named
                    };
                    for name in names {
                        add(query(id, namespace.into(), Arc::clone(name)));
                    }
                }
                Names::Selector(selector) => {
                    add(Query::Selected(id, namespace.into(), Arc::clone(selector)));
                }
                Names::Owned => {
                    add(Query::OwnedBy(id, object.uid));
                }
                Names::Descendants => {
                    for query in object.descent.searches(id) {
                        add(query);
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

    /// Returns whether the relation includes objects that are owned through other objects.
    pub(super) fn asks_for_descendants(&self) -> bool {
        self.relation == Relation::Descendant
    }

    /// Returns whether an object names related objects in its content.
    pub(super) fn reads_content(&self) -> bool {
        self.names_by_owners().is_none()
    }

    /// The related objects of each object of the Kind; none if they depend on its content.
    fn names_by_owners(&self) -> Option<Names> {
        match &self.relation {
            _ if self.when.is_some() => None,
            Relation::Owned => Some(Names::Owned),
            Relation::Descendant => Some(Names::Descendants),
            Relation::Owner => Some(Names::Owners),
            Relation::SelectedBy(_) | Relation::Labelled(_) | Relation::Named(_) => None,
        }
    }
}

/// An object whose related objects are searched.
pub(super) struct Asker<'e> {
    pub(super) namespace: &'e Arc<str>,
    pub(super) uid: Uid,
    /// Uids of its owners.
    pub(super) owners: &'e [Uid],
    /// The objects that it owns, directly or through other objects; empty unless a relation needs them.
    pub(super) descent: Descent,
}
