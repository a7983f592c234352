//! From what was asked for on the command line to what the server is asked.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::Context as _;
use serde_json::{Map, Value, json};
use ureq::http::Method;

use crate::client::{Request, encoded};
use crate::interpreters_command::args::{LoadArgs, PromoteArgs};

/// The largest file that is read, in bytes. No server takes as much; it keeps a wrong path, such as
/// that of a device, from filling the memory.
const FILE_BYTES_MAX: u64 = 1024 * 1024 * 1024;

const WASM: &str = "application/wasm";
const JSON: &str = "application/json";

/// All interpreters.
pub(crate) fn list() -> Request {
    Request::get("/v2/interpreters".to_owned())
}

/// One interpreter.
pub(crate) fn inspect(name: &str) -> Request {
    Request::get(path(name))
}

/// A command of one word: `shadow`, `rollback`, `disable`, `enable`.
pub(crate) fn command(name: &str, word: &str) -> Request {
    Request::to(Method::POST, format!("{}/{word}", path(name)))
}

/// The removal of what was uploaded.
pub(crate) fn remove(name: &str) -> Request {
    Request::to(Method::DELETE, path(name))
}

/// The upload of a component.
///
/// # Errors
/// When the file cannot be read, or neither its name nor `--name` says what the interpreter is
/// called.
pub(crate) fn load(args: &LoadArgs) -> anyhow::Result<Request> {
    let name = match &args.name {
        Some(name) => name.as_str(),
        None => name_of(&args.file).with_context(|| {
            let file = args.file.display();
            format!(
                "{file} is not named like an interpreter (lower-case letters, digits, `-` and `.`); \
                 say with --name what it is called"
            )
        })?,
    };
    let mut request = Request::to(Method::PUT, path(name));
    if let Some(digest) = &args.digest {
        request = request.with("digest", digest);
    }
    if args.candidate {
        request = request.with("candidate", "true");
    }
    Ok(request.with_body(WASM, bytes_of(&args.file)?))
}

/// The promotion of the candidate.
pub(crate) fn promote(args: &PromoteArgs) -> Request {
    let request = command(&args.of.name, "promote");
    match &args.digest {
        Some(digest) => {
            let body = json!({ "digest": digest }).to_string();
            request.with_body(JSON, body.into_bytes())
        }
        None => request,
    }
}

/// New settings from a file, or from standard input where it is `-`.
///
/// # Errors
/// When they cannot be read or are not a JSON object: said here, where line and column help.
pub(crate) fn settings(name: &str, file: &Path) -> anyhow::Result<Request> {
    let (from, bytes) = if file == Path::new("-") {
        let bytes = read(std::io::stdin().lock()).context("read standard input")?;
        ("standard input".to_owned(), bytes)
    } else {
        (file.display().to_string(), bytes_of(file)?)
    };
    let object: Result<Map<String, Value>, _> = serde_json::from_slice(&bytes);
    object.with_context(|| format!("{from}: settings are one JSON object"))?;
    Ok(Request::to(Method::PUT, settings_path(name)).with_body(JSON, bytes))
}

/// The removal of the settings.
pub(crate) fn clear_settings(name: &str) -> Request {
    Request::to(Method::DELETE, settings_path(name))
}

fn path(name: &str) -> String {
    format!("/v2/interpreters/{}", encoded(name))
}

fn settings_path(name: &str) -> String {
    format!("{}/settings", path(name))
}

/// What a file's name says about the name of the component in it.
fn name_of(file: &Path) -> Option<&str> {
    let name = file.file_name()?.to_str()?;
    let name = name.strip_suffix(".wasm").unwrap_or(name);
    let fits =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte);
    (!name.is_empty() && name.bytes().all(fits)).then_some(name)
}

/// What a file holds.
///
/// # Errors
/// When it cannot be read, or is larger than any component or settings are.
pub(crate) fn bytes_of(file: &Path) -> anyhow::Result<Vec<u8>> {
    let opened = File::open(file).map_err(anyhow::Error::from);
    let bytes = opened.and_then(read);
    bytes.with_context(|| format!("read {}", file.display()))
}

fn read(from: impl Read) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let size = from.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    anyhow::ensure!(
        size as u64 <= FILE_BYTES_MAX,
        "it is larger than {FILE_BYTES_MAX} bytes"
    );
    Ok(bytes)
}

#[cfg(test)]
mod tests;
