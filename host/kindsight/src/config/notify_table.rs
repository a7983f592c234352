//! `[[notify]]` tables of the configuration file.

use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use anyhow::Context as _;
use kindsight_api::notify::{NotifyFormat, TransitionSubject};
use kindsight_model::{ApplicationPattern, Phase, SubjectPattern, SubjectSet, is_label_value};
use kindsight_server::notify::{
    Filter, HOLD, HOLD_MAX, RECEIVERS_MAX, ReceiverSettings, ResourcePattern, TIMEOUT, TIMEOUT_MAX,
};
use kindsight_server::outgoing::{Credentials, EndpointSettings};
use serde::Deserialize;

use super::duration;

/// Maximum length of the name of a receiver, in bytes. The name is part of each key in the store.
const NAME_BYTES_MAX: usize = 63;
/// Maximum length of a URL in a file, in bytes.
const URL_BYTES_MAX: u64 = 4096;
/// Maximum number of patterns in one list. Each change of a subject is compared with all of them.
const PATTERNS_MAX: usize = 1000;

/// One `[[notify]]` of the configuration file: a receiver of notifications.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct NotifyTable {
    name: String,
    /// `cloudevents`, `alertmanager` or `slack`.
    #[serde(default)]
    format: NotifyFormat,
    url: Option<String>,
    /// A file with the URL, if the URL is a secret.
    url_file: Option<PathBuf>,
    /// Kinds of subjects; applications and connections where empty.
    #[serde(default)]
    transitions: Vec<TransitionSubject>,
    /// Patterns of applications; all where empty.
    #[serde(default)]
    applications: Vec<String>,
    /// Patterns of clusters; all where empty.
    #[serde(default)]
    clusters: Vec<String>,
    /// Patterns of resources; all where empty.
    #[serde(default)]
    resources: Vec<String>,
    /// Phases before or after a transition; all where empty.
    #[serde(default)]
    phases: Vec<Phase>,
    /// The time for which a state must hold, such as `30s`.
    r#for: Option<String>,
    /// Gives up an event that may have arrived. Only for `slack`.
    #[serde(default)]
    at_most_once: bool,
    /// A file with the key of the signatures.
    key_file: Option<PathBuf>,
    /// A file with a bearer token.
    token_file: Option<PathBuf>,
    user: Option<String>,
    password_file: Option<PathBuf>,
    /// PEM file with the authorities that sign the certificate of the receiver.
    ca: Option<PathBuf>,
    /// PEM file with the certificate of kindsight.
    client_cert: Option<PathBuf>,
    /// PEM file with the private key of that certificate.
    client_key: Option<PathBuf>,
    /// Time for an answer, such as `10s`.
    timeout: Option<String>,
}

impl FromStr for NotifyTable {
    type Err = String;

    /// Parses the JSON of a table.
    fn from_str(json: &str) -> Result<Self, String> {
        let table: Self = serde_json::from_str(json).map_err(|error| {
            let error = error.to_string();
            // The position in the JSON is not a position in the file.
            let text = error.split(" at line ").next().unwrap_or_default();
            format!("[[notify]]: {text}")
        })?;
        table.check()?;
        Ok(table)
    }
}

impl NotifyTable {
    fn invalid(&self, what: &dyn Display) -> String {
        format!("[[notify]] `{}`: {what}", self.name)
    }

    /// Checks everything that needs no file.
    fn check(&self) -> Result<(), String> {
        let invalid = |what: &str| self.invalid(&what);
        if !is_label_value(&self.name) || self.name.len() > NAME_BYTES_MAX {
            return Err(invalid(
                "`name` is not a name of letters, digits, `-`, `_` and `.`",
            ));
        }
        if self.url.is_some() == self.url_file.is_some() {
            return Err(invalid("write either `url` or `url-file`"));
        }
        if !self.resources.is_empty() && !self.subjects().contains(&TransitionSubject::Resource) {
            return Err(invalid(
                "`resources` has an effect only with `transitions = [\"resource\"]`",
            ));
        }
        if self.at_most_once && self.format != NotifyFormat::Slack {
            return Err(invalid(
                "`at-most-once` is only for `format = \"slack\"`; receivers of other formats recognize a repetition by its id",
            ));
        }
        self.credentials()?;
        self.certificate()?;
        self.filter()?;
        self.hold()?;
        self.time().map(drop)
    }

    fn subjects(&self) -> Vec<TransitionSubject> {
        if self.transitions.is_empty() {
            return vec![
                TransitionSubject::Application,
                TransitionSubject::Connection,
            ];
        }
        self.transitions.clone()
    }

