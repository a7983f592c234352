//! Conversion of a comparison of two sets of interpreters into the report of a shadow run.

use kindsight_api::interpreters::{
    self as api, ChangeSample, ShadowFaults, ShadowLatency, ShadowReport, ShadowedApplication,
    ShadowedVersion, VerdictChange,
};
use kindsight_interpreter::{
    CallSnapshot, Change, ChangedApplication, Comparison, Latency, Sample,
};
use kindsight_model::{Gvk, InterpreterName};

/// The report of a shadow run. The old set contained `live`, if there is a live version; the new set contained
/// `candidate`.
///
/// Made for each `POST …/shadow` and `POST /v2/compare`, and for comparisons without a server.
pub(crate) fn shadow_report(
    name: &InterpreterName,
    live: Option<ShadowedVersion>,
    candidate: ShadowedVersion,
    found: Comparison,
) -> ShadowReport {
    ShadowReport {
        name: name.clone(),
        live,
        candidate,
        objects: found.objects,
        changed: found.changed,
        phases_changed: found.phases_changed,
        faults: ShadowFaults {
            live: found.old.faults_total(),
            candidate: found.new.faults_total(),
        },
        latency_us: ShadowLatency {
            live: latency(&found.old),
            candidate: latency(&found.new),
        },
        changes: found.changes.into_iter().map(change).collect(),
        applications_changed: found.applications_changed,
        applications: found.applications.iter().map(application).collect(),
    }
}

/// Durations of calls.
pub(crate) fn latency(calls: &CallSnapshot) -> api::Latency {
    let Latency {
        p50_us,
        p90_us,
        p99_us,
        max_us,
    } = calls.latency;
    api::Latency {
        p50: p50_us,
        p90: p90_us,
        p99: p99_us,
        max: max_us,
    }
}

fn application(application: &ChangedApplication) -> ShadowedApplication {
    ShadowedApplication {
        name: application.name.to_string(),
        changed: application.changed,
        phases_changed: application.phases_changed,
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
        from: (&sample.from).into(),
        to: (&sample.to).into(),
    }
}
