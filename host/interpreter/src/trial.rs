//! Trial calls of an interpreter that is not live yet.

use std::sync::Arc;

use kindsight_contract::handled;
use kindsight_model::{Gvk, Object, Verdict};

use crate::call_input::{CallInput, InputObjects, Settings};
use crate::describe::HandledKind;
use crate::fault::Fault;
use crate::interpreter::Interpreter;
use crate::limits::Limits;
use crate::memo::Answer;
use crate::pool::{Callee, InstancePool};
use crate::related::Siblings;
use crate::stats::CallStats;
use crate::worker::Purpose;

/// The reason why a trial gave no verdict, as text for the author.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// No entry of the description matches the object.
    #[error("no Kind of its description matches {0}")]
    NoKind(Gvk),
    /// The component declined the object.
    #[error("it says it does not judge such an object: {0}")]
    Unsupported(Arc<str>),
    /// The object or the settings of a fixture cannot be passed to the component.
    #[error("{0}")]
    Fixture(String),
    /// The call ended in a fault.
    #[error("{0}")]
    Fault(#[from] Fault),
}

/// The only scope in the pool of a trial, which contains instances of one component.
const SCOPE: u128 = 0;

/// A trial of one interpreter that is not live yet. It is called as a worker would call it.
pub(crate) struct Trial<'i> {
    interpreter: &'i Interpreter,
    pool: InstancePool,
    input: CallInput,
    /// Never read, but required by the pool.
    stats: Arc<CallStats>,
}

impl<'i> Trial<'i> {
    /// Makes a trial within these limits.
    pub(crate) fn new(interpreter: &'i Interpreter, limits: &Limits) -> Self {
        Self::counted(interpreter, limits, &Arc::default())
    }

    /// The same as [`Self::new`], with calls that count in `stats`.
    pub(crate) fn counted(
        interpreter: &'i Interpreter,
        limits: &Limits,
        stats: &Arc<CallStats>,
    ) -> Self {
        Self {
            interpreter,
            pool: InstancePool::new(limits.clone()),
            input: CallInput::default(),
            stats: Arc::clone(stats),
        }
    }

    /// Judges one object.
    ///
    /// # Errors
    /// The reason why there is no verdict.
    pub(crate) fn judge(
        &mut self,
        object: &Object,
        siblings: &Siblings,
        now_ms: i64,
        settings: &Settings,
    ) -> Result<Verdict, TrialError> {
        let handled = self.handled(object)?;
        self.judge_as(handled, object, siblings, now_ms, settings)
    }

    /// The entry of the description that handles an object.
    ///
    /// # Errors
    /// If there is no such entry.
    pub(crate) fn handled(&self, object: &Object) -> Result<&'i HandledKind, TrialError> {
        let kinds = &self.interpreter.description().kinds;
        let gvk = &object.gvk;
        let tree = object.tree();
        let document = tree.document(&object.json);
        handled(
            kinds,
            (&gvk.group, &gvk.version, &gvk.kind),
            document.root(),
        )
        .and_then(|position| kinds.get(position))
        .ok_or_else(|| TrialError::NoKind(gvk.clone()))
    }

    /// The same as [`Self::judge`], with a different request than the description's.
    ///
    /// # Errors
    /// The errors of [`Self::judge`].
    pub(crate) fn judge_as(
        &mut self,
        handled: &HandledKind,
        object: &Object,
        siblings: &Siblings,
        now_ms: i64,
        settings: &Settings,
    ) -> Result<Verdict, TrialError> {
        let tree = object.tree();
        let objects = InputObjects {
            object,
            tree: &tree,
            siblings,
        };
        let encoding = self.interpreter.exports().encoding();
        self.input.fill(encoding, handled, objects, settings);
        let now_ms = handled.uses_now.then_some(now_ms);
        let callee = Callee {
            scope: SCOPE,
            interpreter: self.interpreter,
            settings,
            stats: &self.stats,
            purpose: Purpose::Reported,
        };
        match self.pool.call(callee, &self.input, now_ms)? {
            Answer::Verdict(verdict) => Ok(verdict),
            Answer::Unsupported(why) => Err(TrialError::Unsupported(why)),
        }
    }
}
