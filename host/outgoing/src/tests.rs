//! Requests to real receivers: permitted, forbidden and hostile ones.

mod forbidden;
mod hostile;
mod receiver;
mod requests;
mod tls;

use std::sync::Arc;
use std::time::Duration;

use http::Method;

use crate::{Destinations, Endpoint, EndpointSettings, Request};

/// Destinations with these permitted addresses.
fn destinations(addresses: &[&str]) -> Arc<Destinations> {
    Arc::new(Destinations {
        hosts: Vec::new(),
        addresses: addresses.iter().map(|text| text.parse().unwrap()).collect(),
    })
}

fn settings(url: &str) -> EndpointSettings {
    EndpointSettings {
        url: url.to_owned(),
        ca: None,
        client_certificate: None,
        credentials: None,
        timeout: Duration::from_secs(20),
    }
}

/// An endpoint that may use loopback addresses.
fn endpoint(url: &str) -> Endpoint {
    Endpoint::new(settings(url), &destinations(&["127.0.0.0/8", "::1"])).unwrap()
}

const GET: Request<'static> = Request {
    method: Method::GET,
    path: None,
    query: &[],
    headers: &[],
    body: &[],
};
