//! The command that sets settings. They are tried before they are set.

use std::sync::Arc;

use kindsight_api::interpreters::{Outcome, Refusal};
use kindsight_interpreter::{Interpreter, Published, ReportedGroup, SettingsTrial, TriedSettings};
use kindsight_model::{CatalogAction, Digest, InterpreterName, LoadStep, Source};
use serde_json::{Map, Value};

use crate::catalog::Catalog;
use crate::conditional::Conditional;
use crate::settings;

impl Catalog {
    /// Sets settings that are tried only on fixtures; see [`Conditional::set_settings`].
    ///
    /// # Errors
    /// The same as there.
    pub fn set_settings(
        &self,
        name: &InterpreterName,
        settings: Option<Map<String, Value>>,
    ) -> Result<Outcome, Refusal> {
        self.always().set_settings(name, settings, &[])
    }

    /// Checks settings with the schema of a version, and tries them on its fixtures.
    ///
    /// # Errors
    /// [`Refusal::Refused`] with the problem, or the text of the interpreter.
    pub(crate) fn try_on<'t>(
        &'t self,
        name: &InterpreterName,
        interpreter: &'t Interpreter,
        settings: &Map<String, Value>,
    ) -> Result<SettingsTrial<'t>, Refusal> {
        let checked = self.checks.check(interpreter, settings);
        checked.map_err(|why| refused(name, &why))?;
        let passed = settings::passed(interpreter, Some(settings));
        let limits = self.interpreters().limits();
        let mut trial = SettingsTrial::begin(limits, interpreter, self.now_ms());
        let tried = trial.fixtures(passed.as_ref());
        tried.map_err(|error| refused(name, &error.to_string()))?;
        Ok(trial)
    }

    /// The published set with other settings for one name, for their trial.
    fn set_with(
        &self,
        name: &InterpreterName,
        settings: &Map<String, Value>,
    ) -> Result<Arc<Published>, Refusal> {
        let base = self.snapshot();
        let mut state = base.state.clone();
        let entry = state.edit(name).ok_or_else(|| base.not_found())?;
        entry.settings = Some(settings.clone());
        self.prepare(base.members(&state, &base.loaded, &self.checks)?)
    }
}

impl Conditional<'_> {
    /// Sets the settings that every call of an interpreter receives, or removes them.
    ///
    /// New settings are first tried with the fixtures of the live version and with the `reported`
    /// objects, for at most two seconds.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Refused`] if the schema does not permit them, or the interpreter
    /// itself rejects them; [`Refusal::Conflict`] if another version became live during the trial, or
    /// the settings are declared in a file.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a command owns its settings, because it may be repeated"
    )]
    pub fn set_settings(
        &self,
        name: &InterpreterName,
        settings: Option<Map<String, Value>>,
        reported: &[ReportedGroup],
    ) -> Result<Outcome, Refusal> {
        let tried = match &settings {
            Some(settings) => self.try_settings(name, settings, reported)?,
            None => None,
        };
        self.change(name, CatalogAction::Settings, Source::Upload, |entry| {
            entry.refuse_if_declared(name)?;
            let word = if settings.is_some() { "set" } else { "removed" };
            let version = entry.effective().map(|(_, version)| version.clone());
            if let (Some((digest, _)), Some(version)) = (&tried, &version)
                && version.digest != *digest
            {
                let why =
                    format!("another version of `{name}` went live in the meantime: try again");
                return Err(Refusal::Conflict(why));
            }
            entry.settings.clone_from(&settings);
            let note = tried
                .as_ref()
                .map_or_else(String::new, |(_, tried)| note(*tried));
            Ok((version, format!("the settings of {name} are {word}{note}")))
        })
    }

    /// Tries settings with the live version. Returns its digest and the extent of the trial, or
    /// `None` if no version is live or the settings are unchanged.
    ///
    /// # Errors
    /// [`Refusal::Refused`] with the text of the interpreter.
    fn try_settings(
        &self,
        name: &InterpreterName,
        settings: &Map<String, Value>,
        reported: &[ReportedGroup],
    ) -> Result<Option<(Digest, TriedSettings)>, Refusal> {
        self.check_name(name)?;
        if let Some(entry) = self.catalog.entry(name) {
            entry.refuse_if_declared(name)?;
        }
        let Some((interpreter, digest)) = self.judging(name, settings) else {
            return Ok(None);
        };
        let catalog = self.catalog;
        let mut trial = catalog.try_on(name, &interpreter, settings)?;
        if !reported.is_empty() {
            let set = catalog.set_with(name, settings)?;
            let tried = trial.objects(&catalog.interpreters().published(), &set, reported);
            tried.map_err(|error| refused(name, &error.to_string()))?;
        }
        Ok(Some((digest, trial.finish())))
    }

    /// The version that judges, with its digest, if these settings are new for it.
    fn judging(
        &self,
        name: &InterpreterName,
        settings: &Map<String, Value>,
    ) -> Option<(Arc<Interpreter>, Digest)> {
        let entry = self.catalog.entry(name)?;
        if entry.settings.as_ref() == Some(settings) {
            return None;
        }
        let (_, version) = entry.effective()?;
        let interpreter = self.catalog.loaded(&version.digest)?;
        Some((interpreter, version.digest.clone()))
    }
}

fn refused(name: &InterpreterName, why: &str) -> Refusal {
    Refusal::at(LoadStep::Published, format!("settings of `{name}`: {why}"))
}

/// The end of a sentence about settings that were tried only on some of the objects.
fn note(tried: TriedSettings) -> String {
    if tried.is_complete {
        return String::new();
    }
    format!(
        "; they were tried on only {} of the reported objects, because of the limits of a trial",
        tried.objects
    )
}
