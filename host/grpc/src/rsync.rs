//! The service `installapp` of rsync.

mod refused;
mod work;

use std::sync::Arc;
use std::time::Duration;

use kindsight_access::{AccessControl, Caller, Role};
use kindsight_model::ContextId;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use tonic::service::Routes;
use tonic::{Request, Response, Status};

use crate::client::Client;
use crate::limits::{CALL_SECONDS_MAX, CALLS_MAX, MESSAGE_BYTES_MAX};
use crate::proto::installapp_server::{Installapp, InstallappServer};
use crate::proto::{
    InstallAppRequest, InstallAppResponse, ReadAppContextRequest, ReadAppContextResponse,
    UninstallAppRequest, UninstallAppResponse,
};

use refused::UpdateApp;
pub use work::{ContextWork, WorkError, WorkSubject};

/// Answers the calls of an orchestrator. Cheap to clone.
#[derive(Clone)]
pub struct Rsync {
    work: Arc<dyn ContextWork>,
    /// Without access control, every client may do everything.
    access: Option<Arc<AccessControl>>,
    calls: Arc<Semaphore>,
}

/// A call about a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Install,
    Uninstall,
    Read,
}

impl Call {
    /// The name of the method, also in the audit log.
    fn as_str(self) -> &'static str {
        match self {
            Self::Install => "InstallApp",
            Self::Uninstall => "UninstallApp",
            Self::Read => "ReadAppContext",
        }
    }
}

/// The answer about a context: nothing if the work is recorded, or the reason why it is not.
type Answer = Result<(), String>;

impl Rsync {
    /// Creates the service. Clients with a certificate have the rights of `access`; without access control, every client
    /// may do everything.
    pub fn new(work: Arc<dyn ContextWork>, access: Option<Arc<AccessControl>>) -> Self {
        Self {
            work,
            access,
            calls: Arc::new(Semaphore::new(CALLS_MAX)),
        }
    }

    /// The services of rsync for a [`Listener`](crate::Listener).
    pub fn services(self) -> Routes {
        let installapp = InstallappServer::new(self)
            .max_decoding_message_size(MESSAGE_BYTES_MAX)
            .max_encoding_message_size(MESSAGE_BYTES_MAX);
        Routes::new(installapp).add_service(UpdateApp)
    }

    /// Authenticates the client, records the work on a blocking thread, and writes a line to the audit log. The work is
    /// recorded and logged also if the client disconnects.
    async fn call(&self, call: Call, client: Client, text: &str) -> Result<Answer, Status> {
        let permit = Arc::clone(&self.calls).try_acquire_owned();
        let permit = permit.map_err(|_| {
            Status::resource_exhausted(format!("{CALLS_MAX} calls are in progress; try again"))
        })?;
        let caller = client.authenticate(self.access.as_ref()).await?;
        let Ok(id) = text.parse::<ContextId>() else {
            return Ok(Err(
                "`app_context` is not the ID of an AppContext".to_owned()
            ));
        };
        let work = Arc::clone(&self.work);
        let called = spawn_blocking(move || {
            let _permit = permit;
            let user = caller.user().map_or("-", |user| user.name());
            let done = worked(&*work, &caller, call, &id);
            log(user, call, &id, done.as_ref().err());
            done
        });
        let called = timeout(Duration::from_secs(CALL_SECONDS_MAX), called).await;
        let called = called.map_err(|_| Status::deadline_exceeded("the store does not answer"))?;
        let done = called.map_err(|_| Status::internal("the call panicked; the log says where"))?;
        match done {
            Ok(()) => Ok(Ok(())),
            Err(WorkError::Unavailable(why)) => Err(Status::unavailable(why)),
            Err(WorkError::Denied(why)) => Err(Status::permission_denied(why)),
            Err(error) => Ok(Err(error.to_string())),
        }
    }
}

/// Checks the rights of the caller, and records the work.
fn worked(
    work: &dyn ContextWork,
    caller: &Caller,
    call: Call,
    id: &ContextId,
) -> Result<(), WorkError> {
    let deployer = caller.rights().subjects(Role::Deployer);
    if deployer.is_nothing() {
        let why = "the role `deployer` is needed".to_owned();
        return Err(WorkError::Denied(why));
    }
    let may_deploy = match work.subject(id)? {
        WorkSubject::Group(name) => deployer.has_application(&name),
        WorkSubject::Other => deployer.is_everything(),
    };
    if !may_deploy {
        return Err(WorkError::NotFound(id.clone()));
    }
    match call {
        Call::Install => work.install(id),
        Call::Uninstall => work.uninstall(id),
        Call::Read => work.read(id),
    }
}

/// Writes a line to the audit log.
fn log(user: &str, call: Call, context: &ContextId, error: Option<&WorkError>) {
    let outcome = error.map_or_else(
        || "recorded".to_owned(),
        |error| format!("refused: {error}"),
    );
    let action = call.as_str();
    tracing::info!(target: "audit", user, action, %context, outcome, "command");
}

/// The members of an answer.
fn members(answer: Answer) -> (bool, String) {
    match answer {
        Ok(()) => (true, String::new()),
        Err(why) => (false, why),
    }
}

#[tonic::async_trait]
impl Installapp for Rsync {
    async fn install_app(
        &self,
        request: Request<InstallAppRequest>,
    ) -> Result<Response<InstallAppResponse>, Status> {
        let client = Client::of(&request)?;
        let id = request.into_inner().app_context;
        let answer = self.call(Call::Install, client, &id).await?;
        let (app_context_installed, app_context_install_message) = members(answer);
        Ok(Response::new(InstallAppResponse {
            app_context_installed,
            app_context_install_message,
        }))
    }

    async fn uninstall_app(
        &self,
        request: Request<UninstallAppRequest>,
    ) -> Result<Response<UninstallAppResponse>, Status> {
        let client = Client::of(&request)?;
        let id = request.into_inner().app_context;
        let answer = self.call(Call::Uninstall, client, &id).await?;
        let (app_context_uninstalled, app_context_uninstall_message) = members(answer);
        Ok(Response::new(UninstallAppResponse {
            app_context_uninstalled,
            app_context_uninstall_message,
        }))
    }

    async fn read_app_context(
        &self,
        request: Request<ReadAppContextRequest>,
    ) -> Result<Response<ReadAppContextResponse>, Status> {
        let client = Client::of(&request)?;
        let id = request.into_inner().app_context;
        let answer = self.call(Call::Read, client, &id).await?;
        let (app_context_read_successful, app_context_read_message) = members(answer);
        Ok(Response::new(ReadAppContextResponse {
            app_context_read_successful,
            app_context_read_message,
        }))
    }
}
