//! The interface to the catalog of interpreters: queries and commands of handlers.

use std::fmt;
use std::pin::Pin;

use kindsight_api::interpreters::{
    CommandAnswer, InterpreterDetail, InterpreterList, LiveCondition, MissingRules, RecordRefusal,
    Recorded, RecordedObject, Refusal, RemovedNames, ShadowBase, ShadowReport, ShadowRun,
};
use kindsight_model::{ClusterName, Digest, InterpreterName, SubjectSet};
use serde_json::{Map, Value};

/// The catalog of interpreters, as far as the REST API knows it. The server passes one in
/// [`AppState`](crate::AppState).
pub trait InterpreterCatalog: Send + Sync {
    /// All interpreters, sorted by name. Called on requests, so it answers from memory.
    fn list(&self) -> InterpreterList;

    /// One interpreter in full; `None` for a name that is not known. Answers from memory.
    fn inspect(&self, name: &InterpreterName) -> Option<InterpreterDetail>;

    /// Carries out a command on the interpreter of this name, if the condition on its live version holds. The answer
    /// names only objects of subjects in `visible`. The implementor moves blocking work off the executor.
    ///
    /// The future is dropped when the client disconnects or the command takes longer than
    /// [`CATALOG_TIME_MAX`](crate::CATALOG_TIME_MAX). A command that has begun must then complete or have no effect.
    /// This crate limits only commands with a waiting client; the implementor limits commands that continue without
    /// a client.
    ///
    /// # Errors
    /// The reason why nothing was changed; see [`Refusal`].
    fn run(
        &self,
        name: InterpreterName,
        command: Command,
        condition: LiveCondition,
        visible: &SubjectSet,
    ) -> Pin<Box<dyn Future<Output = Result<CommandAnswer, Refusal>> + Send + '_>>;

    /// Loads a component under its declared name; otherwise like [`run`](Self::run).
    ///
    /// # Errors
    /// The reason why nothing was changed; see [`Refusal`].
    fn load(
        &self,
        upload: Upload,
    ) -> Pin<Box<dyn Future<Output = Result<CommandAnswer, Refusal>> + Send + '_>>;

    /// Runs a component, which is not stored, and the live or built-in version of its declared name over every known
    /// object of subjects in `visible`. Changes nothing. Dropped like [`run`](Self::run).
    ///
    /// # Errors
    /// The reason why nothing was compared; see [`Refusal`].
    fn compare(
        &self,
        component: Vec<u8>,
        base: ShadowBase,
        visible: &SubjectSet,
    ) -> Pin<Box<dyn Future<Output = Result<ShadowReport, Refusal>> + Send + '_>>;

    /// Makes a fixture of a reported object of a cluster. Its caller may see every application.
    ///
    /// # Errors
    /// The reason why there is no fixture; see [`RecordRefusal`].
    fn record(
        &self,
        cluster: ClusterName,
        object: RecordedObject,
    ) -> Pin<Box<dyn Future<Output = Result<Recorded, RecordRefusal>> + Send + '_>>;

    /// The Kinds of known objects of subjects in `visible` that have no rule of their own. Dropped like
    /// [`run`](Self::run).
    ///
    /// # Errors
    /// The reason why they were not counted; see [`Refusal`].
    fn missing_rules(
        &self,
        visible: &SubjectSet,
    ) -> Pin<Box<dyn Future<Output = Result<MissingRules, Refusal>> + Send + '_>>;

    /// Records that an upload was not read because it is larger than `bytes_max`, so that it is in the list of refused
    /// components. The name is the one in the path, if there is one. Does not wait.
    fn note_too_large(&self, name: Option<InterpreterName>, bytes_max: usize);

    /// Removes every unused name; otherwise like [`run`](Self::run).
    ///
    /// # Errors
    /// The reason why nothing was changed; see [`Refusal`].
    fn remove_unused(
        &self,
    ) -> Pin<Box<dyn Future<Output = Result<RemovedNames, Refusal>> + Send + '_>>;
}

/// An uploaded component.
#[derive(Clone, PartialEq, Eq)]
pub struct Upload {
    /// The component; at most [`Limits::component_bytes_max`](crate::Limits) bytes, otherwise unchecked.
    pub bytes: Vec<u8>,
    /// The digest that the bytes must have.
    pub digest: Option<Digest>,
    /// Stop at candidate, and do not go live.
    pub is_candidate: bool,
    /// Take the name of a built-in interpreter although not all of its Kinds are judged.
    pub replaces_built_in: bool,
}

/// A promotion.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Promote {
    /// The digest of the candidate, or of another version.
    pub digest: Option<Digest>,
    /// Promote the candidate although its last shadow run had faults.
    pub is_forced: bool,
    /// The settings that replace the present ones in the same step.
    pub settings: Option<Map<String, Value>>,
}

/// A command to an interpreter.
#[derive(Clone, PartialEq, Eq)]
pub enum Command {
    /// Load a component as an upload.
    Load(Upload),
    /// Remove the uploaded component.
    Remove,
    /// Run the candidate and the live or built-in version over every known object.
    Shadow(ShadowRun),
    /// Make the candidate live, or the known version of a digest.
    Promote(Promote),
    /// Make the previous version live again.
    Rollback,
    /// Remove the interpreter from the published set.
    Disable,
    /// Add the interpreter to the published set again.
    Enable,
    /// Replace its settings; `None` removes them.
    Settings(Option<Map<String, Value>>),
}

/// Components are long and settings may be private: neither is shown.
impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Load(upload) => f.debug_tuple("Load").field(upload).finish(),
            Self::Remove => f.write_str("Remove"),
            Self::Shadow(run) => f.debug_tuple("Shadow").field(&run.base).finish(),
            Self::Promote(promote) => f
                .debug_struct("Promote")
                .field("digest", &promote.digest)
                .field("is_forced", &promote.is_forced)
                .finish_non_exhaustive(),
            Self::Rollback => f.write_str("Rollback"),
            Self::Disable => f.write_str("Disable"),
            Self::Enable => f.write_str("Enable"),
            Self::Settings(Some(_)) => f.write_str("Settings(Some(…))"),
            Self::Settings(None) => f.write_str("Settings(None)"),
        }
    }
}

impl fmt::Debug for Upload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upload")
            .field("bytes", &self.bytes.len())
            .field("digest", &self.digest)
            .field("is_candidate", &self.is_candidate)
            .field("replaces_built_in", &self.replaces_built_in)
            .finish()
    }
}