    fn filter(&self) -> Result<Filter, String> {
        Ok(Filter {
            subjects: self.subjects(),
            applications: self.subject_set("applications", &self.applications, |text| {
                let pattern: Result<ApplicationPattern, _> = text.parse();
                pattern.map(SubjectPattern::Application)
            })?,
            clusters: self.subject_set("clusters", &self.clusters, |text| {
                text.parse().map(SubjectPattern::Cluster)
            })?,
            resources: self.patterns("resources", &self.resources, |text| {
                text.parse::<ResourcePattern>()
            })?,
        })
    }

    /// The subjects of a list of patterns; every subject if the list is empty.
    fn subject_set<E: Display>(
        &self,
        key: &str,
        texts: &[String],
        read: impl Fn(&str) -> Result<SubjectPattern, E>,
    ) -> Result<SubjectSet, String> {
        let patterns = self.patterns(key, texts, read)?;
        Ok(if patterns.is_empty() {
            SubjectSet::Everything
        } else {
            SubjectSet::matching(patterns)
        })
    }

    fn patterns<P, E: Display>(
        &self,
        key: &str,
        texts: &[String],
        read: impl Fn(&str) -> Result<P, E>,
    ) -> Result<Vec<P>, String> {
        let count = texts.len();
        if count > PATTERNS_MAX {
            let what = format!("`{key}` has {count} patterns; at most {PATTERNS_MAX} are read");
            return Err(self.invalid(&what));
        }
        let patterns = texts.iter().map(|text| read(text));
        let patterns = patterns.collect::<Result<_, _>>();
        patterns.map_err(|error| self.invalid(&format_args!("`{key}`: {error}")))
    }

    fn credentials(&self) -> Result<Option<Credentials>, String> {
        match (&self.token_file, &self.user, &self.password_file) {
            (None, None, None) => Ok(None),
            (Some(token_file), None, None) => Ok(Some(Credentials::Bearer {
                token_file: token_file.clone(),
            })),
            (None, Some(user), Some(password_file)) => Ok(Some(Credentials::Basic {
                user: user.clone(),
                password_file: password_file.clone(),
            })),
            _ => Err(self.invalid(&"write either `token-file`, or `user` and `password-file`")),
        }
    }

    fn certificate(&self) -> Result<Option<(PathBuf, PathBuf)>, String> {
        match (&self.client_cert, &self.client_key) {
            (None, None) => Ok(None),
            (Some(certificate), Some(key)) => Ok(Some((certificate.clone(), key.clone()))),
            _ => Err(self.invalid(&"`client-cert` and `client-key` belong together")),
        }
    }

    fn hold(&self) -> Result<Duration, String> {
        let hold = self.r#for.as_deref().map_or(Ok(HOLD), duration);
        let hold = hold.map_err(|why| self.invalid(&format_args!("`for`: {why}")))?;
        if hold > HOLD_MAX {
            return Err(self.invalid(&"`for` is longer than `24h`"));
        }
        Ok(hold)
    }

    fn time(&self) -> Result<Duration, String> {
        let time = self.timeout.as_deref().map_or(Ok(TIMEOUT), duration);
        let time = time.map_err(|why| self.invalid(&format_args!("`timeout`: {why}")))?;
        if time.is_zero() || time > TIMEOUT_MAX {
            let longest = TIMEOUT_MAX.as_secs();
            return Err(self.invalid(&format_args!(
                "`timeout` is not between `1ms` and `{longest}s`"
            )));
        }
        Ok(time)
    }

    /// The URL, perhaps from its file.
    fn address(&self) -> anyhow::Result<String> {
        use std::io::Read as _;

        let Some(file) = &self.url_file else {
            return Ok(self.url.clone().unwrap_or_default());
        };
        let mut url = String::new();
        let opened = std::fs::File::open(file);
        let read = opened.and_then(|file| file.take(URL_BYTES_MAX).read_to_string(&mut url));
        read.with_context(|| self.invalid(&format_args!("read {}", file.display())))?;
        Ok(url.trim().to_owned())
    }

    /// The settings. Reads the file with the URL.
    fn settings(&self) -> anyhow::Result<ReceiverSettings> {
        Ok(ReceiverSettings {
            name: self.name.clone(),
            format: self.format,
            filter: self.filter().map_err(anyhow::Error::msg)?,
            phases: self.phases.clone(),
            hold: self.hold().map_err(anyhow::Error::msg)?,
            at_most_once: self.at_most_once,
            endpoint: EndpointSettings {
                url: self.address()?,
                ca: self.ca.clone(),
                client_certificate: self.certificate().map_err(anyhow::Error::msg)?,
                credentials: self.credentials().map_err(anyhow::Error::msg)?,
                timeout: self.time().map_err(anyhow::Error::msg)?,
            },
            key_file: self.key_file.clone(),
        })
    }
}

