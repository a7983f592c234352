//! Makes a fixture of a reported object: the input of its verdict, reduced to the fields that the
//! interpreter requests, with the verdict as the promise.

use std::collections::BTreeMap;
use std::sync::Arc;

use kindsight_contract::{
    Coverage, Fields, Fixture, Identity, Relation, TextWriter, time, write_object,
};
use kindsight_model::{InterpretedBy, Object, Verdict};
use serde_json::{Map, Value, json};

use crate::compare::ReportedGroup;
use crate::describe::HandledKind;
use crate::fault::Fault;
use crate::limits::Limits;
use crate::load::fixture_holds;
use crate::published::{Live, Published};
use crate::related::Siblings;
use crate::stats::CallStats;
use crate::worker::Worker;

/// Maximum number of related objects of a fixture, as in the contract.
const RELATED_MAX: usize = 256;
/// Parts of an object by which relations find it.
const IDENTITY: [&str; 5] = [
    "/metadata/name",
    "/metadata/namespace",
    "/metadata/uid",
    "/metadata/labels",
    "/metadata/ownerReferences",
];
/// Parts of the identity that every fixture has, because they name the object.
const NAMES: usize = 2;

/// A fixture of a reported object.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedFixture {
    /// The interpreter that gave the verdict.
    pub by: Arc<InterpretedBy>,
    /// The fixture, as `fixtures` of the contract lists it. The interpreter gives the promised
    /// verdict on it.
    pub fixture: Map<String, Value>,
}

/// The reason why an object cannot be a fixture.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// No interpreter judges the object.
    #[error("no interpreter judges it")]
    NotJudged,
    /// The call ended in a fault, which a fixture cannot promise.
    #[error("its verdict reports a fault of the interpreter: {0}")]
    Fault(Arc<str>),
    /// More related objects than a fixture has.
    #[error("it has {0} related objects, and a fixture has at most {RELATED_MAX}")]
    TooManyRelated(usize),
    /// The fixture does not give the verdict of the object.
    #[error("the fixture would not give the same verdict: {0}")]
    Differs(String),
}

/// Makes a fixture of an object of a report. Judges the object and the fixture with the published
/// set: a few calls, each bounded by `limits`, without an effect on live interpreters. Blocks.
///
/// # Errors
/// [`RecordError`]: the object cannot be a fixture.
pub fn record_fixture(
    limits: &Limits,
    set: &Published,
    group: &ReportedGroup,
    object: &Object,
    now_ms: i64,
) -> Result<RecordedFixture, RecordError> {
    let siblings = Siblings::beside(&group.objects, &group.related).covered(group.covered.clone());
    let stats = Arc::<CallStats>::default();
    let mut worker = Worker::isolated(limits.clone(), stats);
    let verdict = worker.judge(set, object, &siblings, now_ms);
    let by = verdict.by.clone().ok_or(RecordError::NotJudged)?;
    let tree = object.tree();
    let document = tree.document(&object.json);
    let routes = set.routes(&object.gvk);
    let route = routes.iter().enumerate().find(|(position, route)| {
        let before = routes.get(..*position).unwrap_or_default();
        *route.live.interpreter.by() == by && route.takes(document.root(), before)
    });
    let (_, route) = route.ok_or(RecordError::NotJudged)?;
    let handled = route.handled().ok_or(RecordError::NotJudged)?;
    let recording = Recording {
        limits,
        live: &route.live,
        handled,
        object,
        siblings: &siblings,
    };
    let fixture = recording.fixture(&verdict, now_ms)?;
    Ok(RecordedFixture { by, fixture })
}

struct Recording<'r> {
    limits: &'r Limits,
    live: &'r Live,
    handled: &'r HandledKind,
    object: &'r Object,
    siblings: &'r Siblings,
}

