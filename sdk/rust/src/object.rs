//! The object to judge.

use std::cell::OnceCell;

use kindsight_contract::{SCALED_BY, Tree, has_manifest_spec};

use crate::{Conditions, Failure, Node};

/// The object to judge, reduced to the fields that the interpreter requested.
pub struct Object<'a> {
    root: Node<'a>,
    /// Cached, because every rule reads it often. The same applies to the next fields.
    metadata: Node<'a>,
    spec: Node<'a>,
    status: Node<'a>,
    generation: OnceCell<Option<i64>>,
    api_version: OnceCell<(&'a str, &'a str)>,
}

/// A deletion in progress, and the finalizers for which it waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deletion<'a> {
    /// The finalizers that remain.
    pub finalizers: Vec<&'a str>,
    /// The deletion time, in Unix milliseconds: the time of the request plus, for Pods, the grace
    /// period.
    pub due_ms: Option<i64>,
}

/// The time that a deletion normally takes at most, in milliseconds.
const DELETION_DELAY_MS: i64 = 600_000;

impl Deletion<'_> {
    /// The first time when the deletion counts as delayed, in Unix milliseconds: ten minutes after
    /// the deletion time.
    pub fn delayed_from_ms(&self) -> Option<i64> {
        let due_ms = self.due_ms?;
        Some(due_ms.saturating_add(DELETION_DELAY_MS))
    }
}

impl<'a> Object<'a> {
    /// Parses JSON text, such as the text of an annotation, and passes the object to `read`.
    ///
    /// # Errors
    /// [`Failure::InvalidObject`] if the text is not a JSON object, or else the failure of `read`.
    pub fn read<T>(
        json: &str,
        read: impl FnOnce(&Object<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let tree = Tree::read(json)
            .map_err(|error| Failure::InvalidObject(format!("not JSON: {error}")))?;
        let document = tree.document(json);
        let root = document.root();
        if !root.is_object() {
            return Err(Failure::InvalidObject("not a JSON object".to_owned()));
        }
        read(&Object::new(root))
    }

    pub(crate) fn new(root: Node<'a>) -> Self {
        Self {
            root,
            metadata: root.peek("metadata"),
            spec: root.peek("spec"),
            status: root.peek("status"),
            generation: OnceCell::new(),
            api_version: OnceCell::new(),
        }
    }

    /// The complete object.
    pub fn root(&self) -> Node<'a> {
        self.root
    }

    /// The value at a JSON pointer.
    pub fn at(&self, pointer: &str) -> Node<'a> {
        self.root.at(pointer)
    }

    /// The value of `kind`.
    pub fn kind(&self) -> &'a str {
        self.root.get("kind").text_or_empty()
    }

    /// The group in `apiVersion`, empty for the core group.
    pub fn group(&self) -> &'a str {
        self.group_and_version().0
    }

    /// The version in `apiVersion`.
    pub fn version(&self) -> &'a str {
        self.group_and_version().1
    }

    fn group_and_version(&self) -> (&'a str, &'a str) {
        *self.api_version.get_or_init(|| {
            let api_version = self.root.get("apiVersion").text_or_empty();
            api_version.split_once('/').unwrap_or(("", api_version))
        })
    }

    /// The value of `metadata`.
    pub fn metadata(&self) -> Node<'a> {
        self.root.note("metadata");
        self.metadata
    }

    /// The value of `spec`.
    pub fn spec(&self) -> Node<'a> {
        self.root.note("spec");
        self.spec
    }

    /// The value of `status`.
    pub fn status(&self) -> Node<'a> {
        self.root.note("status");
        self.status
    }

    /// The annotation with the key `key`.
    pub fn annotation(&self, key: &str) -> Option<&'a str> {
        self.metadata().get("annotations").get(key).text()
    }

    /// The label with the key `key`.
    pub fn label(&self, key: &str) -> Option<&'a str> {
        self.metadata().get("labels").get(key).text()
    }

    /// The conditions in `status.conditions` of the present generation.
    pub fn conditions(&self) -> Conditions<'a> {
        self.conditions_of(self.status())
    }

    /// The conditions below `node` of the present generation, for lists of listeners, parents and
    /// similar parts.
    pub fn conditions_of(&self, node: Node<'a>) -> Conditions<'a> {
        // Conditions of older generations are only recognised if the Kind requests this field.
        self.metadata.note_if_passed("generation");
        let generation = *self.generation.get_or_init(|| self.peek_generation());
        Conditions::new(node.get("conditions"), generation)
    }

    /// The value of `metadata.generation`.
    pub fn generation(&self) -> Option<i64> {
        self.metadata().note("generation");
        *self.generation.get_or_init(|| self.peek_generation())
    }

    fn peek_generation(&self) -> Option<i64> {
        self.metadata.peek("generation").integer()
    }

    /// The value of `status.observedGeneration`. Also accepts a number written as a string.
    pub fn observed_generation(&self) -> Option<i64> {
        self.status().get("observedGeneration").integer()
    }

    /// Returns whether the controller has not observed the newest spec yet.
    pub fn is_stale(&self) -> bool {
        match (self.observed_generation(), self.generation()) {
            (Some(observed), Some(generation)) => observed < generation,
            _ => false,
        }
    }

    /// The deletion in progress, if there is one.
    pub fn deletion(&self) -> Option<Deletion<'a>> {
        let metadata = self.metadata();
        let due = metadata.get("deletionTimestamp");
        if due.is_empty() {
            return None;
        }
        let finalizers = metadata.get("finalizers").items().filter_map(Node::text);
        Some(Deletion {
            finalizers: finalizers.collect(),
            due_ms: due.time_ms(),
        })
    }

    /// A replica count below `status`. An absent count reads as 0, because the API server omits
    /// zeros.
    pub fn status_count(&self, field: &str) -> i64 {
        self.status().get(field).integer().unwrap_or(0)
    }

    /// The value of `spec.replicas`. An absent value reads as 1, the API's default.
    ///
    /// `None` if there is no spec at all, because some reporters omit it, or if its value is not a
    /// number. The desired count is then unknown, and a rule that compares with it has no evidence.
    /// With the spec of the manifest, at least the replicas that exist: an autoscaler may have
    /// changed the number that was sent. If an autoscaler of the application sets the number, the
    /// replicas that exist, unless there are none.
    pub fn replicas(&self) -> Option<i64> {
        let spec = self.spec();
        if !spec.is_object() {
            return None;
        }
        let replicas = spec.get("replicas");
        let wanted = if replicas.is_present() {
            replicas.integer()?
        } else {
            1
        };
        if !self.has_manifest_spec() {
            return Some(wanted);
        }
        let existing = self.status_count("replicas");
        let is_scaled = self.scaled_by().is_some() && existing > 0;
        Some(if is_scaled {
            existing
        } else {
            wanted.max(existing)
        })
    }

    /// The autoscaler of the application that sets the number of replicas, as Kind and name. `None`
    /// if there is no such autoscaler, or the report has a spec.
    pub fn scaled_by(&self) -> Option<&'a str> {
        let annotations = self.root.get("metadata").get("annotations");
        let autoscaler = annotations.get(SCALED_BY).text();
        autoscaler.filter(|_| self.has_manifest_spec())
    }

    /// Returns whether the spec is the spec of the manifest, because the reporter omits it. The API
    /// server has not added its defaults to such a spec, so a rule must apply them.
    pub fn has_manifest_spec(&self) -> bool {
        has_manifest_spec(self.root)
    }
}
