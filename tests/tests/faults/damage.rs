//! Damaged components, and bytes that never were one.

use kindsight_interpreter::Limits;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};

use crate::{one_worker, start};

#[test]
fn text_and_machine_code_are_refused() {
    let interpreters = start(one_worker());
    let machine_code = b"\x7fELF\x02\x01\x01\xc8";
    for (bytes, what) in [
        (&b"(component)"[..], "WebAssembly as text (WAT)"),
        (b"(module)", "WebAssembly as text (WAT)"),
        (machine_code, "a component that wasmtime compiled (.cwasm)"),
        (b"", "the file is empty"),
        (b"\0asm", "it is shorter than 8 bytes"),
        (b"{}", "text that looks like JSON"),
    ] {
        let error = interpreters
            .load(bytes)
            .expect_err("no component")
            .with_step();
        let expected = "validated: not a WebAssembly component: ";
        assert!(
            error.starts_with(expected) && error.contains(what),
            "{error}"
        );
    }
}

#[test]
fn a_component_that_was_cut_short_is_refused() {
    let interpreters = start(one_worker());
    let whole = kindsight_tests::hostile(r#"{"name": "cut"}"#);
    for length in (8..whole.len())
        .step_by(whole.len() / 40)
        .chain([whole.len() - 1])
    {
        let refused = interpreters.load(&whole[..length]);
        assert!(refused.is_err(), "cut to {length} of {} bytes", whole.len());
    }
}

/// A changed byte may have no effect, or make another valid program. In each case the host answers and continues to work.
#[test]
fn a_damaged_component_is_refused_or_answers() {
    let interpreters = start(Limits {
        call_deadline: std::time::Duration::from_millis(5),
        ..one_worker()
    });
    let whole = kindsight_tests::hostile(r#"{"name": "damaged"}"#);
    let mut runner = TestRunner::new(Config {
        cases: 60,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..Config::default()
    });
    let changes = prop::collection::vec((any::<prop::sample::Index>(), 1..=u8::MAX), 1..4);
    let outcome = runner.run(&changes, |changes| {
        let mut bytes = whole.clone();
        for (at, change) in changes {
            *at.get_mut(&mut bytes) ^= change;
        }
        if let Ok(loaded) = interpreters.load(&bytes) {
            let set = vec![(kindsight_model::Source::Upload, loaded)];
            prop_assert!(interpreters.publish(set).is_ok());
            let batch = [crate::thing("{}")].into();
            prop_assert_eq!(interpreters.judge_each(&batch, 0).len(), 1);
        }
        Ok(())
    });
    outcome.expect("no panic, and an answer");
}