/// The receivers of the tables. Reads the files with URLs.
///
/// # Errors
/// A file cannot be read, or there are too many tables.
pub(crate) fn receivers(tables: &[NotifyTable]) -> anyhow::Result<Vec<ReceiverSettings>> {
    anyhow::ensure!(
        tables.len() <= RECEIVERS_MAX,
        "there are {} [[notify]] tables; at most {RECEIVERS_MAX} are read",
        tables.len()
    );
    tables.iter().map(NotifyTable::settings).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(more: &str) -> Result<NotifyTable, String> {
        format!(r#"{{"name":"ops"{more}}}"#).parse()
    }

    #[test]
    fn a_table_with_a_url_gets_transitions_of_applications_and_connections() {
        let tables = [table(r#","url":"https://ops.example.com/events""#).unwrap()];
        let settings = receivers(&tables).unwrap();
        let [ops] = settings.as_slice() else {
            panic!("{settings:?}");
        };
        assert_eq!(ops.format, NotifyFormat::CloudEvents);
        assert_eq!((ops.hold, ops.endpoint.timeout), (HOLD, TIMEOUT));
        let subjects = [
            TransitionSubject::Application,
            TransitionSubject::Connection,
        ];
        assert_eq!(ops.filter.subjects, subjects);
        assert!(ops.filter.applications.is_everything());
    }

    #[test]
    fn every_member_of_a_table_is_read() {
        let more = r#","format":"slack","url":"https://a","transitions":["resource"],"applications":["web/*"],
            "clusters":["kubeconfig+*"],"resources":["Deployment/*"],"phases":["failed","ready"],"for":"5s",
            "key-file":"/k","user":"me","password-file":"/p","timeout":"2s","at-most-once":true"#;
        let settings = receivers(&[table(more).unwrap()]).unwrap();
        let [ops] = settings.as_slice() else {
            panic!("{settings:?}");
        };
        assert_eq!(ops.phases, [Phase::Failed, Phase::Ready]);
        assert_eq!(ops.hold, Duration::from_secs(5));
        assert!(ops.at_most_once);
        let shop = "-/shop/-/web".parse().unwrap();
        assert!(ops.filter.applications.has_application(&shop));
        let other = "-/shop/-/db".parse().unwrap();
        assert!(!ops.filter.applications.has_application(&other));
    }

    #[test]
    fn an_invalid_table_is_refused_with_its_name_and_a_correction() {
        let url = r#","url":"https://a""#;
        for (more, part) in [
            ("", "write either `url` or `url-file`"),
            (
                r#","url":"https://a","url-file":"/u""#,
                "write either `url`",
            ),
            (&format!(r#"{url},"for":"soon""#), "`for`: expected a time"),
            (
                &format!(r#"{url},"for":"48h""#),
                "`for` is longer than `24h`",
            ),
            (
                &format!(r#"{url},"timeout":"0s""#),
                "`timeout` is not between",
            ),
            (&format!(r#"{url},"timeout":"1m""#), "and `20s`"),
            (
                &format!(r#"{url},"user":"me""#),
                "`user` and `password-file`",
            ),
            (&format!(r#"{url},"client-key":"/k""#), "belong together"),
            (
                &format!(r#"{url},"format":"teams""#),
                "unknown variant `teams`",
            ),
            (
                &format!(r#"{url},"phases":["bad"]"#),
                "unknown variant `bad`",
            ),
            (
                &format!(r#"{url},"applications":["a/b/c"]"#),
                "`applications`: `a/b/c` is not a pattern of applications",
            ),
            (
                &format!(r#"{url},"transitions":["resource"],"resources":["web"]"#),
                "`resources`: `web` is not a pattern of resources",
            ),
            (
                &format!(r#"{url},"resources":["Pod/*"]"#),
                "only with `transitions = [\"resource\"]`",
            ),
            (&format!(r#"{url},"port":1"#), "unknown field `port`"),
            (
                &format!(r#"{url},"at-most-once":true"#),
                "only for `format = \"slack\"`",
            ),
        ] {
            let error = table(more).unwrap_err();
            assert!(error.contains(part), "{error}");
            assert!(error.contains("[[notify]]"), "{error}");
        }
        let named = r#"{"name":"a/b","url":"https://a"}"#;
        let error = named.parse::<NotifyTable>().unwrap_err();
        assert!(error.contains("`name` is not a name"), "{error}");
        let missing = table(r#","url-file":"/nonexistent/url""#).unwrap();
        let error = receivers(&[missing]).unwrap_err().to_string();
        assert!(error.contains("/nonexistent/url"), "{error}");
    }
}
