//! One context as it is stored, without what other contexts hold of it.
//!
//! Reading never fails: a value that cannot be understood is listed and costs only itself.
//!
//! Keys come in bytewise order, and each ends in `/`. So the key of an app, a cluster or a resource
//! comes first and all keys below it follow at once: one pass that knows the last of each is
//! enough.

use std::collections::HashMap;

use kindsight_model::{ClusterName, Connectivity, ContextId, ContextStatus, Hook, RsyncStatus};
use kindsight_store::{Entry, Range, Revision};

use super::decode::{self, Decoded};
use crate::instruction::{AppDependency, AppOrder, ResourceDependency, ResourceOrder};
use crate::keys::{self, ClusterKey, ContextKey, ContextKeys};
use crate::status::StatusValue;
use crate::value::WHY_CHARS_MAX;
use crate::{ContextMeta, DependsOn, Unreadable};

/// The text that rsync stores in the status context instead of the manifest of another context.
pub(super) const NO_MANIFEST: &str = "nil";

/// A context that exists.
pub(super) struct StoredContext {
    root: String,
    pub(super) id: ContextId,
    pub(super) created: Option<Revision>,
    pub(super) meta: Option<ContextMeta>,
    pub(super) status: Option<ContextStatus>,
    pub(super) status_changed: Option<Revision>,
    pub(super) stop_flag: bool,
    pub(super) status_context: Option<ContextId>,
    pub(super) app_order: Vec<String>,
    pub(super) apps: Vec<StoredApp>,
    pub(super) unreadable: Vec<Unreadable>,
}

pub(super) struct StoredApp {
    pub(super) name: String,
    pub(super) depends_on: Vec<DependsOn>,
    pub(super) clusters: Vec<StoredCluster>,
}

pub(super) struct StoredCluster {
    /// The name as in the key.
    pub(super) name: String,
    pub(super) cluster: ClusterName,
    pub(super) group: Option<String>,
    pub(super) bundle: Option<String>,
    pub(super) is_bundle_damaged: bool,
    pub(super) connectivity: Option<Connectivity>,
    pub(super) reference: Option<ContextId>,
    pub(super) resource_order: Vec<String>,
    pub(super) hooks: HashMap<String, Hook>,
    pub(super) resources: Vec<StoredResource>,
}

pub(super) struct StoredResource {
    /// The name as in the key.
    pub(super) key_name: String,
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) manifest: Manifest,
    pub(super) status: Option<RsyncStatus>,
    pub(super) reference: Option<ContextId>,
}

/// A manifest as it is stored.
pub(super) enum Manifest {
    Yaml(String),
    /// Another context has it.
    Elsewhere,
    Damaged,
}

impl StoredContext {
    /// Reads a context from all its entries; none when the root key is absent.
    pub(super) fn read(id: &ContextId, range: Range) -> Option<Self> {
        let mut context = Self {
            root: ContextKeys::new(id).root().to_owned(),
            id: id.clone(),
            created: None,
            meta: None,
            status: None,
            status_changed: None,
            stop_flag: false,
            status_context: None,
            app_order: Vec::new(),
            apps: Vec::new(),
            unreadable: Vec::new(),
        };
        let root = context.root.clone();
        for entry in range.entries {
            if let Err(why) = context.take(keys::context_key(&root, &entry.key), &entry) {
                let why = why.chars().take(WHY_CHARS_MAX).collect();
                context.unreadable.push(Unreadable {
                    key: entry.key,
                    why,
                });
            }
        }
        context.created.is_some().then_some(context)
    }

    fn take(&mut self, key: ContextKey<'_>, entry: &Entry) -> Decoded {
        let value = &entry.value;
        match key {
            ContextKey::Root => {
                self.created = Some(entry.created);
                decode::root(&self.id, value)?;
            }
            ContextKey::Meta => self.meta = Some(decode::value(value)?),
            ContextKey::Status => {
                self.status_changed = Some(entry.changed);
                self.status = Some(decode::object::<StatusValue<ContextStatus>>(value)?.status);
            }
            ContextKey::StopFlag => self.stop_flag = decode::value(value)?,
            ContextKey::StatusContext => self.status_context = Some(decode::id(value)?),
            ContextKey::AppOrder => self.app_order = decode::instruction::<AppOrder>(value)?.apps,
            ContextKey::App(name) => self.apps.push(StoredApp {
                name: name.to_owned(),
                depends_on: Vec::new(),
                clusters: Vec::new(),
            }),
            ContextKey::AppDependency(app) => {
                let dependency = decode::instruction::<AppDependency>(value)?;
                self.app(app)?.depends_on = dependency.apps;
            }
            ContextKey::InCluster(app, cluster, ClusterKey::Root) => {
                self.app(app)?.clusters.push(StoredCluster::new(cluster)?);
            }
            ContextKey::InCluster(app, cluster, key) => {
                self.app(app)?.cluster(cluster)?.take(key, value)?;
            }
            ContextKey::Other => {}
        }
        Ok(())
    }

