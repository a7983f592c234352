//! The set of interpreters that answer, and who is asked about what.

use std::sync::Arc;

use kindsight_model::Gvk;
use sha2::{Digest as _, Sha256};

use crate::describe::HandledKind;
use crate::load::Interpreter;
use crate::pattern::KindPattern;

/// Where an interpreter came from. A later one overrides an earlier one at equal specificity, and
/// replaces one of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// Ships inside the binary.
    BuiltIn,
    /// Named on the command line.
    File,
}

/// An interpreter that is live.
#[derive(Debug, Clone)]
pub(crate) struct Live {
    pub(crate) interpreter: Arc<Interpreter>,
    pub(crate) source: Source,
    /// Stands for (digest, settings) in the memo.
    pub(crate) scope: u128,
}

/// One immutable set of live interpreters. Everything one query or batch sees comes from one set.
#[derive(Debug, Default)]
pub struct Published {
    generation: u64,
    live: Vec<Live>,
}

/// Why a set was refused; the one before stays.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// Two of the same source claim the same objects.
    #[error("{first:?} and {second:?} both claim `{pattern}`: leave one of them out")]
    Ambiguous {
        /// What both claim.
        pattern: KindPattern,
        /// One of them.
        first: Arc<Interpreter>,
        /// The other.
        second: Arc<Interpreter>,
    },
    /// Two of the same source have the same name.
    #[error("{first:?} and {second:?} have the same name: leave one of them out")]
    SameName {
        /// One of them.
        first: Arc<Interpreter>,
        /// The other.
        second: Arc<Interpreter>,
    },
}

/// One interpreter that speaks for a Kind, and how.
#[derive(Debug, Clone)]
pub(crate) struct Route {
    pub(crate) live: Live,
    /// Position in its description.
    kind: usize,
}

impl Route {
    pub(crate) fn handled(&self) -> Option<&HandledKind> {
        self.live.interpreter.description().kinds.get(self.kind)
    }
}

impl Published {
    /// A set of `interpreters`, the `generation`th of its process.
    pub(crate) fn new(
        generation: u64,
        interpreters: Vec<(Source, Arc<Interpreter>)>,
    ) -> Result<Self, PublishError> {
        let live: Vec<Live> = interpreters
            .into_iter()
            .map(|(source, interpreter)| Live {
                scope: scope(&interpreter),
                interpreter,
                source,
            })
            .collect();
        refuse_twins(&live)?;
        let replaced = |it: &Live| {
            live.iter().any(|other| {
                other.source > it.source && other.interpreter.by().name == it.interpreter.by().name
            })
        };
        let live = live.iter().filter(|it| !replaced(it)).cloned().collect();
        Ok(Self { generation, live })
    }

    /// Counts the sets of this process.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Everything that is live, with its source.
    pub fn interpreters(&self) -> impl Iterator<Item = (Source, &Arc<Interpreter>)> {
        self.live
            .iter()
            .map(|live| (live.source, &live.interpreter))
    }

    pub(crate) fn is_live(&self, scope: u128) -> bool {
        self.live.iter().any(|live| live.scope == scope)
    }

    /// Who is asked about such an object, in order: the most specific pattern first, and at equal
    /// specificity the later source.
    pub(crate) fn routes(&self, gvk: &Gvk) -> Vec<Route> {
        let mut routes: Vec<Route> = self
            .live
            .iter()
            .filter_map(|live| route(live, gvk))
            .collect();
        routes.sort_by_key(|route| {
            let specificity = route.handled().map(|handled| handled.pattern.specificity());
            std::cmp::Reverse((specificity, route.live.source))
        });
        routes
    }
}

/// The most specific of an interpreter's patterns that match.
fn route(live: &Live, gvk: &Gvk) -> Option<Route> {
    let kinds = live.interpreter.description().kinds.iter().enumerate();
    let (kind, _) = kinds
        .filter(|(_, handled)| handled.pattern.matches(gvk))
        .max_by_key(|(_, handled)| handled.pattern.specificity())?;
    Some(Route {
        live: live.clone(),
        kind,
    })
}

fn refuse_twins(live: &[Live]) -> Result<(), PublishError> {
    for (position, second) in live.iter().enumerate() {
        for first in live
            .iter()
            .take(position)
            .filter(|it| it.source == second.source)
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
    let mut patterns = second.description().kinds.iter().map(|kind| &kind.pattern);
    patterns
        .find(|pattern| claimed.iter().any(|kind| kind.pattern == **pattern))
        .cloned()
}

/// Half of a SHA-256 is enough to tell components and settings apart, also against an author who
/// would like two of his to look alike.
fn scope(interpreter: &Interpreter) -> u128 {
    let hash = Sha256::digest(interpreter.digest().as_str());
    let bytes = hash.iter().take(16);
    bytes.fold(0, |scope, byte| scope << 8 | u128::from(*byte))
}
