//! `[[controller]]` tables of the configuration file.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use anyhow::Context as _;
use kindsight_server::grpc::{ControllerKind, ControllerSettings, ControllerTls, Controllers};
use serde::Deserialize;

use super::duration;

/// The time for an answer of a controller without `timeout`.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The priority of a controller without `priority`.
const PRIORITY: u32 = 1;
/// Maximum number of controllers.
const CONTROLLERS_MAX: usize = 100;

/// One `[[controller]]` of the configuration file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ControllerTable {
    name: String,
    /// `placement` or `action`.
    r#type: String,
    /// The lowest number is called first.
    priority: Option<u32>,
    /// `http://HOST:PORT` or `https://HOST:PORT`.
    address: String,
    /// The name of the intent that the controller receives. Without it, the name of the controller.
    intent: Option<String>,
    /// Time for an answer, such as `10s`.
    timeout: Option<String>,
    /// PEM file with the authorities that sign the certificate of the controller.
    ca: Option<PathBuf>,
    /// PEM file with the certificate of kindsight.
    client_cert: Option<PathBuf>,
    /// PEM file with the private key of that certificate.
    client_key: Option<PathBuf>,
}

impl FromStr for ControllerTable {
    type Err = String;

    /// Parses the JSON of a table.
    fn from_str(json: &str) -> Result<Self, String> {
        let table: Self = serde_json::from_str(json).map_err(|error| {
            let error = error.to_string();
            // The position in the JSON is not a position in the file.
            let text = error.split(" at line ").next().unwrap_or_default();
            format!("[[controller]]: {text}")
        })?;
        table.kind()?;
        table.time()?;
        Ok(table)
    }
}

impl ControllerTable {
    fn invalid(&self, what: &str) -> String {
        format!("[[controller]] `{}`: {what}", self.name)
    }

    fn kind(&self) -> Result<ControllerKind, String> {
        let kind = self.r#type.parse();
        kind.map_err(|why: String| self.invalid(&format!("`type`: {why}")))
    }

    fn time(&self) -> Result<Duration, String> {
        let time = self.timeout.as_deref().map_or(Ok(TIMEOUT), duration);
        let time = time.map_err(|why| self.invalid(&format!("`timeout`: {why}")))?;
        if time.is_zero() {
            return Err(self.invalid("`timeout` is 0"));
        }
        Ok(time)
    }

    /// The settings. Reads the files of TLS.
    fn settings(&self) -> anyhow::Result<ControllerSettings> {
        let read = |file: &Path| {
            let read = std::fs::read_to_string(file);
            read.with_context(|| self.invalid(&format!("read {}", file.display())))
        };
        let identity = match (&self.client_cert, &self.client_key) {
            (Some(certificate), Some(key)) => Some((read(certificate)?, read(key)?)),
            (None, None) => None,
            _ => anyhow::bail!(self.invalid("`client-cert` and `client-key` belong together")),
        };
        let authorities = self.ca.as_deref().map(read).transpose()?;
        if !self.address.starts_with("https://") && (identity.is_some() || authorities.is_some()) {
            anyhow::bail!(
                self.invalid("`ca`, `client-cert` and `client-key` need an `https` address")
            );
        }
        let settings = ControllerSettings {
            name: self.name.clone(),
            kind: self.kind().map_err(anyhow::Error::msg)?,
            priority: self.priority.unwrap_or(PRIORITY),
            intent: self.intent.clone().unwrap_or_else(|| self.name.clone()),
            address: self.address.clone(),
            timeout: self.time().map_err(anyhow::Error::msg)?,
            tls: ControllerTls {
                authorities,
                identity,
            },
        };
        Ok(settings)
    }
}

/// The controllers of the tables. Reads the files of TLS.
///
/// # Errors
/// A table is invalid, or there are controllers without an etcd or without the lifecycle.
pub(crate) fn controllers(
    tables: &[ControllerTable],
    is_etcd: bool,
    has_lifecycle: bool,
) -> anyhow::Result<Controllers> {
    if tables.is_empty() {
        return Ok(Controllers::default());
    }
    anyhow::ensure!(
        is_etcd,
        "[[controller]] needs `store = \"etcd://…\"` without `observe`: controllers change an AppContext in etcd"
    );
    anyhow::ensure!(
        has_lifecycle,
        "[[controller]] needs `lifecycle = true`: controllers are called when an application is instantiated"
    );
    anyhow::ensure!(
        tables.len() <= CONTROLLERS_MAX,
        "there are {} [[controller]] tables; at most {CONTROLLERS_MAX} are read",
        tables.len()
    );
    let settings = tables.iter().map(ControllerTable::settings);
    let settings = settings.collect::<anyhow::Result<Vec<_>>>()?;
    Ok(Controllers::new(settings)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(more: &str) -> Result<ControllerTable, String> {
        format!(r#"{{"name":"near","type":"placement","address":"http://near:9053"{more}}}"#)
            .parse()
    }

    fn error(more: &str) -> String {
        match table(more) {
            Err(error) => error,
            Ok(table) => controllers(&[table], true, true).unwrap_err().to_string(),
        }
    }

    #[test]
    fn controllers_need_an_etcd_and_the_lifecycle() {
        let tables = [table(r#","priority":3,"intent":"i","timeout":"5s""#).unwrap()];
        assert!(!controllers(&tables, true, true).unwrap().is_empty());
        let error = controllers(&tables, false, true).unwrap_err();
        assert!(error.to_string().contains("etcd"), "{error}");
        let error = controllers(&tables, true, false).unwrap_err();
        assert!(error.to_string().contains("lifecycle"), "{error}");
        assert!(controllers(&[], false, false).unwrap().is_empty());
    }

    #[test]
    fn an_invalid_table_is_refused_with_its_name() {
        for (more, part) in [
            (r#","timeout":"soon""#, "`timeout`"),
            (r#","timeout":"0s""#, "`timeout` is 0"),
            (r#","client-cert":"/a""#, "belong together"),
            (r#","ca":"/nonexistent/ca""#, "/nonexistent/ca"),
            (r#","port":1"#, "unknown field `port`"),
        ] {
            let error = error(more);
            assert!(error.contains(part), "{error}");
            assert!(error.contains("[[controller]]"), "{error}");
        }
        let other = r#"{"name":"near","type":"both","address":"http://near:9053"}"#;
        let error = other.parse::<ControllerTable>().unwrap_err();
        assert!(error.contains("`placement` or `action`"), "{error}");
    }
}
