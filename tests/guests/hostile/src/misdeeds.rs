//! Misdeeds that an object or a description can request.

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};

use kindsight_sdk::prelude::*;
use kindsight_sdk::{LogLevel, log};

/// Number of calls of this instance that requested counting, a state that is not permitted.
static CALLS: AtomicU32 = AtomicU32::new(0);

/// Does what the object's `spec.do` requests. If the value is unknown, judges the object correctly.
///
/// # Errors
/// If it is requested.
pub(crate) fn judge(object: &Object<'_>) -> Result<Verdict, Failure> {
    let what = object.at("/spec/do").text_or_empty();
    commit(what);
    let text = object.at("/spec/text").text_or_empty();
    Ok(match what {
        "undeclared-state" => Verdict::new(crate::description::named(text), "", ""),
        "long-message" => {
            let bytes = object.at("/spec/bytes").integer().unwrap_or(0);
            let message = "é".repeat(usize::try_from(bytes / 2).unwrap_or(0));
            // The SDK truncates the messages of verdicts, but not the messages of failures.
            if message.len() > 1 << 17 {
                return Err(Failure::Internal(message));
            }
            Verdict::ready("LongMessage", message)
        }
        "say" => Verdict::ready(text.to_owned(), text.to_owned()),
        "count" => {
            let calls = CALLS.fetch_add(1, Ordering::Relaxed) + 1;
            Verdict::ready("Counted", format!("call {calls}"))
        }
        "unsupported" => return Err(Failure::unsupported("")),
        "invalid-object" => return Err(Failure::InvalidObject(text.to_owned())),
        "invalid-settings" => return Err(Failure::InvalidSettings(text.to_owned())),
        "internal" => return Err(Failure::Internal(text.to_owned())),
        _ => Verdict::ready("AsAsked", ""),
    })
}

/// Commits a misdeed that ends a call or uses resources. Other values of `what` have no effect.
pub(crate) fn commit(what: &str) {
    match what {
        "loop" => loop {
            black_box(());
        },
        "recurse" => {
            black_box(recurse(0));
        }
        "allocate" => allocate(u32::MAX),
        // Under the host's limit, but over the size above which an instance is not kept.
        "use-32-mib" => allocate(32),
        "panic" => panic!("the hostile guest panics as asked"),
        "trap" => std::process::abort(),
        "flood-log" => (0..1_000).for_each(|line| log(LogLevel::Info, &format!("line {line}"))),
        "log-escapes" => log(
            LogLevel::Warn,
            &format!("\u{1b}[31m{}", "red\n".repeat(1000)),
        ),
        "log-1-mib" => log(LogLevel::Warn, &"x".repeat(1 << 20)),
        _ => {}
    }
}

#[expect(unconditional_recursion, reason = "that is the misdeed")]
fn recurse(depth: u64) -> u64 {
    black_box(recurse(black_box(depth) + 1)) + 1
}

fn allocate(mebibytes: u32) {
    let mut held = Vec::new();
    for _ in 0..mebibytes {
        held.push(vec![1_u8; 1 << 20]);
    }
    black_box(held);
}
