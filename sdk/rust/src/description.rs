//! Description of an interpreter.

use std::fmt;
use std::ops::Deref;

use kindsight_contract::{self as contract, SCALED_BY_POINTER, SPEC_SOURCE_POINTER};

use crate::{Phase, standard};

/// A state that an interpreter's answers may contain: a name with its phase and a sentence for
/// users. See [`states`] for the shared states.
///
/// Use constants, so that the declared name and the name in an answer are always the same:
///
/// ```
/// use kindsight_sdk::prelude::*;
///
/// const DRAINING: State = State::new("Draining", Phase::Pending, "Finishing its work");
/// const EXPIRED: State = State::new("Expired", Phase::Failed, "Its time is over").final_();
///
/// let verdict = Verdict::new(DRAINING, "Draining", "2 jobs are left");
/// assert_eq!(verdict.state, "Draining");
/// ```
///
/// Dereferences to its word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    name: &'static str,
    phase: Phase,
    summary: &'static str,
    is_final: bool,
}

impl State {
    /// A state: one `CamelCase` word, the phase as which the host counts it, and one sentence for
    /// users.
    pub const fn new(name: &'static str, phase: Phase, summary: &'static str) -> Self {
        Self {
            name,
            phase,
            summary,
            is_final: false,
        }
    }

    /// The same state, but final: an object in it does not leave it without an external cause.
    #[must_use]
    pub const fn final_(self) -> Self {
        Self {
            is_final: true,
            ..self
        }
    }

    /// The name of the state.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// The phase as which the host counts the state.
    pub const fn phase(self) -> Phase {
        self.phase
    }

    fn declared(self) -> contract::State {
        contract::State {
            name: self.name.to_owned(),
            phase: self.phase,
            summary: self.summary.to_owned(),
            is_final: self.is_final,
        }
    }
}

impl Deref for State {
    type Target = str;

