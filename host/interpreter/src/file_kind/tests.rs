use super::*;

#[track_caller]
fn check(bytes: &[u8], parts: &[&str]) {
    let text = describe(bytes);
    for part in parts {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn each_kind_of_file_is_named_with_advice() {
    check(b"", &["is empty"]);
    check(b"\x1f\x8b\x08\0", &["gzip", "`gunzip` it first"]);
    check(b"PK\x03\x04..", &["zip archive"]);
    check(b"\x28\xb5\x2f\xfd..", &["zstd"]);
    check(b"MZ\x90\0", &["PE", "--target wasm32-unknown-unknown"]);
    check(
        b"\xcf\xfa\xed\xfe\x0c\0\0\x01",
        &["Mach-O", "--target wasm32-unknown-unknown"],
    );
    check(b"\0asm", &["shorter than 8 bytes"]);
    check(b"\0asm\x0a\0\x01\0", &["another version"]);
    check(
        b"version https://git-lfs.github.com/spec/v1\n",
        &["`git lfs pull`"],
    );
    check(b"\xff\x00\x01", &["ff 00 01", "00 61 73 6d"]);
}

#[test]
fn compiled_code_of_wasmtime_is_distinguished_from_other_elf_files() {
    let engine = crate::engine::compiling().expect("an engine");
    let component = wat::parse_str("(component)").expect("a component");
    let compiled = engine.precompile_component(&component).expect("code");
    check(&compiled, &[".cwasm", "the .wasm file it was made from"]);
    let own = std::fs::read(std::env::current_exe().expect("a path")).expect("this program");
    if cfg!(target_os = "linux") {
        check(&own, &["(ELF)", "--target wasm32-unknown-unknown"]);
    }
}

#[test]
fn a_text_is_recognised_by_its_beginning() {
    check(
        b"\n  (component (core module))",
        &["(WAT)", "wasm-tools parse"],
    );
    check(b"(module)", &["(WAT)"]);
    check(b"\xef\xbb\xbf{\"a\": 1}", &["looks like JSON"]);
    check(b"[1]", &["looks like JSON"]);
    check(b"[package]\nname", &["begins with `[package]`"]);
    check(b"<!DOCTYPE html>\n<p>404", &["HTML page"]);
    check(
        "naïve text\nand more".as_bytes(),
        &["begins with `naïve text`"],
    );
    // The last character in the examined part is incomplete.
    check("ä".repeat(TEXT_BYTES + 1).as_bytes(), &["begins with `ää"]);
    let cut = format!("a{}", "ä".repeat(TEXT_BYTES));
    check(cut.as_bytes(), &["begins with `aä"]);
}

#[test]
fn a_library_that_rustc_made_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("lib.rs");
    std::fs::write(&source, "pub fn f() {}").expect("written");
    for (kind, target, parts) in [
        (
            "rlib",
            Some("wasm32-unknown-unknown"),
            ["(.rlib or .a)", "crate-type"],
        ),
        (
            "cdylib",
            None,
            ["not WebAssembly", "--target wasm32-unknown-unknown"],
        ),
    ] {
        let built = crate::module::tests::rustc(&source, kind, target);
        check(&built, &parts);
    }
}
