//! Components with imports the host does not offer, or exports it does not accept.

use expect_test::expect;
use kindsight_model::LoadStep;

use super::{Case, check, refused_bytes, refused_text};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = wanting();
    cases.extend(offering());
    cases
}

fn wanting() -> Vec<Case> {
    let function = |name: &'static str, interface: &str, function: &str| {
        let text = format!(
            r#"(component (import "{interface}" (instance (export "{function}" (func)))))"#
        );
        refused_text(name, LoadStep::Validated, &text)
    };
    vec![
        function("files", "wasi:filesystem/preopens@0.2.0", "get-directories"),
        function("a clock", "wasi:clocks/monotonic-clock@0.2.0", "now"),
        function("chance", "wasi:random/random@0.2.0", "get-random-u64"),
        function(
            "the network",
            "wasi:sockets/network@0.2.0",
            "instance-network",
        ),
        function("requests", "wasi:http/outgoing-handler@0.2.0", "handle"),
        function(
            "the environment",
            "wasi:cli/environment@0.2.0",
            "get-environment",
        ),
        refused_text(
            "streams",
            LoadStep::Validated,
            r#"(component (import "wasi:io/streams@0.2.0"
                (instance (export "input-stream" (type (sub resource))))))"#,
        ),
        refused_text(
            "a resource of its own",
            LoadStep::Validated,
            r#"(component (import "handle" (type (sub resource))))"#,
        ),
        refused_text(
            "foreign code",
            LoadStep::Validated,
            r#"(component (import "code" (core module)))"#,
        ),
        refused_text(
            "more of the log",
            LoadStep::Validated,
            r#"(component
                (import "kindsight:interpreter/log@1.0.0" (instance (export "read" (func)))))"#,
        ),
        refused_text(
            "the log of another major",
            LoadStep::Validated,
            r#"(component
                (import "kindsight:interpreter/log@2.0.0" (instance (export "emit" (func)))))"#,
        ),
        refused_text(
            "a core module that wants env",
            LoadStep::Validated,
            r#"(module (import "env" "clock" (func (result i64))))"#,
        ),
        refused_text(
            "a core module for WASI",
            LoadStep::Validated,
            r#"(module (import "wasi_snapshot_preview1" "fd_write"
                (func (param i32 i32 i32 i32) (result i32))))"#,
        ),
        refused_bytes(
            "an import that writes into terminals",
            LoadStep::Validated,
            nasty_name(),
        ),
    ]
}

/// An import whose name would clear the screen, if such a name were valid.
fn nasty_name() -> Vec<u8> {
    let text = r#"(component (import "clear-me" (func)))"#;
    let mut bytes = wat::parse_str(text).expect("text");
    let at = bytes
        .windows(8)
        .position(|window| window == b"clear-me")
        .expect("its name");
    bytes[at..at + 4].copy_from_slice(b"\x1b[2J");
    bytes
}

fn offering() -> Vec<Case> {
    vec![
        refused_text("nothing at all", LoadStep::Validated, "(component)"),
        refused_text(
            "a core module without the contract",
            LoadStep::Validated,
            "(module)",
        ),
        refused_text(
            "the next major",
            LoadStep::Validated,
            r#"(component (instance $i)
                (export "kindsight:interpreter/description@2.0.0" (instance $i)))"#,
        ),
        refused_text(
            "the major before",
            LoadStep::Validated,
            r#"(component (instance $i)
                (export "kindsight:interpreter/description@0.9.0" (instance $i)))"#,
        ),
        refused_text(
            "no functions",
            LoadStep::Tried,
            r#"(component (instance $i)
                (export "kindsight:interpreter/description@1.0.0" (instance $i)))"#,
        ),
        refused_text(
            "functions of other shapes",
            LoadStep::Tried,
            r#"(component
                (core module $m (func (export "f")))
                (core instance $i (instantiate $m))
                (func $f (canon lift (core func $i "f")))
                (instance $e (export "describe" (func $f)) (export "interpret" (func $f)))
                (export "kindsight:interpreter/description@1.0.0" (instance $e)))"#,
        ),
    ]
}

