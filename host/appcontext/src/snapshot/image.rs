//! One context in memory, as it is stored and without the contents of other contexts.
//!
//! An image is read once from all keys of the context. Afterwards, [`ContextImage::take`] applies
//! single changed keys, and decodes their values only. Reading never fails: a value that cannot be
//! decoded is listed as unreadable and affects no other value.

use std::collections::BTreeMap;

use kindsight_model::{ContextId, ContextStatus};
use kindsight_store::{Range, Revision};

use super::cluster_image::ClusterImage;
use super::decode;
use super::slot::Slot;
use crate::instruction::{AppDependency, AppOrder};
use crate::keys::{self, ClusterKey, ContextKey, ContextKeys};
use crate::status::StatusValue;
use crate::value::WHY_CHARS_MAX;
use crate::{ContextMeta, DependsOn, Unreadable};

/// An app and a cluster, each by its name in the keys.
pub(super) type AppInCluster = (String, String);

/// A context that exists.
pub(super) struct ContextImage {
    pub(super) id: ContextId,
    root_key: String,
    /// The image contains every change up to this revision.
    revision: Revision,
    pub(super) created: Revision,
    root: Slot<()>,
    pub(super) meta: Slot<ContextMeta>,
    pub(super) status: Slot<ContextStatus>,
    pub(super) status_changed: Option<Revision>,
    pub(super) stop_flag: Slot<bool>,
    pub(super) status_context: Slot<ContextId>,
    pub(super) app_order: Slot<Vec<String>>,
    apps: BTreeMap<String, AppImage>,
}

/// An app, or keys below an app that does not exist.
#[derive(Default)]
pub(super) struct AppImage {
    pub(super) name: String,
    pub(super) exists: bool,
    pub(super) depends_on: Slot<Vec<DependsOn>>,
    clusters: BTreeMap<String, ClusterImage>,
}

/// The part of a context that a changed key affects.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Affected {
    /// The key is not read.
    Nothing,
    /// The context without its clusters.
    Head,
    /// One app in one cluster.
    Cluster(AppInCluster),
    /// Every part.
    Everything,
    /// The context does not exist any more.
    Deleted,
}

impl ContextImage {
    /// Reads a context from all its entries. Returns `None` if the root key is absent.
    pub(super) fn read(id: &ContextId, range: Range) -> Option<Self> {
        let keys = ContextKeys::new(id);
        let root = range
            .entries
            .iter()
            .find(|entry| entry.key == keys.root())?;
        let changed = range.entries.iter().map(|entry| entry.changed).max();
        let mut image = Self {
            id: id.clone(),
            created: root.created,
            // All entries were read at one moment, which may be later than the range's revision.
            revision: changed.unwrap_or_default().max(range.revision),
            root_key: keys.root().to_owned(),
            root: Slot::default(),
            meta: Slot::default(),
            status: Slot::default(),
            status_changed: None,
            stop_flag: Slot::default(),
            status_context: Slot::default(),
            app_order: Slot::default(),
            apps: BTreeMap::new(),
        };
        for entry in range.entries {
            image.take(&entry.key, Some(&entry.value), entry.changed);
        }
        Some(image)
    }

    /// Returns whether the image contains every change up to a revision.
    pub(super) fn contains(&self, revision: Revision) -> bool {
        revision <= self.revision
    }

    /// The id of the status context, unless it is the context itself.
    pub(super) fn status_id(&self) -> Option<ContextId> {
        let status = self.status_context.get().cloned();
        status.filter(|status| *status != self.id)
    }

    /// Applies the change of one key. `None` as the value means that the key was deleted.
    pub(super) fn take(&mut self, key: &str, value: Option<&[u8]>, changed: Revision) -> Affected {
        match keys::context_key(&self.root_key, key) {
            ContextKey::Root if value.is_none() => return Affected::Deleted,
            ContextKey::Root => self
                .root
                .set(value, |stored| decode::root(&self.id, stored)),
            ContextKey::Meta => self.meta.set(value, decode::value),
            ContextKey::Status => {
                self.status_changed = value.map(|_| changed);
                let status = |value: &[u8]| decode::object::<StatusValue<_>>(value);
                self.status.set(value, |stored| Ok(status(stored)?.status));
            }
            ContextKey::StopFlag => self.stop_flag.set(value, decode::value),
            ContextKey::StatusContext => {
                self.status_context.set(value, decode::id);
                return Affected::Everything;
            }
            ContextKey::AppOrder => self.app_order.set(value, |stored| {
                decode::instruction::<AppOrder>(stored).map(|order| order.apps)
            }),
            ContextKey::App(name) => {
                self.change_app(name, |app| app.exists = value.is_some());
                return Affected::Everything;
            }
            ContextKey::AppDependency(name) => self.change_app(name, |app| {
                app.depends_on.set(value, |stored| {
                    decode::instruction::<AppDependency>(stored).map(|dependency| dependency.apps)
                });
            }),
            ContextKey::InCluster(app, cluster, key) => {
                self.change_app(app, |app| app.change_cluster(cluster, key, value));
                return Affected::Cluster((app.to_owned(), cluster.to_owned()));
            }
            ContextKey::Other => return Affected::Nothing,
        }
        Affected::Head
    }

