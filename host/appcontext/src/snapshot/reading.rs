//! Reads a snapshot from the keys and values of a context.
//!
//! Reading never fails: a value that cannot be understood is listed and costs only itself.
//!
//! Keys come in bytewise order, and each ends in `/`. So the key of an app, a cluster or a resource
//! comes first and all keys below it follow at once: one pass that knows the last of each is
//! enough.

use std::collections::HashMap;

use kindsight_model::{ContextId, ContextStatus, RsyncStatus};
use kindsight_store::Entry;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{AppSnapshot, ClusterSnapshot, ContextSnapshot, ResourceSnapshot};
use crate::Unreadable;
use crate::keys::{self, ClusterKey, ContextKey, ContextKeys};
use crate::status::StatusValue;

/// The text that another orchestrator stores instead of a manifest that it does not have.
const NO_MANIFEST: &str = "nil";

/// The longest reason of an unreadable value, in characters: it may quote a value of any size.
pub(super) const WHY_CHARS_MAX: usize = 200;

/// Reads a context from its entries, which must be in bytewise order of their keys; none when the
/// root key is absent.
pub(crate) fn read(id: &ContextId, entries: &[Entry]) -> Option<ContextSnapshot> {
    let mut reading = Reading {
        root: ContextKeys::new(id).root().to_owned(),
        exists: false,
        app_order: Vec::new(),
        apps: Vec::new(),
        found: ContextSnapshot {
            id: id.clone(),
            meta: None,
            status: None,
            stop_flag: false,
            apps: Vec::new(),
            unreadable: Vec::new(),
        },
    };
    for Entry { key, value, .. } in entries {
        if let Err(why) = reading.read(key, value) {
            reading.found.unreadable.push(Unreadable {
                key: key.clone(),
                why: why.chars().take(WHY_CHARS_MAX).collect(),
            });
        }
    }
    reading.finish()
}

/// The result of one value; the error is a text for [`Unreadable::why`].
type Decoded<T = ()> = Result<T, String>;

struct Reading {
    root: String,
    exists: bool,
    app_order: Vec<String>,
    apps: Vec<AppReading>,
    found: ContextSnapshot,
}

struct AppReading {
    name: String,
    clusters: Vec<ClusterReading>,
}

struct ClusterReading {
    /// The name as in the key.
    name: String,
    resource_order: Vec<String>,
    resources: Vec<ResourceReading>,
    found: ClusterSnapshot,
}

struct ResourceReading {
    /// The name as in the key.
    name: String,
    found: ResourceSnapshot,
}

impl Reading {
    fn read(&mut self, key: &str, value: &[u8]) -> Decoded {
        match keys::context_key(&self.root, key) {
            ContextKey::Root => {
                self.exists = true;
                check_root(&self.found.id, value)?;
            }
            ContextKey::Meta => self.found.meta = Some(decode_object(value)?),
            ContextKey::Status => {
                self.found.status =
                    Some(decode_object::<StatusValue<ContextStatus>>(value)?.status);
            }
            ContextKey::StopFlag => self.found.stop_flag = decode(value)?,
            ContextKey::AppOrder => self.app_order = decode_instruction::<AppOrder>(value)?.names(),
            ContextKey::App(name) => self.apps.push(AppReading {
                name: name.to_owned(),
                clusters: Vec::new(),
            }),
            ContextKey::InCluster(app, cluster, ClusterKey::Root) => {
                self.app(app)?.clusters.push(ClusterReading::new(cluster)?);
            }
            ContextKey::InCluster(app, cluster, key) => {
                self.app(app)?.cluster(cluster)?.read(key, value)?;
            }
            ContextKey::Other => {}
        }
        Ok(())
    }

    fn app(&mut self, name: &str) -> Decoded<&mut AppReading> {
        let last = self.apps.last_mut().filter(|last| last.name == name);
        last.ok_or_else(|| format!("the context has no app `{name}`"))
    }

    fn finish(mut self) -> Option<ContextSnapshot> {
        sort_by_order(&mut self.apps, &self.app_order, |app| &app.name);
        self.found.apps = self.apps.into_iter().map(AppReading::finish).collect();
        self.exists.then_some(self.found)
    }
}

impl AppReading {
    fn cluster(&mut self, name: &str) -> Decoded<&mut ClusterReading> {
        let last = self.clusters.last_mut().filter(|last| last.name == name);
        last.ok_or_else(|| format!("the app has no cluster `{name}`"))
    }

