//! Components of the store, and of this binary, made ready to judge.

use std::sync::Arc;

use kindsight_api::interpreters::Refusal;
use kindsight_interpreter::{Interpreter, LoadError};
use kindsight_model::{Digest, LoadStep, Source, VersionOutcome};

use crate::catalog::{Catalog, locked};
use crate::settings::schema;

/// The reason why a known component cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ComponentError {
    /// The store does not answer.
    #[error("read a component")]
    Store(#[source] kindsight_store::Error),
    /// Its bytes are gone, or are not its bytes: it can never be loaded again.
    #[error("{0}")]
    Lost(String),
    /// This host does not load it now: a limit, a fault of the compiler, a schema over the budget. It
    /// stays, and is tried again.
    #[error("{0}")]
    Unusable(String),
}

impl Catalog {
    /// Loads a component that a state names, after its digest was checked. May compile: never called
    /// with a lock held.
    pub(crate) fn load_stored(
        &self,
        source: Source,
        digest: &Digest,
    ) -> Result<Arc<Interpreter>, ComponentError> {
        let mut built_in = self.options.built_in.iter();
        if let Some(interpreter) = built_in.find(|it| it.digest() == digest) {
            return Ok(Arc::clone(interpreter));
        }
        let lost = |what: String| ComponentError::Lost(format!("component {digest}: {what}"));
        let bytes = self.store.component(digest);
        let bytes = bytes.map_err(ComponentError::Store)?;
        let bytes =
            bytes.ok_or_else(|| lost(format!("it is not stored any more; it came by {source}")))?;
        if Digest::of(&bytes) != *digest {
            return Err(lost("the stored bytes have another digest".to_owned()));
        }
        self.load_bytes(&bytes)
            .map_err(|refusal| ComponentError::Unusable(refusal.to_string()))
    }

    /// Loads a component: every step but publishing it. May compile: never called with a lock held.
    ///
    /// # Errors
    /// [`Refusal::Refused`] with the step; [`Refusal::Failed`] where this host is to blame.
    pub(crate) fn load_bytes(&self, bytes: &[u8]) -> Result<Arc<Interpreter>, Refusal> {
        let loaded = self.options.interpreters.load(bytes);
        let interpreter = loaded.map_err(|error| match error {
            // Not the component's fault: nothing is held against it.
            LoadError::Host(_) => Refusal::Failed(error.with_step()),
            error => Refusal::at(error.step(), error.to_string()),
        })?;
        let schema = interpreter.description().settings_schema.as_deref();
        schema
            .map_or(Ok(()), schema::check)
            .map_err(|why| Refusal::at(LoadStep::Validated, why))?;
        Ok(interpreter)
    }

    /// Marks a component as on its way in, until the answer is dropped: no change drops it as unneeded.
    pub(crate) fn expect_component(&self, digest: &Digest) -> Incoming<'_> {
        *locked(&self.incoming).entry(digest.clone()).or_default() += 1;
        Incoming {
            catalog: self,
            digest: digest.clone(),
        }
    }
}

/// A component on its way in.
pub(crate) struct Incoming<'c> {
    catalog: &'c Catalog,
    digest: Digest,
}

impl Incoming<'_> {
    /// Drops the component again, since it was not accepted; unless a state names it, or it is sent by
    /// somebody else too.
    pub(crate) fn discard(self) {
        let _writer = self.catalog.writer();
        let snapshot = self.catalog.snapshot();
        let mut named = snapshot.state.versions();
        let is_named =
            named.any(|it| it.digest == self.digest && it.outcome != VersionOutcome::Refused);
        let is_alone = locked(&self.catalog.incoming).get(&self.digest) == Some(&1);
        if is_alone && !is_named {
            // Where that fails, the next change drops it.
            let _ = self.catalog.store.discard(&snapshot.head, &self.digest);
        }
    }
}

impl Drop for Incoming<'_> {
    fn drop(&mut self) {
        let mut incoming = locked(&self.catalog.incoming);
        let count = incoming.entry(self.digest.clone()).or_default();
        *count = count.saturating_sub(1);
        if *count == 0 {
            incoming.remove(&self.digest);
        }
    }
}
