//! Description of an interpreter.

use crate::Phase;
use crate::bindings::kindsight::interpreter::types as shared;
use crate::bindings::kindsight::interpreter::types as wit;

/// A state with its phase and a sentence for users; see [`states`] for the shared ones.
pub type StateName = (&'static str, Phase, &'static str);

/// States with the same meaning in every interpreter.
pub mod states {
    use super::StateName;
    use crate::Phase;

    /// Works as asked.
    pub const READY: StateName = ("Ready", Phase::Ready, "Works as asked");
    /// Has finished well.
    pub const SUCCEEDED: StateName = ("Succeeded", Phase::Ready, "Has finished well");
    /// Exists; reports nothing about whether it works.
    pub const PRESENT: StateName = (
        "Present",
        Phase::Present,
        "Exists; reports nothing about whether it works",
    );
    /// Works, and something is wrong that does not stop it.
    pub const DEGRADED: StateName = (
        "Degraded",
        Phase::Degraded,
        "Works, and something is wrong that does not stop it",
    );
    /// On its way.
    pub const PENDING: StateName = ("Pending", Phase::Pending, "On its way");
    /// Stopped on purpose.
    pub const SUSPENDED: StateName = ("Suspended", Phase::Suspended, "Stopped on purpose");
    /// Needs somebody to change something.
    pub const FAILED: StateName = (
        "Failed",
        Phase::Failed,
        "Will not become ready unless somebody changes something",
    );
    /// Being deleted.
    pub const TERMINATING: StateName = ("Terminating", Phase::Terminating, "Being deleted");
    /// Could not be determined.
    pub const UNKNOWN: StateName = ("Unknown", Phase::Unknown, "Could not be determined");
    /// All shared states, which most interpreters declare.
    pub const ALL: [StateName; 9] = [
        READY,
        SUCCEEDED,
        PRESENT,
        DEGRADED,
        PENDING,
        SUSPENDED,
        FAILED,
        TERMINATING,
        UNKNOWN,
    ];
}

/// Description of an interpreter, built up line by line.
#[derive(Debug, Clone)]
pub struct Description(pub(crate) wit::Description);

impl Description {
    /// Name (lower-case letters, digits, `-`, `.`), version (semantic) and a one-line summary.
    pub fn new(name: &str, version: &str, summary: &str) -> Self {
        Self(wit::Description {
            name: name.to_owned(),
            version: version.to_owned(),
            summary: summary.to_owned(),
            kinds: Vec::new(),
            states: Vec::new(),
            settings_schema: None,
            extras: None,
        })
    }

    /// Adds a Kind it judges.
    #[must_use]
    pub fn kind(mut self, kind: Kind) -> Self {
        self.0.kinds.push(kind.0);
        self
    }

    /// Adds several Kinds it judges.
    #[must_use]
    pub fn kinds(mut self, kinds: impl IntoIterator<Item = Kind>) -> Self {
        self.0.kinds.extend(kinds.into_iter().map(|kind| kind.0));
        self
    }

    /// Adds shared states.
    #[must_use]
    pub fn states(self, names: &[StateName]) -> Self {
        names
            .iter()
            .fold(self, |description, (name, phase, summary)| {
                description.state(name, *phase, summary)
            })
    }

    /// Adds a state of its own.
    #[must_use]
    pub fn state(mut self, name: &str, phase: Phase, summary: &str) -> Self {
        self.0.states.push(shared::State {
            name: name.to_owned(),
            phase,
            summary: summary.to_owned(),
        });
        self
    }

    /// Declares the JSON Schema of its settings.
    #[must_use]
    pub fn settings_schema(mut self, schema: &str) -> Self {
        self.0.settings_schema = Some(schema.to_owned());
        self
    }
}

/// A Kind an interpreter judges, with the fields and related objects it needs.
#[derive(Debug, Clone)]
pub struct Kind(shared::HandledKind);

/// Relation by which a related object is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// It names the judged object as an owner.
    Owned,
    /// Its labels match the selector at this JSON pointer of the judged object.
    SelectedBy(&'static str),
}

impl Kind {
    /// Group (exact, `*.suffix` or `*`), version (exact or `*`) and Kind (exact or `*`).
    pub fn new(group: &str, version: &str, kind: &str) -> Self {
        Self(shared::HandledKind {
            pattern: pattern(group, version, kind),
            fields: Vec::new(),
            related: Vec::new(),
        })
    }

    /// Adds fields it needs, as JSON pointers. `apiVersion` and `kind` always come.
    #[must_use]
    pub fn fields(mut self, pointers: &[&str]) -> Self {
        let fields = pointers.iter().map(|&pointer| pointer.to_owned());
        self.0.fields.extend(fields);
        self
    }

    /// Adds related objects it needs: any version of `group`/`kind`, at most `limit` of them.
    #[must_use]
    pub fn related(
        mut self,
        (group, kind): (&str, &str),
        relation: Relation,
        fields: &[&str],
        limit: u32,
    ) -> Self {
        self.0.related.push(shared::RelatedRule {
            kind: pattern(group, "*", kind),
            relation: match relation {
                Relation::Owned => shared::Relation::Owned,
                Relation::SelectedBy(pointer) => shared::Relation::SelectedBy(pointer.to_owned()),
            },
            fields: fields.iter().map(|&field| field.to_owned()).collect(),
            limit,
        });
        self
    }
}

fn pattern(group: &str, version: &str, kind: &str) -> shared::KindPattern {
    shared::KindPattern {
        group: group.to_owned(),
        version: version.to_owned(),
        kind: kind.to_owned(),
    }
}
