//! Fields that are declared but not read.

use kindsight_contract::{HandledKind, SCALED_BY_POINTER, SPEC_SOURCE_POINTER};

use super::call::{Call, CallReads};
use super::{described, fixtures};
use crate::Interpreter;

/// The declared fields of `I` that no rule reads with any fixture, as `apps/* Deployment:
/// /status/phase`: either they are not needed, or no fixture shows their use. Kinds without a
/// fixture are omitted.
///
/// A field that is not needed costs time in each call, and each of its changes causes another call.
///
/// # Panics
/// If the description or the fixtures violate the contract.
pub fn unread_fields<I: Interpreter>() -> Vec<String> {
    let (description, fixtures) = (described::<I>(), fixtures::<I>());
    let mut unread = Vec::new();
    for kind in &description.kinds {
        let calls = fixtures.iter();
        let calls = calls.filter_map(|fixture| Call::of(&description, fixture));
        let calls: Vec<_> = calls
            .filter(|call| std::ptr::eq(call.kind, kind))
            .map(|call| call.judge_traced::<I>().1)
            .collect();
        if !calls.is_empty() {
            add_unread(kind, &calls, &mut unread);
        }
    }
    unread
}

fn add_unread(kind: &HandledKind, calls: &[CallReads], unread: &mut Vec<String>) {
    let pattern = &kind.pattern;
    let fields = kind.fields.iter();
    // The SDK declares this field for every Kind with a spec.
    let fields =
        fields.filter(|field| ![SPEC_SOURCE_POINTER, SCALED_BY_POINTER].contains(&field.as_str()));
    let fields = fields.filter(|field| !calls.iter().any(|reads| reads.object.include(field)));
    unread.extend(fields.map(|field| format!("{pattern}: {field}")));
    for (index, rule) in kind.related.iter().enumerate() {
        let is_read = |field: &str| {
            let mut reads = calls.iter().filter_map(|call| call.rules.get(index));
            reads.any(|reads| reads.include(field))
        };
        let fields = rule.fields.iter().filter(|field| !is_read(field));
        unread.extend(fields.map(|field| format!("{pattern}, related[{index}]: {field}")));
    }
}
