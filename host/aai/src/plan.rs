//! Plans: the items that A&AI should have for one application.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use kindsight_model::{ClusterName, DigName, Object};
use kindsight_status::{
    ClusterView, ContextView, Report, ResourceTable, ResourceView, Role, Subject, onap_state,
};

use crate::item::{Content, ItemKey, Vserver};
use crate::settings::AaiSettings;

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

/// Makes the plan for an application. `held` are the items of the previous plan or of the ledger. `subject` is the
/// application in the read model, if it has it. `heard` are the clusters that are connected and were listed completely.
/// Returns also whether an item is kept because its cluster is not among them.
pub(crate) fn plan(
    name: &DigName,
    subject: Option<&Subject>,
    held: &Plan,
    settings: &AaiSettings,
    heard: &BTreeSet<ClusterName>,
) -> (Plan, bool) {
    let view = subject.and_then(Subject::view);
    let (mut plan, unproven) = match view {
        Some(view) => vservers(name, view, settings),
        None => (Plan::new(), BTreeSet::new()),
    };
    let clusters: BTreeSet<&ClusterName> = view
        .iter()
        .flat_map(|view| view.clusters())
        .map(ClusterView::cluster)
        .collect();
    let proves_absence = |cluster: &ClusterName| {
        if clusters.contains(cluster) {
            !unproven.contains(cluster)
        } else {
            heard.contains(cluster)
        }
    };
    let (mut is_complete, mut is_unheard) = (unproven.is_empty(), false);
    for (key, item) in held {
        let Some(cluster) = &item.cluster else {
            continue;
        };
        // No report decides about a cluster that is removed from the configuration: its items remain.
        let is_removed = !settings.clusters.contains_key(cluster);
        if !plan.contains_key(key) && (is_removed || !proves_absence(cluster)) {
            is_complete &= is_removed;
            is_unheard |= !is_removed && !heard.contains(cluster);
            plan.insert(key.clone(), item.clone());
        }
    }
    let vnfs: BTreeSet<String> = plan
        .values()
        .filter_map(|item| match &item.content {
            Some(Content::Vserver(vserver)) => Some(vserver.vnf.clone()),
            _ => None,
        })
        .collect();
    let phase = subject.filter(|_| is_complete).and_then(Subject::phase);
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

/// The vservers of an application in clusters with current reports, and the clusters without a current report.
fn vservers(
    name: &DigName,
    view: &ContextView,
    settings: &AaiSettings,
) -> (Plan, BTreeSet<ClusterName>) {
    let (mut plan, mut unproven) = (Plan::new(), BTreeSet::new());
    for cluster in view.clusters() {
        let Some(place) = settings.clusters.get(cluster.cluster()) else {
            continue;
        };
        if !matches!(cluster.report(), Report::Received { stale: None }) {
            unproven.insert(cluster.cluster().clone());
            continue;
        }
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
    (plan, unproven)
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
