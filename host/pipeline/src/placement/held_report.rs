//! The last report of a placement, as it is held for judging and projecting.

mod named;

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use kindsight_interpreter::{Published, Siblings};
use kindsight_model::{
    ClaimsByPosition, Coverage, Identity, Object, ObjectList, Origin, Presence, Rejected, Relation,
    Report, Scope, Verdict,
};
use kindsight_status::{FAULTS_SHOWN_MAX, Reported, Staleness};

use super::autoscalers::Autoscalers;
use super::desired::Desired;
use super::inputs::Inputs;
pub(super) use named::NamedKinds;

/// The last report of a placement. Its lists are shared with views and workers.
#[derive(Clone)]
pub(super) struct HeldReport {
    pub(super) origin: Origin,
    pub(super) objects: ObjectList,
    /// The objects as interpreters receive them.
    inputs: Inputs,
    /// The autoscalers among the objects. Empty for a found application.
    autoscalers: Autoscalers,
    /// Positions of the objects that are hooks.
    hooks: BTreeSet<usize>,
    claims: ClaimsByPosition,
    /// Items that could not be decoded.
    pub(super) rejected: Arc<[Rejected]>,
    /// Objects of other apps that objects of this app name by a relation.
    pub(super) related: ObjectList,
    pub(super) related_coverage: Coverage,
    /// The coverage of the cluster, or of the report before the cluster sends its own.
    pub(super) coverage: Coverage,
    /// The coverage that the report had.
    reported_coverage: Coverage,
    /// Faults of the report, as text for readers.
    pub(super) faults: Vec<Arc<str>>,
    /// The objects among which related ones are searched; set at the first search.
    siblings: OnceCell<Arc<Siblings>>,
    /// The Kinds that the objects name; set at the first use.
    named: OnceCell<NamedKinds>,
    unjudged: Unjudged,
}

/// The objects of a report that are not judged yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unjudged {
    All,
    /// The objects at these positions changed since the report before.
    Changed(Vec<usize>),
}

impl HeldReport {
    pub(super) fn of(report: Report, desired: &Desired) -> Self {
        let mut autoscalers = Autoscalers::default();
        if !desired.is_observed() {
            for object in &report.objects {
                autoscalers.add(object, &object.namespace);
            }
        }
        Self {
            inputs: desired.inputs(&report.objects),
            autoscalers,
            faults: [report.faults, faults_of(&report.rejected)].concat(),
            origin: report.origin,
            objects: report.objects,
            hooks: report.hooks,
            claims: report.claims,
            rejected: report.rejected.into(),
            related: report.related,
            related_coverage: report.related_coverage,
            coverage: report.coverage.clone(),
            reported_coverage: report.coverage,
            siblings: OnceCell::new(),
            named: OnceCell::new(),
            unjudged: Unjudged::All,
        }
    }

    /// Takes later versions of the same objects. Returns the report if anything else differs: then it replaces this
    /// one. The cost grows with the number of changed objects, and a pointer for each leaf of the list.
    pub(super) fn update(&mut self, report: Report) -> Result<(), Box<Report>> {
        let changed = report.objects.changed_since(&self.objects);
        let changed = changed.filter(|changed| {
            self.is_update(&report, changed) && self.inputs.update(&report.objects, changed)
        });
        let Some(changed) = changed else {
            return Err(Box::new(report));
        };
        self.objects = report.objects;
        self.note_changed(changed);
        Ok(())
    }

    /// Completes the objects from other manifests. Returns whether interpreters receive another object.
    pub(super) fn complete_from(&mut self, desired: &Desired) -> bool {
        let inputs = desired.inputs(&self.objects);
        let changed = inputs.list().changed_since(self.inputs.list());
        self.inputs = inputs;
        let changed = changed.unwrap_or_default();
        let is_changed = !changed.is_empty();
        self.note_changed(changed);
        is_changed
    }

    /// The autoscalers among the objects.
    pub(super) fn autoscalers(&self) -> &Autoscalers {
        &self.autoscalers
    }

    /// Notes that interpreters receive other objects at these positions.
    fn note_changed(&mut self, changed: Vec<usize>) {
        if let Some(siblings) = self.siblings.get_mut() {
            *siblings = Arc::new(siblings.with_versions(self.inputs.list(), &changed));
        }
        if let Unjudged::Changed(unjudged) = &mut self.unjudged {
            unjudged.extend(changed);
        }
    }

    /// The objects as interpreters receive them, in the order of the report.
    pub(super) fn inputs(&self) -> &ObjectList {
        self.inputs.list()
    }

