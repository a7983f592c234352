//! Credential plugins: programs that a kubeconfig names, and that answer with a token or a certificate.
//!
//! kindsight runs them instead of kube, which has no time limit: with kube, a plugin that hangs would block a
//! thread for each attempt. Plugins get no terminal, because kindsight has no interactive user.

use std::fmt;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use jiff::Timestamp;
use kube::config::{AuthInfo, ExecConfig};
use serde::Deserialize;
use serde_json::json;
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

use super::jitter::Backoff;

/// Time for a plugin to answer, after which it is killed.
const PLUGIN_MAX: Duration = Duration::from_mins(1);
/// Maximum size of the answer of a plugin, in bytes. More output is not read.
const ANSWER_BYTES_MAX: u64 = 1024 * 1024;
/// Time before the end of a token at which the plugin is run again.
const REFRESH_BEFORE: Duration = Duration::from_mins(1);
/// Shortest time between two runs for tokens that end sooner.
const REFRESH_EVERY_MIN: Duration = Duration::from_secs(5);

/// A credential plugin.
#[derive(Clone)]
pub(super) struct Plugin(Arc<ExecConfig>);

/// The token that a plugin gave, shared by all requests of a session.
#[derive(Clone, Default)]
pub(super) struct Token(Arc<RwLock<Option<HeaderValue>>>);

/// The answer of a plugin.
pub(super) struct Credential {
    token: Option<HeaderValue>,
    /// A client certificate and its key, as PEM.
    certificate: Option<(String, String)>,
    ends_at: Option<Timestamp>,
}

/// The reason why a plugin gave no credential. Its output is omitted, because it may contain a token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum PluginError {
    #[error("the kubeconfig names no command of the credential plugin")]
    NoCommand,
    #[error("the credential plugin `{0}` cannot be started: {1}")]
    Start(String, String),
    #[error("the credential plugin `{0}` failed ({1})")]
    Failed(String, String),
    #[error("the credential plugin `{0}` did not answer in {1} s")]
    Late(String, u64),
    #[error(
        "the credential plugin `{0}` did not answer with an ExecCredential that has a token or a certificate"
    )]
    Answer(String),
}

