//! The service `updateapp`, which is refused with its name.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::task::{Context, Poll};

use tonic::Status;
use tonic::body::Body;
use tonic::codegen::http::{Request, Response};
use tonic::server::NamedService;
use tower::Service;

/// Answers each method of `updateapp` with `UNIMPLEMENTED`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UpdateApp;

impl NamedService for UpdateApp {
    const NAME: &'static str = "updateapp";
}

impl<B> Service<Request<B>> for UpdateApp {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let method = request.uri().path().trim_start_matches('/');
        let why = format!(
            "`updateapp` is not served (`{method}`): kindsight updates and rolls back groups itself; instantiate a new AppContext with `installapp`"
        );
        ready(Ok(Status::unimplemented(why).into_http()))
    }
}
