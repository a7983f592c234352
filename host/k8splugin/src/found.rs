//! One instance, and the answers about it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kindsight_api::k8splugin::{
    RbInstance, RbInstanceRequest, RbInstanceStatus, RbInstanceSummary, RbResource,
    RbResourceStatus,
};
use kindsight_api::onap::OnapState;
use kindsight_api::status::{Detail, Output, QueryType, Readiness};
use kindsight_model::{ClusterName, DigName, Object};
use kindsight_status::{ResourceView, Role, StatusQuery, Subject, onap_state};
use serde_json::{Map, Value};

use crate::instances::AnsweredStatus;
use crate::settings::ConfiguredInstance;

/// An instance at one moment.
pub(crate) struct Found<'f> {
    pub(crate) id: &'f str,
    /// The application.
    pub(crate) name: &'f DigName,
    pub(crate) subject: &'f Subject,
    /// The cluster of its cloud region; `None` if the application has no cluster yet.
    pub(crate) cluster: Option<&'f ClusterName>,
    pub(crate) region: String,
    pub(crate) configured: Option<&'f ConfiguredInstance>,
}

impl Found<'_> {
    /// The instance in a list.
    pub(crate) fn summary(&self) -> RbInstanceSummary {
        let request = self.request();
        RbInstanceSummary {
            id: self.id.to_owned(),
            release_name: request.release_name.clone(),
            namespace: self.namespace(),
            request,
        }
    }

    /// The instance with the identities of its resources.
    pub(crate) fn instance(&self) -> RbInstance {
        let request = self.request();
        let resources = self.own().map(|resource| RbResource {
            gvk: resource.gvk.clone(),
            name: resource.name.to_string(),
        });
        RbInstance {
            id: self.id.to_owned(),
            namespace: self.namespace(),
            release_name: request.release_name.clone(),
            resources: resources.collect(),
            request,
        }
    }

    /// The status of the instance.
    pub(crate) fn status(&self) -> AnsweredStatus {
        let readiness = self.readiness();
        let phase = readiness.ready_phase.map(onap_state);
        let resources = self.own().chain(self.pods()).map(status);
        let resources: Vec<RbResourceStatus> = resources.collect();
        AnsweredStatus {
            status: RbInstanceStatus {
                request: self.request(),
                // The plugin asks the cluster and fails if it cannot reach it, so an old report is not ready.
                ready: phase == Some(OnapState::Ready) && readiness.stale_reason.is_none(),
                resource_count: resources.len(),
                resources_status: resources,
            },
            stale: readiness.stale_reason.map(Cow::into_owned),
        }
    }

    /// The resources in its cluster.
    fn resources(&self) -> impl Iterator<Item = &ResourceView> {
        let resources = self.subject.resources();
        let here = resources.filter(|(cluster, _)| Some(*cluster) == self.cluster);
        here.map(|(_, resource)| resource)
    }

    /// The resources that the plugin would have created: no other resource owns them, and they are no hooks.
    fn own(&self) -> impl Iterator<Item = &ResourceView> {
        self.resources().filter(|resource| {
            let is_listed = match resource.role {
                Role::Sent | Role::Unsent | Role::Missing => true,
                Role::SentHook | Role::Hook | Role::Gone => false,
            };
            is_listed && resource.owner.is_none()
        })
    }

    /// The Pods of these resources.
    fn pods(&self) -> impl Iterator<Item = &ResourceView> {
        self.resources().filter(|resource| {
            let is_pod = resource.gvk.group.is_empty() && &*resource.gvk.kind == "Pod";
            is_pod && resource.role == Role::Unsent && resource.owner.is_some()
        })
    }

    /// The roll-up of the application in its cluster.
    fn readiness(&self) -> Readiness<'_> {
        let Some(cluster) = self.cluster else {
            return Readiness::default();
        };
        let query = StatusQuery {
            kind: Some(QueryType::Cluster),
            output: Output::Summary,
            clusters: BTreeSet::from([cluster.clone()]),
            ..StatusQuery::default()
        };
        self.subject.selected(&query).readiness
    }

    /// The namespace of the configuration, else the namespace of most resources, else the first of these by name.
    fn namespace(&self) -> String {
        if let Some(namespace) = self.configured.and_then(|it| it.namespace.clone()) {
            return namespace;
        }
        let mut counts = BTreeMap::<&Arc<str>, usize>::new();
        for resource in self.own().filter(|resource| !resource.namespace.is_empty()) {
            *counts.entry(&resource.namespace).or_default() += 1;
        }
        let most = counts.into_iter().rev().max_by_key(|(_, count)| *count);
        most.map_or_else(String::new, |(namespace, _)| namespace.to_string())
    }

    fn request(&self) -> RbInstanceRequest {
        let default = ConfiguredInstance::default();
        let configured = self.configured.unwrap_or(&default);
        let version = Some(&*self.name.version).filter(|version| *version != DigName::NONE);
        let or = |set: &Option<String>, default: Option<&str>| {
            set.clone()
                .unwrap_or_else(|| default.unwrap_or_default().to_owned())
        };
        RbInstanceRequest {
            rb_name: or(&configured.rb_name, Some(&self.name.composite_app)),
            rb_version: or(&configured.rb_version, version),
            profile_name: or(&configured.profile_name, self.subject.profile()),
            release_name: or(&configured.release_name, None),
            cloud_region: self.region.clone(),
            labels: configured.labels.clone(),
            override_values: configured.override_values.clone(),
        }
    }
}

fn status(resource: &ResourceView) -> RbResourceStatus {
    RbResourceStatus {
        name: resource.name.to_string(),
        gvk: resource.gvk.clone(),
        status: Detail::new(object(resource)),
        state: onap_state(resource.verdict.phase),
    }
}

/// The object in the cluster as JSON. If the cluster does not have it, only the identity.
fn object(resource: &ResourceView) -> Arc<str> {
    match &resource.object {
        Some(object) if object.names_itself => Arc::clone(&object.json),
        Some(object) => named(object),
        None => {
            let ResourceView {
                gvk,
                namespace,
                name,
                ..
            } = resource;
            let identity = Object::of_identity(gvk, namespace, name);
            identity.map_or_else(|| "null".into(), |identity| Arc::clone(&identity.json))
        }
    }
}

/// The object with `apiVersion` and `kind`, which an item of a list may omit.
fn named(object: &Object) -> Arc<str> {
    let Ok(mut members) = serde_json::from_str::<Map<String, Value>>(&object.json) else {
        return Arc::clone(&object.json);
    };
    let gvk = &object.gvk;
    members.insert("apiVersion".to_owned(), gvk.api_version().into());
    members.insert("kind".to_owned(), gvk.kind.to_string().into());
    Value::Object(members).to_string().into()
}
