//! The rules in the data of the component.
//!
//! The data is the JSON text that `host/conversion/src/cel/data.rs` writes. That crate also checks the
//! rules, so an error here means that the data is not of this version.

use kindsight_contract::{Claim, KindPattern, handled};
use kindsight_sdk::prelude::*;

use crate::rule::Rule;

/// The rules of one interpreter.
pub(crate) struct Rules {
    name: &'static str,
    version: &'static str,
    summary: &'static str,
    states: Vec<State>,
    claimed: Vec<ClaimedRule>,
    /// The fixtures, as the JSON text of the contract.
    fixtures: &'static str,
}

/// A rule and the objects that it judges.
struct ClaimedRule {
    pattern: KindPattern,
    when: Option<&'static str>,
    fields: Vec<&'static str>,
    rule: Rule,
}

impl Claim for ClaimedRule {
    fn pattern(&self) -> &KindPattern {
        &self.pattern
    }

    fn when(&self) -> Option<&str> {
        self.when
    }
}

impl Rules {
    /// Reads and compiles the rules.
    pub(crate) fn read(data: &'static [u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(data).map_err(|error| error.to_string())?;
        let read = Object::read(text, |object| {
            Self::of_node(object.root()).map_err(Failure::Internal)
        });
        read.map_err(|failure| format!("its rules cannot be read: {failure:?}"))
    }

    fn of_node(root: Node<'_>) -> Result<Self, String> {
        let states: Vec<State> = root.get("states").items().map(state).collect();
        let rules = root.get("rules").items();
        let rules = rules.map(|node| ClaimedRule::of_node(node, &states));
        Ok(Self {
            name: kept(root.get("name")),
            version: kept(root.get("version")),
            summary: kept(root.get("summary")),
            claimed: rules.collect::<Result<_, _>>()?,
            fixtures: kept(root.get("fixtures")),
            states,
        })
    }

    pub(crate) fn fixtures(&self) -> &'static str {
        self.fixtures
    }

    pub(crate) fn description(&self) -> Description {
        let mut description = Description::new(self.name, self.version, self.summary);
        for rule in &self.claimed {
            description = description.kind(rule.kind());
        }
        description.states(&self.states)
    }

    pub(crate) fn judge(&self, object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
        let kind = (object.group(), object.version(), object.kind());
        let position = handled(&self.claimed, kind, object.root());
        match position.and_then(|position| self.claimed.get(position)) {
            Some(claimed) => Ok(claimed.rule.judge(object, input)),
            None => Err(Failure::unsupported("no rule for this Kind")),
        }
    }
}

impl ClaimedRule {
    fn of_node(node: Node<'_>, states: &[State]) -> Result<Self, String> {
        let part = |name: &str| node.get(name).text_or_empty().to_owned();
        let when = node.get("when");
        Ok(Self {
            pattern: KindPattern {
                group: part("group"),
                version: part("version"),
                kind: part("kind"),
            },
            when: when.is_present().then(|| kept(when)),
            fields: node.get("fields").items().map(kept).collect(),
            rule: Rule::of_node(node, states)?,
        })
    }

    fn kind(&self) -> Kind {
        let pattern = &self.pattern;
        let kind = Kind::new(&pattern.group, &pattern.version, &pattern.kind);
        let kind = kind.fields(&self.fields);
        let kind = match self.when {
            Some(when) => kind.when(when),
            None => kind,
        };
        let related = self.rule.related().iter();
        let kind = related.fold(kind, |kind, list| list.request(kind));
        if self.rule.checks_deletion() {
            kind.uses_now()
        } else {
            kind
        }
    }
}

/// A declared state. A shared state has the summary of the SDK.
fn state(node: Node<'_>) -> State {
    let name = node.get("name").text_or_empty();
    if let Some(shared) = ALL.iter().find(|shared| **shared == *name) {
        return *shared;
    }
    let phase = Phase::of(node.get("phase").text_or_empty()).unwrap_or(Phase::Unknown);
    let state = State::new(kept(node.get("name")), phase, kept(node.get("summary")));
    if node.get("final").is_true() {
        state.final_()
    } else {
        state
    }
}

/// A text that is kept as long as the instance.
pub(crate) fn kept(node: Node<'_>) -> &'static str {
    node.text_or_empty().to_owned().leak()
}
