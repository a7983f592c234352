//! Bytes that are no component, or too large a one.

use expect_test::expect;
use kindsight_model::LoadStep;

use super::{Case, Expected, check, refused_bytes, refused_module, refused_text};
use crate::by_hand::Module;
use crate::object;

pub(super) fn cases() -> Vec<Case> {
    let whole = kindsight_tests::hostile(r#"{"name": "whole"}"#);
    let damaged = |name, at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        refused_bytes(name, LoadStep::Validated, bytes)
    };
    let text = |name, bytes: &[u8]| refused_bytes(name, LoadStep::Validated, bytes.to_vec());
    let mut cases = vec![
        text("nothing", b""),
        text("text", b"(component)"),
        text("a web page", b"<!doctype html><title>404</title>"),
        text("a program", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0"),
        refused_bytes(
            "machine code of this host",
            LoadStep::Validated,
            machine_code(),
        ),
        refused_bytes(
            "half of a component",
            LoadStep::Validated,
            whole[..whole.len() / 2].to_vec(),
        ),
        refused_bytes(
            "all but its last byte",
            LoadStep::Validated,
            whole[..whole.len() - 1].to_vec(),
        ),
        damaged("another first byte", 0),
        damaged("another version of the format", 4),
        damaged("another length of its first section", 9),
    ];
    cases.extend(bombs());
    cases
}

/// Compiled code of the host's own cache, as if uploaded.
fn machine_code() -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let cache = folder.path().join("aot");
    let opened = kindsight_interpreter::CodeCache::open(&cache).expect("a cache");
    let interpreters =
        kindsight_interpreter::Interpreters::start(crate::one_worker(), Some(opened));
    let interpreters = interpreters.expect("an engine");
    crate::hostile(&interpreters, r#"{"name": "whole"}"#);
    let mut files = std::fs::read_dir(&cache).expect("the folder");
    let file = files.next().expect("a file").expect("an entry");
    std::fs::read(file.path()).expect("its bytes")
}

/// Modules that are expensive to compile.
fn bombs() -> Vec<Case> {
    let with = |fields: String| Module {
        fields,
        ..Module::default()
    };
    let harmless = |name, module: &Module| Case {
        name,
        bytes: module.build(),
        expected: Expected::Harmless(object("hand.example.com", "{}")),
    };
    let long = format!(
        "(func (param i32) (result i32) local.get 0 {})",
        "i32.const 1 i32.add ".repeat(100_000)
    );
    let blocks = format!("(func {} {})", "block ".repeat(5_000), "end ".repeat(5_000));
    vec![
        harmless("200,000 operations in one function", &with(long)),
        harmless("5,000 blocks within each other", &with(blocks)),
        harmless("5,000 empty functions", &with("(func)".repeat(5_000))),
        refused_text(
            "60,000 locals",
            LoadStep::Validated,
            &component_of(&format!("(func (local {}))", "i64 ".repeat(60_000))),
        ),
        refused_module(
            "a jump with 100,000 targets",
            LoadStep::Compiled,
            &with(format!(
                "(func (block (br_table {} (i32.const 0))))",
                "0 ".repeat(100_000)
            )),
        ),
    ]
}

fn component_of(fields: &str) -> String {
    format!("(component (core module {fields}))")
}

#[test]
fn files_that_are_not_components() {
    check(
        &cases(),
        &expect![[r#"
            nothing
              validated: not a WebAssembly component: the file is empty: the build or the download did not complete
            text
              validated: not a WebAssembly component: it is WebAssembly as text (WAT): `wasm-tools parse FILE.wat -o FILE.wasm` makes it binary
            a web page
              validated: not a WebAssembly component: it is an HTML page: the download was answered with a page instead of the file
            a program
              validated: not a WebAssembly component: it is a native library or program (ELF), not WebAssembly: build with `cargo build --release --target wasm32-unknown-unknown`
            machine code of this host
              validated: not a WebAssembly component: it begins with the bytes 6b 73 61 6f 74 00 00 02, but a component begins with 00 61 73 6d
            half of a component
              validated: not a WebAssembly component: unexpected end-of-file (at offset …)
            all but its last byte
              validated: not a WebAssembly component: unexpected end-of-file (at offset …)
            another first byte
              validated: not a WebAssembly component: it begins with the bytes 55 61 73 6d 0d 00 01 00, but a component begins with 00 61 73 6d
            another version of the format
              validated: not a WebAssembly component: it is WebAssembly of another version: build it again with current tools
            another length of its first section
              validated: not a WebAssembly component: unexpected end-of-file (at offset …)
            200,000 operations in one function
              Ready : x
            5,000 blocks within each other
              Ready : x
            5,000 empty functions
              Ready : x
            60,000 locals
              validated: not a WebAssembly component: too many locals: locals exceed maximum (at offset …)
            a jump with 100,000 targets
              compiled: failed to compile: wasm[0]::function[4]: WebAssembly translation error: Unsupported feature: `br_table` has 99999 targets, which exceeds the implementation limit of 65520
        "#]],
    );
}

#[test]
fn a_component_that_is_too_large_is_refused_unread() {
    let mut host = super::Host::new();
    let large = refused_bytes("33 MiB of zeros", LoadStep::Received, vec![0; 33 << 20]);
    expect!["received: 34603008 bytes are over the limit of 33554432 bytes: `kindsight serve --component-bytes-max` raises it"]
        .assert_eq(&host.load(&large));
    assert!(host.is_healthy());
}
