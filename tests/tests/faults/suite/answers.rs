//! Answers that no compiler would make.

use expect_test::expect;

use super::{Case, called_bytes, check};
use crate::by_hand;

/// All but the right one, and those that fail around a call.
pub(super) fn cases() -> Vec<Case> {
    let garbage = by_hand::garbage().into_iter();
    let garbage = garbage.filter(|(what, _)| {
        *what != "a right answer"
            && !what.starts_with("realloc")
            && !what.starts_with("post-return")
    });
    garbage
        .map(|(what, bytes)| called_bytes(what, bytes))
        .collect()
}

#[test]
fn what_answers_garbage() {
    check(
        &cases(),
        &expect![[r#"
            an answer beyond its memory
              Unknown InterpreterInvalidAnswer: interpreter by-hand 1.0.0 (sha256:…) answered with something the contract does not allow: pointer out of bounds of memory
            an answer that is not aligned
              Unknown InterpreterInvalidAnswer: interpreter by-hand 1.0.0 (sha256:…) answered with something the contract does not allow: return pointer not aligned
            neither verdict nor failure
              Unknown InterpreterInvalidAnswer: interpreter by-hand 1.0.0 (sha256:…) answered with something the contract does not allow: invalid expected discriminant
            a failure that is none of the four
              Unknown InterpreterInvalidAnswer: interpreter by-hand 1.0.0 (sha256:…) answered with something the contract does not allow: unexpected discriminant: 9
            a state beyond its memory
              Unknown InterpreterInvalidAnswer: interpreter by-hand 1.0.0 (sha256:…) answered with something the contract does not allow: string pointer/length out of bounds of memory
            a state of 4 GiB
              Unknown InterpreterInvalidAnswer: interpreter by-hand 1.0.0 (sha256:…) answered with something the contract does not allow: string pointer/length out of bounds of memory
            a state that is not UTF-8
              Unknown InterpreterInvalidAnswer: interpreter by-hand 1.0.0 (sha256:…) answered with something the contract does not allow: invalid utf-8 sequence of 1 bytes from index 0
            a reason of 129 bytes
              Ready xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx: x
            a time that neither is nor is not
              Unknown InterpreterInvalidAnswer: interpreter by-hand 1.0.0 (sha256:…) answered with something the contract does not allow: invalid option discriminant
        "#]],
    );
}