#[test]
fn forbidden_imports_and_exports() {
    check(
        &cases(),
        &expect![[r#"
            files
              validated: imports `wasi:filesystem/preopens`: it is built for WASI (`wasm32-wasip2`, where Rust's std imports these by itself), and the host offers no WASI. In Rust: `cargo build --release --target wasm32-unknown-unknown`; in Python: `componentize-py componentize --stub-wasi`; in JavaScript: `jco componentize --disable all`
            a clock
              validated: imports `wasi:clocks/monotonic-clock`: it is built for WASI (`wasm32-wasip2`, where Rust's std imports these by itself), and the host offers no WASI. In Rust: `cargo build --release --target wasm32-unknown-unknown`; in Python: `componentize-py componentize --stub-wasi`; in JavaScript: `jco componentize --disable all`
            chance
              validated: imports `wasi:random/random`: it is built for WASI (`wasm32-wasip2`, where Rust's std imports these by itself), and the host offers no WASI. In Rust: `cargo build --release --target wasm32-unknown-unknown`; in Python: `componentize-py componentize --stub-wasi`; in JavaScript: `jco componentize --disable all`
            the network
              validated: imports `wasi:sockets/network`: it is built for WASI (`wasm32-wasip2`, where Rust's std imports these by itself), and the host offers no WASI. In Rust: `cargo build --release --target wasm32-unknown-unknown`; in Python: `componentize-py componentize --stub-wasi`; in JavaScript: `jco componentize --disable all`
            requests
              validated: imports `wasi:http/outgoing-handler`: it is built for WASI (`wasm32-wasip2`, where Rust's std imports these by itself), and the host offers no WASI. In Rust: `cargo build --release --target wasm32-unknown-unknown`; in Python: `componentize-py componentize --stub-wasi`; in JavaScript: `jco componentize --disable all`
            the environment
              validated: imports `wasi:cli/environment`: it is built for WASI (`wasm32-wasip2`, where Rust's std imports these by itself), and the host offers no WASI. In Rust: `cargo build --release --target wasm32-unknown-unknown`; in Python: `componentize-py componentize --stub-wasi`; in JavaScript: `jco componentize --disable all`
            streams
              validated: imports `wasi:io/streams`: it is built for WASI (`wasm32-wasip2`, where Rust's std imports these by itself), and the host offers no WASI. In Rust: `cargo build --release --target wasm32-unknown-unknown`; in Python: `componentize-py componentize --stub-wasi`; in JavaScript: `jco componentize --disable all`
            a resource of its own
              validated: imports `handle`, which the host does not offer: an interpreter may import nothing but `kindsight:interpreter/log`
            foreign code
              validated: imports `code`, which the host does not offer: an interpreter may import nothing but `kindsight:interpreter/log`
            more of the log
              validated: imports `kindsight:interpreter/log@1.0.0#read`, which the host does not offer: an interpreter may import nothing but `kindsight:interpreter/log`
            the log of another major
              validated: imports `kindsight:interpreter/log@2.0.0`, which the host does not offer: an interpreter may import nothing but `kindsight:interpreter/log`
            a core module that wants env
              validated: imports `env::clock`, which the host does not offer: an interpreter may import nothing but `kindsight:interpreter/log`
            a core module for WASI
              validated: imports `wasi_snapshot_preview1::fd_write`: it is built for WASI (`wasm32-wasip1`), and the host offers no WASI. In Rust: `cargo build --release --target wasm32-unknown-unknown`; in Python: `componentize-py componentize --stub-wasi`; in JavaScript: `jco componentize --disable all`
            an import that writes into terminals
              validated: not a WebAssembly component: import name ` [2Jr-me` is not a valid extern name ` [2Jr-me` is not in kebab case (at offset …)
            nothing at all
              validated: does not export `kindsight:interpreter/description`
            a core module without the contract
              validated: a core module without the contract's types (it has no `component-type` section): `kindsight_sdk::export!(YourInterpreter);` is missing in its src/lib.rs, or this is the .wasm of a program and not of a library (`crate-type = ["cdylib"]`)
            the next major
              validated: is built for contract 2.0.0; this host speaks 1.x
            the major before
              validated: is built for contract 0.9.0; this host speaks 1.x
            no functions
              tried: the types of its exports differ from the contract: `kindsight:interpreter/description@1.0.0` has no function `describe`
            functions of other shapes
              tried: the types of its exports differ from the contract: `kindsight:interpreter/description@1.0.0` has no function `fixtures`
        "#]],
    );
}