    fn app(&mut self, name: &str) -> Decoded<&mut StoredApp> {
        let last = self.apps.last_mut().filter(|last| last.name == name);
        last.ok_or_else(|| format!("the context has no app `{name}`"))
    }

    /// The values that could not be understood and that other contexts read here: all about clusters.
    pub(super) fn unreadable_in_clusters(&self) -> impl Iterator<Item = &Unreadable> {
        self.unreadable.iter().filter(|it| {
            let key = keys::context_key(&self.root, &it.key);
            matches!(key, ContextKey::InCluster(..))
        })
    }
}

impl StoredApp {
    fn cluster(&mut self, name: &str) -> Decoded<&mut StoredCluster> {
        let last = self.clusters.last_mut().filter(|last| last.name == name);
        last.ok_or_else(|| format!("the app has no cluster `{name}`"))
    }
}

impl StoredCluster {
    fn new(name: &str) -> Decoded<Self> {
        let cluster = name.parse().map_err(|error| format!("{error}"))?;
        Ok(Self {
            name: name.to_owned(),
            cluster,
            group: None,
            bundle: None,
            is_bundle_damaged: false,
            connectivity: None,
            reference: None,
            resource_order: Vec::new(),
            hooks: HashMap::new(),
            resources: Vec::new(),
        })
    }

    fn take(&mut self, key: ClusterKey<'_>, value: &[u8]) -> Decoded {
        match key {
            ClusterKey::Root => {}
            ClusterKey::Group => self.group = Some(decode::value(value)?),
            ClusterKey::Bundle => {
                let bundle = decode::value(value);
                self.is_bundle_damaged = bundle.is_err();
                self.bundle = Some(bundle?);
            }
            ClusterKey::Connectivity => self.connectivity = Some(decode::value(value)?),
            ClusterKey::Reference => self.reference = Some(decode::id(value)?),
            ClusterKey::ResourceOrder => {
                self.resource_order = decode::instruction::<ResourceOrder>(value)?.resources;
            }
            ClusterKey::ResourceDependency => self.take_hooks(&decode::instruction(value)?),
            ClusterKey::Resource(name) => self.add_resource(name, value)?,
            ClusterKey::ResourceStatus(name) => {
                let status = decode::object::<StatusValue<RsyncStatus>>(value);
                self.resource(name)?.status = Some(status?.status);
            }
            ClusterKey::ResourceReference(name) => {
                self.resource(name)?.reference = Some(decode::id(value)?);
            }
        }
        Ok(())
    }

    fn take_hooks(&mut self, dependency: &ResourceDependency) {
        for &hook in Hook::ALL {
            let resources = dependency.resources(hook).into_iter();
            self.hooks.extend(resources.map(|name| (name, hook)));
        }
    }

    /// Adds a resource, also when its manifest is damaged.
    fn add_resource(&mut self, key_name: &str, value: &[u8]) -> Decoded {
        let (name, kind) =
            keys::split_resource(key_name).ok_or("a resource is named `<name>+<Kind>`")?;
        let (manifest, outcome) = match decode::value::<String>(value) {
            Ok(yaml) if yaml == NO_MANIFEST => (Manifest::Elsewhere, Ok(())),
            Ok(yaml) => (Manifest::Yaml(yaml), Ok(())),
            Err(why) => (Manifest::Damaged, Err(why)),
        };
        self.resources.push(StoredResource {
            key_name: key_name.to_owned(),
            name: name.to_owned(),
            kind: kind.to_owned(),
            manifest,
            status: None,
            reference: None,
        });
        outcome
    }

    fn resource(&mut self, name: &str) -> Decoded<&mut StoredResource> {
        let last = self
            .resources
            .last_mut()
            .filter(|last| last.key_name == name);
        last.ok_or_else(|| format!("the cluster has no resource `{name}`"))
    }
}
