//! References to artifacts: `oci://HOST/REPOSITORY:TAG`, `oci-layout:PATH:TAG`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use kindsight_model::Digest;

use crate::layout::is_layout;

/// Scheme of an artifact in a registry.
const REGISTRY_SCHEME: &str = "oci://";
/// Scheme of an artifact in a layout folder.
const LAYOUT_SCHEME: &str = "oci-layout:";
/// Maximum length of a tag, in bytes, by the OCI distribution specification.
const TAG_BYTES_MAX: usize = 128;
/// Maximum length of host and repository together, in bytes, by the same specification.
const NAME_BYTES_MAX: usize = 255;

/// A reference to an artifact, or to a repository without a tag.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    /// The place of the repository.
    pub place: Place,
    /// The tag, if the reference has one. A reference with a digest and a tag means the digest.
    pub tag: Option<String>,
    /// The digest of the manifest, if the reference is pinned.
    pub digest: Option<Digest>,
}

/// The place of a repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A repository of a registry.
    Registry {
        /// Host name or address, with the port if it has one.
        host: String,
        /// Name of the repository.
        repository: String,
    },
    /// A folder in OCI layout, which is one repository.
    Layout(PathBuf),
}

/// One version of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Version {
    /// The version that has this tag at present.
    Tag(String),
    /// The version with this digest of the manifest.
    Digest(Digest),
}

/// A text that is not a reference, with the correct form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not a reference: {why}; expected `oci://HOST/REPOSITORY:TAG`, `oci-layout:PATH` or `oci-layout:PATH:TAG`, each optionally with `@sha256:…`"
)]
pub struct ReferenceError {
    text: String,
    why: &'static str,
}

impl Reference {
    /// Returns whether a text begins with the scheme of a reference. Other texts are paths.
    pub fn has_scheme(text: &str) -> bool {
        text.starts_with(REGISTRY_SCHEME) || text.starts_with(LAYOUT_SCHEME)
    }

    /// Parses a reference, or the path of a folder in OCI layout. Returns `None` for another path.
    ///
    /// # Errors
    /// The text begins with a scheme and is not a reference.
    pub fn of_argument(text: &str) -> Result<Option<Self>, ReferenceError> {
        if Self::has_scheme(text) {
            return text.parse().map(Some);
        }
        let path = Path::new(text);
        Ok(is_layout(path).then(|| Self::of_layout(path)))
    }

    /// The reference to a layout folder, without a tag.
    pub fn of_layout(path: &Path) -> Self {
        Self {
            place: Place::Layout(path.to_owned()),
            tag: None,
            digest: None,
        }
    }

    /// The version that the reference names: its digest, or else its tag.
    pub fn version(&self) -> Option<Version> {
        let digest = self.digest.clone().map(Version::Digest);
        digest.or_else(|| self.tag.clone().map(Version::Tag))
    }
}

impl FromStr for Reference {
    type Err = ReferenceError;

    fn from_str(text: &str) -> Result<Self, ReferenceError> {
        let fail = |why| ReferenceError {
            text: text.to_owned(),
            why,
        };
        let (named, digest) = match text.split_once('@') {
            Some((named, digest)) => {
                let digest = digest.parse();
                let digest = digest
                    .map_err(|_| fail("a digest is `sha256:` and 64 lower-case hex digits"))?;
                (named, Some(digest))
            }
            None => (text, None),
        };
        let (place, tag) = if let Some(named) = named.strip_prefix(REGISTRY_SCHEME) {
            registry(named).map_err(fail)?
        } else if let Some(path) = named.strip_prefix(LAYOUT_SCHEME) {
            layout(path).map_err(fail)?
        } else {
            return Err(fail("it has no scheme"));
        };
        Ok(Self { place, tag, digest })
    }
}

fn registry(named: &str) -> Result<(Place, Option<String>), &'static str> {
    let (host, path) = named
        .split_once('/')
        .ok_or("it does not name a repository")?;
    let (repository, tag) = tagged(path)?;
    if !is_host(host) {
        return Err("the host is a name or an address, with a port if needed");
    }
    if host.len() + repository.len() > NAME_BYTES_MAX {
        return Err("host and repository are longer than 255 bytes");
    }
    if !repository.split('/').all(is_path_component) {
        return Err(
            "a repository has lower-case letters and digits, separated by `/`, `.`, `_`, `__` or `-`",
        );
    }
    let place = Place::Registry {
        host: host.to_owned(),
        repository: repository.to_owned(),
    };
    Ok((place, tag))
}