impl Recording<'_> {
    fn fixture(&self, verdict: &Verdict, now_ms: i64) -> Result<Map<String, Value>, RecordError> {
        let (related, coverages) = self.related()?;
        let mut fixture = Map::new();
        let name = format!("{} {}", self.object.gvk.kind, self.object.name);
        fixture.insert(
            "name".to_owned(),
            name.chars().take(64).collect::<String>().into(),
        );
        fixture.insert("object".to_owned(), self.reduced_object());
        if !related.is_empty() {
            fixture.insert("related".to_owned(), related.into());
        }
        if self.handled.uses_now {
            fixture.insert("now".to_owned(), time::rfc_3339(now_ms).into());
        }
        if let Ok(Value::Object(settings)) = serde_json::from_str(self.live.settings.text())
            && !settings.is_empty()
        {
            fixture.insert("settings".to_owned(), settings.into());
        }
        fixture.insert("expect".to_owned(), expectation(verdict)?);
        // A fixture has one coverage for all rules. Most rules of a Kind have the same.
        let mut difference = String::new();
        for coverage in coverages {
            let mut fixture = fixture.clone();
            if !self.handled.related.is_empty() {
                fixture.insert("coverage".to_owned(), coverage.as_str().into());
            }
            match self.check(&fixture) {
                Ok(()) => return Ok(fixture),
                Err(why) => difference = why,
            }
        }
        Err(RecordError::Differs(difference))
    }

    /// The object with the requested fields, and the fields by which relations find others.
    fn reduced_object(&self) -> Value {
        let rules = &self.handled.related;
        let identity = if rules.is_empty() {
            NAMES
        } else {
            IDENTITY.len()
        };
        let identity = IDENTITY.into_iter().take(identity);
        let mut fields = identity.fold(self.handled.fields.clone(), Fields::with);
        for rule in rules {
            if let Relation::SelectedBy(at) | Relation::Named(at) = &rule.rule.relation {
                fields = fields.with(at);
            }
        }
        if let Some(when) = &self.handled.when {
            fields = fields.with(when);
        }
        reduced(self.object, &fields)
    }

    /// The related objects of all rules with the fields that their rules request, and the owners
    /// between them and the object, with the different coverages of the rules.
    fn related(&self) -> Result<(Vec<Value>, Vec<Coverage>), RecordError> {
        let tree = self.object.tree();
        let document = tree.document(&self.object.json);
        let mut found: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        let mut coverages = Vec::new();
        for rule in &self.handled.related {
            let set = self.siblings.find(&rule.rule, self.object, document.root());
            if !coverages.contains(&set.coverage) {
                coverages.push(set.coverage);
            }
            for at in set.positions {
                let fields = found.entry(at).or_default();
                fields.extend(rule.fields.pointers());
                if rule.rule.relation == Relation::Descendant
                    && let Some(related) = self.siblings.objects().get(at)
                {
                    for owner in self.siblings.ancestors(related) {
                        found.entry(owner).or_default();
                    }
                }
            }
        }
        if coverages.is_empty() {
            coverages.push(Coverage::Unknown);
        }
        let is_itself = |other: &Object| {
            (&other.gvk, &other.namespace, &other.name)
                == (&self.object.gvk, &self.object.namespace, &self.object.name)
        };
        let related = found.into_iter().filter_map(|(at, pointers)| {
            let related = self.siblings.objects().get(at)?;
            let fields = IDENTITY
                .into_iter()
                .fold(Fields::new(&pointers), Fields::with);
            (!is_itself(related)).then(|| reduced(related, &fields))
        });
        let related: Vec<Value> = related.collect();
        if related.len() > RELATED_MAX {
            return Err(RecordError::TooManyRelated(related.len()));
        }
        Ok((related, coverages))
    }

    /// Judges a fixture as the host does when it loads a component.
    fn check(&self, fixture: &Map<String, Value>) -> Result<(), String> {
        let list = json!([fixture]).to_string();
        let parsed = Fixture::parse_all(&list);
        let (fixtures, _) = parsed.map_err(|problems| problems.join("; "))?;
        let fixture = fixtures.first().ok_or("it cannot be read")?;
        fixture_holds(&self.live.interpreter, self.limits, fixture)
    }
}

/// An object with these fields.
fn reduced(object: &Object, fields: &Fields) -> Value {
    let tree = object.tree();
    let document = tree.document(&object.json);
    let api_version = object.gvk.api_version();
    let identity = (!object.names_itself).then_some(Identity {
        api_version: &api_version,
        kind: &object.gvk.kind,
    });
    let mut writer = TextWriter::default();
    write_object(&mut writer, None, document.root(), fields, identity);
    serde_json::from_str(writer.text()).unwrap_or_default()
}

/// The promise of a fixture with this verdict.
fn expectation(verdict: &Verdict) -> Result<Value, RecordError> {
    let reason = &*verdict.reason;
    if reason == Fault::InvalidObject(String::new()).reason() {
        return Ok(json!({"failure": "invalid-object"}));
    }
    if reason == Fault::InvalidSettings(String::new()).reason() {
        return Ok(json!({"failure": "invalid-settings"}));
    }
    if Fault::is_reason(reason) {
        return Err(RecordError::Fault(Arc::clone(&verdict.message)));
    }
    let mut promise = Map::new();
    promise.insert("state".to_owned(), (*verdict.state).into());
    if !reason.is_empty() {
        promise.insert("reason".to_owned(), reason.into());
    }
    if let Some(at) = verdict.recheck_at_ms {
        promise.insert("recheck".to_owned(), time::rfc_3339(at).into());
    }
    Ok(promise.into())
}
