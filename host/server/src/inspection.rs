//! The details of a component: of an interpreter in the catalog, or of a file without a server.

use std::path::Path;

use kindsight_api::interpreters::{self as api, InterpreterStatus};
use kindsight_catalog::pattern_text;
use kindsight_interpreter::{
    CALL_DEADLINE_PER_MIB, CallSnapshot, Description, INPUT_BYTES_MAX, Interpreter, LOG_LINES_MAX,
    Limits, RelatedRule, Relation,
};
use kindsight_model::{InterpreterName, Source};

use crate::comparison::{ComponentFile, load};
use crate::engine::{member, start};
use crate::error::Error;
use crate::shadow::latency;

/// Takes a component through the steps of a load with the default limits, and checks its settings.
/// Compiled components are kept in `cache`. Returns the details of the component. Takes seconds if
/// the component must be compiled.
///
/// # Errors
/// If the machine cannot run interpreters, or the component or its settings are refused.
pub fn inspect_component(
    cache: Option<&Path>,
    file: &ComponentFile,
) -> Result<api::InterpreterDetail, Error> {
    let limits = Limits::default();
    let interpreters = start(limits.clone(), cache)?;
    let loaded = load(&interpreters, file)?;
    member(Source::Upload, &loaded, file.settings.as_ref())?;
    let by = loaded.by();
    Ok(api::InterpreterDetail {
        version: Some(by.version.to_string()),
        digest: Some(by.digest.clone()),
        settings: file.settings.clone(),
        ..detail_of(&by.name, Some(&loaded), &limits)
    })
}

/// The details of an interpreter that are known without a catalog: its own description, and the
/// limits on its calls.
pub(crate) fn detail_of(
    name: &InterpreterName,
    interpreter: Option<&Interpreter>,
    limits: &Limits,
) -> api::InterpreterDetail {
    let description = interpreter.map(Interpreter::description);
    let schema = description.and_then(|description| description.settings_schema.as_deref());
    api::InterpreterDetail {
        name: name.clone(),
        status: InterpreterStatus::None,
        source: None,
        version: None,
        digest: None,
        summary: description
            .map(|description| description.summary.clone())
            .unwrap_or_default(),
        kinds: description.map(kinds).unwrap_or_default(),
        states: description.map(states).unwrap_or_default(),
        reasons: description.map(reasons).unwrap_or_default(),
        warnings: description
            .map(|description| description.warnings.clone())
            .unwrap_or_default(),
        settings: None,
        settings_declared_in: None,
        settings_schema: schema.and_then(|schema| serde_json::from_str(schema).ok()),
        limits: api::CallLimits {
            call_deadline_ms: number(limits.call_deadline.as_millis()),
            call_deadline_per_mib_ms: number(CALL_DEADLINE_PER_MIB.as_millis()),
            input_bytes_max: number(INPUT_BYTES_MAX),
            memory_bytes_max: number(limits.memory_bytes_max),
            calls_max: u64::from(limits.calls_max),
            log_lines_max: u64::from(LOG_LINES_MAX),
        },
        statistics: statistics(CallSnapshot::default()),
        faulting: None,
        trips: 0,
        versions: Vec::new(),
        history: Vec::new(),
    }
}

fn kinds(description: &Description) -> Vec<api::HandledKind> {
    let kinds = description.kinds.iter();
    kinds
        .map(|kind| api::HandledKind {
            pattern: pattern_text(&kind.pattern),
            when: kind.when.clone(),
            uses_now: kind.uses_now,
            fields: kind.fields.pointers(),
            related: kind
                .related
                .iter()
                .map(|related_kind| related(&related_kind.rule))
                .collect(),
        })
        .collect()
}

fn related(rule: &RelatedRule) -> String {
    let how = match &rule.relation {
        Relation::Owned => "that it owns".to_owned(),
        Relation::Descendant => "that it or what it owns owns".to_owned(),
        Relation::Owner => "that owns it".to_owned(),
        Relation::SelectedBy(pointer) => format!("selected by {pointer}"),
        Relation::Labelled(key) => format!("labelled {key} with its name"),
        Relation::Named(pointer) => format!("named by {pointer}"),
    };
    format!(
        "{} {how}, at most {}",
        pattern_text(&rule.pattern),
        rule.limit
    )
}

fn states(description: &Description) -> Vec<api::DeclaredState> {
    let states = description.states.iter();
    states
        .map(|state| api::DeclaredState {
            name: state.name.to_string(),
            phase: state.phase,
            summary: state.summary.clone(),
            is_final: state.is_final,
        })
        .collect()
}

fn reasons(description: &Description) -> Vec<api::DeclaredReason> {
    let reasons = description.reasons.iter();
    reasons
        .map(|reason| api::DeclaredReason {
            name: reason.name.clone(),
            summary: reason.summary.clone(),
            help_url: reason.help_url.clone(),
        })
        .collect()
}

/// Statistics of the calls of an interpreter.
pub(crate) fn statistics(counted: CallSnapshot) -> api::CallStatistics {
    let latency_us = latency(&counted);
    let faults = counted.faults.into_iter();
    api::CallStatistics {
        calls: counted.calls,
        faults: faults
            .map(|(reason, count)| (reason.to_owned(), count))
            .collect(),
        latency_us,
        memory_high_water_bytes: counted.memory_high_water_bytes,
        instances: counted.instances,
        log_lines_dropped: counted.log_lines_dropped,
    }
}

fn number(number: impl TryInto<u64>) -> u64 {
    number.try_into().unwrap_or(u64::MAX)
}
