//! The model: what the calls should have done.

use std::collections::BTreeMap;

use kindsight_model::RsyncStatus;

use super::call::{Call, Outcome};
use super::client::{app_name, cluster_name, resource_name};

/// A context in memory, until it is deleted.
#[derive(Default)]
pub(crate) struct Expected {
    is_deleted: bool,
    order: Vec<u8>,
    apps: BTreeMap<u8, BTreeMap<u8, Cluster>>,
}

#[derive(Default)]
struct Cluster {
    group: Option<u8>,
    order: Vec<u8>,
    resources: BTreeMap<u8, Resource>,
}

struct Resource {
    yaml: String,
    status: Option<RsyncStatus>,
}

impl Expected {
    pub(crate) fn make(&mut self, call: &Call) -> Outcome {
        let outcome = self.try_make(call);
        outcome.unwrap_or(Outcome::NotFound)
    }

    fn try_make(&mut self, call: &Call) -> Option<Outcome> {
        if self.is_deleted {
            return None;
        }
        match *call {
            Call::AddApp(app) => drop(self.apps.entry(app).or_default()),
            Call::DeleteApp(app) => {
                self.apps.remove(&app)?;
                self.order.retain(|other| *other != app);
            }
            Call::AppendApp(app) => self.order.push(app),
            Call::AddCluster(app, cluster) => {
                self.apps.get_mut(&app)?.entry(cluster).or_default();
            }
            Call::DeleteCluster(app, cluster) => drop(self.apps.get_mut(&app)?.remove(&cluster)?),
            Call::SetGroup(app, cluster, group) => self.cluster(app, cluster)?.group = Some(group),
            Call::AddResource(app, cluster, resource, yaml) => {
                let cluster = self.cluster(app, cluster)?;
                let yaml = yaml.to_string();
                match cluster.resources.get(&resource) {
                    Some(known) if known.yaml != yaml => return Some(Outcome::Exists),
                    Some(_) => {}
                    None => {
                        let status = None;
                        cluster
                            .resources
                            .insert(resource, Resource { yaml, status });
                    }
                }
            }
            Call::DeleteResource(app, cluster, resource) => {
                let cluster = self.cluster(app, cluster)?;
                cluster.resources.remove(&resource)?;
                cluster.order.retain(|other| *other != resource);
            }
            Call::AppendResource(app, cluster, resource) => {
                self.cluster(app, cluster)?.order.push(resource);
            }
            Call::ChangeManifest(app, cluster, resource) => {
                self.cluster(app, cluster)?
                    .resources
                    .get_mut(&resource)?
                    .yaml += "+";
            }
            Call::SetApplied(app, cluster, resource) => {
                let resource = self.cluster(app, cluster)?.resources.get_mut(&resource)?;
                resource.status = Some(RsyncStatus::Applied);
            }
            Call::DeleteContext => {
                *self = Self {
                    is_deleted: true,
                    ..Self::default()
                }
            }
        }
        Some(Outcome::Done)
    }

    fn cluster(&mut self, app: u8, cluster: u8) -> Option<&mut Cluster> {
        self.apps.get_mut(&app)?.get_mut(&cluster)
    }

    /// The names in the order of the apps.
    pub(crate) fn order(&self) -> Vec<String> {
        self.order.iter().map(|app| app_name(*app)).collect()
    }

    /// Everything there is, as the test writes a snapshot; none of a deleted context.
    pub(crate) fn lines(&self) -> Option<Vec<String>> {
        let mut lines = Vec::new();
        for app in ordered(&self.order, self.apps.keys()) {
            let name = app_name(app);
            lines.push(name.clone());
            for (cluster, content) in &self.apps[&app] {
                let group = content
                    .group
                    .map_or("none".to_owned(), |group| group.to_string());
                lines.push(format!("{name} {} {group}", cluster_name(*cluster)));
                for resource in ordered(&content.order, content.resources.keys()) {
                    let Resource { yaml, status } = &content.resources[&resource];
                    let resource = resource_name(resource);
                    lines.push(format!("  {} {yaml} {status:?}", resource.name()));
                }
            }
        }
        (!self.is_deleted).then_some(lines)
    }
}

/// The names that the order has first, then the rest.
fn ordered<'k, K: Iterator<Item = &'k u8>>(order: &[u8], keys: K) -> Vec<u8> {
    let mut keys: Vec<u8> = keys.copied().collect();
    keys.sort_by_key(|key| {
        order
            .iter()
            .position(|entry| entry == key)
            .unwrap_or(usize::MAX)
    });
    keys
}
