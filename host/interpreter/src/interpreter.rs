//! Components that were loaded.

use std::fmt;
use std::sync::Arc;

use kindsight_model::{Digest, InterpretedBy};
use kindsight_settings::SettingsSchema;

use wasmtime::component::InstancePre;

use crate::describe::Description;
use crate::exports::Exports;
use crate::instance_context::InstanceContext;
use crate::limits::{LOG_LINES_MAX, LOG_LINES_PER_SPAN_MAX};

/// A component that was compiled, has described itself and passed its fixtures.
pub struct Interpreter {
    description: Description,
    settings_schema: Option<SettingsSchema>,
    by: Arc<InterpretedBy>,
    pre: InstancePre<InstanceContext>,
    exports: Exports,
    log_lines_dropped: u64,
}

impl Interpreter {
    /// Makes an interpreter with the name in its own description.
    pub(crate) fn new(
        digest: Digest,
        description: Description,
        settings_schema: Option<SettingsSchema>,
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
            settings_schema,
            pre,
            exports,
            log_lines_dropped: 0,
        }
    }

    /// The same interpreter, with the number of log lines that were dropped while it was loaded.
    /// Its author sees this number.
    pub(crate) fn with_dropped_lines(mut self, log_lines_dropped: u64) -> Self {
        if log_lines_dropped > 0 {
            let warning = dropped_lines(log_lines_dropped);
            self.description.warnings.push(warning);
        }
        Self {
            log_lines_dropped,
            ..self
        }
    }

    /// Number of log lines that were dropped while it was loaded.
    pub(crate) fn log_lines_dropped(&self) -> u64 {
        self.log_lines_dropped
    }

    /// The description that the component gives of itself, after validation.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// The schema of its settings, checked. `None` if it has no settings.
    pub fn settings_schema(&self) -> Option<&SettingsSchema> {
        self.settings_schema.as_ref()
    }

    /// The name that verdicts carry.
    pub fn by(&self) -> &Arc<InterpretedBy> {
        &self.by
    }

    /// The digest of the bytes from which it was loaded.
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

/// A text for the author with the number of log lines that were dropped while a component was
/// loaded, and the limits.
pub(crate) fn dropped_lines(count: u64) -> String {
    let lines = if count == 1 { "line was" } else { "lines were" };
    format!(
        "{count} of its log {lines} dropped while it was loaded: it may log {LOG_LINES_MAX} in a call, {LOG_LINES_PER_SPAN_MAX} in 10 s"
    )
}

impl fmt::Debug for Interpreter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.by.label())
    }
}