    fn finish(self) -> AppSnapshot {
        let clusters = self.clusters.into_iter();
        AppSnapshot {
            name: self.name,
            clusters: clusters.map(ClusterReading::finish).collect(),
        }
    }
}

impl ClusterReading {
    fn new(name: &str) -> Decoded<Self> {
        let cluster = name.parse().map_err(|error| format!("{error}"))?;
        Ok(Self {
            name: name.to_owned(),
            resource_order: Vec::new(),
            resources: Vec::new(),
            found: ClusterSnapshot {
                cluster,
                group: None,
                bundle_status_json: None,
                connectivity: None,
                resources: Vec::new(),
            },
        })
    }

    fn read(&mut self, key: ClusterKey<'_>, value: &[u8]) -> Decoded {
        match key {
            ClusterKey::Root => {}
            ClusterKey::Group => self.found.group = Some(decode(value)?),
            ClusterKey::Bundle => self.found.bundle_status_json = Some(decode(value)?),
            ClusterKey::Connectivity => self.found.connectivity = Some(decode(value)?),
            ClusterKey::ResourceOrder => {
                self.resource_order = decode_instruction::<ResourceOrder>(value)?.names();
            }
            ClusterKey::Resource(name) => self.add_resource(name, value)?,
            ClusterKey::ResourceStatus(name) => {
                let status = decode_object::<StatusValue<RsyncStatus>>(value);
                self.resource(name)?.found.status = Some(status?.status);
            }
        }
        Ok(())
    }

    /// Adds a resource, also when its manifest is damaged.
    fn add_resource(&mut self, name: &str, value: &[u8]) -> Decoded {
        let (own_name, kind) =
            keys::split_resource(name).ok_or("a resource is named `<name>+<Kind>`")?;
        let manifest = decode::<String>(value);
        let readable = manifest.as_ref().ok().filter(|text| *text != NO_MANIFEST);
        self.resources.push(ResourceReading {
            name: name.to_owned(),
            found: ResourceSnapshot {
                name: own_name.to_owned(),
                kind: kind.to_owned(),
                manifest: readable.cloned(),
                status: None,
            },
        });
        manifest.map(|_| ())
    }

    fn resource(&mut self, name: &str) -> Decoded<&mut ResourceReading> {
        let last = self.resources.last_mut().filter(|last| last.name == name);
        last.ok_or_else(|| format!("the cluster has no resource `{name}`"))
    }

    fn finish(mut self) -> ClusterSnapshot {
        sort_by_order(&mut self.resources, &self.resource_order, |resource| {
            &resource.name
        });
        let resources = self.resources.into_iter();
        self.found.resources = resources.map(|resource| resource.found).collect();
        self.found
    }
}

/// The order of the apps. Go writes an empty one as `null`.
#[derive(Deserialize)]
struct AppOrder {
    apporder: Option<Vec<String>>,
}

impl AppOrder {
    fn names(self) -> Vec<String> {
        self.apporder.unwrap_or_default()
    }
}

/// The order of the resources of an app in a cluster. Go writes an empty one as `null`.
#[derive(Deserialize)]
struct ResourceOrder {
    resorder: Option<Vec<String>>,
}

impl ResourceOrder {
    fn names(self) -> Vec<String> {
        self.resorder.unwrap_or_default()
    }
}

/// Moves what `order` names to the front, in that order; the rest stays in the order it has.
fn sort_by_order<T>(things: &mut [T], order: &[String], name: impl Fn(&T) -> &String) {
    let mut ranks = HashMap::new();
    for (rank, name) in order.iter().enumerate() {
        ranks.entry(name).or_insert(rank);
    }
    things.sort_by_key(|thing| ranks.get(name(thing)).copied().unwrap_or(usize::MAX));
}

fn check_root(id: &ContextId, value: &[u8]) -> Decoded {
    if decode::<String>(value)? == id.as_str() {
        return Ok(());
    }
    Err("does not hold the id of its context".to_owned())
}

fn decode<T: DeserializeOwned>(value: &[u8]) -> Decoded<T> {
    serde_json::from_slice(value).map_err(|error| error.to_string())
}

/// Decodes an object. Other than [`decode`] it refuses an array, which serde takes for the fields
/// in order.
fn decode_object<T: DeserializeOwned>(value: &[u8]) -> Decoded<T> {
    let object = Value::Object(decode(value)?);
    serde_json::from_value(object).map_err(|error| error.to_string())
}

/// Decodes an object that is stored as a JSON string.
fn decode_instruction<T: DeserializeOwned>(value: &[u8]) -> Decoded<T> {
    decode_object(decode::<String>(value)?.as_bytes())
}
