//! Settings of receivers.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use kindsight_api::notify::{NotifyFormat, TransitionSubject};
use kindsight_model::{Digest, NamePattern, Phase, SubjectSet};
use kindsight_outgoing::EndpointSettings;

use crate::limits::{KEY_BYTES_MAX, KEY_BYTES_MIN, RECEIVERS_MAX};
use crate::subject::{ResourceSubject, Subject};

/// One receiver of the configuration.
#[derive(Debug)]
pub struct ReceiverSettings {
    /// The name: a lower-case label that is unique among the receivers. It is part of keys, ids and metrics, so another
    /// name is another receiver.
    pub name: String,
    /// The form of the requests.
    pub format: NotifyFormat,
    /// The subjects of the events.
    pub filter: Filter,
    /// Only transitions to or from one of these phases are sent; all transitions if it is empty. For Alertmanager, an
    /// alert fires in these phases.
    pub phases: Vec<Phase>,
    /// The time for which a state must hold before its transition is sent.
    pub hold: Duration,
    /// The URL, TLS and credentials.
    pub endpoint: EndpointSettings,
    /// True if an event that may have arrived is given up. Only for receivers that do not know ids.
    pub at_most_once: bool,
    /// The file with the key of the signatures. It is read for each request. Without it, requests are not signed.
    pub key_file: Option<PathBuf>,
}

/// The subjects whose transitions a receiver gets.
#[derive(Debug, Clone)]
pub struct Filter {
    /// The kinds of subjects.
    pub subjects: Vec<TransitionSubject>,
    /// Applications, also for transitions of their resources.
    pub applications: SubjectSet,
    /// Clusters, for connections and for resources.
    pub clusters: SubjectSet,
    /// Resources; all resources if it is empty.
    pub resources: Vec<ResourcePattern>,
}

/// A pattern of resources: `KIND/NAME` or `KIND.GROUP/NAME`. `*` in a part matches any characters of that part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourcePattern {
    kind: NamePattern,
    name: NamePattern,
}

/// The reason why a text is not a pattern of resources.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a pattern of resources: write `KIND/NAME`, such as `Deployment/*` or `Deployment.apps/web-*`"
)]
pub struct ResourcePatternError(String);

/// The reason why receivers cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// Too many receivers.
    #[error("there are {0} receivers of notifications; at most {RECEIVERS_MAX} are supported")]
    TooMany(usize),
    /// Two receivers have one name.
    #[error("the receiver `{0}` is there twice: give each receiver another name")]
    Twice(String),
    /// The key of the signatures cannot be used.
    #[error("the key of the receiver `{name}` cannot be used: {why}")]
    Key {
        /// The receiver.
        name: String,
        /// The reason.
        why: String,
    },
    /// The URL, the files of TLS or the credentials cannot be used.
    #[error("the receiver `{name}` cannot be used")]
    Endpoint {
        /// The receiver.
        name: String,
        /// The reason.
        #[source]
        source: kindsight_outgoing::Error,
    },
    /// The threads of the requests cannot be started.
    #[error("start the thread of the receiver `{name}`")]
    Thread {
        /// The receiver.
        name: String,
        /// The reason.
        #[source]
        source: std::io::Error,
    },
}

impl FromStr for ResourcePattern {
    type Err = ResourcePatternError;

    fn from_str(text: &str) -> Result<Self, ResourcePatternError> {
        let invalid = || ResourcePatternError(text.to_owned());
        let (kind, name) = text.split_once('/').ok_or_else(invalid)?;
        Ok(Self {
            kind: kind.parse().map_err(|_| invalid())?,
            name: name.parse().map_err(|_| invalid())?,
        })
    }
}

impl ResourcePattern {
    fn matches(&self, resource: &ResourceSubject) -> bool {
        let ResourceSubject {
            kind, group, name, ..
        } = resource;
        self.name.matches(name)
            && (self.kind.matches(kind) || self.kind.matches(&format!("{kind}.{group}")))
    }
}

impl Filter {
    /// Returns whether the receiver gets transitions of a subject.
    pub(crate) fn contains(&self, subject: &Subject) -> bool {
        self.subjects.contains(&subject.kind())
            && match subject {
                Subject::Application(name) => self.applications.has_application(name),
                Subject::Resource(resource) => {
                    let patterns = &self.resources;
                    self.applications.has_application(&resource.application)
                        && self.clusters.has_cluster(&resource.cluster)
                        && (patterns.is_empty()
                            || patterns.iter().any(|pattern| pattern.matches(resource)))
                }
                Subject::Connection(name) => self.clusters.has_cluster(name),
            }
    }

    /// The digest of the filter. A filter with another digest may contain subjects that were not followed before.
    pub(crate) fn digest(&self) -> String {
        Digest::of(format!("{self:?}").as_bytes())
            .short()
            .to_owned()
    }
}

/// Reads the key of signatures. A line break at its end does not count. Blocks; called for each request.
///
/// # Errors
/// The reason, as a fragment of a sentence without the content of the file.
pub(crate) fn read_key(file: &std::path::Path) -> Result<Vec<u8>, String> {
    use std::io::Read as _;

    let shown = file.display();
    let failed = |error: std::io::Error| format!("{shown} cannot be read: {error}");
    let opened = std::fs::File::open(file).map_err(failed)?;
    let mut key = Vec::new();
    let read = opened.take(KEY_BYTES_MAX + 1).read_to_end(&mut key);
    let bytes = u64::try_from(read.map_err(failed)?).unwrap_or(u64::MAX);
    if bytes > KEY_BYTES_MAX {
        return Err(format!("{shown} has more than {KEY_BYTES_MAX} bytes"));
    }
    let end = key.trim_ascii_end().len();
    key.truncate(end);
    if key.len() < KEY_BYTES_MIN {
        return Err(format!(
            "{shown} has {} bytes; a key has at least {KEY_BYTES_MIN} bytes; make one with `openssl rand -hex 32`",
            key.len()
        ));
    }
    Ok(key)
}
