//! The bound of an evaluation.

use std::cell::Cell;

use crate::EvaluationError;

/// Maximum number of steps of one verdict. A step is an operation, an item of a list, or
/// [`BYTES_PER_STEP`] bytes of a text. The deadline of the host also holds.
pub const STEPS_MAX: u64 = 200_000;

/// Bytes of a text that cost one step.
const BYTES_PER_STEP: usize = 16;

/// The steps that remain for the evaluation of one or several expressions. As each value that an
/// expression makes costs steps, the budget bounds the memory too.
#[derive(Debug)]
pub struct Budget(Cell<u64>);

impl Default for Budget {
    fn default() -> Self {
        Self(Cell::new(STEPS_MAX))
    }
}

impl Budget {
    /// A budget of this number of steps.
    pub fn of_steps(steps: u64) -> Self {
        Self(Cell::new(steps))
    }

    /// Uses one step.
    pub(crate) fn step(&self) -> Result<(), EvaluationError> {
        self.steps(1)
    }

    /// Uses the steps of a text.
    pub(crate) fn bytes(&self, bytes: usize) -> Result<(), EvaluationError> {
        self.steps(bytes / BYTES_PER_STEP)
    }

    /// Uses several steps.
    pub(crate) fn steps(&self, steps: usize) -> Result<(), EvaluationError> {
        let steps = u64::try_from(steps).unwrap_or(u64::MAX);
        let rest = self.0.get().checked_sub(steps);
        self.0.set(rest.unwrap_or(0));
        rest.map(drop).ok_or(EvaluationError::BudgetSpent)
    }
}
