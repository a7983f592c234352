//! Components that were loaded.

use std::fmt;
use std::sync::Arc;

use kindsight_model::{Digest, InterpretedBy};

use wasmtime::component::InstancePre;

use crate::describe::Description;
use crate::exports::Exports;
use crate::instance_context::InstanceContext;

/// A component that was compiled, described itself and passed its fixtures.
pub struct Interpreter {
    description: Description,
    by: Arc<InterpretedBy>,
    pre: InstancePre<InstanceContext>,
    exports: Exports,
}

impl Interpreter {
    /// Makes an interpreter that is named by its own description.
    pub(crate) fn new(
        digest: Digest,
        description: Description,
        pre: InstancePre<InstanceContext>,
        exports: Exports,
    ) -> Self {
        Self {
            by: Arc::new(InterpretedBy {
                name: description.name.clone(),
                version: Arc::clone(&description.version),
                digest,
                declared: Arc::new(description.declared()),
            }),
            description,
            pre,
            exports,
        }
    }

    /// The component's description of itself, checked.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// The name that verdicts carry.
    pub fn by(&self) -> &Arc<InterpretedBy> {
        &self.by
    }

    /// The digest of the bytes it was loaded from.
    pub fn digest(&self) -> &Digest {
        &self.by.digest
    }

    pub(crate) fn pre(&self) -> &InstancePre<InstanceContext> {
        &self.pre
    }

    pub(crate) fn exports(&self) -> &Exports {
        &self.exports
    }
}

impl fmt::Debug for Interpreter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.by.label())
    }
}
