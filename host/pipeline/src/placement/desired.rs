//! The expected resources of a placement.

use std::collections::BTreeSet;
use std::sync::Arc;

use kindsight_appcontext::ResourceSnapshot;
use kindsight_model::{Identity, MissingResource, ObjectList, Report};
use kindsight_status::{ClusterView, Expected, Unseen};

use super::Environment;
use super::autoscalers::Autoscalers;
use super::held_report::HeldReport;
use super::inputs::{Inputs, applied};
use super::manifests::Manifests;
use super::observed::Observed;

/// A Kind in a namespace, which is empty for a cluster-scoped Kind. A group of `None` is not known.
pub(super) type RelevantKind = (Option<Arc<str>>, Arc<str>, Arc<str>);

/// The expected resources of a placement.
pub(super) enum Desired {
    /// Of a recorded application: the resources that its `AppContext` sends.
    Sent {
        /// The namespace of manifests that name none.
        namespace: Arc<str>,
        manifests: Manifests,
        /// The Kinds of the manifests.
        kinds: BTreeSet<RelevantKind>,
        /// The autoscalers whose manifests were applied.
        applied_autoscalers: Autoscalers,
        /// The autoscalers of the application in the cluster: manifests and reported objects of all apps.
        autoscalers: Arc<Autoscalers>,
    },
    /// Of an application that was found: the objects that were last seen, and the resources that inventories list.
    /// The report has the existing objects; this has the objects that the report lacks.
    Observed(Observed),
}

impl Desired {
    pub(super) fn sent() -> Self {
        Self::Sent {
            namespace: "".into(),
            manifests: Manifests::default(),
            kinds: BTreeSet::new(),
            applied_autoscalers: Autoscalers::default(),
            autoscalers: Arc::default(),
        }
    }

    pub(super) fn observed() -> Self {
        Self::Observed(Observed::default())
    }

    /// Replaces the resources that are sent.
    pub(super) fn send(&mut self, resources: &Arc<[ResourceSnapshot]>, namespace: &Arc<str>) {
        let manifests = match self {
            Self::Sent { manifests, .. } => manifests.read(resources),
            Self::Observed(_) => Manifests::default().read(resources),
        };
        let kinds = manifests.expected.iter().map(|expected| {
            let group = expected.manifest.is_some();
            let group = group.then(|| Arc::clone(&expected.gvk.group));
            let namespace = expected.namespace_in(namespace).into();
            (group, Arc::clone(&expected.gvk.kind), namespace)
        });
        let mut applied_autoscalers = Autoscalers::default();
        for expected in &manifests.expected {
            if let Some(manifest) = applied(expected) {
                applied_autoscalers.add(&manifest, expected.namespace_in(namespace));
            }
        }
        *self = Self::Sent {
            namespace: Arc::clone(namespace),
            kinds: kinds.collect(),
            applied_autoscalers,
            autoscalers: self.autoscalers().map(Arc::clone).unwrap_or_default(),
            manifests,
        };
    }

    /// The autoscalers of the application in the cluster. `None` if no resources are sent: then no object is completed
    /// from a manifest.
    pub(super) fn autoscalers(&self) -> Option<&Arc<Autoscalers>> {
        match self {
            Self::Sent { autoscalers, .. } => Some(autoscalers),
            Self::Observed(_) => None,
        }
    }

    /// Replaces the autoscalers of the application in the cluster.
    pub(super) fn scale(&mut self, by: &Arc<Autoscalers>) {
        if let Self::Sent { autoscalers, .. } = self {
            *autoscalers = Arc::clone(by);
        }
    }

    /// The autoscalers whose manifests were applied.
    pub(super) fn applied_autoscalers(&self) -> Option<&Autoscalers> {
        match self {
            Self::Sent {
                applied_autoscalers,
                ..
            } => Some(applied_autoscalers),
            Self::Observed(_) => None,
        }
    }

    /// Returns whether exactly these resources are sent.
    pub(super) fn sends(&self, resources: &Arc<[ResourceSnapshot]>, namespace: &Arc<str>) -> bool {
        match self {
            Self::Sent {
                namespace: known,
                manifests,
                ..
            } => known == namespace && manifests.are_of(resources),
            Self::Observed(_) => false,
        }
    }

    pub(super) fn is_observed(&self) -> bool {
        matches!(self, Self::Observed(_))
    }

    pub(super) fn namespace(&self) -> Arc<str> {
        match self {
            Self::Sent { namespace, .. } => Arc::clone(namespace),
            Self::Observed(_) => Arc::default(),
        }
    }

    /// The resources that were sent.
    pub(super) fn expected(&self) -> &[Expected] {
        match self {
            Self::Sent { manifests, .. } => &manifests.expected,
            Self::Observed(_) => &[],
        }
    }

    /// The objects of a report as interpreters receive them.
    pub(super) fn inputs(&self, objects: &ObjectList) -> Inputs {
        match self {
            Self::Sent {
                namespace,
                manifests,
                autoscalers,
                ..
            } => {
                let autoscalers = Arc::clone(autoscalers);
                Inputs::of(objects, &manifests.expected, namespace, autoscalers)
            }
            Self::Observed(_) => Inputs::of(objects, &[], "", Arc::default()),
        }
    }

    /// Faults of the manifests.
    pub(super) fn faults(&self) -> &[Arc<str>] {
        match self {
            Self::Sent { manifests, .. } => &manifests.faults,
            Self::Observed(_) => &[],
        }
    }

    /// Compares a new report with the last view. Returns the objects that left the application.
    pub(super) fn observe(
        &mut self,
        report: &Report,
        view: Option<&ClusterView>,
        is_last_known: bool,
    ) -> Vec<Identity> {
        match self {
            Self::Sent { .. } => Vec::new(),
            Self::Observed(observed) => observed.observe(report, view, is_last_known),
        }
    }

    /// Takes the missing resources of inventories. Returns whether the view changes.
    pub(super) fn miss(&mut self, resources: Vec<MissingResource>) -> bool {
        match self {
            Self::Sent { .. } => false,
            Self::Observed(observed) => observed.miss(resources),
        }
    }

    /// Decides the fate of the objects that the report does not have. Returns whether the view changes.
    pub(super) fn settle(
        &mut self,
        report: &HeldReport,
        may_forget: bool,
        left: &mut Vec<Identity>,
        env: Environment<'_>,
    ) -> bool {
        match self {
            Self::Sent { .. } => false,
            Self::Observed(observed) => {
                observed.settle(report, left, env.now_ms)
                    | (may_forget && observed.forget(env.timeouts.gone_for, env.now_ms))
            }
        }
    }

    /// Resources that are listed although the report has no object of them. With a report, its items that could
    /// not be decoded are among them.
    pub(super) fn unseen(&self, report: Option<&HeldReport>) -> Vec<Unseen> {
        let rejected = report.iter().flat_map(|report| report.rejected.iter());
        let unreadable = rejected.filter_map(Unseen::unreadable);
        match self {
            Self::Sent { .. } => Vec::new(),
            Self::Observed(observed) => unreadable.chain(observed.unseen()).collect(),
        }
    }
}
