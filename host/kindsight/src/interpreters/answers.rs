//! From what the catalog knows to what the API says.

use kindsight_interpreter::catalog::{
    self, Action, Catalog, Event, Page, Report, Shadow, Standing,
};
use kindsight_interpreter::{
    CallSnapshot, Comparison, Interpreter, KindPattern, LOG_LINES_MAX, Limits, RelatedRule,
    Relation,
};
use kindsight_model::Source;
use kindsight_rest as rest;
use serde_json::Value;

use crate::comparison;

/// Every interpreter, in short.
pub(super) fn list(catalog: &Catalog) -> rest::InterpreterList {
    let pages = catalog.pages();
    rest::InterpreterList {
        generation: catalog.interpreters().published().generation(),
        interpreters: pages
            .iter()
            .map(|(name, page)| summary(catalog, name, page))
            .collect(),
    }
}

fn summary(catalog: &Catalog, name: &str, page: &Page) -> rest::InterpreterSummary {
    let effective = page.effective();
    let interpreter = effective.and_then(|(_, version)| catalog.loaded(&version.digest));
    let kinds = interpreter.iter().flat_map(|it| &it.description().kinds);
    let counted = counted(catalog, name, page);
    rest::InterpreterSummary {
        name: name.to_owned(),
        status: status(page),
        source: effective.map(|(from, _)| source(from)),
        version: effective.map(|(_, version)| version.version.clone()),
        digest: effective.map(|(_, version)| version.digest.clone()),
        kinds: kinds.map(|kind| pattern(&kind.pattern)).collect(),
        candidate: page.candidate().map(|(_, version)| version.digest.clone()),
        calls: counted.calls,
        faults: counted.faults_total(),
    }
}

/// Everything that is known of one.
pub(super) fn detail(
    catalog: &Catalog,
    limits: &Limits,
    name: &str,
) -> Option<rest::InterpreterDetail> {
    let page = catalog.page(name)?;
    let effective = page.effective();
    let interpreter = effective.and_then(|(_, version)| catalog.loaded(&version.digest));
    let description = interpreter.as_deref().map(Interpreter::description);
    let schema = description.and_then(|it| it.settings_schema.as_deref());
    Some(rest::InterpreterDetail {
        name: name.to_owned(),
        status: status(&page),
        source: effective.map(|(from, _)| source(from)),
        version: effective.map(|(_, version)| version.version.clone()),
        digest: effective.map(|(_, version)| version.digest.clone()),
        summary: description.map(|it| it.summary.clone()).unwrap_or_default(),
        kinds: description.map(kinds).unwrap_or_default(),
        states: description.map(states).unwrap_or_default(),
        settings: page.settings.clone().map(Value::Object),
        settings_schema: schema.and_then(|schema| serde_json::from_str(schema).ok()),
        limits: rest::CallLimits {
            call_deadline_ms: number(limits.call_deadline.as_millis()),
            memory_bytes_max: number(limits.memory_bytes_max),
            calls_max: u64::from(limits.calls_max),
            log_lines_max: u64::from(LOG_LINES_MAX),
        },
        statistics: statistics(counted(catalog, name, &page)),
        versions: versions(&page),
        history: page.history.iter().rev().map(event).collect(),
    })
}

fn kinds(description: &kindsight_interpreter::Description) -> Vec<rest::HandledKind> {
    let kinds = description.kinds.iter();
    kinds
        .map(|kind| rest::HandledKind {
            pattern: pattern(&kind.pattern),
            fields: kind.fields.pointers(),
            related: kind.related.iter().map(related).collect(),
        })
        .collect()
}

/// `group/version/Kind`; the core group, which has no name, is called `core`.
fn pattern(pattern: &KindPattern) -> String {
    let group = match &*pattern.group {
        "" => "core",
        group => group,
    };
    format!("{group}/{}/{}", pattern.version, pattern.kind)
}

fn related(rule: &RelatedRule) -> String {
    let how = match &rule.relation {
        Relation::Owned => "that it owns".to_owned(),
        Relation::SelectedBy(pointer) => format!("selected by {pointer}"),
    };
    format!("{} {how}, at most {}", pattern(&rule.pattern), rule.limit)
}

fn states(description: &kindsight_interpreter::Description) -> Vec<rest::DeclaredState> {
    let states = description.states.iter();
    states
        .map(|state| rest::DeclaredState {
            name: state.name.to_string(),
            phase: state.phase,
            summary: state.summary.clone(),
        })
        .collect()
}

/// What its calls came to, where it judges.
fn counted(catalog: &Catalog, name: &str, page: &Page) -> CallSnapshot {
    let set = catalog.interpreters().published();
    let stats = set.stats(name).filter(|_| !page.is_disabled);
    stats.map(|stats| stats.snapshot()).unwrap_or_default()
}

