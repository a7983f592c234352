//! The set of live interpreters, and the selection of the interpreters for an object.

use std::sync::Arc;

use kindsight_contract::{Claim, Node, RelatedRule, ranked};
use kindsight_model::{Gvk, KindPattern, Source};
use sha2::{Digest as _, Sha256};

use crate::describe::HandledKind;
use crate::interpreter::Interpreter;

use crate::call_input::Settings;
use crate::stats::CallStats;

/// A member of a set that will be published: an interpreter, its source and its settings.
#[derive(Debug, Clone)]
pub struct SetMember {
    /// Its source.
    pub source: Source,
    /// The component.
    pub interpreter: Arc<Interpreter>,
    /// Its settings: the text of a JSON object.
    pub settings: Option<Arc<str>>,
}

impl From<(Source, Arc<Interpreter>)> for SetMember {
    fn from((source, interpreter): (Source, Arc<Interpreter>)) -> Self {
        Self {
            source,
            interpreter,
            settings: None,
        }
    }
}

/// A live interpreter.
#[derive(Debug, Clone)]
pub(crate) struct Live {
    pub(crate) interpreter: Arc<Interpreter>,
    pub(crate) source: Source,
    pub(crate) settings: Arc<Settings>,
    /// Identifies the digest and the settings in the memo.
    pub(crate) scope: u128,
    /// Statistics of the interpreter, kept as long as it is live without interruption.
    pub(crate) stats: Arc<CallStats>,
}

/// One immutable set of live interpreters. Every query and every batch uses a single set.
#[derive(Debug, Default)]
pub struct Published {
    generation: u64,
    live: Vec<Live>,
    /// The built-in interpreters that a live interpreter of the same name replaces. Each judges the
    /// objects that its replacement declines.
    replaced: Vec<Live>,
}

/// The refusal of a set. The previous set stays live.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// Two interpreters of the same source declare the same pattern.
    #[error("{first:?} and {second:?} both claim `{pattern}`: remove one of them")]
    Ambiguous {
        /// The pattern.
        pattern: KindPattern,
        /// One of the two interpreters.
        first: Arc<Interpreter>,
        /// The other interpreter.
        second: Arc<Interpreter>,
    },
    /// Two interpreters of the same source have the same name.
    #[error("{first:?} and {second:?} have the same name: remove one of them")]
    SameName {
        /// One of the two interpreters.
        first: Arc<Interpreter>,
        /// The other interpreter.
        second: Arc<Interpreter>,
    },
}

/// An interpreter that handles a Kind, and the matching entry of its description.
#[derive(Debug, Clone)]
pub(crate) struct Route {
    pub(crate) live: Live,
    /// The position of the entry in the description.
    kind: usize,
}

impl Route {
    /// Returns whether the interpreter is called for an object with this root: the object has the
    /// field that the entry requires, and no route in `before` calls the same interpreter.
    pub(crate) fn takes(&self, object: Node<'_>, before: &[Self]) -> bool {
        let has_field = |route: &Self| {
            let handled = route.handled();
            handled.is_some_and(|handled| handled.takes(object))
        };
        let mut before = before.iter();
        let is_asked = before.any(|route| route.live.scope == self.live.scope && has_field(route));
        !is_asked && has_field(self)
    }

    pub(crate) fn handled(&self) -> Option<&HandledKind> {
        self.live.interpreter.description().kinds.get(self.kind)
    }
}

impl Published {
    /// Makes a set of these members, with number `generation` in its process. An interpreter that
    /// is also in `before` with the same settings keeps its statistics.
    pub(crate) fn new(
        generation: u64,
        members: Vec<SetMember>,
        before: &Self,
    ) -> Result<Self, PublishError> {
        let members = members.into_iter();
        let live: Vec<Live> = members.map(|member| Live::new(member, before)).collect();
        refuse_duplicates(&live)?;
        let replaced = |lower: &Live| {
            live.iter().any(|other| {
                other.source > lower.source
                    && other.interpreter.by().name == lower.interpreter.by().name
            })
        };
        let (mut kept, mut declined_to) = (Vec::new(), Vec::new());
        for one in &live {
            // The same component would decline again.
            let is_kept_above = || {
                let mut higher = live.iter().filter(|other| other.source > one.source);
                higher.any(|other| other.scope == one.scope)
            };
            if !replaced(one) {
                kept.push(one.clone());
            } else if one.source == Source::BuiltIn && !is_kept_above() {
                declined_to.push(one.clone());
            }
        }
        Ok(Self {
            generation,
            live: kept,
            replaced: declined_to,
        })
    }

    /// The number of the set in its process. Later sets have greater numbers.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// All live interpreters, with their sources.
    pub fn interpreters(&self) -> impl Iterator<Item = (Source, &Arc<Interpreter>)> {
        self.live
            .iter()
            .map(|live| (live.source, &live.interpreter))
    }

    /// The patterns of the Kinds that the live interpreters evaluate.
    pub fn kinds(&self) -> impl Iterator<Item = &KindPattern> {
        let live = self.live.iter();
        let kinds = live.flat_map(|live| &live.interpreter.description().kinds);
        kinds.map(|kind| &kind.pattern)
    }

    /// Returns whether a live interpreter has a rule for this Kind: a pattern other than `*/*/*`,
    /// which matches the Kinds of all groups. A rule that requires a field of the object counts too.
    /// Searches the set: called once per Kind, for reports to users.
    pub fn has_rule(&self, gvk: &Gvk) -> bool {
        let mut kinds = self.kinds();
        kinds.any(|pattern| {
            let is_general = pattern.group == "*" && pattern.kind == "*";
            !is_general && pattern.matches(&gvk.group, &gvk.version, &gvk.kind)
        })
    }

