//! Digests that a user gives by their beginning.

use anyhow::Context as _;
use kindsight_api::interpreters::InterpreterDetail;
use kindsight_model::Digest;

use crate::client::{self, Request};
use crate::commands::interpreters::args::To;
use crate::commands::interpreters::requests;

/// The fewest hexadecimal digits of a beginning. Shorter ones are most likely an error.
const DIGITS_MIN: usize = 6;

/// Completes a digest of a version of an interpreter, which the server is asked for. A complete digest is returned as
/// it is.
///
/// # Errors
/// When no version or several versions begin with it, or the server cannot be reached.
pub(crate) fn completed(to: &To, name: &str, digest: &str) -> anyhow::Result<String> {
    if is_complete(digest) {
        return Ok(digest.to_owned());
    }
    let request: Request = requests::inspect(name);
    let answer = request.ask(&to.server.connect()?)?;
    let detail: InterpreterDetail = client::read(&answer)?;
    let versions = detail.versions.iter();
    let versions: Vec<&Digest> = versions.map(|version| &version.digest).collect();
    let found = only(digest, &versions);
    found.with_context(|| format!("--digest {digest}: `{name}`"))
}

/// The digest of bytes, if it begins with the given one.
///
/// # Errors
/// When it does not.
pub(crate) fn of_bytes(digest: &str, bytes: &[u8]) -> anyhow::Result<String> {
    if is_complete(digest) {
        return Ok(digest.to_owned());
    }
    let found = only(digest, &[&Digest::of(bytes)]);
    found.with_context(|| format!("--digest {digest}: the file"))
}

/// Returns whether it is as long as a complete digest; the server checks it.
fn is_complete(digest: &str) -> bool {
    digits(digest).len() >= 64
}

fn digits(digest: &str) -> &str {
    digest.strip_prefix("sha256:").unwrap_or(digest)
}

/// The only digest with this beginning.
fn only(beginning: &str, digests: &[&Digest]) -> anyhow::Result<String> {
    let beginning = digits(beginning).to_ascii_lowercase();
    anyhow::ensure!(
        beginning.len() >= DIGITS_MIN,
        "the beginning of a digest has at least {DIGITS_MIN} hexadecimal digits"
    );
    let digests = digests.iter().map(|digest| digest.as_str());
    let mut found: Vec<&str> = digests
        .filter(|digest| digits(digest).starts_with(&beginning))
        .collect();
    found.sort_unstable();
    found.dedup();
    match found.as_slice() {
        [digest] => Ok((*digest).to_owned()),
        [] => anyhow::bail!("no digest begins with it"),
        several => anyhow::bail!("{} digests begin with it: give more digits", several.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unique_beginning_is_completed() {
        let digests = [b"a", b"b", b"c"].map(|bytes: &[u8; 1]| Digest::of(bytes));
        let [a, b, c] = &digests;
        let (digests, whole) = ([a, b, c], b.as_str());
        for given in [&whole[..20], &whole[7..13], &whole[7..15].to_uppercase()] {
            assert_eq!(only(given, &digests).unwrap(), whole, "{given}");
        }
        for given in ["", "sha256:", "12345", "sha256:000000"] {
            only(given, &digests).unwrap_err();
        }
        assert_eq!(only(a.short(), &[a, a]).unwrap(), a.as_str());
    }
}
