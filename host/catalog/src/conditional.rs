//! Commands that are executed only if a certain version is live.

use kindsight_api::interpreters::{LiveCondition, Outcome, Refusal};
use kindsight_model::{Digest, InterpreterName, Source};

use crate::catalog::Catalog;
use crate::incoming::IncomingComponent;
use crate::promote::Promote;
use crate::state::Entry;

/// The commands of a catalog. Each is refused with [`Refusal::Changed`] if the condition on the
/// live version does not hold at the time of the change.
pub struct Conditional<'c> {
    pub(crate) catalog: &'c Catalog,
    pub(crate) condition: LiveCondition,
}

impl Catalog {
    /// The commands with a condition.
    pub fn when(&self, condition: LiveCondition) -> Conditional<'_> {
        Conditional {
            catalog: self,
            condition,
        }
    }

    pub(crate) fn always(&self) -> Conditional<'_> {
        self.when(LiveCondition::Any)
    }

    /// See [`Conditional::remove`].
    ///
    /// # Errors
    /// The same as there.
    pub fn remove(&self, name: &InterpreterName, source: Source) -> Result<Outcome, Refusal> {
        self.always().remove(name, source)
    }

    /// Promotes the candidate, or the version with this digest; see [`Conditional::promote`].
    ///
    /// # Errors
    /// The same as there.
    pub fn promote(
        &self,
        name: &InterpreterName,
        digest: Option<&Digest>,
    ) -> Result<Outcome, Refusal> {
        let promote = Promote {
            digest: digest.cloned(),
            ..Promote::default()
        };
        self.always().promote(name, &promote)
    }

    /// See [`Conditional::rollback`].
    ///
    /// # Errors
    /// The same as there.
    pub fn rollback(&self, name: &InterpreterName) -> Result<Outcome, Refusal> {
        self.always().rollback(name)
    }

    /// See [`Conditional::set_disabled`].
    ///
    /// # Errors
    /// The same as there.
    pub fn set_disabled(
        &self,
        name: &InterpreterName,
        is_disabled: bool,
    ) -> Result<Outcome, Refusal> {
        self.always().set_disabled(name, is_disabled)
    }
}

impl Conditional<'_> {
    /// See [`Catalog::admit`].
    ///
    /// # Errors
    /// The same as there.
    pub fn admit(&self, component: &IncomingComponent) -> Result<Outcome, Refusal> {
        self.catalog.admit_when(&self.condition, component)
    }

    /// Checks only the condition, for commands that change nothing.
    ///
    /// # Errors
    /// [`Refusal::Changed`].
    pub fn check_name(&self, name: &InterpreterName) -> Result<(), Refusal> {
        check(&self.condition, self.catalog.entry(name).as_deref())
    }

    /// Checks the condition on an entry that a command is about to change.
    pub(crate) fn check(&self, entry: &Entry) -> Result<(), Refusal> {
        check(&self.condition, Some(entry))
    }
}

/// Checks the condition on an entry, or on an unknown name.
pub(crate) fn check(condition: &LiveCondition, entry: Option<&Entry>) -> Result<(), Refusal> {
    let live = entry.and_then(Entry::effective).map(|(_, version)| version);
    if condition.holds(live.map(|live| &live.digest)) {
        return Ok(());
    }
    Err(Refusal::Changed(match live {
        Some(live) => format!("the live version is {} ({})", live.version, live.digest),
        None => "no version of it is live".to_owned(),
    }))
}
