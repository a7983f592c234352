//! The table `[aai]` of the configuration file.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use kindsight_model::ClusterName;
use kindsight_server::aai::{AaiSettings, CloudPlace, REQUESTS_PER_SECOND};
use kindsight_server::outgoing::{Credentials, Destinations, Endpoint, EndpointSettings};
use serde::Deserialize;

use super::duration;

/// The time for an answer of A&AI without `timeout`.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The longest `timeout`, so that a stopping server does not wait for long.
const TIMEOUT_MAX: Duration = Duration::from_mins(1);
/// The version of A&AI's API without `version`.
const VERSION: &str = "v14";
/// `X-FromAppId` without `app-id`.
const APP_ID: &str = "kindsight";
/// The reported Kinds without `kinds`.
const KINDS: [&str; 1] = ["Pod"];
/// Maximum number of requests per second that can be set.
const REQUESTS_PER_SECOND_MAX: u32 = 1000;
/// Maximum number of reported Kinds.
const KINDS_MAX: usize = 50;

/// `[aai]` of the configuration file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct AaiTable {
    /// A&AI, without `/aai/v14`.
    url: String,
    version: Option<String>,
    /// The value of `X-FromAppId`.
    app_id: Option<String>,
    /// Kinds whose objects are vservers, as `Kind` or `Kind.group`.
    kinds: Option<Vec<String>>,
    requests_per_second: Option<u32>,
    timeout: Option<String>,
    /// User of Basic authentication.
    user: Option<String>,
    password_file: Option<PathBuf>,
    /// PEM file with the authorities that sign the certificate of A&AI.
    ca: Option<PathBuf>,
    client_cert: Option<PathBuf>,
    client_key: Option<PathBuf>,
    #[serde(default)]
    cluster: Vec<ClusterEntry>,
}

/// One `[[aai.cluster]]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct ClusterEntry {
    /// `provider+name`.
    name: String,
    cloud_owner: String,
    region: String,
    tenant: String,
}

impl FromStr for AaiTable {
    type Err = String;

    /// Parses the JSON of the table.
    fn from_str(json: &str) -> Result<Self, String> {
        let table: Self = serde_json::from_str(json).map_err(|error| {
            let error = error.to_string();
            // The position in the JSON is not a position in the file.
            let text = error.split(" at line ").next().unwrap_or_default();
            format!("[aai]: {text}")
        })?;
        table.check().map_err(|why| format!("[aai]: {why}"))?;
        Ok(table)
    }
}