    /// Changes an app, which is added before and removed afterwards if it is empty.
    fn change_app(&mut self, name: &str, change: impl FnOnce(&mut AppImage)) {
        let ordered = in_key_order(name);
        let app = self.apps.entry(ordered.clone()).or_default();
        if app.name.is_empty() {
            name.clone_into(&mut app.name);
        }
        change(app);
        if !app.exists && !app.depends_on.is_present() && app.clusters.is_empty() {
            self.apps.remove(&ordered);
        }
    }

    /// The apps that exist, in the order of their keys.
    pub(super) fn apps(&self) -> impl Iterator<Item = &AppImage> {
        self.apps.values().filter(|app| app.exists)
    }

    /// The clusters of existing apps, in the order of their keys.
    pub(super) fn clusters(&self) -> impl Iterator<Item = (&AppImage, &ClusterImage)> {
        let apps = self.apps();
        apps.flat_map(|app| app.clusters().map(move |cluster| (app, cluster)))
    }

    /// An app in a cluster, if both exist.
    pub(super) fn cluster(&self, (app, cluster): &AppInCluster) -> Option<&ClusterImage> {
        let app = self.apps.get(&in_key_order(app)).filter(|app| app.exists)?;
        let cluster = app.clusters.get(&in_key_order(cluster))?;
        cluster.exists().then_some(cluster)
    }

    pub(super) fn cluster_mut(
        &mut self,
        (app, cluster): &AppInCluster,
    ) -> Option<&mut ClusterImage> {
        let app = self.apps.get_mut(&in_key_order(app))?;
        app.clusters.get_mut(&in_key_order(cluster))
    }

    /// Drops the texts of all reports.
    pub(super) fn forget_reports(&mut self) {
        let apps = self.apps.values_mut();
        for cluster in apps.flat_map(|app| app.clusters.values_mut()) {
            cluster.forget_report();
        }
    }

    /// The values that cannot be read, in the order of their keys.
    pub(super) fn unreadable(&self) -> Vec<Unreadable> {
        let keys = ContextKeys::new(&self.id);
        let head = [
            (keys.root().to_owned(), self.root.fault()),
            (keys.meta(), self.meta.fault()),
            (keys.status(), self.status.fault()),
            (keys.stop_flag(), self.stop_flag.fault()),
            (keys.status_context(), self.status_context.fault()),
            (keys.app_order(), self.app_order.fault()),
        ];
        let head = head.into_iter();
        let head = head.filter_map(|(key, why)| Some(unreadable(key, why?)));
        let apps = self.apps.values();
        let dependencies = apps.filter_map(|app| {
            let own = app.depends_on.fault().map(str::to_owned);
            let why = own.or_else(|| {
                let is_orphan = !app.exists && app.depends_on.is_present();
                is_orphan.then(|| app.missing())
            });
            let key = format!("{}app/{}/instruction/dependency/", self.root_key, app.name);
            Some(unreadable(key, &why?))
        });
        let mut all: Vec<Unreadable> = head.chain(dependencies).collect();
        all.extend(self.unreadable_in_clusters());
        all.sort_by(|a, b| a.key.cmp(&b.key));
        all
    }

    /// The values in clusters that cannot be read, in the order of their keys.
    pub(super) fn unreadable_in_clusters(&self) -> Vec<Unreadable> {
        let keys = ContextKeys::new(&self.id);
        let mut all = Vec::new();
        for app in self.apps.values() {
            for cluster in app.clusters.values() {
                if app.exists && cluster.unreadable().is_empty() {
                    continue;
                }
                let key = keys.stored_cluster(&app.name, &cluster.name);
                let key = key.root();
                if app.exists {
                    let unread = cluster.unreadable().iter();
                    all.extend(unread.map(|(below, why)| unreadable(format!("{key}{below}"), why)));
                } else {
                    let missing = app.missing();
                    cluster.visit(&mut |below, _| {
                        all.push(unreadable(format!("{key}{}", below.below()), &missing));
                    });
                }
            }
        }
        all.sort_by(|a, b| a.key.cmp(&b.key));
        all
    }
}

impl AppImage {
    fn change_cluster(&mut self, name: &str, key: ClusterKey<'_>, value: Option<&[u8]>) {
        let ordered = in_key_order(name);
        let cluster = self.clusters.entry(ordered.clone());
        let cluster = cluster.or_insert_with(|| ClusterImage::new(name));
        cluster.take(key, value);
        if cluster.is_empty() {
            self.clusters.remove(&ordered);
        }
    }

    /// The clusters that exist, in the order of their keys.
    pub(super) fn clusters(&self) -> impl Iterator<Item = &ClusterImage> {
        self.clusters.values().filter(|cluster| cluster.exists())
    }

    fn missing(&self) -> String {
        format!("the context has no app `{}`", self.name)
    }
}

/// A name in the order of its key: keys are compared with the `/` that ends each of their parts.
pub(super) fn in_key_order(name: &str) -> String {
    format!("{name}/")
}

fn unreadable(key: String, why: &str) -> Unreadable {
    let why = why.chars().take(WHY_CHARS_MAX).collect();
    Unreadable { key, why }
}
