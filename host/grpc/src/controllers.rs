//! Controllers, which change an `AppContext` before its resources are sent.
//!
//! Each is a server of the service `contextupdate`. It reads and changes the context in the etcd that it shares with
//! kindsight. A placement controller chooses clusters, and an action controller changes manifests.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use kindsight_model::{ContextId, clean};
use tokio::runtime::Handle;
use tokio::time::timeout;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};

use crate::limits::{CONTROLLER_ANSWER_BYTES_MAX, CONTROLLER_TEXT_BYTES_MAX};
use crate::proto::ContextUpdateRequest;
use crate::proto::contextupdate_client::ContextupdateClient;

/// The type of a controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ControllerKind {
    /// It chooses clusters. Called first.
    Placement,
    /// It changes manifests. Called after the placement controllers.
    Action,
}

impl ControllerKind {
    /// The word in configurations and errors.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Placement => "placement",
            Self::Action => "action",
        }
    }
}

impl FromStr for ControllerKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "placement" => Ok(Self::Placement),
            "action" => Ok(Self::Action),
            _ => Err("expected `placement` or `action`".to_owned()),
        }
    }
}

/// A controller.
#[derive(Debug, Clone)]
pub struct Controller {
    /// The name, for errors.
    name: String,
    kind: ControllerKind,
    priority: u32,
    intent: String,
    endpoint: Endpoint,
    timeout: Duration,
}

/// The settings of a controller.
#[derive(Clone)]
pub struct ControllerSettings {
    /// The name, unique among the controllers.
    pub name: String,
    /// The type.
    pub kind: ControllerKind,
    /// Controllers of one type are called in the order of their priorities, the lowest number first.
    pub priority: u32,
    /// The name of the intent that the controller receives, unless a group names another one.
    pub intent: String,
    /// The address, `http://HOST:PORT` or `https://HOST:PORT`.
    pub address: String,
    /// Time for an answer. A controller that does not answer in this time has failed.
    pub timeout: Duration,
    /// TLS of an `https` address.
    pub tls: ControllerTls,
}

/// The PEM texts of the TLS of a controller. Not `Debug`, because the key is a secret.
#[derive(Clone, Default)]
pub struct ControllerTls {
    /// The authorities that sign the certificate of the controller.
    pub authorities: Option<String>,
    /// The certificate and the key of kindsight.
    pub identity: Option<(String, String)>,
}

/// The reason why the settings of controllers cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ControllerSettingsError {
    /// The address is not a URL of HTTP.
    #[error(
        "the address of the controller `{0}` cannot be used: expected `http://HOST:PORT` or `https://HOST:PORT`"
    )]
    Address(String),
    /// The PEM texts cannot be used.
    #[error("the TLS of the controller `{0}` cannot be used: {1}")]
    Tls(String, String),
    /// Two controllers have one name.
    #[error("two controllers have the name `{0}`")]
    Twice(String),
}

/// The failure of a controller. No resource may be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the {kind} controller `{name}` failed: {why}")]
pub struct ControllerFailed {
    /// The name of the controller.
    pub name: String,
    /// The type of the controller.
    pub kind: ControllerKind,
    /// The reason, as a fragment of a sentence.
    pub why: String,
}

impl fmt::Display for ControllerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The controllers of a server, in the order of their calls.
#[derive(Debug, Clone, Default)]
pub struct Controllers(Vec<Controller>);

impl Controllers {
    /// Checks and orders the controllers. Makes no connection.
    ///
    /// # Errors
    /// [`ControllerSettingsError`].
    pub fn new(settings: Vec<ControllerSettings>) -> Result<Self, ControllerSettingsError> {
        let controllers = settings.into_iter().map(Controller::new);
        let mut controllers: Vec<Controller> = controllers.collect::<Result<_, _>>()?;
        controllers
            .sort_by(|a, b| (a.kind, a.priority, &a.name).cmp(&(b.kind, b.priority, &b.name)));
        for (position, controller) in controllers.iter().enumerate() {
            let mut before = controllers.iter().take(position);
            if before.any(|other| other.name == controller.name) {
                return Err(ControllerSettingsError::Twice(controller.name.clone()));
            }
        }
        Ok(Self(controllers))
    }