    /// The rules for related objects of all live interpreters, each with the declaration of its
    /// Kind.
    pub fn related_rules(&self) -> impl Iterator<Item = (&HandledKind, &RelatedRule)> {
        let kinds = self.live.iter().chain(&self.replaced);
        let kinds = kinds.flat_map(|live| &live.interpreter.description().kinds);
        kinds.flat_map(|kind| {
            kind.related
                .iter()
                .map(move |related| (kind, &related.rule))
        })
    }

    /// The statistics of the interpreter with this name, over all workers, since it became live
    /// with these settings, or `None` if the set does not contain the name. Searches the set: for
    /// reports to users, and for the circuit breaker every few seconds.
    pub fn stats(&self, name: &str) -> Option<&Arc<CallStats>> {
        let mut live = self.live.iter();
        let live = live.find(|live| *live.interpreter.by().name == *name)?;
        Some(&live.stats)
    }

    /// Returns whether objects of this Kind may get a different verdict from `other`, because it
    /// calls other interpreters, in a different order or with different settings. Called once per
    /// Kind after a swap.
    pub fn differs(&self, other: &Self, gvk: &Gvk) -> bool {
        let asked = |set: &Self| -> Vec<u128> {
            let routes = set.routes(gvk).into_iter();
            routes.map(|route| route.live.scope).collect()
        };
        asked(self) != asked(other)
    }

    pub(crate) fn is_live(&self, scope: u128) -> bool {
        let mut all = self.live.iter().chain(&self.replaced);
        all.any(|live| live.scope == scope)
    }

    /// The interpreters to call for objects of this Kind, in order: the most specific pattern
    /// first, and at equal specificity the later source. As in Argo CD, also the patterns of its
    /// ConfigMap come before built-in interpreters and the interpreters of the catalogue. A built-in
    /// interpreter that is replaced follows its replacement, for the objects that the replacement
    /// declines.
    pub(crate) fn routes(&self, gvk: &Gvk) -> Vec<Route> {
        let mut routes: Vec<Route> = self
            .live
            .iter()
            .flat_map(|live| routes_to(live, gvk))
            .collect();
        routes.sort_by_key(|route| {
            let specificity = route.handled().map(Claim::specificity);
            std::cmp::Reverse((specificity, route.live.source))
        });
        let first = routes
            .iter()
            .position(|route| route.live.source <= Source::BuiltIn);
        let (above, below): (Vec<Route>, Vec<Route>) = routes
            .split_off(first.unwrap_or(routes.len()))
            .into_iter()
            .partition(|route| route.live.source == Source::ConfigMap);
        routes.extend(above.into_iter().chain(below));
        for lower in &self.replaced {
            let name = &lower.interpreter.by().name;
            let last = routes
                .iter()
                .rposition(|route| route.live.interpreter.by().name == *name);
            if let Some(last) = last {
                routes.splice(last + 1..=last, routes_to(lower, gvk));
            }
        }
        routes
    }
}

/// The entries of an interpreter's description that may apply to objects of this Kind: the most
/// specific matching entry, and before it the entries that require a field.
fn routes_to(live: &Live, gvk: &Gvk) -> Vec<Route> {
    let gvk = (&*gvk.group, &*gvk.version, &*gvk.kind);
    let kinds = ranked(&live.interpreter.description().kinds, gvk).into_iter();
    kinds
        .map(|kind| Route {
            live: live.clone(),
            kind,
        })
        .collect()
}

fn refuse_duplicates(live: &[Live]) -> Result<(), PublishError> {
    for (position, second) in live.iter().enumerate() {
        for first in live
            .iter()
            .take(position)
            .filter(|first| first.source == second.source)
        {
            let pair = || {
                (
                    Arc::clone(&first.interpreter),
                    Arc::clone(&second.interpreter),
                )
            };
            if first.interpreter.by().name == second.interpreter.by().name {
                let (first, second) = pair();
                return Err(PublishError::SameName { first, second });
            }
            if let Some(pattern) = shared_pattern(&first.interpreter, &second.interpreter) {
                let (first, second) = pair();
                return Err(PublishError::Ambiguous {
                    pattern,
                    first,
                    second,
                });
            }
        }
    }
    Ok(())
}

fn shared_pattern(first: &Interpreter, second: &Interpreter) -> Option<KindPattern> {
    let claimed = &first.description().kinds;
    let mut kinds = second.description().kinds.iter();
    let shared = kinds.find(|kind| claimed.iter().any(|claim| claim.conflicts(kind)))?;
    Some(shared.pattern.clone())
}

impl Live {
    fn new(member: SetMember, before: &Published) -> Self {
        let SetMember {
            source,
            interpreter,
            settings,
        } = member;
        let scope = scope(&interpreter, settings.as_deref());
        let mut counted = before.live.iter().chain(&before.replaced);
        let counted = counted.find(|live| live.scope == scope);
        Self {
            scope,
            stats: counted.map_or_else(
                || Arc::new(CallStats::of(&interpreter)),
                |live| Arc::clone(&live.stats),
            ),
            settings: Arc::new(Settings::of(settings.as_ref())),
            interpreter,
            source,
        }
    }
}

/// Identifies a component with its settings. Half of a SHA-256 is sufficient, even against an
/// author who searches for a collision. A digest has a fixed length, so no separator is needed.
fn scope(interpreter: &Interpreter, settings: Option<&str>) -> u128 {
    let hash = Sha256::new()
        .chain_update(interpreter.digest().as_str())
        .chain_update(settings.unwrap_or_default())
        .finalize();
    let bytes = hash.iter().take(16);
    bytes.fold(0, |scope, byte| scope << 8 | u128::from(*byte))
}
