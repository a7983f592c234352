//! Kinds without a rule of their own: counted over the objects of clusters or of files.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use kindsight_api::interpreters::{KindWithoutRule, MissingRules, StateCount};
use kindsight_interpreter::Published;
use kindsight_model::{ClusterName, Gvk, KindPattern, Object, Phase, Verdict, host_reason};
use kindsight_read_model::{ReadModel, VisibleModel};

/// Maximum number of Kinds in an answer. Further Kinds, which have fewer objects, are counted.
const KINDS_MAX: usize = 1000;
/// Maximum number of states that are counted for a Kind. The conventions have nine states. An own interpreter for all
/// Kinds may have others, and further ones are not listed.
const STATES_MAX: usize = 16;

/// The Kinds of the catalogue of rules: one line each, with the project and the pattern. A test keeps it current.
const CATALOGUE: &str = include_str!("../../../catalogue/kinds.txt");

/// Group and Kind.
type GroupKind = (Arc<str>, Arc<str>);

/// Counts the objects of Kinds for which a set of interpreters has no rule of their own.
pub struct RuleGaps {
    set: Arc<Published>,
    /// Whether the set has a rule for a Kind.
    has_rule: HashMap<Gvk, bool>,
    kinds: BTreeMap<GroupKind, Gap>,
    /// True if the objects come from clusters.
    is_of_clusters: bool,
}

/// The objects of one Kind.
#[derive(Default)]
struct Gap {
    /// A Kind with its version, to find the rule of the catalogue.
    gvk: Option<Gvk>,
    objects: u64,
    clusters: HashSet<ClusterName>,
    states: BTreeMap<Arc<str>, (Phase, u64)>,
    /// Cluster, namespace and name of each counted object of a cluster.
    counted: HashSet<(ClusterName, Arc<str>, Arc<str>)>,
}

impl RuleGaps {
    /// The value without objects. `set` has the live interpreters.
    pub fn new(set: Arc<Published>) -> Self {
        Self {
            set,
            has_rule: HashMap::new(),
            kinds: BTreeMap::new(),
            is_of_clusters: false,
        }
    }

    /// Counts an object of a file with its verdict, if its Kind has no rule.
    pub fn add(&mut self, gvk: &Gvk, state: &Arc<str>, phase: Phase) {
        if let Some(gap) = self.gap(gvk) {
            gap.count(state, phase);
        }
    }

    /// Counts an object of a cluster once, if its Kind has no rule.
    fn add_reported(&mut self, cluster: &ClusterName, object: &Object, verdict: &Verdict) {
        self.is_of_clusters = true;
        let Some(gap) = self.gap(&object.gvk) else {
            return;
        };
        let (namespace, name) = (&object.namespace, &object.name);
        let identity = (cluster.clone(), Arc::clone(namespace), Arc::clone(name));
        if gap.counted.insert(identity) {
            gap.clusters.insert(cluster.clone());
            gap.count(&verdict.state, verdict.phase);
        }
    }

    /// The entry of a Kind. `None` if it has a rule.
    fn gap(&mut self, gvk: &Gvk) -> Option<&mut Gap> {
        let has_rule = if let Some(known) = self.has_rule.get(gvk) {
            *known
        } else {
            let has_rule = self.set.has_rule(gvk);
            self.has_rule.insert(gvk.clone(), has_rule);
            has_rule
        };
        if has_rule {
            return None;
        }
        let key = (Arc::clone(&gvk.group), Arc::clone(&gvk.kind));
        let gap = self.kinds.entry(key).or_default();
        gap.gvk.get_or_insert_with(|| gvk.clone());
        Some(gap)
    }

    /// The Kinds, most objects first.
    pub fn finish(self) -> MissingRules {
        let catalogue = catalogue();
        let has_clusters = self.is_of_clusters;
        let kinds = self.kinds.into_iter();
        let mut kinds: Vec<KindWithoutRule> = kinds
            .map(|((group, kind), gap)| gap.answer(&group, &kind, has_clusters, &catalogue))
            .collect();
        // The order by name remains among equals.
        kinds.sort_by_key(|kind| Reverse(kind.objects));
        let omitted = kinds.len().saturating_sub(KINDS_MAX);
        kinds.truncate(KINDS_MAX);
        MissingRules {
            kinds,
            omitted: u64::try_from(omitted).unwrap_or(u64::MAX),
        }
    }
}

impl Gap {
    fn count(&mut self, state: &Arc<str>, phase: Phase) {
        self.objects = self.objects.saturating_add(1);
        if self.states.len() < STATES_MAX || self.states.contains_key(state) {
            let counted = self.states.entry(Arc::clone(state)).or_insert((phase, 0));
            counted.1 = counted.1.saturating_add(1);
        }
    }

