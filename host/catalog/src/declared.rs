//! Settings that are declared in files: beside a component of the watched directory, or in the
//! configuration of the server. They change together with the version, and commands cannot change
//! them.

use std::fmt;

use kindsight_api::interpreters::Refusal;
use kindsight_model::{InterpreterName, LoadStep};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::catalog::Catalog;
use crate::incoming::IncomingComponent;
use crate::state::Entry;

/// The place that declares the settings of an interpreter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeclaredIn {
    /// The file with this name beside the component in the watched directory.
    File(String),
    /// The configuration of the server.
    Configuration,
}

impl fmt::Display for DeclaredIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(file) => write!(f, "`{file}` of the watched directory"),
            Self::Configuration => f.write_str("the configuration of the server"),
        }
    }
}

/// Settings, with the place that declares them.
#[derive(Debug, Clone, PartialEq)]
pub struct DeclaredSettings {
    /// The place.
    pub place: DeclaredIn,
    /// The settings, without the defaults of the schema.
    pub settings: Map<String, Value>,
}

impl Entry {
    /// Refuses a command that changes declared settings: the next reading of the place would change
    /// them back.
    pub(crate) fn refuse_if_declared(&self, name: &InterpreterName) -> Result<(), Refusal> {
        match &self.declared_in {
            None => Ok(()),
            Some(place) => Err(Refusal::Conflict(format!(
                "the settings of `{name}` are declared in {place}: change them there"
            ))),
        }
    }

    /// Replaces the settings by declared ones.
    pub(crate) fn declare(&mut self, declared: DeclaredSettings) {
        self.settings = Some(declared.settings);
        self.declared_in = Some(declared.place);
    }

    /// Removes the settings if a file of the watched directory declares them.
    pub(crate) fn forget_file_settings(&mut self) {
        if matches!(self.declared_in, Some(DeclaredIn::File(_))) {
            self.settings = None;
            self.declared_in = None;
        }
    }

    /// Returns whether it has exactly these settings from this place.
    pub(crate) fn has(&self, declared: &DeclaredSettings) -> bool {
        self.settings.as_ref() == Some(&declared.settings)
            && self.declared_in.as_ref() == Some(&declared.place)
    }
}

impl Catalog {
    /// The settings that are declared for a name, by the configuration or beside an incoming
    /// component.
    ///
    /// # Errors
    /// [`Refusal::Refused`] if both declare settings.
    pub(crate) fn declared(
        &self,
        name: &InterpreterName,
        component: Option<&IncomingComponent>,
    ) -> Result<Option<DeclaredSettings>, Refusal> {
        let configured = self.options.settings.get(name);
        let configured = configured.map(|settings| DeclaredSettings {
            place: DeclaredIn::Configuration,
            settings: settings.clone(),
        });
        let beside = component.and_then(|component| component.settings.clone());
        match (configured, beside) {
            (Some(configured), Some(beside)) => {
                let why = format!(
                    "the settings of `{name}` are declared in {} and in {}: remove one of them",
                    configured.place, beside.place
                );
                Err(Refusal::at(LoadStep::Published, why))
            }
            (configured, beside) => Ok(configured.or(beside)),
        }
    }

    /// Gives an entry the settings that are declared for its incoming version. Returns the end of a
    /// sentence about them.
    ///
    /// # Errors
    /// The same as [`Self::declared`].
    pub(crate) fn declare(
        &self,
        name: &InterpreterName,
        entry: &mut Entry,
        component: Option<&IncomingComponent>,
    ) -> Result<String, Refusal> {
        let Some(declared) = self.declared(name, component)? else {
            if component.is_some_and(|component| component.file.is_some()) {
                entry.forget_file_settings();
            }
            return Ok(String::new());
        };
        if entry.has(&declared) {
            return Ok(String::new());
        }
        let note = format!("; its settings are declared in {}", declared.place);
        entry.declare(declared);
        Ok(note)
    }

    /// Returns whether an entry has the settings that are declared for its incoming version.
    pub(crate) fn has_declared(
        &self,
        name: &InterpreterName,
        entry: &Entry,
        component: &IncomingComponent,
    ) -> bool {
        match self.declared(name, Some(component)) {
            Ok(Some(declared)) => entry.has(&declared),
            Ok(None) => {
                component.file.is_none() || !matches!(entry.declared_in, Some(DeclaredIn::File(_)))
            }
            Err(_) => false,
        }
    }
}
