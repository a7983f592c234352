//! Plans: the items that A&AI should have for one application.

mod absence;

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use kindsight_model::{ClusterName, Coverage, DigName, Object};
use kindsight_status::{ContextView, ResourceTable, ResourceView, Role, Subject, onap_state};

use crate::item::{Content, ItemKey, Vserver};
use crate::settings::AaiSettings;
use absence::{Absence, Absences, is_current};

/// The label with the id of the VNF that an object belongs to.
const VNF_LABEL: &str = "generic-vnf-id";
/// The label with the id of the module of this VNF.
const VF_MODULE_LABEL: &str = "vfmodule-id";

/// Maximum number of an object and its owners whose labels are read. A Pod of a workload of OAM has three owners.
const OWNERS_MAX: usize = 8;

/// An item of one application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Planned {
    /// The cluster of a vserver; `None` for a VNF.
    pub(crate) cluster: Option<ClusterName>,
    /// The content; `None` to keep the item as it is.
    pub(crate) content: Option<Content>,
}

/// The items of one application, by their keys.
pub(crate) type Plan = BTreeMap<ItemKey, Planned>;

/// The clusters that are connected and were listed since the start, each with the coverage of its Kinds.
pub(crate) type Heard = BTreeMap<ClusterName, Coverage>;

/// Makes the plan for an application. `held` are the items of the previous plan or of the ledger. `subject` is the
/// application in the read model, if it has it; it was read after `heard`. Returns also whether an item is kept because
/// its cluster is not heard.
pub(crate) fn plan(
    name: &DigName,
    subject: Option<&Subject>,
    held: &Plan,
    settings: &AaiSettings,
    heard: &Heard,
) -> (Plan, bool) {
    let view = subject.and_then(Subject::view).map(|view| &**view);
    let mut plan = view.map_or_else(Plan::new, |view| vservers(name, view, settings));
    let absences = Absences::of(view, settings, heard);
    let mut is_state_current = absences.are_reports_current();
    let (mut is_complete, mut is_unheard) = (is_state_current, false);
    for (key, item) in held {
        let Some(cluster) = &item.cluster else {
            continue;
        };
        if plan.contains_key(key) {
            continue;
        }
        // No report decides about a cluster that is removed from the configuration: its items remain.
        if settings.clusters.contains_key(cluster) {
            let absence = absences.conclude(cluster, item);
            if absence == Absence::Deleted {
                continue;
            }
            is_complete = false;
            is_state_current &= absence == Absence::Uncertain;
            is_unheard |= !heard.contains_key(cluster);
        }
        plan.insert(key.clone(), item.clone());
    }
    let vnfs: BTreeSet<String> = plan
        .values()
        .filter_map(|item| match &item.content {
            Some(Content::Vserver(vserver)) => Some(vserver.vnf.clone()),
            _ => None,
        })
        .collect();
    let current = subject.filter(|_| is_state_current);
    let phase = current.and_then(Subject::phase);
    for id in vnfs {
        let key = ItemKey::Vnf { id };
        let state = phase.map(onap_state);
        let content = state.map(|state| Content::Vnf { state });
        let held = held.get(&key).and_then(|held| held.content.clone());
        let item = Planned {
            cluster: None,
            content: content.or(held),
        };
        plan.insert(key, item);
    }
    if !is_complete {
        let vnfs = held.iter().filter(|(_, item)| item.cluster.is_none());
        for (key, item) in vnfs {
            plan.entry(key.clone()).or_insert_with(|| item.clone());
        }
    }
    (plan, is_unheard)
}

/// The vservers of an application in clusters with current reports.
fn vservers(name: &DigName, view: &ContextView, settings: &AaiSettings) -> Plan {
    let mut plan = Plan::new();
    for cluster in view.clusters().filter(|cluster| is_current(cluster)) {
        let Some(place) = settings.clusters.get(cluster.cluster()) else {
            continue;
        };
        let resources = cluster.resources();
        let reported = resources.iter().filter(|it| settings.reports(&it.gvk));
        for resource in reported {
            let vserver = vserver(name, cluster.cluster(), resource, resources);
            if let Some((id, vserver)) = vserver {
                let key = ItemKey::vserver(place, &id);
                let item = Planned {
                    cluster: Some(cluster.cluster().clone()),
                    content: Some(Content::Vserver(vserver)),
                };
                plan.insert(key, item);
            }
        }
    }
    plan
}

/// The uid and the vserver of an object that has both labels, or whose owners have them.
fn vserver(
    name: &DigName,
    cluster: &ClusterName,
    resource: &ResourceView,
    resources: &ResourceTable,
) -> Option<(String, Vserver)> {
    if resource.role == Role::Gone {
        return None;
    }
    let object = resource.object.as_ref().filter(|it| !it.uid.is_empty())?;
    let (namespace, kind) = (&resource.namespace, &resource.gvk.kind);
    let vserver = Vserver {
        name: resource.name.to_string(),
        name2: name.composite_app.to_string(),
        self_link: format!("kindsight:{cluster}/{namespace}/{kind}/{}", resource.name),
        state: onap_state(resource.verdict.phase),
        address: address(object),
        vnf: label(resource, resources, VNF_LABEL)?,
        vf_module: label(resource, resources, VF_MODULE_LABEL)?,
    };
    Some((object.uid.to_string(), vserver))
}

/// The value of a label of an object, or else of its nearest owner with this label.
fn label(resource: &ResourceView, resources: &ResourceTable, name: &str) -> Option<String> {
    let owner_of = |child: &&ResourceView| resources.get(child.owner?);
    let owners = std::iter::successors(Some(resource), owner_of);
    owners.take(OWNERS_MAX).find_map(|it| {
        let value = it.object.as_ref()?.label(name)?;
        Some(value.to_owned())
    })
}

/// `status.podIP` of a Pod.
fn address(object: &Object) -> Option<IpAddr> {
    let tree = object.tree();
    let document = tree.document(&object.json);
    let address = document.root().get("status").get("podIP");
    address.text()?.parse().ok()
}

#[cfg(test)]
mod tests;
