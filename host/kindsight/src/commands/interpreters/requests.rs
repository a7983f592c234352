//! Requests to the server for the subcommands.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::Context as _;
use kindsight_api::interpreters::{
    ComparisonParameters, LoadParameters, Promotion, RecordedObject, RemovalParameters, ShadowRun,
};
use serde_json::{Map, Value};
use ureq::http::Method;

use crate::client::{Request, encoded};
use crate::commands::interpreters::args::{Base, LoadArgs, PromoteArgs, RecordArgs, ShadowArgs};
use crate::commands::interpreters::digest;

/// Largest file that is read, in bytes. No server accepts as much; it keeps a wrong path, such as a
/// device, from filling the memory.
const FILE_BYTES_MAX: u64 = 1024 * 1024 * 1024;

const INTERPRETERS: &str = "/v2/interpreters";
const MISSING_RULES: &str = "/v2/missing-rules";
const COMPARE: &str = "/v2/compare";
const WASM: &str = "application/wasm";
const JSON: &str = "application/json";

/// Request for all interpreters.
pub(crate) fn list() -> Request {
    Request::get(INTERPRETERS.to_owned())
}

/// Request for the Kinds without a rule.
pub(crate) fn missing() -> Request {
    Request::get(MISSING_RULES.to_owned())
}

/// Request for one interpreter.
pub(crate) fn inspect(name: &str) -> Request {
    Request::get(path(name))
}

/// Request of a command without arguments, such as `shadow` or `disable`.
pub(crate) fn command(name: &str, word: &str) -> Request {
    Request::to(Method::POST, format!("{}/{word}", path(name)))
}

/// Request that rolls back, provided that the live version has the digest, if there is one.
pub(crate) fn rollback(name: &str, digest: Option<&str>) -> Request {
    let request = command(name, "rollback");
    match digest {
        Some(digest) => request.if_match(digest),
        None => request,
    }
}

/// Request that removes every unused name.
pub(crate) fn remove_unused() -> Request {
    let parameters = RemovalParameters { unused: true };
    Request::to(Method::DELETE, INTERPRETERS.to_owned()).with_parameters(&parameters)
}

/// Request that removes the uploaded component.
pub(crate) fn remove(name: &str) -> Request {
    Request::to(Method::DELETE, path(name))
}

/// Request for a fixture of an object that a cluster reported.
pub(crate) fn record(args: &RecordArgs) -> Request {
    let (provider, name) = (encoded(&args.cluster.provider), encoded(&args.cluster.name));
    let path = format!("/v2/cluster-providers/{provider}/clusters/{name}/fixture");
    let object = RecordedObject {
        kind: args.kind.clone(),
        name: args.object.clone(),
        namespace: args.namespace.clone(),
    };
    Request::get(path).with_parameters(&object)
}

/// Request that uploads a component.
///
/// # Errors
/// When the file cannot be read.
pub(crate) fn load(args: &LoadArgs) -> anyhow::Result<Request> {
    let bytes = bytes_of(&args.file)?;
    let digest = args.digest.as_deref();
    let digest = digest.map(|digest| digest::of_bytes(digest, &bytes));
    let parameters = LoadParameters {
        digest: digest.transpose()?,
        // With settings of its own, it is promoted with them.
        candidate: args.candidate || args.settings.is_some(),
        replace: args.replace_built_in,
    };
    let request = match &args.name {
        Some(name) => Request::to(Method::PUT, path(name)),
        None => Request::to(Method::POST, INTERPRETERS.to_owned()),
    };
    let request = request.with_parameters(&parameters);
    Ok(request.with_body(WASM, bytes))
}

/// Request that promotes the candidate, or the version with this complete digest.
///
/// # Errors
/// When the settings cannot be read, or the body cannot be serialized.
pub(crate) fn promote(args: &PromoteArgs, digest: Option<String>) -> anyhow::Result<Request> {
    let settings = args.settings.as_deref().map(settings_in).transpose()?;
    promotion(
        &args.of.name,
        &Promotion {
            digest,
            force: args.force,
            settings,
        },
    )
}

/// Request of a promotion.
///
/// # Errors
/// When the body cannot be serialized.
pub(crate) fn promotion(name: &str, promotion: &Promotion) -> anyhow::Result<Request> {
    let request = command(name, "promote");
    if *promotion == Promotion::default() {
        return Ok(request);
    }
    Ok(request.with_body(JSON, serde_json::to_vec(promotion)?))
}

/// Request of a shadow run.
///
/// # Errors
/// When the settings cannot be read, or the body cannot be serialized.
pub(crate) fn shadow(args: &ShadowArgs) -> anyhow::Result<Request> {
    let run = ShadowRun {
        base: args.base.into(),
        settings: args.settings.as_deref().map(settings_in).transpose()?,
    };
    let request = command(&args.of.name, "shadow");
    if run == ShadowRun::default() {
        return Ok(request);
    }
    Ok(request.with_body(JSON, serde_json::to_vec(&run)?))
}

/// Request that compares a component, which the server does not store, with a version that it has.
///
/// # Errors
/// When the file cannot be read.
pub(crate) fn compare(file: &Path, base: Base) -> anyhow::Result<Request> {
    let parameters = ComparisonParameters { base: base.into() };
    let request = Request::to(Method::POST, COMPARE.to_owned()).with_parameters(&parameters);
    Ok(request.with_body(WASM, bytes_of(file)?))
}

/// Request that replaces the settings with the content of `file`, or of standard input if `file` is `-`.
///
/// # Errors
/// When the settings cannot be read or are not a JSON object. They are parsed here, so that the error has a line and
/// a column.
pub(crate) fn settings(name: &str, file: &Path) -> anyhow::Result<Request> {
    let (from, bytes) = if file == Path::new("-") {
        let bytes = read(std::io::stdin().lock()).context("read standard input")?;
        ("standard input".to_owned(), bytes)
    } else {
        (file.display().to_string(), bytes_of(file)?)
    };
    parsed_settings(&from, &bytes)?;
    Ok(Request::to(Method::PUT, settings_path(name)).with_body(JSON, bytes))
}

/// Request that replaces the settings with these.
///
/// # Errors
/// When they cannot be serialized.
pub(crate) fn set(name: &str, settings: &Map<String, Value>) -> anyhow::Result<Request> {
    let body = serde_json::to_vec(settings)?;
    Ok(Request::to(Method::PUT, settings_path(name)).with_body(JSON, body))
}

/// Settings in a file.
///
/// # Errors
/// When it cannot be read, or is not a JSON object.
pub(crate) fn settings_in(file: &Path) -> anyhow::Result<Map<String, Value>> {
    parsed_settings(&file.display().to_string(), &bytes_of(file)?)
}

fn parsed_settings(from: &str, bytes: &[u8]) -> anyhow::Result<Map<String, Value>> {
    let settings = serde_json::from_slice(bytes);
    settings.with_context(|| format!("{from}: settings must be one JSON object"))
}

/// Request that removes the settings.
pub(crate) fn clear_settings(name: &str) -> Request {
    Request::to(Method::DELETE, settings_path(name))
}

fn path(name: &str) -> String {
    format!("{INTERPRETERS}/{}", encoded(name))
}

fn settings_path(name: &str) -> String {
    format!("{}/settings", path(name))
}

/// Bytes of a file.
///
/// # Errors
/// When it cannot be read, or is larger than any component or settings can be.
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