impl Token {
    /// The value of the header `Authorization`.
    pub(super) fn header(&self) -> Option<HeaderValue> {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn set(&self, header: Option<HeaderValue>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = header;
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

impl Plugin {
    /// The plugin in `auth`, which is removed there; none if `auth` names none.
    pub(super) fn take_from(auth: &mut AuthInfo) -> Option<Self> {
        auth.exec.take().map(|plugin| Self(Arc::new(plugin)))
    }

    /// Runs the plugin.
    ///
    /// # Errors
    /// [`PluginError`]. The plugin has ended in this case.
    pub(super) async fn run(&self) -> Result<Credential, PluginError> {
        let command = self.0.command.as_deref().ok_or(PluginError::NoCommand)?;
        let name = Path::new(command).file_name().unwrap_or(command.as_ref());
        let name = name.to_string_lossy().into_owned();
        let started = self.command(command).spawn();
        let child = started.map_err(|error| PluginError::Start(name.clone(), error.to_string()))?;
        let answer = timeout(PLUGIN_MAX, answer_of(child)).await;
        let answer = answer.map_err(|_| PluginError::Late(name.clone(), PLUGIN_MAX.as_secs()))?;
        match answer {
            Ok((status, answer)) if status.success() => {
                Credential::read(&answer).ok_or(PluginError::Answer(name))
            }
            Ok((status, _)) => Err(PluginError::Failed(name, status.to_string())),
            Err(error) => Err(PluginError::Failed(name, error.to_string())),
        }
    }

    fn command(&self, command: &str) -> Command {
        let Self(exec) = self;
        let mut program = Command::new(command);
        program.args(exec.args.iter().flatten());
        for variable in exec.env.iter().flatten() {
            if let (Some(name), Some(value)) = (variable.get("name"), variable.get("value")) {
                program.env(name, value);
            }
        }
        let cluster = exec.cluster.as_ref().filter(|_| exec.provide_cluster_info);
        let spec = match cluster {
            Some(cluster) => json!({"interactive": false, "cluster": cluster}),
            None => json!({"interactive": false}),
        };
        let info = json!({
            "apiVersion": exec.api_version, "kind": "ExecCredential", "spec": spec,
        });
        program.env("KUBERNETES_EXEC_INFO", info.to_string());
        program.stdin(Stdio::null()).stderr(Stdio::null());
        program.stdout(Stdio::piped()).kill_on_drop(true);
        program
    }

    /// Requests a new token before each token ends, until a token has no end. A plugin that fails is run again. If
    /// the token has ended, the server refuses requests until the plugin succeeds.
    pub(super) async fn keep_fresh(self, token: Token, mut ends_at: Option<Timestamp>) {
        let mut backoff = Backoff::default();
        while let Some(end) = ends_at {
            let left = Timestamp::now().until(end).ok();
            let left = left.and_then(|left| Duration::try_from(left).ok());
            let wait = left.unwrap_or_default().saturating_sub(REFRESH_BEFORE);
            sleep(wait.max(REFRESH_EVERY_MIN)).await;
            match self.run().await {
                Ok(credential) => {
                    backoff = Backoff::default();
                    ends_at = credential.ends_at;
                    token.set(credential.token);
                }
                Err(error) => {
                    tracing::warn!(%error, "credential not renewed; the plugin is run again");
                    sleep(backoff.next()).await;
                }
            }
        }
    }
}

/// The output of a plugin, and its exit status.
async fn answer_of(mut child: Child) -> io::Result<(ExitStatus, Vec<u8>)> {
    let mut answer = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        stdout
            .take(ANSWER_BYTES_MAX)
            .read_to_end(&mut answer)
            .await?;
    }
    Ok((child.wait().await?, answer))
}

impl Credential {
    /// None if the answer is no `ExecCredential`, or has neither a token nor a certificate.
    fn read(answer: &[u8]) -> Option<Self> {
        #[derive(Deserialize)]
        struct ExecCredential {
            status: Status,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Status {
            token: Option<String>,
            client_certificate_data: Option<String>,
            client_key_data: Option<String>,
            expiration_timestamp: Option<Timestamp>,
        }
        // Some plugins answer with YAML. JSON is valid YAML.
        let text = str::from_utf8(answer).ok()?;
        let ExecCredential { status } = serde_saphyr::from_str(text).ok()?;
        let token = status.token.filter(|token| !token.is_empty());
        let token = token.map(|token| HeaderValue::try_from(format!("Bearer {token}")));
        let mut token = token.transpose().ok()?;
        if let Some(token) = &mut token {
            token.set_sensitive(true);
        }
        let certificate = status.client_certificate_data.zip(status.client_key_data);
        let is_something = token.is_some() || certificate.is_some();
        is_something.then_some(Self {
            token,
            certificate,
            ends_at: status.expiration_timestamp,
        })
    }

    /// Puts the certificate into the credentials of a configuration, and returns the token with its end.
    pub(super) fn apply(self, auth: &mut AuthInfo) -> (Token, Option<Timestamp>) {
        if let Some((certificate, key)) = self.certificate {
            auth.client_certificate_data = Some(STANDARD.encode(certificate));
            auth.client_key_data = Some(STANDARD.encode(key).into());
        }
        let token = Token::default();
        token.set(self.token);
        (token, self.ends_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plugin(script: &str) -> Plugin {
        Plugin(Arc::new(ExecConfig {
            api_version: Some("client.authentication.k8s.io/v1".to_owned()),
            command: Some("/bin/sh".to_owned()),
            args: Some(vec!["-c".to_owned(), script.to_owned()]),
            ..ExecConfig::default()
        }))
    }

    #[tokio::test]
    async fn a_plugin_runs_without_a_terminal_and_answers_with_a_token() {
        let script = r#"
            read line && exit 4
            case "$KUBERNETES_EXEC_INFO" in *'"interactive":false'*) ;; *) exit 5;; esac
            echo '{"status":{"token":"t-1","expirationTimestamp":"2026-01-02T03:04:05Z"}}'"#;
        let credential = plugin(script).run().await.unwrap();
        let (token, ends_at) = credential.apply(&mut AuthInfo::default());
        assert_eq!(token.header().unwrap(), "Bearer t-1");
        assert_eq!(ends_at.unwrap().to_string(), "2026-01-02T03:04:05Z");
        assert_eq!(format!("{token:?}"), "Token(..)");
    }

    #[tokio::test]
    async fn a_plugin_answers_with_a_certificate() {
        let script = "printf 'status:\\n  clientCertificateData: C\\n  clientKeyData: K\\n'";
        let mut auth = AuthInfo::default();
        let credential = plugin(script).run().await.unwrap();
        let (token, ends_at) = credential.apply(&mut auth);
        assert_eq!((token.header(), ends_at), (None, None));
        assert_eq!(auth.client_certificate_data.as_deref(), Some("Qw=="));
        assert!(auth.client_key_data.is_some());
    }

    #[tokio::test]
    async fn the_output_of_a_failed_plugin_is_not_in_the_error() {
        let check = async |script: &str, expected: &str| {
            let error = plugin(script).run().await.err().unwrap();
            assert_eq!(error.to_string(), expected);
        };
        let failed = "the credential plugin `sh` failed (exit status: 3)";
        check("echo secret; echo secret >&2; exit 3", failed).await;
        let answer = "the credential plugin `sh` did not answer with an ExecCredential that has a token or a certificate";
        check("echo secret", answer).await;
        check("echo '{\"status\":{}}'", answer).await;
        let endless = "the credential plugin `sh` failed (signal: 13 (SIGPIPE))";
        check("exec head -c 2000000 /dev/zero", endless).await;
        let missing = Plugin(Arc::new(ExecConfig {
            command: Some("/nonexistent/plugin".to_owned()),
            ..ExecConfig::default()
        }));
        let error = missing.run().await.err().unwrap().to_string();
        assert!(
            error.starts_with("the credential plugin `plugin` cannot be started: "),
            "{error}"
        );
    }
}