impl AaiTable {
    fn check(&self) -> Result<(), String> {
        self.time()?;
        self.places()?;
        let version = self.version();
        let digits = version.strip_prefix('v').unwrap_or_default();
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(format!(
                "`version` is `{version}`; expected a version such as `v14`"
            ));
        }
        let pace = self.requests_per_second.unwrap_or(REQUESTS_PER_SECOND);
        if !(1..=REQUESTS_PER_SECOND_MAX).contains(&pace) {
            return Err(format!(
                "`requests-per-second` is {pace}; expected 1 to {REQUESTS_PER_SECOND_MAX}"
            ));
        }
        let kinds = self.kinds();
        let is_kind = |kind: &String| kind.starts_with(|first: char| first.is_ascii_uppercase());
        if kinds.is_empty() || kinds.len() > KINDS_MAX || !kinds.iter().all(is_kind) {
            return Err(format!(
                "`kinds` is no list of 1 to {KINDS_MAX} Kinds such as `Pod` or `VirtualMachineInstance.kubevirt.io`"
            ));
        }
        let app_id = self.app_id();
        if app_id.is_empty() || !app_id.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("`app-id` is no word of visible ASCII characters".to_owned());
        }
        if self.client_cert.is_some() != self.client_key.is_some() {
            return Err("`client-cert` and `client-key` belong together".to_owned());
        }
        match (&self.user, &self.password_file) {
            (Some(user), Some(_)) if user.contains(':') => Err("`user` has a colon".to_owned()),
            (Some(_), Some(_)) | (None, None) => Ok(()),
            _ => Err("`user` and `password-file` belong together".to_owned()),
        }
    }

    fn version(&self) -> String {
        self.version.clone().unwrap_or_else(|| VERSION.to_owned())
    }

    fn app_id(&self) -> String {
        self.app_id.clone().unwrap_or_else(|| APP_ID.to_owned())
    }

    fn kinds(&self) -> Vec<String> {
        let default = || KINDS.map(str::to_owned).to_vec();
        self.kinds.clone().unwrap_or_else(default)
    }

    fn time(&self) -> Result<Duration, String> {
        let time = self.timeout.as_deref().map_or(Ok(TIMEOUT), duration);
        let time = time.map_err(|why| format!("`timeout`: {why}"))?;
        if time.is_zero() || time > TIMEOUT_MAX {
            return Err("`timeout` is not between 1ms and 60s".to_owned());
        }
        Ok(time)
    }

    /// The places of the clusters.
    fn places(&self) -> Result<BTreeMap<ClusterName, CloudPlace>, String> {
        if self.cluster.is_empty() {
            return Err("there is no `[[aai.cluster]]`, so no object would be reported".to_owned());
        }
        let mut places = BTreeMap::new();
        for entry in &self.cluster {
            let name = entry.name.parse::<ClusterName>();
            let name = name.map_err(|error| format!("`name` of `[[aai.cluster]]`: {error}"))?;
            let parts = [&entry.cloud_owner, &entry.region, &entry.tenant];
            if parts.iter().any(|part| part.is_empty()) {
                return Err(format!(
                    "`[[aai.cluster]]` `{name}` needs `cloud-owner`, `region` and `tenant`"
                ));
            }
            let place = CloudPlace {
                owner: entry.cloud_owner.clone(),
                region: entry.region.clone(),
                tenant: entry.tenant.clone(),
            };
            if places.insert(name.clone(), place).is_some() {
                return Err(format!("`[[aai.cluster]]` `{name}` is there twice"));
            }
        }
        Ok(places)
    }

    /// The settings. Reads the files of TLS.
    ///
    /// # Errors
    /// A file cannot be read, or the URL is invalid or not permitted.
    pub(crate) fn settings(&self, destinations: &Arc<Destinations>) -> anyhow::Result<AaiSettings> {
        let credentials = self.user.clone().zip(self.password_file.clone());
        let endpoint = Endpoint::new(
            EndpointSettings {
                url: self.url.clone(),
                ca: self.ca.clone(),
                client_certificate: self.client_cert.clone().zip(self.client_key.clone()),
                credentials: credentials.map(|(user, password_file)| Credentials::Basic {
                    user,
                    password_file,
                }),
                timeout: self.time().map_err(anyhow::Error::msg)?,
            },
            destinations,
        );
        Ok(AaiSettings {
            endpoint: endpoint.context("[aai]")?,
            version: self.version(),
            app_id: self.app_id(),
            kinds: self.kinds(),
            clusters: self.places().map_err(anyhow::Error::msg)?,
            requests_per_second: self.requests_per_second.unwrap_or(REQUESTS_PER_SECOND),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLUSTER: &str = r#""cluster":[{"name":"lab+a","cloud-owner":"CloudOwner","region":"RegionOne","tenant":"t"}]"#;

    fn table(more: &str) -> Result<AaiTable, String> {
        format!(r#"{{"url":"https://aai.onap:8443",{CLUSTER}{more}}}"#).parse()
    }

    #[test]
    fn a_table_needs_a_url_and_a_cluster() {
        let settings = table("").unwrap().settings(&Arc::default()).unwrap();
        assert_eq!(settings.version, "v14");
        assert_eq!(settings.kinds, ["Pod"]);
        assert_eq!(settings.clusters.len(), 1);
        let error = format!(r"{{{CLUSTER}}}").parse::<AaiTable>().unwrap_err();
        assert!(error.contains("missing field `url`"), "{error}");
        let error = r#"{"url":"https://a"}"#.parse::<AaiTable>().unwrap_err();
        assert!(error.contains("[[aai.cluster]]"), "{error}");
    }

    #[test]
    fn an_invalid_table_is_refused_with_a_correction() {
        for (more, part) in [
            (r#","version":"14""#, "such as `v14`"),
            (r#","kinds":[]"#, "such as `Pod`"),
            (r#","kinds":["pods"]"#, "such as `Pod`"),
            (r#","requests-per-second":0"#, "expected 1 to"),
            (r#","timeout":"0s""#, "`timeout`"),
            (r#","user":"a""#, "belong together"),
            (r#","user":"a:b","password-file":"/p""#, "colon"),
            (r#","client-key":"/k""#, "belong together"),
            (r#","app-id":"a b""#, "visible ASCII"),
            (r#","port":1"#, "unknown field `port`"),
        ] {
            let error = table(more).unwrap_err();
            assert!(error.starts_with("[aai]: "), "{error}");
            assert!(error.contains(part), "{error}");
        }
        let table = table(r#","ca":"/nonexistent/ca""#).unwrap();
        let error = format!("{:#}", table.settings(&Arc::default()).unwrap_err());
        assert!(error.contains("[aai]: /nonexistent/ca"), "{error}");
    }
}