    /// Returns whether a report differs in the content of these objects alone.
    fn is_update(&self, report: &Report, changed: &[usize]) -> bool {
        let is_same_relative = |at: &usize| {
            let versions = (report.objects.get(*at), self.objects.get(*at));
            matches!(versions, (Some(object), Some(before))
                if object.is_same_relative(before) && object.scale_target() == before.scale_target())
        };
        report.origin == self.origin
            && report.hooks == self.hooks
            && report.claims == self.claims
            && report.removed.is_empty()
            && (report.faults.is_empty() && self.faults.is_empty())
            && (report.rejected.is_empty() && self.rejected.is_empty())
            && report.coverage == self.reported_coverage
            && report.related_coverage == self.related_coverage
            && report.related.changed_since(&self.related) == Some(Vec::new())
            && changed.iter().all(is_same_relative)
    }

    /// The same report for another placement, or for later: none of its objects is judged.
    pub(super) fn unjudged(self) -> Self {
        Self {
            unjudged: Unjudged::All,
            ..self
        }
    }

    /// The objects that are not judged yet. After this call, all count as judged.
    pub(super) fn take_unjudged(&mut self) -> Unjudged {
        std::mem::replace(&mut self.unjudged, Unjudged::Changed(Vec::new()))
    }

    /// The objects whose verdict by this set may change with these objects: the objects themselves, and those that are
    /// related to them by a rule of an interpreter.
    pub(super) fn affected(&self, changed: &[usize], set: &Published) -> BTreeSet<usize> {
        let mut affected: BTreeSet<usize> = changed.iter().copied().collect();
        for object in changed.iter().filter_map(|&at| self.objects.get(at)) {
            let rules = set.related_rules();
            for (kind, rule) in rules.filter(|(_, rule)| object.gvk.matches(&rule.pattern)) {
                let evaluated = &kind.pattern;
                let positions = match &rule.relation {
                    Relation::Owned | Relation::Descendant => self.siblings().ancestors(object),
                    Relation::Owner => self.siblings().owned_by(object),
                    // The related objects are found from the other side, by fields of the evaluated object.
                    Relation::SelectedBy(_) | Relation::Labelled(_) | Relation::Named(_) => {
                        self.named().positions_of(evaluated).collect()
                    }
                };
                let is_evaluated = |at: &usize| {
                    let object = self.objects.get(*at);
                    object.is_some_and(|object| object.gvk.matches(evaluated))
                };
                affected.extend(positions.into_iter().filter(is_evaluated));
            }
        }
        affected
    }

    /// Returns whether the source can report an object: its verdict is shown as it is.
    pub(super) fn is_reported(&self, object: &Object) -> bool {
        let (gvk, scope) = (&object.gvk, Scope::of(&object.namespace));
        let found = self.coverage.of(Some(&gvk.group), &gvk.kind, scope);
        found.state.presence() != Presence::Unreported
    }

    /// The identities of all items, decoded or not.
    pub(super) fn identities(&self) -> BTreeSet<Identity> {
        let rejected = self
            .rejected
            .iter()
            .filter_map(|item| item.identity.as_ref());
        let objects = self.objects.iter().map(Identity::from);
        objects.chain(rejected.map(Identity::from)).collect()
    }

    /// Returns whether the report has no item, decoded or not.
    pub(super) fn is_empty(&self) -> bool {
        self.objects.is_empty() && self.rejected.is_empty()
    }

    /// Returns whether its source is a watched cluster, whose coverage it follows.
    pub(super) fn is_watched(&self) -> bool {
        matches!(self.origin, Origin::Direct | Origin::Found)
    }

    /// The objects among which related ones are searched.
    pub(super) fn siblings(&self) -> &Arc<Siblings> {
        self.siblings.get_or_init(|| {
            let siblings = Siblings::beside(self.inputs.list(), &self.related);
            Arc::new(siblings.covered(self.related_coverage.clone()))
        })
    }

    /// The Kinds that the objects name.
    pub(super) fn named(&self) -> &NamedKinds {
        self.named
            .get_or_init(|| NamedKinds::of(&self.objects, &self.rejected))
    }

    /// The report as input of the projection.
    pub(super) fn input(&self, verdicts: Vec<Verdict>, stale: Option<Staleness>) -> Reported {
        Reported {
            objects: self.objects.clone(),
            verdicts,
            rejected: Arc::clone(&self.rejected),
            coverage: self.coverage.clone(),
            hooks: self.hooks.clone(),
            claims: Arc::clone(&self.claims),
            stale,
        }
    }
}

/// Items of a report that could not be decoded, as text for readers. No answer shows more.
fn faults_of(rejected: &[Rejected]) -> Vec<Arc<str>> {
    let rejected = rejected.iter().take(FAULTS_SHOWN_MAX);
    let faults = rejected.map(|item| format!("report: {}: {}", item.pointer, item.error).into());
    faults.collect()
}
