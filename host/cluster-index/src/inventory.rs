//! Inventories: the lists in which Argo CD and Flux record the resources of an application.
//!
//! | object | list | application |
//! |---|---|---|
//! | `Application` (`argoproj.io`) | `status.resources` | the Application, as in tracking ids |
//! | `Kustomization` (`kustomize.toolkit.fluxcd.io`) | `status.inventory.entries` | its name and namespace |
//! | `HelmRelease` (`helm.toolkit.fluxcd.io`) | `status.inventory.entries` | its name and namespace |
//! | `HealthScope` (`core.oam.dev`) | `spec.workloadRefs` | the health scope, if scopes are followed |
//!
//! Argo CD and Flux can deploy to other clusters than their own. The [`Destination`] names the cluster with the
//! resources. The inventory of an object that is being deleted does not count, because its resources are being deleted
//! with it.
//! An invalid entry is left out.

mod argo_cd;
mod flux;
mod oam;

use std::collections::BTreeMap;
use std::sync::Arc;

use kindsight_contract::{LabelSelector, Node};
use kindsight_model::{DigName, Gvk, is_served_by};

use crate::kind::ApiKind;
use crate::membership::{ApplicationRule, Claim, Evidence, Found, MembershipRules};
use crate::remote_inventory::Destination;

/// Maximum number of entries of one inventory that are read. Further entries are left out.
const ENTRIES_MAX: usize = 20_000;
/// Maximum length of a name in an entry, in bytes, as for names in Kubernetes. A longer name makes the entry invalid.
const LISTED_NAME_BYTES_MAX: usize = 253;

/// The inventory in one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Inventory {
    /// Kind of the object with the inventory.
    pub(super) kind: Arc<str>,
    /// The claim on each listed resource.
    pub(super) claim: Claim,
    /// The inventory, as text for readers.
    pub(super) text: Arc<str>,
    /// The cluster with the listed resources.
    pub(super) destination: Destination,
    pub(super) listed: Arc<[ListedResource]>,
    /// True if it lists more resources than are read.
    pub(super) is_cut: bool,
}

/// A resource that an inventory lists.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ListedResource {
    pub(super) gvk: Gvk,
    /// Empty for a cluster-scoped resource.
    pub(super) namespace: Arc<str>,
    pub(super) name: Arc<str>,
}

impl Inventory {
    /// Leaves only so many of the listed resources.
    pub(super) fn cut(&mut self, listed_max: usize) {
        if self.listed.len() > listed_max {
            self.listed = self.listed.iter().take(listed_max).cloned().collect();
            self.is_cut = true;
        }
    }

    /// Returns whether the listed resources are in another cluster.
    pub(super) fn is_remote(&self) -> bool {
        self.destination != Destination::Own
    }

    /// The inventory in an object; none if there is none.
    pub(super) fn of(gvk: &Gvk, root: Node<'_>, rules: &MembershipRules) -> Option<Self> {
        let deployer = Deployer::of(gvk)?;
        let metadata = root.get("metadata");
        let labels = metadata.get("labels");
        let selects = |selector: &LabelSelector| selector.selects(|key| labels.get(key).text());
        let is_selected = rules.selector.as_ref().is_none_or(selects);
        let is_deleted = metadata.get("deletionTimestamp").is_present();
        if is_deleted || !is_selected {
            return None;
        }
        let (namespace, name) = (metadata.get("namespace"), metadata.get("name"));
        let (namespace, name) = (namespace.text_or_empty(), name.text_or_empty());
        let application = deployer.application(root, namespace, name)?;
        let text = format!("{} {namespace}/{name}", gvk.kind);
        let text: Arc<str> = text.into();
        let evidence = deployer.evidence(rules, &text)?;
        let destination = deployer.destination(root, namespace)?;
        let (listed, is_cut) = deployer.listed(root, namespace);
        Some(Self {
            kind: Arc::clone(&gvk.kind),
            claim: Claim {
                application,
                is_of_any_namespace: false,
                evidence,
            },
            text,
            listed,
            destination,
            is_cut,
        })
    }

    /// Returns whether objects of a Kind define health scopes.
    pub(super) fn is_of_scope(gvk: &Gvk) -> bool {
        matches!(Deployer::of(gvk), Some(Deployer::HealthScope))
    }

    /// Returns whether objects of a Kind have inventories.
    pub(super) fn is_in(gvk: &Gvk) -> bool {
        Deployer::of(gvk).is_some()
    }
}

