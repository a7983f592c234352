//! Signatures of artifacts with keys, in both forms of cosign.

use std::fmt;
use std::path::PathBuf;

use kindsight_model::Digest;

use crate::error::Error;
use crate::key::{PublicKey, SigningKey};
use crate::reference::Version;
use crate::repository::Repository;
use crate::{bundle, simple_signing};

/// The problem of a signature without a key.
pub(crate) const KEYLESS: &str =
    "it is keyless (it has a certificate), which kindsight does not verify: sign with a key";

/// A valid signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    /// The file of the key.
    pub key: PathBuf,
    /// The form: `.sig` tag or bundle.
    pub form: &'static str,
}

impl fmt::Display for Signed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.key.display(), self.form)
    }
}

/// The result of the search for a valid signature.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    valid: Option<Signed>,
    problems: Vec<&'static str>,
}

impl Findings {
    pub(crate) fn problem(&mut self, problem: &'static str) {
        self.problems.push(problem);
    }

    pub(crate) fn valid(&mut self, key: &PublicKey, form: &'static str) {
        self.valid = Some(Signed {
            key: key.path().to_owned(),
            form,
        });
    }

    /// The reason why there is no valid signature.
    fn why(&self, keys: &[PublicKey]) -> String {
        let keys: Vec<String> = keys
            .iter()
            .map(|key| key.path().display().to_string())
            .collect();
        let keys = keys.join(", ");
        let mut problems = self.problems.clone();
        problems.sort_unstable();
        problems.dedup();
        match (self.problems.len(), problems.as_slice()) {
            (0, _) => format!("no signature was found; expected one of the key {keys}"),
            (1, [problem]) => format!("of its one signature: {problem} (key {keys})"),
            (count, problems) => {
                format!(
                    "of its {count} signatures: {} (key {keys})",
                    problems.join("; ")
                )
            }
        }
    }
}

/// Finds a signature of a manifest that is valid for one of the keys.
///
/// The `.sig` tag of cosign 2 is read first, then the bundles of cosign 3 that refer to the
/// manifest. The transparency log is not asked, and the name of the repository is not compared, so
/// that a mirror has valid signatures.
///
/// # Errors
/// [`Error::NotSigned`] with the problem of each signature; or the repository cannot be read.
pub fn verify(
    repository: &Repository,
    digest: &Digest,
    keys: &[PublicKey],
) -> Result<Signed, Error> {
    let mut findings = Findings::default();
    simple_signing::verify(repository, digest, keys, &mut findings)?;
    if findings.valid.is_none() {
        bundle::verify(repository, digest, keys, &mut findings)?;
    }
    let why = findings.why(keys);
    findings.valid.ok_or_else(|| Error::NotSigned {
        reference: repository.named(&Version::Digest(digest.clone())),
        why,
    })
}

/// Signs an artifact in both forms. `created` is the time in RFC 3339. Returns the digest of the
/// signed manifest.
///
/// # Errors
/// The version does not exist, or the repository cannot be written.
pub fn sign(
    repository: &Repository,
    version: &Version,
    key: &SigningKey,
    created: &str,
) -> Result<Digest, Error> {
    let document = repository.document(version)?;
    let name = repository.name();
    simple_signing::sign(repository, &document.digest, &name, key)?;
    bundle::sign(repository, &document, created, key)?;
    Ok(document.digest)
}