    /// Returns whether there is no controller.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether there is a controller of this name.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|controller| controller.name == name)
    }

    /// Has each controller change a context, one after the other. Blocks; `runtime` does the calls. `intents` has the names
    /// of intents by the names of controllers; another controller receives the intent of its settings.
    ///
    /// # Errors
    /// [`ControllerFailed`] for the first controller that fails or does not answer. The later ones are not called.
    pub fn update(
        &self,
        context: &ContextId,
        intents: &BTreeMap<String, String>,
        runtime: &Handle,
    ) -> Result<(), ControllerFailed> {
        for controller in &self.0 {
            let intent = intents.get(&controller.name);
            let intent = intent.unwrap_or(&controller.intent);
            runtime.block_on(controller.update(context, intent))?;
            tracing::info!(%context, controller = controller.name, "a controller changed an AppContext");
        }
        Ok(())
    }
}

impl Controller {
    fn new(settings: ControllerSettings) -> Result<Self, ControllerSettingsError> {
        let ControllerSettings {
            name,
            kind,
            priority,
            intent,
            address,
            timeout,
            tls,
        } = settings;
        let is_https = address.starts_with("https://");
        let is_url = is_https || address.starts_with("http://");
        let endpoint = Endpoint::from_shared(address).ok().filter(|_| is_url);
        let endpoint = endpoint.ok_or_else(|| ControllerSettingsError::Address(name.clone()))?;
        let endpoint = if is_https {
            let endpoint = endpoint.tls_config(tls.config());
            endpoint
                .map_err(|error| ControllerSettingsError::Tls(name.clone(), error.to_string()))?
        } else {
            endpoint
        };
        Ok(Self {
            name,
            kind,
            priority,
            intent,
            endpoint,
            timeout,
        })
    }

    /// Calls the controller over a new connection.
    async fn update(&self, context: &ContextId, intent: &str) -> Result<(), ControllerFailed> {
        let called = timeout(self.timeout, self.call(context, intent)).await;
        let called = called.unwrap_or_else(|_| {
            let seconds = self.timeout.as_secs_f64();
            Err(format!("it did not answer in {seconds} s"))
        });
        called.map_err(|why| ControllerFailed {
            name: self.name.clone(),
            kind: self.kind,
            why: clean(&why, CONTROLLER_TEXT_BYTES_MAX).into_owned(),
        })
    }

    async fn call(&self, context: &ContextId, intent: &str) -> Result<(), String> {
        let channel: Channel = self
            .endpoint
            .connect()
            .await
            .map_err(|error| causes(&error))?;
        let mut client = ContextupdateClient::new(channel)
            .max_decoding_message_size(CONTROLLER_ANSWER_BYTES_MAX);
        let request = ContextUpdateRequest {
            app_context: context.to_string(),
            intent_name: intent.to_owned(),
        };
        let answer = client.update_app_context(request).await;
        let answer = answer.map_err(|status| format!("{}: {}", status.code(), status.message()))?;
        let answer = answer.into_inner();
        if answer.app_context_updated {
            Ok(())
        } else {
            Err(format!("it answers: {}", answer.app_context_update_message))
        }
    }
}

impl ControllerTls {
    fn config(self) -> ClientTlsConfig {
        let mut config = ClientTlsConfig::new();
        if let Some(authorities) = self.authorities {
            config = config.ca_certificate(Certificate::from_pem(authorities));
        }
        if let Some((certificate, key)) = self.identity {
            config = config.identity(Identity::from_pem(certificate, key));
        }
        config
    }
}

/// The text of an error and its causes.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
