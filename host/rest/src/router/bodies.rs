//! Limits on the bodies of requests.

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::Limits;
use crate::connections::Pace;
use crate::middleware::BodyRules;
use crate::slots::permits;

/// Limits that the bodies of all routes share.
pub(super) struct Bodies {
    bytes: Arc<Semaphore>,
    pace: Pace,
}

impl Bodies {
    pub(super) fn new(limits: &Limits) -> Self {
        // One body of the largest size always fits.
        let bytes = limits.bodies_bytes_max;
        let bytes = bytes.max(limits.interpret_bytes_max);
        let bytes = bytes.max(limits.component_bytes_max);
        Self {
            bytes: Arc::new(Semaphore::new(permits(bytes))),
            pace: Pace::new(limits),
        }
    }

    /// The rules for bodies of at most `max` bytes of these types. `raised_by` is the option that raises the limit.
    pub(super) fn rules(
        &self,
        max: usize,
        types: &'static [&'static str],
        raised_by: Option<&'static str>,
    ) -> BodyRules {
        BodyRules {
            raised_by,
            max,
            types,
            bytes: Arc::clone(&self.bytes),
            pace: self.pace,
        }
    }
}