fn layout(path: &str) -> Result<(Place, Option<String>), &'static str> {
    let path = path.strip_prefix("//").unwrap_or(path);
    let (path, tag) = tagged(path)?;
    if path.is_empty() {
        return Err("it does not name a folder");
    }
    Ok((Place::Layout(PathBuf::from(path)), tag))
}

/// Splits a tag off: the part after the last colon of the last segment.
fn tagged(path: &str) -> Result<(&str, Option<String>), &'static str> {
    let last = path.rfind('/').map_or(0, |slash| slash + 1);
    let colon = path.get(last..).and_then(|segment| segment.rfind(':'));
    let Some((named, tag)) = colon.and_then(|colon| path.split_at_checked(last + colon)) else {
        return Ok((path, None));
    };
    let tag = tag.trim_start_matches(':');
    if !is_tag(tag) {
        return Err(
            "a tag has at most 128 letters, digits, `_`, `.` and `-`, and does not begin with `.` or `-`",
        );
    }
    Ok((named, Some(tag.to_owned())))
}

/// Returns whether a text is a tag, by the OCI distribution specification.
fn is_tag(text: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut bytes = text.bytes();
    text.len() <= TAG_BYTES_MAX
        && bytes.next().is_some_and(is_word)
        && bytes.all(|byte| is_word(byte) || byte == b'.' || byte == b'-')
}

fn is_host(text: &str) -> bool {
    let (name, port) = match text.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => (name, Some(port)),
        _ => (text, None),
    };
    let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok());
    let address = name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'));
    let is_name = match address {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => {
            !name.is_empty()
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'.')
        }
    };
    is_port && is_name
}

/// Returns whether a text is a component of the name of a repository:
/// `[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*`.
fn is_path_component(text: &str) -> bool {
    let is_word = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    let is_separator =
        |text: &str| matches!(text, "" | "." | "_" | "__") || text.bytes().all(|byte| byte == b'-');
    text.starts_with(is_word) && text.ends_with(is_word) && text.split(is_word).all(is_separator)
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Registry { host, repository } => {
                write!(f, "{REGISTRY_SCHEME}{host}/{repository}")
            }
            Self::Layout(path) => write!(f, "{LAYOUT_SCHEME}{}", path.display()),
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.place.fmt(f)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        if let Some(digest) = &self.digest {
            write!(f, "@{digest}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tag(tag) => f.write_str(tag),
            Self::Digest(digest) => digest.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_printed_as_it_was_parsed() {
        let digest = Digest::of(b"");
        for text in [
            "oci://ghcr.io/team/rules:1",
            "oci://localhost:5000/rules",
            "oci://[::1]:5000/a/b-c__d:v1.2.3",
            "oci-layout:/srv/rules:1",
            "oci-layout:rules",
            &format!("oci://ghcr.io/team/rules:1@{digest}"),
            &format!("oci-layout:/srv/rules@{digest}"),
        ] {
            let reference: Reference = text.parse().unwrap();
            assert_eq!(reference.to_string(), *text);
        }
        let absolute: Reference = "oci-layout:///srv/rules:1".parse().unwrap();
        assert_eq!(absolute.to_string(), "oci-layout:/srv/rules:1");
    }

    #[test]
    fn a_digest_counts_before_a_tag() {
        let digest = Digest::of(b"");
        let text = format!("oci://ghcr.io/team/rules:1@{digest}");
        let reference: Reference = text.parse().unwrap();
        assert_eq!(reference.version(), Some(Version::Digest(digest)));
    }

    #[test]
    fn another_text_is_refused_with_its_problem() {
        for (text, why) in [
            ("ghcr.io/team/rules:1", "no scheme"),
            ("oci://ghcr.io", "repository"),
            ("oci://ghcr.io/", "repository"),
            ("oci:///rules", "host"),
            ("oci://user:pw@ghcr.io/rules", "digest"),
            ("oci://gh_cr.io/rules", "host"),
            ("oci://ghcr.io:port/rules", "host"),
            ("oci://ghcr.io/Team/rules", "lower-case"),
            ("oci://ghcr.io/team//rules", "lower-case"),
            ("oci://ghcr.io/team/../rules", "lower-case"),
            ("oci://ghcr.io/team/ru..les", "lower-case"),
            ("oci://ghcr.io/rules:", "tag"),
            ("oci://ghcr.io/rules:-1", "tag"),
            ("oci://ghcr.io/rules@sha256:12", "digest"),
            ("oci-layout:", "folder"),
        ] {
            let error = text.parse::<Reference>().unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn a_path_is_no_reference() {
        assert_eq!(Reference::of_argument("/etc/rules"), Ok(None));
    }
}
