//! Samples that are read at a scrape.

use std::fmt;

use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::exemplar::Exemplar;

/// Writes a gauge with one sample.
pub(super) fn gauge(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    value: f64,
) -> fmt::Result {
    let metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge);
    metric?.encode_gauge(&value)
}

/// Writes a gauge with labels.
pub(super) fn gauges<L: EncodeLabelSet>(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    samples: impl IntoIterator<Item = (L, f64)>,
) -> fmt::Result {
    let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
    for (labels, value) in samples {
        metric.encode_family(&labels)?.encode_gauge(&value)?;
    }
    Ok(())
}

/// Writes a counter with labels. The library appends `_total` to its name.
pub(super) fn counters<L: EncodeLabelSet>(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    samples: impl IntoIterator<Item = (L, u64)>,
) -> fmt::Result {
    let no_exemplar: Option<&Exemplar<[(&str, &str); 0], u64>> = None;
    let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
    for (labels, value) in samples {
        let mut sample = metric.encode_family(&labels)?;
        sample.encode_counter(&value, no_exemplar)?;
    }
    Ok(())
}

/// A number of things as the value of a sample.
pub(super) fn number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

/// A number of bytes as the value of a sample.
#[expect(
    clippy::cast_precision_loss,
    reason = "memory is far below the 2^53 bytes that are exact"
)]
pub(super) fn bytes(count: usize) -> f64 {
    count as f64
}

/// A time in Unix milliseconds, or a number of milliseconds, in seconds.
#[expect(
    clippy::cast_precision_loss,
    reason = "times are far below 2^53 milliseconds"
)]
pub(super) fn seconds(ms: i64) -> f64 {
    ms as f64 / 1000.0
}
