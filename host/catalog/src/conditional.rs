//! Commands that are carried out only if a certain version is live.

use kindsight_api::interpreters::{LiveCondition, Outcome, Refusal};
use kindsight_model::{Digest, InterpreterName, Source};

use crate::catalog::Catalog;
use crate::incoming::IncomingComponent;
use crate::state::Entry;

/// The commands of a catalog, each refused with [`Refusal::Changed`] where the condition on the live
/// version does not hold at the moment of the change.
pub struct Conditional<'c> {
    pub(crate) catalog: &'c Catalog,
    pub(crate) condition: LiveCondition,
}

impl Catalog {
    /// The commands under a condition.
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
    /// As there.
    pub fn remove(&self, name: &InterpreterName, source: Source) -> Result<Outcome, Refusal> {
        self.always().remove(name, source)
    }

    /// See [`Conditional::promote`].
    ///
    /// # Errors
    /// As there.
    pub fn promote(
        &self,
        name: &InterpreterName,
        digest: Option<&Digest>,
    ) -> Result<Outcome, Refusal> {
        self.always().promote(name, digest)
    }

    /// See [`Conditional::rollback`].
    ///
    /// # Errors
    /// As there.
    pub fn rollback(&self, name: &InterpreterName) -> Result<Outcome, Refusal> {
        self.always().rollback(name)
    }

    /// See [`Conditional::set_disabled`].
    ///
    /// # Errors
    /// As there.
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
    /// As there.
    pub fn admit(&self, component: &IncomingComponent) -> Result<Outcome, Refusal> {
        self.catalog.admit_when(&self.condition, component)
    }

    /// Checks the condition by itself, for what changes nothing.
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

/// Checks the condition on an entry, or on a name that is not known.
pub(crate) fn check(condition: &LiveCondition, entry: Option<&Entry>) -> Result<(), Refusal> {
    let live = entry.and_then(Entry::effective).map(|(_, it)| it);
    if condition.holds(live.map(|it| &it.digest)) {
        return Ok(());
    }
    Err(Refusal::Changed(match live {
        Some(it) => format!("the live version is {} ({})", it.version, it.digest),
        None => "no version of it is live".to_owned(),
    }))
}