impl ListedResource {
    /// None if a part cannot be what it must be.
    fn new([group, version, kind]: [&str; 3], namespace: &str, name: &str) -> Option<Self> {
        let is_name = |text: &str| {
            let is_valid =
                |character: char| character.is_ascii_graphic() && !matches!(character, '/' | '%');
            text.len() <= LISTED_NAME_BYTES_MAX && text.chars().all(is_valid)
        };
        let are_words = [group, version, kind, namespace].into_iter().all(is_word);
        let is_valid = are_words && is_name(name) && !kind.is_empty() && !name.is_empty();
        is_valid.then(|| Self {
            gvk: Gvk::new(group, version, kind),
            namespace: namespace.into(),
            name: name.into(),
        })
    }

    /// Returns whether an object of this Kind, with the name of the resource, is the resource.
    pub(super) fn is(&self, kind: &ApiKind, namespace: &str) -> bool {
        self.is_of(kind) && (!kind.is_namespaced || *self.namespace == *namespace)
    }

    /// Returns whether it is of this Kind.
    pub(super) fn is_of(&self, kind: &ApiKind) -> bool {
        self.gvk.kind == kind.gvk.kind && is_served_by(&self.gvk.group, &kind.gvk.group)
    }
}

/// Returns whether a text can be the name of an object of most Kinds.
fn is_word(text: &str) -> bool {
    let is_valid =
        |character: char| character.is_ascii_alphanumeric() || matches!(character, '.' | '-');
    text.len() <= LISTED_NAME_BYTES_MAX && text.chars().all(is_valid)
}

/// The tools that write inventories.
#[derive(Debug, Clone, Copy)]
enum Deployer {
    ArgoCd,
    Flux,
    /// A user, who lists the workloads of a scope.
    HealthScope,
}

impl Deployer {
    fn of(gvk: &Gvk) -> Option<Self> {
        match (&*gvk.group, &*gvk.kind) {
            ("argoproj.io", "Application") => Some(Self::ArgoCd),
            ("kustomize.toolkit.fluxcd.io", "Kustomization")
            | ("helm.toolkit.fluxcd.io", "HelmRelease") => Some(Self::Flux),
            ("core.oam.dev", "HealthScope") => Some(Self::HealthScope),
            _ => None,
        }
    }

    /// The reason of a claim by an inventory; none if the configuration does not use such inventories. Inventories of
    /// Argo CD and Flux need the rule that finds the same application by the marks of objects.
    fn evidence(self, rules: &MembershipRules, text: &Arc<str>) -> Option<Evidence> {
        let rule = match self {
            Self::ArgoCd => ApplicationRule::ArgoCd,
            Self::Flux => ApplicationRule::Flux,
            Self::HealthScope => {
                let scope = || Evidence::Scope(Arc::clone(text));
                return rules.health_scopes.then(scope);
            }
        };
        let at = rules.found.iter().position(|known| *known == rule)?;
        Some(Evidence::Rule(at, Found::Inventory(Arc::clone(text))))
    }

    /// The cluster with the resources.
    fn destination(self, root: Node<'_>, namespace: &str) -> Option<Destination> {
        match self {
            Self::ArgoCd => argo_cd::destination(root),
            Self::Flux => Some(flux::destination(root, namespace)),
            Self::HealthScope => Some(Destination::Own),
        }
    }

    fn application(self, root: Node<'_>, namespace: &str, name: &str) -> Option<DigName> {
        let name = match self {
            Self::ArgoCd => DigName::found(name, argo_cd::namespace_in_name(root, namespace)),
            Self::Flux => DigName::found(name, Some(namespace)),
            Self::HealthScope => DigName::health_scope(name, namespace),
        };
        name.ok()
    }

    /// The valid entries, each resource once, and whether there are more entries than are read.
    fn listed(self, root: Node<'_>, namespace: &str) -> (Arc<[ListedResource]>, bool) {
        let (pointer, max) = match self {
            Self::ArgoCd => ("/status/resources", ENTRIES_MAX),
            Self::Flux => ("/status/inventory/entries", ENTRIES_MAX),
            Self::HealthScope => ("/spec/workloadRefs", oam::WORKLOADS_MAX),
        };
        let read = |entry| match self {
            Self::ArgoCd => argo_cd::entry(entry),
            Self::Flux => flux::entry(entry),
            Self::HealthScope => oam::entry(entry, namespace),
        };
        let mut entries = root.at(pointer).items();
        let listed = entries.by_ref().take(max);
        let listed = listed.filter_map(read).map(|listed| {
            let Gvk { group, kind, .. } = &listed.gvk;
            let key = (Arc::clone(kind), Arc::clone(group));
            (
                (key, Arc::clone(&listed.namespace), Arc::clone(&listed.name)),
                listed,
            )
        });
        let listed: BTreeMap<_, ListedResource> = listed.collect();
        (listed.into_values().collect(), entries.next().is_some())
    }
}

#[cfg(test)]
mod tests;
