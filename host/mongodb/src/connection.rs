//! The connection to a MongoDB.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kindsight_model::clean;
use mongodb::Client;
use mongodb::event::EventHandler;
use mongodb::event::sdam::SdamEvent;
use mongodb::options::{ClientOptions, Credential, Tls, TlsOptions};

use crate::failure;
use crate::limits::REASON_BYTES_MAX;
use crate::options::{Error, MongodbOptions};

/// The application name that appears in MongoDB's log.
const APPLICATION: &str = "kindsight";

/// The maximum number of connections to each member. Only one request runs at a time.
const CONNECTIONS_MAX: u32 = 2;

/// The part of the deadline within which a member must be found, in percent. If none is found, the
/// remaining time is enough to report the reason.
const SELECTION_PERCENT: u32 = 80;

/// The shortest part of a URI that an error must not repeat, in bytes. Shorter parts occur in
/// almost every text.
const SECRET_BYTES_MIN: usize = 3;

/// The last failure to reach a member, as text.
pub(crate) type LastFailure = Arc<Mutex<Option<String>>>;

/// A client that has not connected yet.
pub(crate) struct Connection {
    pub(crate) client: Client,
    /// The database in the URI.
    pub(crate) database: Option<String>,
    pub(crate) last_failure: LastFailure,
    /// The members in the URI, as text.
    pub(crate) members: String,
}

impl Connection {
    /// Parses the options. The driver begins to search for the members. Needs a runtime.
    pub(crate) async fn open(options: &MongodbOptions) -> Result<Self, Error> {
        let mut parsed = parsed(options).await?;
        let last_failure = LastFailure::default();
        parsed.sdam_event_handler = Some(remembering(&last_failure));
        let database = parsed.default_database.clone();
        let members: Vec<String> = parsed.hosts.iter().map(ToString::to_string).collect();
        let client = Client::with_options(parsed).map_err(|error| uri_error(&error, options))?;
        Ok(Self {
            client,
            database,
            last_failure,
            members: clean(&members.join(","), REASON_BYTES_MAX).into_owned(),
        })
    }
}

async fn parsed(options: &MongodbOptions) -> Result<ClientOptions, Error> {
    let parsed = ClientOptions::parse(&options.uri).await;
    let mut parsed = parsed.map_err(|error| uri_error(&error, options))?;
    let named = parsed.credential.as_ref();
    let named = named.filter(|credential| credential.username.is_some());
    if named.is_some_and(|credential| credential.password.is_none()) {
        return Err(Error::NoPassword);
    }
    if let Some(user) = &options.user {
        if named.is_some() {
            return Err(Error::TwoUsers);
        }
        parsed.credential = Some(credential(user, options, &parsed));
    }
    if let Some(ca) = &options.ca {
        std::fs::File::open(ca).map_err(|source| Error::Ca {
            path: ca.clone(),
            source,
        })?;
        let tls = TlsOptions::builder().ca_file_path(ca.clone()).build();
        parsed.tls = Some(Tls::Enabled(tls));
    }
    parsed.app_name = Some(APPLICATION.to_owned());
    parsed.max_pool_size = Some(CONNECTIONS_MAX);
    parsed.server_selection_timeout = Some(selection(options.deadline));
    parsed.connect_timeout = Some(selection(options.deadline));
    Ok(parsed)
}

fn selection(deadline: Duration) -> Duration {
    deadline.saturating_mul(SELECTION_PERCENT) / 100
}

/// The credential of a user that is configured separately from the URI, with the other settings of
/// the URI.
fn credential(user: &str, options: &MongodbOptions, parsed: &ClientOptions) -> Credential {
    let said = parsed.credential.clone().unwrap_or_default();
    let source = said.source.or_else(|| auth_source(&options.uri));
    let mut credential = Credential::default();
    credential.username = Some(user.to_owned());
    credential.password.clone_from(&options.password);
    credential.mechanism = said.mechanism;
    credential.source = source.or_else(|| parsed.default_database.clone());
    credential
}

/// The authentication database in the URI, which the driver ignores if the URI contains no user.
fn auth_source(uri: &str) -> Option<String> {
    let (_, options) = uri.split_once('?')?;
    let values = options
        .split('&')
        .filter_map(|option| option.split_once('='));
    let mut named = values.filter(|(name, _)| name.eq_ignore_ascii_case("authSource"));
    named.next().map(|(_, value)| value.to_owned())
}

/// Keeps the last failure that the driver reports for a member. The driver's own errors show the
/// complete topology instead.
fn remembering(last_failure: &LastFailure) -> EventHandler<SdamEvent> {
    let last_failure = Arc::clone(last_failure);
    EventHandler::callback(move |event| {
        let failure = match event {
            SdamEvent::ServerHeartbeatFailed(failed) => {
                let reason = failure::reason(&failed.failure, None);
                Some(format!("{}: {reason}", failed.server_address))
            }
            SdamEvent::ServerHeartbeatSucceeded(_) => None,
            _ => return,
        };
        *last_failure.lock().unwrap_or_else(PoisonError::into_inner) = failure;
    })
}

fn uri_error(error: &mongodb::error::Error, options: &MongodbOptions) -> Error {
    let reason = failure::reason(error, None);
    if repeats_a_secret(&reason, &options.uri) {
        return Error::Uri("it is not a valid URI".to_owned());
    }
    Error::Uri(reason)
}

/// Returns whether a text repeats a part of a URI that may be a user or a password.
fn repeats_a_secret(text: &str, uri: &str) -> bool {
    let rest = uri.split_once("://").map_or(uri, |(_, rest)| rest);
    let until = rest.rfind('@').or_else(|| rest.find('/'));
    let secret = until.and_then(|at| rest.get(..at)).unwrap_or(rest);
    let mut parts = secret.split([':', '@', ',', '/', '?', '&', '=']);
    parts.any(|part| part.len() >= SECRET_BYTES_MIN && text.contains(part))
}
