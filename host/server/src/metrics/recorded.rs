//! Values that are recorded when they happen.

use std::time::Duration;

use kindsight_rest::AnsweredRequest;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::OTHER;

/// Upper limits of the buckets of all recorded durations, in seconds.
const SECONDS: [f64; 9] = [0.000_1, 0.000_5, 0.002_5, 0.01, 0.05, 0.25, 1.0, 5.0, 30.0];

/// Methods with series of their own. A client can send any method.
const METHODS: [&str; 7] = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"];

/// Classes of status codes, by the first digit.
const CLASSES: [&str; 6] = [OTHER, "1xx", "2xx", "3xx", "4xx", "5xx"];

/// Requests, handled events and calls of stores. Clones share the values.
#[derive(Debug, Clone)]
pub(crate) struct Recorded {
    requests: Family<RequestLabels, Counter>,
    request_seconds: Family<RouteLabels, Histogram>,
    event_seconds: Family<EventLabels, Histogram>,
    store_seconds: Family<StoreLabels, Histogram>,
    store_errors: Family<StoreLabels, Counter>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    route: String,
    method: &'static str,
    code: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    route: String,
    method: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EventLabels {
    origin: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StoreLabels {
    store: &'static str,
    operation: &'static str,
}

impl Default for Recorded {
    fn default() -> Self {
        let histogram = || Histogram::new(SECONDS);
        Self {
            requests: Family::default(),
            request_seconds: Family::new_with_constructor(histogram),
            event_seconds: Family::new_with_constructor(histogram),
            store_seconds: Family::new_with_constructor(histogram),
            store_errors: Family::default(),
        }
    }
}

impl Recorded {
    /// Adds the values to a registry, which appends a full stop to each description.
    pub(super) fn register(&self, to: &mut Registry) {
        let Self {
            requests,
            request_seconds,
            event_seconds,
            store_seconds,
            store_errors,
        } = self.clone();
        to.register("http_requests", "Answered requests", requests);
        to.register(
            "http_request_duration_seconds",
            "Time from the complete head of a request until its answer begins",
            request_seconds,
        );
        to.register(
            "pipeline_event_delay_seconds",
            "Time from the moment at which an event was ready for the pipeline until it was handled",
            event_seconds,
        );
        to.register(
            "store_operation_duration_seconds",
            "Time of calls of a store, without the wait for changes",
            store_seconds,
        );
        to.register(
            "store_errors",
            "Calls of a store that failed, without conflicts of writers",
            store_errors,
        );
    }

    /// Records an answered request. Requests for unknown paths and with unknown methods share series.
    pub(super) fn answered(&self, request: &AnsweredRequest<'_>) {
        let route = request.route.unwrap_or(OTHER).to_owned();
        let known = METHODS.iter().find(|known| **known == request.method);
        let method = known.copied().unwrap_or(OTHER);
        let class = CLASSES.get(usize::from(request.status / 100));
        let labels = RouteLabels { route, method };
        let seconds = self.request_seconds.get_or_create(&labels);
        seconds.observe(request.duration.as_secs_f64());
        let labels = RequestLabels {
            route: labels.route,
            method,
            code: class.copied().unwrap_or(OTHER),
        };
        self.requests.get_or_create(&labels).inc();
    }

    /// Records an event that the pipeline handled.
    pub(crate) fn handled(&self, origin: &'static str, delay: Duration) {
        let seconds = self.event_seconds.get_or_create(&EventLabels { origin });
        seconds.observe(delay.as_secs_f64());
    }

    /// Records a call of a store.
    pub(super) fn called(
        &self,
        (store, operation): (&'static str, &'static str),
        took: Duration,
        has_failed: bool,
    ) {
        let labels = StoreLabels { store, operation };
        let seconds = self.store_seconds.get_or_create(&labels);
        seconds.observe(took.as_secs_f64());
        // A series begins at 0, so that the first error is an increase.
        let errors = self.store_errors.get_or_create(&labels);
        errors.inc_by(u64::from(has_failed));
    }
}
