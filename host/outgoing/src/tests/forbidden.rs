//! Destinations that no request may reach.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use http::Uri;
use ureq::config::Config;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

use super::receiver::{Receiver, answer};
use super::{GET, destinations, endpoint, settings};
use crate::{Destinations, Endpoint, Error, RequestError};

/// A resolver whose answer changes at each request, as a DNS server of an attacker does. No real DNS server does this
/// on demand.
#[derive(Debug, Clone)]
struct Rebinding {
    answers: Arc<Mutex<Vec<Vec<SocketAddr>>>>,
}

impl Rebinding {
    fn new(answers: Vec<Vec<SocketAddr>>) -> Self {
        let answers = Arc::new(Mutex::new(answers));
        Self { answers }
    }
}

impl Resolver for Rebinding {
    fn resolve(
        &self,
        _: &Uri,
        _: &Config,
        _: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let mut resolved = self.empty();
        for address in self.answers.lock().unwrap().remove(0) {
            resolved.push(address);
        }
        Ok(resolved)
    }
}

#[test]
fn a_name_that_changes_its_address_leads_to_no_forbidden_address() {
    let receiver = Receiver::answering(answer("200 OK", "", "one"));
    let at = |address: &str| SocketAddr::new(address.parse().unwrap(), receiver.address.port());
    let resolver = Rebinding::new(vec![
        vec![at("127.0.0.1")],
        vec![at("127.0.0.2")],
        vec![at("127.0.0.2"), at("127.0.0.1")],
    ]);
    let url = format!("http://rebound.example:{}/", receiver.address.port());
    let permitted = destinations(&["127.0.0.1"]);
    let endpoint =
        Endpoint::with_resolver(settings(&url), &permitted, move || resolver.clone()).unwrap();

    assert_eq!(endpoint.request(GET).unwrap().body, b"one");
    assert_eq!(receiver.request().unwrap().0.to_string(), "127.0.0.1");

    let error = endpoint.request(GET).unwrap_err();
    assert!(matches!(error, RequestError::Forbidden(_)), "{error}");
    assert!(error.to_string().contains("127.0.0.2"), "{error}");
    assert!(error.is_unsent());
    assert_eq!(receiver.request(), None);

    // If a name has both, only the permitted address is used.
    assert!(endpoint.request(GET).is_ok());
    assert_eq!(receiver.request().unwrap().0.to_string(), "127.0.0.1");
}

#[test]
fn every_spelling_of_a_loopback_address_is_forbidden() {
    let receiver = Receiver::answering(answer("200 OK", "", ""));
    let port = receiver.address.port();
    for host in [
        "127.0.0.1",
        "127.0.0.2",
        "localhost",
        "LOCALHOST",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::]",
    ] {
        let url = format!("http://{host}:{port}/");
        match Endpoint::new(settings(&url), &destinations(&[])) {
            Err(Error::AddressForbidden { .. }) => {}
            Err(error) => panic!("{host}: {error}"),
            Ok(endpoint) => {
                let error = endpoint.request(GET).unwrap_err();
                // A resolver may not know the spelling.
                let is_safe = matches!(
                    error,
                    RequestError::Forbidden(_) | RequestError::Unreachable(_)
                );
                assert!(is_safe, "{host}: {error}");
            }
        }
        assert_eq!(receiver.request(), None, "{host}");
    }
}

#[test]
fn a_metadata_address_is_refused_at_the_start() {
    for url in [
        "http://169.254.169.254/latest/meta-data/",
        "http://[fd00:ec2::254]/",
        "http://[::ffff:169.254.169.254]/",
        "http://100.100.100.200/",
    ] {
        let error = Endpoint::new(settings(url), &destinations(&["127.0.0.0/8"])).unwrap_err();
        assert!(matches!(error, Error::AddressForbidden { .. }), "{error}");
        assert!(error.to_string().contains("metadata"), "{error}");
    }
}

#[test]
fn a_host_outside_the_list_is_refused_at_the_start() {
    let listed = Arc::new(Destinations {
        hosts: vec!["*.example.com".parse().unwrap()],
        addresses: Vec::new(),
    });
    assert!(Endpoint::new(settings("https://a.example.com/x"), &listed).is_ok());
    let error = Endpoint::new(settings("https://example.org/secret"), &listed).unwrap_err();
    assert!(matches!(error, Error::HostNotListed { .. }), "{error}");
    assert!(!error.to_string().contains("secret"), "{error}");
}

#[test]
fn a_redirect_is_an_answer() {
    let inner = Receiver::answering(answer("200 OK", "", "internal"));
    for status in [
        "301 Moved",
        "302 Found",
        "303 Other",
        "307 Same",
        "308 Same",
    ] {
        let location = format!("location: {}/internal\r\n", inner.url());
        let receiver = Receiver::answering(answer(status, &location, ""));
        let response = endpoint(&receiver.url()).request(GET).unwrap();
        assert!(status.starts_with(&response.status.to_string()));
        assert_eq!(inner.request(), None);
    }
}

#[test]
fn the_resolver_runs_for_each_connection() {
    #[derive(Debug)]
    struct Counting(Arc<AtomicUsize>, SocketAddr);

    impl Resolver for Counting {
        fn resolve(
            &self,
            _: &Uri,
            _: &Config,
            _: NextTimeout,
        ) -> Result<ResolvedSocketAddrs, ureq::Error> {
            self.0.fetch_add(1, Ordering::Relaxed);
            let mut resolved = self.empty();
            resolved.push(self.1);
            Ok(resolved)
        }
    }

    let receiver = Receiver::answering(answer("200 OK", "", ""));
    let address = SocketAddr::new([127, 0, 0, 1].into(), receiver.address.port());
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    let resolver = move || Counting(Arc::clone(&counter), address);
    let permitted = destinations(&["127.0.0.1"]);
    let endpoint =
        Endpoint::with_resolver(settings("http://a.example/"), &permitted, resolver).unwrap();
    for _ in 0..3 {
        endpoint.request(GET).unwrap();
    }
    assert_eq!(count.load(Ordering::Relaxed), 3);
}
