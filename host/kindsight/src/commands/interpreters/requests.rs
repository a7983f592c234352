//! From what was asked for on the command line to what the server is asked.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::Context as _;
use kindsight_api::interpreters::{LoadParameters, Promotion};
use kindsight_model::InterpreterName;
use serde_json::{Map, Value};
use ureq::http::Method;

use crate::client::{Request, encoded};
use crate::commands::interpreters::args::{LoadArgs, PromoteArgs};

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
        Some(name) => name.clone(),
        None => named_like(&args.file)?.to_string(),
    };
    let parameters = LoadParameters {
        digest: args.digest.clone(),
        candidate: args.candidate,
    };
    let request = Request::to(Method::PUT, path(&name)).with_parameters(&parameters);
    Ok(request.with_body(WASM, bytes_of(&args.file)?))
}

/// The promotion of the candidate.
///
/// # Errors
/// When the body cannot be written.
pub(crate) fn promote(args: &PromoteArgs) -> anyhow::Result<Request> {
    let request = command(&args.of.name, "promote");
    let digest = args.digest.clone();
    Ok(match digest {
        None => request,
        Some(_) => request.with_body(JSON, serde_json::to_vec(&Promotion { digest })?),
    })
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

/// The name of the interpreter that a file is named like.
fn named_like(file: &Path) -> anyhow::Result<InterpreterName> {
    name_of(file).with_context(|| {
        format!(
            "{} is not named like an interpreter ({}); say with --name what it is called",
            file.display(),
            InterpreterName::GRAMMAR
        )
    })
}

/// None where a file is named like no interpreter.
fn name_of(file: &Path) -> Option<InterpreterName> {
    let name = file.file_name()?.to_str()?;
    name.strip_suffix(".wasm").unwrap_or(name).parse().ok()
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
