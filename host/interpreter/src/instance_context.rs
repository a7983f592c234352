//! Host data of one instance: its memory use, its log and its budget of processor time.

use std::sync::Arc;
use std::time::Duration;

use kindsight_model::{InterpretedBy, clean};
use wasmtime::ResourceLimiter;

use crate::bindings::log;
use crate::fault::MemoryRefused;
use crate::guest_log;
use crate::limits::{
    LOAD_DEADLINE, LOG_LINE_BYTES_MAX, LOG_LINES_MAX, LOG_LINES_PER_SPAN_MAX, PARTS_MAX,
    TABLE_ELEMENTS_MAX,
};
use crate::stats::CallStats;

/// Host data of one instance.
pub(crate) struct InstanceContext {
    by: Arc<InterpretedBy>,
    /// Limits the log lines of the instance.
    stats: Arc<CallStats>,
    memory_bytes_max: usize,
    parts_max: u16,
    memory_bytes: usize,
    table_elements: usize,
    log_lines: u32,
    last_error: Option<String>,
    /// Processor time that the running call may use.
    budget: Duration,
    /// This thread's processor time at the first epoch tick of the running call.
    first_tick: Option<Duration>,
}

impl InstanceContext {
    pub(crate) fn new(
        by: Arc<InterpretedBy>,
        stats: Arc<CallStats>,
        memory_bytes_max: usize,
    ) -> Self {
        Self {
            by,
            stats,
            memory_bytes_max,
            parts_max: PARTS_MAX,
            memory_bytes: 0,
            table_elements: 0,
            log_lines: 0,
            last_error: None,
            budget: LOAD_DEADLINE,
            first_tick: None,
        }
    }

    /// Sets the maximum number of core instances, of memories and of tables of one instance.
    pub(crate) fn with_parts_max(self, parts_max: u16) -> Self {
        Self { parts_max, ..self }
    }

    /// The last line that the guest logged as an error since its call began.
    pub(crate) fn last_error(&self) -> Option<&str> {
        self.last_error.as_deref()
    }

    /// Begins a call: a full budget, an empty log.
    pub(crate) fn begin_call(&mut self, budget: Duration) {
        self.budget = budget;
        self.first_tick = None;
        self.log_lines = 0;
        self.last_error = None;
    }

    /// Returns whether the running call has used up its budget. Called at each epoch tick with this
    /// thread's processor time.
    pub(crate) fn is_over_budget(&mut self, now: Duration) -> bool {
        let start = *self.first_tick.get_or_insert(now);
        now.saturating_sub(start) >= self.budget
    }

    /// The processor time that the running call may use.
    pub(crate) fn budget(&self) -> Duration {
        self.budget
    }

    /// The total size of all linear memories of the instance, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }

    /// The limit on [`Self::memory_bytes`].
    pub(crate) fn memory_bytes_max(&self) -> usize {
        self.memory_bytes_max
    }
}

/// Limits the total size of all memories and tables of the instance. wasmtime's own limits apply to
/// each of them.
impl ResourceLimiter for InstanceContext {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let bytes = self
            .memory_bytes
            .saturating_add(desired.saturating_sub(current));
        if bytes > self.memory_bytes_max {
            return Err(MemoryRefused.into());
        }
        self.memory_bytes = bytes;
        Ok(true)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let elements = self
            .table_elements
            .saturating_add(desired.saturating_sub(current));
        if elements > TABLE_ELEMENTS_MAX {
            return Err(MemoryRefused.into());
        }
        self.table_elements = elements;
        Ok(true)
    }

    fn instances(&self) -> usize {
        usize::from(self.parts_max)
    }

    fn tables(&self) -> usize {
        usize::from(self.parts_max)
    }

    fn memories(&self) -> usize {
        usize::from(self.parts_max)
    }
}

impl log::Host for InstanceContext {
    fn emit(&mut self, level: log::Level, message: String) {
        let is_error = matches!(level, log::Level::Error);
        let is_over = self.log_lines >= LOG_LINES_MAX;
        if is_over && !is_error {
            self.stats.log_line_dropped();
            return;
        }
        let message = clean(&message, LOG_LINE_BYTES_MAX).into_owned();
        if is_error {
            // Also recorded above the maximum number of lines, because a panic's message is the
            // last line.
            self.last_error = Some(message.clone());
        }
        self.log_lines = self.log_lines.saturating_add(1);
        let rate = &self.stats.guest_lines;
        if is_over || !rate.take(LOG_LINES_PER_SPAN_MAX, &self.by) {
            self.stats.log_line_dropped();
            return;
        }
        guest_log::write(level, &self.by, &message);
    }
}

#[cfg(test)]
mod tests {
    use kindsight_model::{Digest, InterpreterName};

    use super::*;
    use crate::bindings::log::{Host as _, Level};

    #[test]
    fn a_panic_is_kept_although_its_call_logged_too_much_before() {
        let by = InterpretedBy::new(InterpreterName::unnamed(), "", Digest::of(b""));
        let stats = Arc::<CallStats>::default();
        let mut context = InstanceContext::new(by.into(), Arc::clone(&stats), 0);
        context.begin_call(LOAD_DEADLINE);
        for _ in 0..1000 {
            context.emit(Level::Info, "a line".to_owned());
        }
        context.emit(Level::Error, "panicked at the end".to_owned());
        assert_eq!(context.last_error(), Some("panicked at the end"));
        let dropped = 1001 - u64::from(LOG_LINES_MAX);
        assert_eq!(stats.snapshot().log_lines_dropped, dropped);
    }
}