    fn deref(&self) -> &str {
        self.name
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

impl PartialEq<str> for State {
    fn eq(&self, name: &str) -> bool {
        self.name == name
    }
}

impl PartialEq<&str> for State {
    fn eq(&self, name: &&str) -> bool {
        self.name == *name
    }
}

/// States with the same meaning in every interpreter.
pub mod states {
    use super::State;
    use crate::Phase;

    /// The object works as requested.
    pub const READY: State = State::new("Ready", Phase::Ready, "Works as requested");
    /// The object has completed successfully.
    pub const SUCCEEDED: State =
        State::new("Succeeded", Phase::Ready, "Completed successfully").final_();
    /// The object exists, and does not report whether it works.
    pub const PRESENT: State = State::new(
        "Present",
        Phase::Present,
        "Exists; does not report whether it works",
    );
    /// The object works, but has a problem that does not stop it.
    pub const DEGRADED: State = State::new(
        "Degraded",
        Phase::Degraded,
        "Works, but has a problem that does not stop it",
    );
    /// The object is not ready yet.
    pub const PENDING: State = State::new("Pending", Phase::Pending, "Not ready yet");
    /// The object was stopped on purpose.
    pub const SUSPENDED: State = State::new("Suspended", Phase::Suspended, "Stopped on purpose");
    /// The object requires a change by a user.
    pub const FAILED: State = State::new(
        "Failed",
        Phase::Failed,
        "Will not become ready without a change by a user",
    );
    /// The object is being deleted.
    pub const TERMINATING: State = State::new("Terminating", Phase::Terminating, "Being deleted");
    /// The state could not be determined.
    pub const UNKNOWN: State = State::new("Unknown", Phase::Unknown, "Could not be determined");
    /// All shared states, which most interpreters declare.
    pub const ALL: [State; 9] = [
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

/// The description of an interpreter, built step by step.
#[derive(Debug, Clone)]
pub struct Description(contract::Description);

impl Description {
    /// Name (lower-case letters, digits, `-`, `.`), version (semantic) and a one-line summary.
    pub fn new(name: &str, version: &str, summary: &str) -> Self {
        Self(contract::Description {
            name: name.to_owned(),
            version: version.to_owned(),
            summary: summary.to_owned(),
            ..contract::Description::default()
        })
    }

    /// Adds a Kind that the interpreter judges.
    #[must_use]
    pub fn kind(mut self, kind: Kind) -> Self {
        self.0.kinds.push(kind.0);
        self
    }

    /// Adds several Kinds that the interpreter judges.
    #[must_use]
    pub fn kinds(mut self, kinds: impl IntoIterator<Item = Kind>) -> Self {
        self.0.kinds.extend(kinds.into_iter().map(|kind| kind.0));
        self
    }

    /// Adds states that the interpreter's answers may contain: shared states and its own. The
    /// states of [`standard`] are added automatically.
    #[must_use]
    pub fn states(mut self, states: &[State]) -> Self {
        let states = states.iter().map(|state| state.declared());
        self.0.states.extend(states);
        self
    }

    /// Explains a reason to users who see it, with an optional page with advice. Answers may
    /// contain other reasons too.
    #[must_use]
    pub fn reason(mut self, name: &str, summary: &str, help_url: Option<&str>) -> Self {
        self.0.reasons.push(contract::Reason {
            name: name.to_owned(),
            summary: summary.to_owned(),
            help_url: help_url.map(str::to_owned),
        });
        self
    }

    /// Declares the JSON Schema of its settings: the text of a JSON object.
    #[must_use]
    pub fn settings_schema(mut self, schema: &str) -> Self {
        self.0.settings_schema = Some(schema.to_owned());
        self
    }

    /// The same states, reasons, Kinds and settings under another name, for an interpreter that
    /// calls the rules of this one.
    #[must_use]
    pub fn renamed(mut self, name: &str, version: &str, summary: &str) -> Self {
        name.clone_into(&mut self.0.name);
        version.clone_into(&mut self.0.version);
        summary.clone_into(&mut self.0.summary);
        self
    }

    /// Keeps only the Kinds with these names. Their rules find the same fields and related objects
    /// as before.
    #[must_use]
    pub fn only(mut self, kinds: &[&str]) -> Self {
        self.0
            .kinds
            .retain(|kind| kinds.contains(&kind.pattern.kind.as_str()));
        self
    }

    /// Adds required fields to the Kinds with this name, as [`Kind::fields`] does.
    #[must_use]
    pub fn reading(mut self, kind: &str, pointers: &[&str]) -> Self {
        let kinds = self.0.kinds.into_iter().map(|handled| {
            if handled.pattern.kind == kind {
                Kind(handled).fields(pointers).0
            } else {
                handled
            }
        });
        self.0.kinds = kinds.collect();
        self
    }

    /// Writes the JSON text of the contract.
    pub fn to_json(mut self) -> String {
        for state in standard::STATES {
            if !self
                .0
                .states
                .iter()
                .any(|declared| declared.name == state.name)
            {
                self.0.states.push(state.declared());
            }
        }
        self.0.to_json()
    }
}

/// A Kind that an interpreter judges, with the fields and related objects that it needs.
#[derive(Debug, Clone)]
pub struct Kind(contract::HandledKind);

/// The relation by which a related object is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// The related object names the judged object as an owner.
    Owned,
    /// The same as [`Self::Owned`], through any number of intermediate owners.
    Descendant,
    /// The judged object names the related object as an owner.
    Owner,
    /// The labels of the related object match the selector at this JSON pointer of the judged
    /// object.
    SelectedBy(&'static str),
    /// The label of the related object with this key has the judged object's name as its value.
    Labelled(&'static str),
    /// The name of the related object is the value at this JSON pointer of the judged object. `*`
    /// matches the items of a list.
    Named(&'static str),
}

impl From<Relation> for contract::Relation {
    fn from(relation: Relation) -> Self {
        match relation {
            Relation::Owned => Self::Owned,
            Relation::Descendant => Self::Descendant,
            Relation::Owner => Self::Owner,
            Relation::SelectedBy(at) => Self::SelectedBy(at.to_owned()),
            Relation::Labelled(key) => Self::Labelled(key.to_owned()),
            Relation::Named(at) => Self::Named(at.to_owned()),
        }
    }
}

impl Kind {
    /// Group (exact, `*.suffix` or `*`), version (exact or `*`) and Kind (exact or `*`). The core group
    /// is the empty string.
    pub fn new(group: &str, version: &str, kind: &str) -> Self {
        Self(contract::HandledKind {
            pattern: pattern(group, version, kind),
            when: None,
            fields: Vec::new(),
            uses_now: false,
            related: Vec::new(),
        })
    }

    /// Restricts the Kind to objects with a value other than `null` at this JSON pointer.
    #[must_use]
    pub fn when(mut self, pointer: &str) -> Self {
        self.0.when = Some(pointer.to_owned());
        self
    }

    /// Adds required fields as JSON pointers. `*` matches the items of a list. `apiVersion` and
    /// `kind` are always included. With a field of the spec, so is the annotation that
    /// [`Object::has_manifest_spec`](crate::Object::has_manifest_spec) reads. With `/spec` or
    /// `/spec/replicas`, so is the annotation that
    /// [`Object::scaled_by`](crate::Object::scaled_by) reads.
    #[must_use]
    pub fn fields(mut self, pointers: &[&str]) -> Self {
        let fields = pointers.iter().map(|&pointer| pointer.to_owned());
        self.0.fields.extend(fields);
        if pointers.iter().any(|pointer| is_of_spec(pointer)) {
            self.add_field(SPEC_SOURCE_POINTER);
        }
        if pointers.contains(&"/spec") || pointers.contains(&"/spec/replicas") {
            self.add_field(SCALED_BY_POINTER);
        }
        self
    }

    fn add_field(&mut self, pointer: &str) {
        if !self.0.fields.iter().any(|field| field == pointer) {
            self.0.fields.push(pointer.to_owned());
        }
    }

    /// Declares that verdicts depend on the time.
    #[must_use]
    pub fn uses_now(mut self) -> Self {
        self.0.uses_now = true;
        self
    }

    /// Adds the fields and the time that [`standard::deletion`] and [`standard::presence`] read.
    ///
    /// The time costs little: the verdict on an object that is not being deleted does not depend on
    /// it, so the host keeps that verdict.
    #[must_use]
    pub fn deletion_check(self) -> Self {
        self.uses_now().fields(&standard::DELETION_FIELDS)
    }

    /// Adds the fields and the time that [`standard::checks`] reads.
    #[must_use]
    pub fn standard_checks(self) -> Self {
        self.uses_now().fields(&standard::FIELDS)
    }

    /// Adds required related objects: any version of `group`/`kind`, at most `limit` objects.
    #[must_use]
    pub fn related(
        mut self,
        (group, kind): (&str, &str),
        relation: Relation,
        fields: &[&str],
        limit: u32,
    ) -> Self {
        self.0.related.push(contract::RelatedRule {
            pattern: pattern(group, "*", kind),
            relation: relation.into(),
            fields: fields.iter().map(|&field| field.to_owned()).collect(),
            limit,
        });
        self
    }
}

/// Returns whether a JSON pointer names the spec or a field of it.
fn is_of_spec(pointer: &str) -> bool {
    let rest = pointer.strip_prefix("/spec");
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn pattern(group: &str, version: &str, kind: &str) -> contract::KindPattern {
    contract::KindPattern {
        group: group.to_owned(),
        version: version.to_owned(),
        kind: kind.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::states::READY;
    use super::*;

    #[test]
    fn the_states_of_the_standard_checks_declare_themselves() {
        const FAILED: State = State::new("Failed", Phase::Failed, "In its own words");
        let added = standard::STATES.map(State::name);
        assert_eq!(added, contract::phase::ADDED_STATES);
        let json = Description::new("a", "1.0.0", "")
            .kind(Kind::new("a.b", "*", "A").when("/spec").uses_now().related(
                ("", "Pod"),
                Relation::Labelled("a.b/name"),
                &["/status"],
                9,
            ))
            .states(&[READY, FAILED])
            .reason("NoPorts", "It has no port", Some("https://example.com"))
            .to_json();
        let (description, warnings) = contract::Description::parse(&json).expect("it is right");
        assert_eq!(warnings, [""; 0]);
        let states = description.states.iter();
        let states: Vec<(&str, &str)> = states
            .map(|state| (&*state.name, &*state.summary))
            .collect();
        assert_eq!(
            states,
            [
                ("Ready", "Works as requested"),
                ("Failed", "In its own words"),
                ("Present", "Exists; does not report whether it works"),
                ("Pending", "Not ready yet"),
                ("Terminating", "Being deleted"),
                ("Unknown", "Could not be determined"),
            ]
        );
    }
}
