//! A controller of kindsight and of EMCO.
//!
//! ```sh
//! controller-example placement 127.0.0.1:9053 http://127.0.0.1:2379 lab+edge02
//! controller-example action 127.0.0.1:9054 http://127.0.0.1:2379 example.com/team=web
//! ```
//!
//! A placement controller chooses one cluster of each group of clusters: the named one, or else the first one. An action
//! controller adds an annotation to each manifest. Both read and change the `AppContext` in the etcd that they share with
//! the orchestrator. They answer after the change is stored.

mod context;

use std::env;
use std::net::SocketAddr;

use etcd_client::Client;
use tonic::transport::Server;
use tonic::{Request, Response, Status};

use context::Context;

mod proto {
    tonic::include_proto!("_");
}

use proto::contextupdate_server::{Contextupdate, ContextupdateServer};
use proto::{ContextUpdateRequest, ContextUpdateResponse};

type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// The work of the controller.
#[derive(Debug, Clone)]
enum Kind {
    /// Choose clusters; this one is preferred.
    Placement(String),
    /// Add this annotation to each manifest.
    Action(String, String),
}

struct Controller {
    kind: Kind,
    etcd: Client,
}

#[tonic::async_trait]
impl Contextupdate for Controller {
    async fn update_app_context(
        &self,
        request: Request<ContextUpdateRequest>,
    ) -> Result<Response<ContextUpdateResponse>, Status> {
        let id = request.into_inner().app_context;
        let updated = self.update(&id).await;
        let (app_context_updated, app_context_update_message) = match updated {
            Ok(()) => (true, String::new()),
            Err(error) => (false, error.to_string()),
        };
        Ok(Response::new(ContextUpdateResponse {
            app_context_updated,
            app_context_update_message,
        }))
    }
}

impl Controller {
    async fn update(&self, id: &str) -> Result<(), AnyError> {
        let mut etcd = self.etcd.clone();
        let context = Context::read(&mut etcd, id).await?;
        let changes = match &self.kind {
            Kind::Placement(preferred) => context.choose(preferred),
            Kind::Action(name, value) => context.annotate(name, value)?,
        };
        context.apply(&mut etcd, changes).await
    }
}

#[tokio::main]
async fn main() -> Result<(), AnyError> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [kind, listen, etcd, value] = arguments.as_slice() else {
        return Err(
            "usage: controller-example placement|action ADDRESS ETCD_URL CLUSTER|NAME=VALUE".into(),
        );
    };
    let kind = match (kind.as_str(), value.split_once('=')) {
        ("placement", _) => Kind::Placement(value.clone()),
        ("action", Some((name, value))) => Kind::Action(name.to_owned(), value.to_owned()),
        _ => return Err("expected `placement` with a cluster, or `action` with NAME=VALUE".into()),
    };
    let listen: SocketAddr = listen.parse()?;
    let etcd = Client::connect([etcd], None).await?;
    let controller = ContextupdateServer::new(Controller { kind, etcd });
    Server::builder()
        .add_service(controller)
        .serve(listen)
        .await?;
    Ok(())
}