    fn answer(
        self,
        group: &str,
        kind: &str,
        has_clusters: bool,
        catalogue: &[(&str, KindPattern)],
    ) -> KindWithoutRule {
        let states = self.states.into_iter();
        let mut states: Vec<StateCount> = states
            .map(|(state, (phase, objects))| StateCount {
                state: state.to_string(),
                phase,
                objects,
            })
            .collect();
        states.sort_by_key(|state| Reverse(state.objects));
        let clusters = u64::try_from(self.clusters.len()).unwrap_or(u64::MAX);
        let project = self.gvk.and_then(|gvk| {
            let mut patterns = catalogue.iter();
            patterns.find(|(_, pattern)| gvk.matches(pattern))
        });
        KindWithoutRule {
            group: group.to_owned(),
            kind: kind.to_owned(),
            objects: self.objects,
            clusters: has_clusters.then_some(clusters),
            states,
            catalogue: project.map(|(project, _)| (*project).to_owned()),
        }
    }
}

/// The Kinds of the catalogue, with their projects.
fn catalogue() -> Vec<(&'static str, KindPattern)> {
    let lines = CATALOGUE.lines().filter_map(|line| {
        let (project, pattern) = line.split_once(' ')?;
        let mut parts = pattern.split('/').map(str::to_owned);
        let pattern = KindPattern {
            group: parts.next()?,
            version: parts.next()?,
            kind: parts.next()?,
        };
        Some((project, pattern))
    });
    lines.collect()
}

/// The Kinds without a rule among the objects that a reader may see. Reads every row of the read model, which takes
/// milliseconds for a hundred thousand objects.
pub(crate) fn in_clusters(
    set: Arc<Published>,
    model: &ReadModel,
    visible: &VisibleModel,
) -> MissingRules {
    let mut gaps = RuleGaps::new(set);
    for key in visible.application_names().into_keys() {
        let Some(view) = model.application(&key) else {
            continue;
        };
        for cluster in view.clusters() {
            for resource in cluster.resources().iter() {
                let verdict = &resource.verdict;
                // The host itself judges objects that are absent.
                let is_judged =
                    verdict.by.is_some() || *verdict.reason == *host_reason::NO_INTERPRETER;
                if let Some(object) = resource.object.as_ref().filter(|_| is_judged) {
                    gaps.add_reported(cluster.cluster(), object, verdict);
                }
            }
        }
    }
    gaps.is_of_clusters = true;
    gaps.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_the_catalogue_has_a_pattern_in_each_line() {
        let lines = CATALOGUE.lines().count();
        assert!(lines > 90, "{lines}");
        assert_eq!(catalogue().len(), lines);
    }

    #[test]
    fn kinds_are_ordered_by_their_objects_and_have_their_project() {
        let mut gaps = RuleGaps::new(Arc::default());
        let (ready, pending) = (Arc::from("Ready"), Arc::from("Pending"));
        let widget = Gvk::new("example.com", "v1", "Widget");
        let certificate = Gvk::new("cert-manager.io", "v1", "Certificate");
        gaps.add(&widget, &ready, Phase::Ready);
        gaps.add(&certificate, &pending, Phase::Pending);
        gaps.add(&certificate, &ready, Phase::Ready);
        gaps.add(&certificate, &ready, Phase::Ready);
        let found = gaps.finish();
        let kinds: Vec<_> = found
            .kinds
            .iter()
            .map(|kind| {
                let states = kind.states.iter();
                let states: Vec<_> = states
                    .map(|of| format!("{} {}", of.objects, of.state))
                    .collect();
                (
                    &*kind.kind,
                    kind.objects,
                    kind.clusters,
                    states.join(", "),
                    kind.catalogue.as_deref(),
                )
            })
            .collect();
        assert_eq!(
            kinds,
            [
                (
                    "Certificate",
                    3,
                    None,
                    "2 Ready, 1 Pending".to_owned(),
                    Some("cert-manager")
                ),
                ("Widget", 1, None, "1 Ready".to_owned(), None),
            ]
        );
        assert_eq!(found.omitted, 0);
    }

    #[test]
    fn an_object_of_several_applications_counts_once() {
        let mut gaps = RuleGaps::new(Arc::default());
        let object =
            r#"{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}"#;
        let object = Object::from_json(object).expect("an object");
        let verdict = Verdict::host(Phase::Ready, "Ready", "");
        for cluster in ["p+one", "p+two", "p+one"] {
            gaps.add_reported(&cluster.parse().expect("a name"), &object, &verdict);
        }
        let found = gaps.finish();
        assert_eq!(found.kinds.len(), 1);
        assert_eq!(
            (found.kinds[0].objects, found.kinds[0].clusters),
            (2, Some(2))
        );
    }
}
