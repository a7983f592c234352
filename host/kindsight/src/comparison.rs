//! From what the interpreter room found to differ to what is told of it.

use kindsight_interpreter::{CallSnapshot, Change, Comparison, Latency, Sample};
use kindsight_model::{Gvk, Verdict};
use kindsight_rest::{
    self as rest, ChangeSample, SampledVerdict, ShadowFaults, ShadowLatency, ShadowReport,
    ShadowedVersion, VerdictChange,
};

/// The report of a comparison in which the old set had `live`, or nothing of that name, and the new
/// one `candidate`.
pub(crate) fn report(
    name: &str,
    live: Option<ShadowedVersion>,
    candidate: ShadowedVersion,
    found: Comparison,
) -> ShadowReport {
    ShadowReport {
        name: name.to_owned(),
        live,
        candidate,
        objects: found.objects,
        changed: found.changed,
        faults: ShadowFaults {
            live: found.old.faults_total(),
            candidate: found.new.faults_total(),
        },
        latency_us: ShadowLatency {
            live: latency(&found.old),
            candidate: latency(&found.new),
        },
        changes: found.changes.into_iter().map(change).collect(),
    }
}

/// How long calls took.
pub(crate) fn latency(calls: &CallSnapshot) -> rest::Latency {
    let Latency {
        p50_us,
        p90_us,
        p99_us,
        max_us,
    } = calls.latency;
    rest::Latency {
        p50: p50_us,
        p90: p90_us,
        p99: p99_us,
        max: max_us,
    }
}

fn change(change: Change) -> VerdictChange {
    let Change {
        gvk,
        from,
        to,
        count,
        samples,
    } = change;
    VerdictChange {
        kind: kind(&gvk),
        from: from.to_string(),
        to: to.to_string(),
        count,
        samples: samples.iter().map(sample).collect(),
    }
}

/// `group/version/Kind`; the core group, which has no name, is called `core`.
fn kind(gvk: &Gvk) -> String {
    let group = match &*gvk.group {
        "" => "core",
        group => group,
    };
    format!("{group}/{}/{}", gvk.version, gvk.kind)
}

fn sample(sample: &Sample) -> ChangeSample {
    ChangeSample {
        place: sample.place.to_string(),
        namespace: sample.namespace.to_string(),
        name: sample.name.to_string(),
        from: said(&sample.from),
        to: said(&sample.to),
    }
}

fn said(verdict: &Verdict) -> SampledVerdict {
    SampledVerdict {
        state: verdict.state.to_string(),
        reason: verdict.reason.to_string(),
        message: verdict.message.to_string(),
    }
}