fn statistics(counted: CallSnapshot) -> rest::CallStatistics {
    let latency_us = comparison::latency(&counted);
    let faults = counted.faults.into_iter();
    rest::CallStatistics {
        calls: counted.calls,
        faults: faults
            .map(|(reason, count)| (reason.to_owned(), count))
            .collect(),
        latency_us,
        memory_high_water_bytes: counted.memory_high_water_bytes,
        instances: counted.instances,
    }
}

/// The versions of every slot, the newest first.
fn versions(page: &Page) -> Vec<rest::InterpreterVersion> {
    let slots = page.slots.iter().rev();
    let versions = slots.flat_map(|(from, slot)| slot.versions.iter().map(|it| (*from, it)));
    let mut versions: Vec<_> = versions.collect();
    versions.sort_by_key(|(_, version)| std::cmp::Reverse(version.received_ms));
    let versions = versions.into_iter();
    versions
        .map(|(from, version)| rest::InterpreterVersion {
            digest: version.digest.clone(),
            version: version.version.clone(),
            source: source(from),
            outcome: match version.outcome {
                catalog::Outcome::Live => rest::VersionOutcome::Live,
                catalog::Outcome::Candidate => rest::VersionOutcome::Candidate,
                catalog::Outcome::Previous => rest::VersionOutcome::Previous,
                catalog::Outcome::Bad => rest::VersionOutcome::Bad,
                catalog::Outcome::Refused => rest::VersionOutcome::Refused,
            },
            why: version.why.clone(),
            received: time(version.received_ms),
        })
        .collect()
}

fn event(event: &Event) -> rest::HistoryEntry {
    rest::HistoryEntry {
        time: time(event.time_ms),
        action: action(event.action),
        source: match event.by {
            None => rest::ChangedBy::Host,
            Some(Source::BuiltIn) => rest::ChangedBy::BuiltIn,
            Some(Source::Directory) => rest::ChangedBy::Directory,
            Some(Source::Upload) => rest::ChangedBy::Upload,
        },
        digest: event.digest.clone(),
        version: event.version.clone(),
        outcome: event.outcome.clone(),
    }
}

/// What a command led to.
pub(super) fn outcome(report: Report) -> rest::Outcome {
    rest::Outcome {
        name: report.name,
        action: action(report.action),
        digest: report.digest,
        version: report.version,
        status: match report.standing {
            Standing::Live => rest::OutcomeStatus::Live,
            Standing::Candidate => rest::OutcomeStatus::Candidate,
            Standing::Disabled => rest::OutcomeStatus::Disabled,
            Standing::Unchanged => rest::OutcomeStatus::Unchanged,
            Standing::None => rest::OutcomeStatus::None,
        },
        detail: report.detail,
    }
}

/// Why a command changed nothing.
pub(super) fn refusal(refusal: catalog::Refusal) -> rest::Refusal {
    match refusal {
        catalog::Refusal::NotFound { known } => rest::Refusal::NotFound { known },
        catalog::Refusal::Conflict(what) => rest::Refusal::Conflict(what),
        catalog::Refusal::Refused { step, why } => rest::Refusal::Refused {
            step: step.to_string(),
            why,
        },
        catalog::Refusal::Failed(what) => rest::Refusal::Failed(what),
    }
}

/// What a candidate would change.
pub(super) fn shadow(name: &str, shadow: &Shadow, found: Comparison) -> rest::ShadowReport {
    let version = |version: &catalog::Version| rest::ShadowedVersion {
        digest: version.digest.clone(),
        version: version.version.clone(),
    };
    let live = shadow.live.as_ref().map(version);
    comparison::report(name, live, version(&shadow.candidate), found)
}

fn status(page: &Page) -> rest::InterpreterStatus {
    match page.effective() {
        _ if page.is_disabled => rest::InterpreterStatus::Disabled,
        Some(_) => rest::InterpreterStatus::Live,
        None => rest::InterpreterStatus::None,
    }
}

fn source(source: Source) -> rest::Source {
    match source {
        Source::BuiltIn => rest::Source::BuiltIn,
        Source::Directory => rest::Source::Directory,
        Source::Upload => rest::Source::Upload,
    }
}

fn action(action: Action) -> rest::Action {
    match action {
        Action::Load => rest::Action::Load,
        Action::Promote => rest::Action::Promote,
        Action::Rollback => rest::Action::Rollback,
        Action::Disable => rest::Action::Disable,
        Action::Enable => rest::Action::Enable,
        Action::Settings => rest::Action::Settings,
        Action::Remove => rest::Action::Remove,
        Action::Breaker => rest::Action::Breaker,
        Action::Refuse => rest::Action::Refuse,
    }
}

fn time(unix_ms: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(unix_ms);
    time.map(|time| time.to_string()).unwrap_or_default()
}

fn number(number: impl TryInto<u64>) -> u64 {
    number.try_into().unwrap_or(u64::MAX)
}
