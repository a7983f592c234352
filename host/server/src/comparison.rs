//! Comparison of two components without a server.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kindsight_api::interpreters::{ShadowReport, ShadowedVersion};
use kindsight_interpreter::{
    Comparer, Interpreter, Interpreters, Limits, Published, ReportedGroup,
};
use kindsight_model::{InterpreterName, Source};
use serde_json::{Map, Value};

use crate::engine::{OnLoaded, SettingsByName, member, start_interpreters};
use crate::error::Error;
use crate::shadow::shadow_report;

/// A component that was read from a file.
#[derive(Debug)]
pub struct ComponentFile {
    /// The file, for error messages.
    pub path: PathBuf,
    /// The component.
    pub bytes: Vec<u8>,
    /// Its settings, without the defaults of its schema.
    pub settings: Option<Map<String, Value>>,
}

/// A comparison of the verdicts of two components, each on top of the built-in interpreters, so that
/// Kinds that only one of them or neither judges get the verdicts they would get on a server. The old
/// one can also be the built-in interpreters alone.
pub struct ComponentComparer {
    /// The old component, or the built-in interpreter with the name of the new one, if there is one.
    old: Option<Arc<Interpreter>>,
    new: Arc<Interpreter>,
    comparer: Comparer,
}

impl ComponentComparer {
    /// Loads both components; without an old one, the base is the built-in interpreters. Compiled components are kept
    /// in `cache`.
    ///
    /// # Errors
    /// Where the machine cannot run interpreters, or a component or its settings are refused.
    pub fn start(
        cache: Option<&Path>,
        old: Option<&ComponentFile>,
        new: &ComponentFile,
        on_loaded: &OnLoaded,
    ) -> Result<Self, Error> {
        let limits = Limits::default();
        let none = SettingsByName::new();
        let started = start_interpreters(limits.clone(), cache, &[], &[], &none, on_loaded)?;
        let interpreters = started.interpreters;
        let (new, after) = set(&interpreters, new)?;
        let (old, before) = if let Some(old) = old {
            let (old, before) = set(&interpreters, old)?;
            (Some(old), before)
        } else {
            let built_in = interpreters.published();
            (named(&built_in, &new.by().name), built_in)
        };
        Ok(Self {
            comparer: Comparer::new(&limits, &before, &after),
            old,
            new,
        })
    }

    /// Compares the verdicts on objects that were reported together.
    pub fn add(&mut self, group: &ReportedGroup, now_ms: i64) {
        self.comparer.add(group, now_ms, &|| false);
    }

    /// The result as a shadow report: the old component as the live one, the new one as the candidate.
    pub fn finish(self) -> ShadowReport {
        let found = self.comparer.finish();
        let live = self.old.as_deref().map(version);
        shadow_report(&self.new.by().name, live, version(&self.new), found)
    }
}

/// Loads a component.
pub(crate) fn load(
    interpreters: &Interpreters,
    file: &ComponentFile,
) -> Result<Arc<Interpreter>, Error> {
    let loaded = interpreters.load(&file.bytes);
    loaded.map_err(|error| Error::Refused {
        file: file.path.clone(),
        error,
    })
}

/// Loads a component, and makes the set of the built-in interpreters with the component on top of them.
fn set(
    interpreters: &Interpreters,
    file: &ComponentFile,
) -> Result<(Arc<Interpreter>, Arc<Published>), Error> {
    let loaded = load(interpreters, file)?;
    let built_in = interpreters.published();
    let members = built_in.interpreters();
    let members = members.map(|(source, interpreter)| member(source, interpreter, None));
    let over = member(Source::Upload, &loaded, file.settings.as_ref());
    let members = members.chain([over]).collect::<Result<_, Error>>()?;
    Ok((loaded, interpreters.prepare(members)?))
}

/// The interpreter of a set with this name.
fn named(set: &Published, name: &InterpreterName) -> Option<Arc<Interpreter>> {
    let mut interpreters = set.interpreters().map(|(_, interpreter)| interpreter);
    interpreters
        .find(|interpreter| interpreter.by().name == *name)
        .cloned()
}

fn version(interpreter: &Interpreter) -> ShadowedVersion {
    ShadowedVersion {
        digest: interpreter.by().digest.clone(),
        version: interpreter.by().version.to_string(),
    }
}
