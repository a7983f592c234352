//! One app in one cluster, as it is stored in one context.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, LazyLock, OnceLock};

use kindsight_model::{ClusterName, Connectivity, ContextId, Hook};

use super::decode::{self, Decoded};
use super::image::in_key_order;
use super::resource_image::ResourceImage;
use super::slot::{Slot, SlotState};
use crate::instruction::{ResourceDependency, ResourceOrder};
use crate::keys::ClusterKey;

/// Hashes stored reports. Each process has its own seed, because clusters choose the reports.
static REPORT_HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// An app in a cluster, or keys below a cluster that the app does not have.
pub(super) struct ClusterImage {
    /// The name in the keys.
    pub(super) name: String,
    root: Slot<ClusterName>,
    pub(super) group: Slot<String>,
    bundle: Slot<StoredReport>,
    pub(super) connectivity: Slot<Connectivity>,
    pub(super) reference: Slot<ContextId>,
    pub(super) resource_order: Slot<Vec<String>>,
    pub(super) hooks: Slot<HashMap<String, Hook>>,
    resources: BTreeMap<String, ResourceImage>,
    /// The keys that cannot be read, below the cluster's key and with the reasons. Emptied by each change.
    unreadable: OnceLock<Vec<(String, String)>>,
}

/// A report in a context. Its text is kept only until it was passed on.
pub(super) struct StoredReport {
    pub(super) hash: u64,
    pub(super) text: Option<Arc<str>>,
}

impl ClusterImage {
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            root: Slot::default(),
            group: Slot::default(),
            bundle: Slot::default(),
            connectivity: Slot::default(),
            reference: Slot::default(),
            resource_order: Slot::default(),
            hooks: Slot::default(),
            resources: BTreeMap::new(),
            unreadable: OnceLock::new(),
        }
    }

    /// Applies the change of one key.
    pub(super) fn take(&mut self, key: ClusterKey<'_>, value: Option<&[u8]>) {
        self.unreadable = OnceLock::new();
        match key {
            ClusterKey::Root => {
                let name = &self.name;
                let parse = |_: &[u8]| name.parse().map_err(|error| format!("{error}"));
                self.root.set(value, parse);
            }
            ClusterKey::Group => self.group.set(value, decode::value),
            ClusterKey::Bundle => self.bundle.set(value, StoredReport::decode),
            ClusterKey::Connectivity => self.connectivity.set(value, decode::value),
            ClusterKey::Reference => self.reference.set(value, decode::id),
            ClusterKey::ResourceOrder => self.resource_order.set(value, |stored| {
                decode::instruction::<ResourceOrder>(stored).map(|order| order.resources)
            }),
            ClusterKey::ResourceDependency => self.hooks.set(value, |stored| {
                decode::instruction(stored).map(|dependency| hooks(&dependency))
            }),
            ClusterKey::Resource(name) => {
                self.change_resource(name, |resource| resource.set_manifest(value));
            }
            ClusterKey::ResourceStatus(name) => {
                self.change_resource(name, |resource| resource.set_status(value));
            }
            ClusterKey::ResourceReference(name) => self.change_resource(name, |resource| {
                resource.reference.set(value, decode::id);
            }),
        }
    }

    /// Changes a resource, which is added before and removed afterwards if it is empty.
    fn change_resource(&mut self, name: &str, change: impl FnOnce(&mut ResourceImage)) {
        let ordered = in_key_order(name);
        let resource = self.resources.entry(ordered.clone());
        let resource = resource.or_insert_with(|| ResourceImage::new(name));
        change(resource);
        if resource.is_empty() {
            self.resources.remove(&ordered);
        }
    }

    /// Returns whether the app has the cluster.
    pub(super) fn exists(&self) -> bool {
        self.root.get().is_some()
    }

    pub(super) fn cluster(&self) -> Option<&ClusterName> {
        self.root.get()
    }

    /// The readable report.
    pub(super) fn bundle(&self) -> Option<&StoredReport> {
        self.bundle.get()
    }

    pub(super) fn is_bundle_damaged(&self) -> bool {
        self.bundle.is_unreadable()
    }

    /// Drops the text of the report.
    pub(super) fn forget_report(&mut self) {
        if let Some(report) = self.bundle.get_mut() {
            report.text = None;
        }
    }

    /// The resources that exist, in the order of their keys.
    pub(super) fn resources(&self) -> impl Iterator<Item = &ResourceImage> {
        self.resources.values().filter(|resource| resource.exists())
    }

    /// The resource with this name in its key, if it exists.
    pub(super) fn resource(&self, key_name: &str) -> Option<&ResourceImage> {
        let resource = self.resources.get(&in_key_order(key_name));
        resource.filter(|resource| resource.exists())
    }

    /// Returns whether no key is present.
    pub(super) fn is_empty(&self) -> bool {
        self.resources.is_empty() && self.own_keys().all(|(_, state)| state.is_none())
    }

    /// The keys that cannot be read, below the cluster's key and with the reasons.
    pub(super) fn unreadable(&self) -> &[(String, String)] {
        self.unreadable.get_or_init(|| {
            let missing = format!("the app has no cluster `{}`", self.name);
            let mut unreadable = Vec::new();
            self.visit(&mut |key, why| {
                let is_orphan = !self.exists() && key != ClusterKey::Root;
                if let Some(why) = if is_orphan { Some(&*missing) } else { why } {
                    unreadable.push((key.below(), why.to_owned()));
                }
            });
            unreadable
        })
    }

    /// Visits each present key, with the reason if it cannot be read.
    pub(super) fn visit(&self, visit: &mut dyn FnMut(ClusterKey<'_>, Option<&str>)) {
        for (key, state) in self.own_keys() {
            if let Some(state) = state {
                visit(key, state.err());
            }
        }
        for resource in self.resources.values() {
            resource.visit(visit);
        }
    }

    /// The keys of the cluster itself, each with the state of its value.
    fn own_keys(&self) -> impl Iterator<Item = (ClusterKey<'static>, SlotState<'_>)> {
        let keys = [
            (ClusterKey::Root, self.root.state()),
            (ClusterKey::Group, self.group.state()),
            (ClusterKey::Bundle, self.bundle.state()),
            (ClusterKey::Connectivity, self.connectivity.state()),
            (ClusterKey::Reference, self.reference.state()),
            (ClusterKey::ResourceOrder, self.resource_order.state()),
            (ClusterKey::ResourceDependency, self.hooks.state()),
        ];
        keys.into_iter()
    }
}

impl StoredReport {
    fn decode(stored: &[u8]) -> Decoded<Self> {
        let text: String = decode::value(stored)?;
        Ok(Self {
            hash: REPORT_HASHER.hash_one(&*text),
            text: Some(text.into()),
        })
    }
}

fn hooks(dependency: &ResourceDependency) -> HashMap<String, Hook> {
    let mut hooks = HashMap::new();
    for &hook in Hook::ALL {
        let resources = dependency.resources(hook).into_iter();
        hooks.extend(resources.map(|name| (name, hook)));
    }
    hooks
}
