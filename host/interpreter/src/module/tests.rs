use std::path::Path;
use std::process::Command;

use super::*;

/// The library that this workspace's toolchain compiles from a file.
pub(crate) fn rustc(source: &Path, kind: &str, target: Option<&str>) -> Vec<u8> {
    let out = source.with_extension(kind);
    let mut rustc = Command::new("rustc");
    rustc.args([
        "--edition",
        "2024",
        "--crate-name",
        "made",
        "--crate-type",
        kind,
        "-o",
    ]);
    rustc.arg(&out).arg(source);
    if let Some(target) = target {
        rustc.args(["--target", target]);
    }
    let output = rustc.output().expect("rustc");
    assert!(output.status.success(), "{output:?}");
    std::fs::read(&out).expect("built")
}

/// The refusal of a module that is compiled from this source.
fn refusal(source: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("lib.rs");
    std::fs::write(&file, source).expect("written");
    let module = rustc(&file, "cdylib", Some("wasm32-unknown-unknown"));
    check(&module).expect_err("refused").with_step()
}

fn importing(module: &str) -> String {
    format!(
        "#[link(wasm_import_module = \"{module}\")] unsafe extern \"C\" {{ fn now() -> f64; }}
        #[unsafe(no_mangle)] pub extern \"C\" fn f() -> f64 {{ unsafe {{ now() }} }}"
    )
}

#[test]
fn the_refusal_of_a_module_without_the_contract_names_the_missing_export() {
    let text = refusal("#[unsafe(no_mangle)] pub extern \"C\" fn f() {}");
    assert!(
        text.starts_with("validated: a core module without the contract's types"),
        "{text}"
    );
    assert!(
        text.contains("`kindsight_sdk::export!(YourInterpreter);` is missing"),
        "{text}"
    );
}

#[test]
fn the_refusal_of_a_wasm_bindgen_import_explains_how_to_find_the_crate() {
    let text = refusal(&importing("__wbindgen_placeholder__"));
    assert!(
        text.contains("imports `__wbindgen_placeholder__::now`"),
        "{text}"
    );
    assert!(text.contains("--invert wasm-bindgen"), "{text}");
    assert!(
        text.contains("`default-features = false, features = [\"alloc\"]`"),
        "{text}"
    );
}

#[test]
fn the_refusal_of_a_module_for_wasi_names_the_right_target() {
    let text = refusal(&importing("wasi_snapshot_preview1"));
    assert!(
        text.contains(
            "imports `wasi_snapshot_preview1::now`: it is built for WASI (`wasm32-wasip1`)"
        ),
        "{text}"
    );
    assert!(
        text.contains("`cargo build --release --target wasm32-unknown-unknown`"),
        "{text}"
    );
}

#[test]
fn a_function_that_no_linker_found_is_named() {
    let text = refusal(&importing("env"));
    assert!(
        text.contains("imports `env::now`, which the host does not offer"),
        "{text}"
    );
}

#[test]
fn a_module_with_the_types_and_the_log_is_let_through() {
    let module = wat::parse_str(
        r#"(module (import "kindsight:interpreter/log@1.0.0" "emit" (func))
            (@custom "component-type:kindsight" "types"))"#,
    );
    check(&module.expect("a module")).expect("made a component next");
}

#[test]
fn a_damaged_module_is_refused_with_the_place() {
    let text = check(b"\0asm\x01\0\0\0\x02\xff")
        .expect_err("cut short")
        .with_step();
    assert!(
        text.starts_with("validated: not a WebAssembly component: "),
        "{text}"
    );
}
