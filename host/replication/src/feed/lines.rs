//! Lines as bytes.

use std::collections::HashMap;
use std::sync::Arc;

use kindsight_model::{Digest, InterpretedBy};

use crate::wire::{InterpreterLine, Line, ReasonLine};

/// The lines of the next chunk, and the interpreters that were sent.
#[derive(Debug, Default)]
pub(super) struct Lines {
    bytes: Vec<u8>,
    interpreters: HashMap<Digest, u32>,
}

impl Lines {
    pub(super) fn write(&mut self, line: &Line) {
        // Lines are always JSON.
        if let Ok(json) = serde_json::to_vec(line) {
            self.bytes.extend(json);
            self.bytes.push(b'\n');
        }
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// The number of an interpreter, whose line is written before its first use.
    pub(super) fn number(&mut self, by: &InterpretedBy) -> u32 {
        if let Some(number) = self.interpreters.get(&by.digest) {
            return *number;
        }
        let number = u32::try_from(self.interpreters.len()).unwrap_or(u32::MAX);
        self.interpreters.insert(by.digest.clone(), number);
        let reasons = by.declared.reasons.iter().map(|reason| ReasonLine {
            name: Arc::clone(&reason.name),
            summary: Arc::clone(&reason.summary),
            help_url: reason.help_url.clone(),
        });
        let interpreter = InterpreterLine {
            number,
            by: by.clone(),
            final_states: by.declared.final_states.clone(),
            reasons: reasons.collect(),
        };
        self.write(&Line {
            interpreter: Some(interpreter),
            ..Line::default()
        });
        number
    }
}
