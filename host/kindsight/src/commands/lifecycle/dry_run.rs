//! The effect that an instantiation, an update or an application of network intents would have.

use std::io::{self, Write as _};

use kindsight_api::lifecycle::DryRun;
use ureq::http::Method;

use super::{JSON, Target};
use crate::client::{self, Request, Server};

/// Shows the effect of a content, or of the stored content if `body` is empty: one line for each resource.
///
/// # Errors
/// When the server cannot be reached, or refuses.
pub(super) fn show(server: &Server, target: &Target, body: Vec<u8>) -> anyhow::Result<()> {
    let mut request = Request::to(Method::POST, format!("{}/dry-run", target.path));
    if !body.is_empty() {
        request = request.with_body(JSON, body);
    }
    let shown: DryRun = client::read(&request.ask(server)?)?;
    let mut out = io::stdout().lock();
    for it in &shown.resources {
        let mut line = format!("{}: {} {} {}", it.change, it.app, it.cluster, it.resource);
        if !it.differences.is_empty() {
            line.extend([": ", &it.differences.join(", ")]);
        }
        if let Some(detail) = &it.detail {
            line.extend([": ", detail]);
        }
        writeln!(out, "{line}")?;
    }
    if shown.left_off > 0 {
        writeln!(out, "{} further resources are not shown", shown.left_off)?;
    }
    Ok(())
}
