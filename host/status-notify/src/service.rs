//! The service `StatusNotify`.

use std::pin::Pin;
use std::sync::Arc;

use futures_util::Stream;
use futures_util::stream::unfold;
use kindsight_access::{AccessControl, Caller, Role};
use kindsight_grpc::Client;
use kindsight_read_model::ReadModel;
use tokio_util::sync::CancellationToken;
use tonic::service::Routes;
use tonic::{Request, Response, Status};

use crate::clients::{ClientKey, Clients};
use crate::dispatcher::Dispatcher;
use crate::follower::{Follower, Making};
use crate::limits::{NOTIFICATION_BYTES_MAX, REGISTRATION_BYTES_MAX};
use crate::proto::status_notify_server::{StatusNotify, StatusNotifyServer};
use crate::proto::{
    StatusDeregistration, StatusDeregistrationResponse, StatusNotification, StatusRegistration,
};
use crate::registration::Registration;

/// Answers registrations. Cheap to clone.
#[derive(Clone)]
pub struct StatusNotifier {
    read_model: ReadModel,
    /// Without access control, every client sees everything.
    access: Option<Arc<AccessControl>>,
    clients: Arc<Clients>,
    making: Making,
    stop: CancellationToken,
}

impl StatusNotifier {
    /// Creates the service, and the dispatcher that wakes its streams. The caller runs the dispatcher. All streams end
    /// at `stop`.
    pub fn new(
        read_model: ReadModel,
        access: Option<Arc<AccessControl>>,
        stop: CancellationToken,
    ) -> (Self, Dispatcher) {
        let clients = Arc::<Clients>::default();
        let ((), subscription) = read_model.subscribe(|_| ());
        let dispatcher = Dispatcher {
            subscription,
            clients: Arc::clone(&clients),
            stop: stop.clone(),
        };
        let service = Self {
            read_model,
            access,
            clients,
            making: Making::default(),
            stop,
        };
        (service, dispatcher)
    }

    /// The service for a [`Listener`](kindsight_grpc::Listener).
    pub fn services(self) -> Routes {
        let service = StatusNotifyServer::new(self)
            .max_decoding_message_size(REGISTRATION_BYTES_MAX)
            .max_encoding_message_size(NOTIFICATION_BYTES_MAX);
        Routes::new(service)
    }

    async fn caller(&self, client: &Client) -> Result<Caller, Status> {
        let caller = client.authenticate(self.access.as_ref()).await?;
        if caller.rights().subjects(Role::Viewer).is_nothing() {
            return Err(Status::permission_denied("the role `viewer` is needed"));
        }
        Ok(caller)
    }
}

fn key(caller: &Caller, id: &str) -> Result<ClientKey, Status> {
    ClientKey::new(caller.user().map_or("-", |user| user.name()), id)
}

#[tonic::async_trait]
impl StatusNotify for StatusNotifier {
    type StatusRegisterStream =
        Pin<Box<dyn Stream<Item = Result<StatusNotification, Status>> + Send>>;

    async fn status_register(
        &self,
        request: Request<StatusRegistration>,
    ) -> Result<Response<Self::StatusRegisterStream>, Status> {
        let client = Client::of(&request)?;
        let caller = self.caller(&client).await?;
        let registration = request.into_inner();
        // In EMCO's order: first the ID of the client, then the subject.
        let registered = self
            .clients
            .register(key(&caller, &registration.client_id)?)?;
        let registration = Registration::read(registration)?;
        let model = self
            .read_model
            .visible_to(caller.rights().subjects(Role::Viewer));
        let follower = Follower {
            registered,
            registration: Arc::new(registration),
            model,
            lease: client.lease(self.access.as_ref(), caller),
            making: self.making.clone(),
            stop: self.stop.clone(),
            sent: None,
            held: None,
            is_over: false,
        };
        follower.check()?;
        tracing::debug!(
            client = follower.registered.id(),
            "a client registered for notifications"
        );
        let stream = unfold(follower, Follower::next);
        Ok(Response::new(Box::pin(stream)))
    }

    async fn status_deregister(
        &self,
        request: Request<StatusDeregistration>,
    ) -> Result<Response<StatusDeregistrationResponse>, Status> {
        let caller = self.caller(&Client::of(&request)?).await?;
        let id = request.into_inner().client_id;
        // EMCO answers also if there is no such client.
        if let Ok(key) = key(&caller, &id) {
            self.clients.deregister(&key);
        }
        Ok(Response::new(StatusDeregistrationResponse {}))
    }
}
