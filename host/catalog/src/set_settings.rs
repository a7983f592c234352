//! The command that sets settings: they are tried before they are set.

use std::sync::Arc;

use kindsight_api::interpreters::{Outcome, Refusal};
use kindsight_interpreter::{Interpreter, Published, ReportedGroup, SettingsTrial, TriedSettings};
use kindsight_model::{CatalogAction, Digest, InterpreterName, LoadStep, Source};
use serde_json::{Map, Value};

use crate::catalog::Catalog;
use crate::conditional::Conditional;
use crate::settings;

impl Catalog {
    /// Sets settings that are tried on fixtures alone; see [`Conditional::set_settings`].
    ///
    /// # Errors
    /// As there.
    pub fn set_settings(
        &self,
        name: &InterpreterName,
        settings: Option<Map<String, Value>>,
    ) -> Result<Outcome, Refusal> {
        self.always().set_settings(name, settings, &[])
    }

    /// The published set, with other settings of one name: for their trial.
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
    /// Sets the settings that every call of an interpreter is passed; none removes them.
    ///
    /// New settings are tried before with the fixtures of the live version and with the objects that are
    /// `reported`, for two seconds at most.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Refused`] where its schema does not allow them, or it says itself
    /// that it cannot use them; [`Refusal::Conflict`] where another version went live meanwhile.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a command owns its settings; it may have to begin anew"
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
            let word = if settings.is_some() { "set" } else { "removed" };
            let version = entry.effective().map(|(_, it)| it.clone());
            if let (Some((digest, _)), Some(version)) = (&tried, &version)
                && version.digest != *digest
            {
                let why = format!("another version of `{name}` went live meanwhile: try again");
                return Err(Refusal::Conflict(why));
            }
            entry.settings.clone_from(&settings);
            let note = tried.as_ref().map_or_else(String::new, |(_, it)| note(*it));
            Ok((version, format!("the settings of {name} are {word}{note}")))
        })
    }

    /// Tries settings with the live version. Answers with its digest and what was tried; with none where
    /// nothing is live, or the settings are those that it has.
    ///
    /// # Errors
    /// [`Refusal::Refused`] with the interpreter's own words.
    fn try_settings(
        &self,
        name: &InterpreterName,
        settings: &Map<String, Value>,
        reported: &[ReportedGroup],
    ) -> Result<Option<(Digest, TriedSettings)>, Refusal> {
        self.check_name(name)?;
        let Some((interpreter, digest)) = self.judging(name, settings) else {
            return Ok(None);
        };
        let catalog = self.catalog;
        let refused =
            |why: String| Refusal::at(LoadStep::Published, format!("settings of `{name}`: {why}"));
        catalog
            .checks
            .check(&interpreter, settings)
            .map_err(refused)?;
        let interpreters = catalog.interpreters();
        let passed = settings::passed(&interpreter, Some(settings));
        let mut trial = SettingsTrial::begin(interpreters.limits(), &interpreter, catalog.now_ms());
        let tried = trial.fixtures(passed.as_ref());
        tried.map_err(|error| refused(error.to_string()))?;
        if !reported.is_empty() {
            let set = catalog.set_with(name, settings)?;
            let tried = trial.objects(&interpreters.published(), &set, reported);
            tried.map_err(|error| refused(error.to_string()))?;
        }
        Ok(Some((digest, trial.finish())))
    }

    /// The version that judges, with its digest, where these settings are new to it.
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

/// The end of a sentence about settings that were tried on a part of the objects alone.
fn note(tried: TriedSettings) -> String {
    if tried.is_complete {
        return String::new();
    }
    format!(
        "; there was time to try them on {} of the reported objects",
        tried.objects
    )
}
