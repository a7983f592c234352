//! Loads components from the store and from this binary.

use std::sync::Arc;

use kindsight_api::interpreters::Refusal;
use kindsight_interpreter::{Interpreter, LoadError};
use kindsight_model::{Digest, Source, VersionOutcome};

use crate::catalog::{Catalog, locked};

/// The reason why a known component cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ComponentError {
    /// The store does not answer.
    #[error("read a component")]
    Store(#[source] kindsight_store::Error),
    /// The bytes are missing, or have a different digest: the component can never be loaded again.
    #[error("{0}")]
    Lost(String),
    /// This host cannot load it at present: a limit, a fault of the compiler, or a schema over the
    /// budget. The component is kept, and is tried again.
    #[error("{0}")]
    Unusable(String),
}

impl Catalog {
    /// Loads a component that a state refers to, after its digest was checked. May compile: never
    /// call it with a lock.
    pub(crate) fn load_stored(
        &self,
        source: Source,
        digest: &Digest,
    ) -> Result<Arc<Interpreter>, ComponentError> {
        let mut built_in = self.options.built_in.iter();
        if let Some(interpreter) = built_in.find(|built_in| built_in.digest() == digest) {
            return Ok(Arc::clone(interpreter));
        }
        let lost = |what: String| ComponentError::Lost(format!("component {digest}: {what}"));
        let bytes = self.store.component(digest);
        let bytes = bytes.map_err(ComponentError::Store)?;
        let bytes =
            bytes.ok_or_else(|| lost(format!("it is no longer stored; its source is {source}")))?;
        if Digest::of(&bytes) != *digest {
            return Err(lost("the stored bytes have a different digest".to_owned()));
        }
        self.load_bytes(&bytes)
            .map_err(|refusal| ComponentError::Unusable(refusal.to_string()))
    }

    /// Loads a component: every step except publication. Nothing is stored. May compile, which takes
    /// up to two minutes: never call it with a lock.
    ///
    /// # Errors
    /// [`Refusal::Refused`] with the step; [`Refusal::Failed`] for a fault of this host.
    pub fn load_bytes(&self, bytes: &[u8]) -> Result<Arc<Interpreter>, Refusal> {
        let loaded = self.options.interpreters.load(bytes);
        loaded.map_err(|error| match error {
            // It is not a fault of the component, so the component is not refused.
            LoadError::Host(_) => Refusal::Failed(error.with_step()),
            error => Refusal::at(error.step(), error.to_string()),
        })
    }

    /// Marks a component as being stored until the result is dropped, so that no change removes it
    /// as unneeded.
    pub(crate) fn expect_component(&self, digest: &Digest) -> Incoming<'_> {
        *locked(&self.incoming).entry(digest.clone()).or_default() += 1;
        Incoming {
            catalog: self,
            digest: digest.clone(),
        }
    }
}

/// A component that is being stored.
pub(crate) struct Incoming<'c> {
    catalog: &'c Catalog,
    digest: Digest,
}

impl Incoming<'_> {
    /// Removes the component again because it was not accepted, unless a state refers to it or
    /// another upload sends the same component.
    pub(crate) fn discard(self) {
        let _writer = self.catalog.writer();
        let snapshot = self.catalog.snapshot();
        let mut named = snapshot.state.versions();
        let is_named = named.any(|version| {
            version.digest == self.digest && version.outcome != VersionOutcome::Refused
        });
        let is_alone = locked(&self.catalog.incoming).get(&self.digest) == Some(&1);
        if is_alone && !is_named {
            // If this fails, the next change removes it.
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
