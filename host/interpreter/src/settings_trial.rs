//! Tries settings of an interpreter before they are set.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kindsight_contract::cut;
use kindsight_model::{Object, Verdict};

use crate::call_input::Settings;
use crate::compare::ReportedGroup;
use crate::fault::Fault;
use crate::interpreter::Interpreter;
use crate::limits::Limits;
use crate::load::{fixture_objects, listed_fixtures};
use crate::published::Published;
use crate::related::Siblings;
use crate::stats::CallStats;
use crate::trial::{Trial, TrialError};
use crate::worker::Worker;

/// Maximum time of a trial on its thread. Objects that the trial has not reached then are not
/// tried.
const TRIAL_TIME_MAX: Duration = Duration::from_secs(2);
/// Maximum number of reported objects that a trial judges.
const TRIAL_OBJECTS_MAX: usize = 10_000;

/// The result of a trial in which the settings were not refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TriedSettings {
    /// Number of reported objects that were judged with the settings.
    pub objects: usize,
    /// False if the limit of the time or of the number of objects ended the trial early.
    pub is_complete: bool,
}

/// The refusal of settings by their interpreter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why} (with {with})")]
pub struct SettingsRefused {
    /// The interpreter's text.
    pub why: String,
    /// The fixture or object that was judged.
    pub with: String,
}

impl SettingsRefused {
    /// The refusal by an object that the sender of the settings may not see. The text of the interpreter may contain
    /// data of the object.
    fn hidden() -> Self {
        Self {
            why: "the settings cannot be used".to_owned(),
            with: "an object that you may not see".to_owned(),
        }
    }
}

/// A trial of settings: first with fixtures, then with reported objects. Faults other than
/// `invalid-settings` do not count. Calls the component up to 10,000 times in up to two seconds,
/// without an effect on live interpreters, and blocks: never call it on an executor's thread.
pub struct SettingsTrial<'t> {
    limits: &'t Limits,
    interpreter: &'t Interpreter,
    now_ms: i64,
    begun: Instant,
    tried: TriedSettings,
}

impl<'t> SettingsTrial<'t> {
    /// Begins a trial of settings of `interpreter` at the time `now_ms`.
    pub fn begin(limits: &'t Limits, interpreter: &'t Interpreter, now_ms: i64) -> Self {
        Self {
            limits,
            interpreter,
            now_ms,
            begun: Instant::now(),
            tried: TriedSettings {
                objects: 0,
                is_complete: true,
            },
        }
    }

    /// Judges the fixtures that contain no settings of their own with these settings, the text of a
    /// JSON object.
    ///
    /// # Errors
    /// The first refusal.
    pub fn fixtures(&mut self, settings: Option<&Arc<str>>) -> Result<(), SettingsRefused> {
        let settings = Settings::of(settings);
        // The fixtures were listed when the component was loaded. If this fails now, only objects
        // are tried.
        let fixtures = listed_fixtures(self.interpreter, self.limits).unwrap_or_default();
        let mut trial = Trial::new(self.interpreter, self.limits);
        for fixture in fixtures.iter().filter(|fixture| fixture.settings.is_none()) {
            if self.is_late() {
                break;
            }
            let Ok((object, siblings)) = fixture_objects(fixture) else {
                continue;
            };
            let answer = trial.judge(&object, &siblings, fixture.now_ms, &settings);
            if let Err(TrialError::Fault(Fault::InvalidSettings(why))) = answer {
                let with = format!("fixture `{}`", cut(&fixture.name));
                return Err(SettingsRefused { why, with });
            }
        }
        Ok(())
    }

    /// Judges the reported objects for which `set`, which has the new settings, may give a
    /// different verdict than `live`.
    ///
    /// # Errors
    /// The first refusal.
    pub fn objects(
        &mut self,
        live: &Published,
        set: &Published,
        groups: &[ReportedGroup],
    ) -> Result<(), SettingsRefused> {
        let stats = Arc::<CallStats>::default();
        let mut worker = Worker::isolated(self.limits.clone(), stats);
        for group in groups {
            let siblings = Siblings::beside(&group.objects, &group.related);
            let siblings = siblings.covered(group.covered.clone());
            let asked = group.objects.iter();
            for object in asked.filter(|object| live.differs(set, &object.gvk)) {
                if self.is_late() || self.tried.objects >= TRIAL_OBJECTS_MAX {
                    self.tried.is_complete = false;
                    return Ok(());
                }
                self.tried.objects += 1;
                let verdict = worker.judge(set, object, &siblings, self.now_ms);
                if let Some(why) = self.refusal(&verdict) {
                    return Err(match &group.label {
                        Some(label) => SettingsRefused {
                            why,
                            with: place(object, label),
                        },
                        None => SettingsRefused::hidden(),
                    });
                }
                // The number of objects may be very large, and queries must not wait for all of
                // them.
                std::thread::yield_now();
            }
        }
        Ok(())
    }

    /// The extent of the trial.
    pub fn finish(self) -> TriedSettings {
        self.tried
    }

    /// Returns whether the time has passed, and records this.
    fn is_late(&mut self) -> bool {
        let is_late = self.begun.elapsed() >= TRIAL_TIME_MAX;
        self.tried.is_complete &= !is_late;
        is_late
    }

    /// The interpreter's text, if it refused its settings.
    fn refusal(&self, verdict: &Verdict) -> Option<String> {
        let by = self.interpreter.by();
        let refused = Fault::InvalidSettings(String::new()).verdict(by);
        let is_refused = verdict.phase == refused.phase
            && verdict.reason == refused.reason
            && verdict.by.as_deref() == Some(&**by);
        let why = verdict.message.strip_prefix(&*refused.message)?;
        is_refused.then(|| why.to_owned())
    }
}

/// An object as text: Kind, namespace, name and place of the report.
pub(crate) fn place(object: &Object, label: &str) -> String {
    let namespace = if object.namespace.is_empty() {
        String::new()
    } else {
        format!("{}/", object.namespace)
    };
    let (kind, name) = (&object.gvk.kind, &object.name);
    format!("{kind} {namespace}{name} of {label}")
}
