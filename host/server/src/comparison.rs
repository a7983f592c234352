//! Comparison of two components without a server.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kindsight_api::interpreters::{ShadowReport, ShadowedVersion};
use kindsight_interpreter::{
    Comparer, Interpreter, Interpreters, Limits, Published, ReportedGroup,
};
use kindsight_model::Source;

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
}

/// A comparison of the verdicts of two components, each on top of the built-in interpreters, so that
/// Kinds that only one of them or neither judges get the verdicts they would get on a server.
pub struct ComponentComparer {
    old: Arc<Interpreter>,
    new: Arc<Interpreter>,
    comparer: Comparer,
}

impl ComponentComparer {
    /// Loads both components. Compiled components are kept in `cache`.
    ///
    /// # Errors
    /// Where the machine cannot run interpreters, or a component is refused.
    pub fn start(
        cache: Option<&Path>,
        old: &ComponentFile,
        new: &ComponentFile,
        on_loaded: &OnLoaded,
    ) -> Result<Self, Error> {
        let limits = Limits::default();
        let none = SettingsByName::new();
        let started = start_interpreters(limits.clone(), cache, &[], &none, on_loaded)?;
        let interpreters = started.interpreters;
        let (old, new) = (load(&interpreters, old)?, load(&interpreters, new)?);
        let sets = (set(&interpreters, &old)?, set(&interpreters, &new)?);
        Ok(Self {
            comparer: Comparer::new(&limits, &sets.0, &sets.1),
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
        let (live, name) = (version(&self.old), &self.new.by().name);
        shadow_report(name, Some(live), version(&self.new), found)
    }
}

fn load(interpreters: &Interpreters, file: &ComponentFile) -> Result<Arc<Interpreter>, Error> {
    let loaded = interpreters.load(&file.bytes);
    loaded.map_err(|error| Error::Refused {
        file: file.path.clone(),
        error,
    })
}

/// The built-in interpreters, with `over` on top of them.
fn set(interpreters: &Interpreters, over: &Arc<Interpreter>) -> Result<Arc<Published>, Error> {
    let built_in = interpreters.published();
    let members = built_in.interpreters().chain([(Source::Upload, over)]);
    let members = members.map(|(source, interpreter)| member(source, interpreter, None));
    Ok(interpreters.prepare(members.collect::<Result<_, Error>>()?)?)
}

fn version(interpreter: &Interpreter) -> ShadowedVersion {
    ShadowedVersion {
        digest: interpreter.by().digest.clone(),
        version: interpreter.by().version.to_string(),
    }
}
