//! Recognises files that are sent as components but are something else, with advice on the correct
//! file.

/// Number of bytes from which a text is recognised.
const TEXT_BYTES: usize = 512;
/// Number of characters of a text that the advice shows.
const SHOWN_CHARS: usize = 40;
/// Number of bytes of other content that the advice shows.
const SHOWN_BYTES: usize = 8;

const BUILD: &str = "`cargo build --release --target wasm32-unknown-unknown`";

/// Describes bytes that are the beginning of neither a component nor a core module, with advice.
pub(crate) fn describe(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "the file is empty: the build or the download did not complete".to_owned();
    }
    if bytes.starts_with(b"\0asm") && bytes.len() < 8 {
        return "it is shorter than 8 bytes: the build or the download did not complete".to_owned();
    }
    if bytes.starts_with(b"\0asm") {
        return "it is WebAssembly of another version: build it again with current tools"
            .to_owned();
    }
    if let Some(what) = native(bytes) {
        return what;
    }
    let known = SIGNATURES
        .iter()
        .find(|(begin, _)| bytes.starts_with(begin));
    if let Some((_, what)) = known {
        return (*what).to_owned();
    }
    text(bytes).unwrap_or_else(|| {
        let begin = bytes.iter().take(SHOWN_BYTES);
        let begin: Vec<String> = begin.map(|byte| format!("{byte:02x}")).collect();
        format!(
            "it begins with the bytes {}, but a component begins with 00 61 73 6d",
            begin.join(" ")
        )
    })
}

/// Beginnings of files, and the advice for each.
const SIGNATURES: [(&[u8], &str); 6] = [
    (b"\x1f\x8b", "it is compressed (gzip): `gunzip` it first"),
    (
        b"\x28\xb5\x2f\xfd",
        "it is compressed (zstd): `unzstd` it first",
    ),
    (b"\xfd7zXZ\0", "it is compressed (xz): `unxz` it first"),
    (b"BZh", "it is compressed (bzip2): `bunzip2` it first"),
    (
        b"PK\x03\x04",
        "it is a zip archive: take the .wasm file out of it",
    ),
    (
        b"version https://git-lfs",
        "it is a pointer of Git LFS and not the file: `git lfs pull` fetches it",
    ),
];

/// Native libraries and programs.
fn native(bytes: &[u8]) -> Option<String> {
    // The ABI with which wasmtime marks its own files.
    const ELFOSABI_WASMTIME: u8 = 200;
    const MACH_O: [&[u8]; 5] = [
        b"\xcf\xfa\xed\xfe",
        b"\xce\xfa\xed\xfe",
        b"\xfe\xed\xfa\xcf",
        b"\xfe\xed\xfa\xce",
        b"\xca\xfe\xba\xbe",
    ];
    if bytes.starts_with(b"!<arch>\n") {
        return Some(format!(
            "it is an archive of a library (.rlib or .a): add `crate-type = [\"cdylib\", \"rlib\"]` below `[lib]` in Cargo.toml, build with {BUILD}, and take the .wasm file"
        ));
    }
    let format = if bytes.starts_with(b"\x7fELF") {
        if bytes.get(7) == Some(&ELFOSABI_WASMTIME) {
            let what = "it is a component that wasmtime compiled (.cwasm): send the .wasm file it was made from, the host compiles it itself";
            return Some(what.to_owned());
        }
        "ELF"
    } else if MACH_O.iter().any(|begin| bytes.starts_with(begin)) {
        "Mach-O"
    } else if bytes.starts_with(b"MZ") {
        "PE"
    } else {
        return None;
    };
    Some(format!(
        "it is a native library or program ({format}), not WebAssembly: build with {BUILD}"
    ))
}

/// Describes a text. Returns `None` if the bytes are not a text.
fn text(bytes: &[u8]) -> Option<String> {
    let begin = bytes.get(..TEXT_BYTES).unwrap_or(bytes);
    let begin = match std::str::from_utf8(begin) {
        Ok(text) => text,
        // The last character may be incomplete.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(begin.get(..error.valid_up_to())?).ok()?
        }
        Err(_) => return None,
    };
    let is_text = |character: char| !character.is_control() || character.is_ascii_whitespace();
    if !begin.chars().all(is_text) {
        return None;
    }
    let begin = begin.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    let lower = begin.to_ascii_lowercase();
    Some(
        if begin.starts_with("(module") || begin.starts_with("(component") {
            "it is WebAssembly as text (WAT): `wasm-tools parse FILE.wat -o FILE.wasm` makes it binary"
            .to_owned()
        } else if lower.starts_with("<!doctype html") || lower.starts_with("<html") {
            "it is an HTML page: the download was answered with a page instead of the file"
                .to_owned()
        } else if is_json(begin) {
            "it is text that looks like JSON: give the .wasm file".to_owned()
        } else {
            let shown: String = begin.chars().take(SHOWN_CHARS).collect();
            let shown = shown.lines().next().unwrap_or_default().trim_end();
            format!("it is text that begins with `{shown}`: give the .wasm file")
        },
    )
}

/// Returns whether a text begins like a JSON object or array. `[package]` of TOML does not.
fn is_json(begin: &str) -> bool {
    let inner = begin.strip_prefix(['{', '[']).map(str::trim_start);
    inner.is_some_and(|inner| {
        let first = inner.chars().next();
        first.is_none_or(|character| {
            matches!(character, '{' | '[' | '"' | '}' | ']' | '-' | '0'..='9')
        })
    })
}

#[cfg(test)]
mod tests;
