//! One rule: checks, then cases in order.

use kindsight_cel::{Budget, EvaluationError, Program, Template, Value};
use kindsight_sdk::prelude::*;

use crate::related::RelatedList;
use crate::scope::{Named, Scope};

/// A rule for the objects of a Kind.
pub(crate) struct Rule {
    checks_deletion: bool,
    generation: GenerationCheck,
    /// Named expressions, each with those before it as variables.
    variables: Vec<Named>,
    /// Whether its expressions have the variables of the declarative format.
    is_extended: bool,
    related: Vec<RelatedList>,
    cases: Vec<Case>,
    otherwise: Outcome,
}

/// When an object counts as not observed yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GenerationCheck {
    /// Never.
    Off,
    /// If `status.observedGeneration` is older than `metadata.generation`.
    Older,
    /// If both are whole numbers and differ, as in Flux.
    Differs,
}

/// A condition and the verdict on objects that fulfil it.
struct Case {
    condition: Program,
    outcome: Outcome,
}

/// A verdict, whose texts may contain expressions.
struct Outcome {
    state: State,
    reason: Template,
    message: Template,
    since: Option<Program>,
}

impl Rule {
    pub(crate) fn of_node(node: Node<'_>, states: &[State]) -> Result<Self, String> {
        let cases = node
            .get("cases")
            .items()
            .map(|case| Case::of_node(case, states));
        let generation = match node.get("generation").text_or_empty() {
            "older" => GenerationCheck::Older,
            "differs" => GenerationCheck::Differs,
            _ => GenerationCheck::Off,
        };
        let variables = node.get("variables").items().map(Named::of_node);
        let related = node.get("related").items().map(RelatedList::of_node);
        Ok(Self {
            checks_deletion: node.get("deletion").is_true(),
            generation,
            variables: variables.collect::<Result<_, _>>()?,
            is_extended: node.get("extended").is_true(),
            related: related.collect::<Result<_, _>>()?,
            cases: cases.collect::<Result<_, _>>()?,
            otherwise: Outcome::of_node(node.get("otherwise"), states)?,
        })
    }

    pub(crate) fn checks_deletion(&self) -> bool {
        self.checks_deletion
    }

    /// The lists of related objects, in the order of the requests to the host.
    pub(crate) fn related(&self) -> &[RelatedList] {
        &self.related
    }

    pub(crate) fn variables(&self) -> &[Named] {
        &self.variables
    }

    pub(crate) fn is_extended(&self) -> bool {
        self.is_extended
    }

    pub(crate) fn judge(&self, object: &Object<'_>, input: &Input<'_>) -> Verdict {
        if self.checks_deletion
            && let Some(verdict) = standard::deletion(object, input)
        {
            return verdict;
        }
        if self.generation.is_unobserved(object) {
            return standard::generation_not_observed(object);
        }
        let budget = Budget::default();
        let (root, conditions) = (object.root(), object.conditions());
        let scope = Scope::new(self, root, conditions, input, &budget);
        for (index, case) in self.cases.iter().enumerate() {
            match case.condition.is_true(&scope, &budget) {
                Ok(true) => return case.outcome.verdict(&scope, &budget),
                Ok(false) => {}
                Err(error) => return failed(index, case, &error),
            }
        }
        self.otherwise.verdict(&scope, &budget)
    }
}

/// Unknown, because a condition has no value. The later cases could give a wrong verdict.
fn failed(index: usize, case: &Case, error: &EvaluationError) -> Verdict {
    let state = case.outcome.state;
    let number = index + 1;
    let message = format!("the condition of case {number} ({state}) has no value: {error}");
    Verdict::unknown("ExpressionFailed", message)
}

impl GenerationCheck {
    fn is_unobserved(self, object: &Object<'_>) -> bool {
        match self {
            Self::Off => false,
            Self::Older => object.is_stale(),
            Self::Differs => {
                let whole = |node: Node<'_>| node.number().and_then(|digits| digits.parse().ok());
                let observed: Option<i64> = whole(object.at("/status/observedGeneration"));
                let generation: Option<i64> = whole(object.at("/metadata/generation"));
                observed.is_some() && generation.is_some() && observed != generation
            }
        }
    }
}

impl Case {
    fn of_node(node: Node<'_>, states: &[State]) -> Result<Self, String> {
        Ok(Self {
            condition: program(node.get("if"))?,
            outcome: Outcome::of_node(node, states)?,
        })
    }
}

impl Outcome {
    fn of_node(node: Node<'_>, states: &[State]) -> Result<Self, String> {
        let name = node.get("state").text_or_empty();
        let state = states.iter().find(|state| **state == *name);
        let since = node.get("since");
        let since = since.is_present().then(|| program(since));
        Ok(Self {
            state: *state.ok_or_else(|| format!("the state `{name}` is not declared"))?,
            reason: template(node.get("reason"))?,
            message: template(node.get("message"))?,
            since: since.transpose()?,
        })
    }

    fn verdict<'a>(&'a self, scope: &Scope<'a, '_>, budget: &Budget) -> Verdict {
        let reason = self.reason.evaluate(scope, budget);
        // A verdict needs a reason, and the name of its state is always one.
        let reason = reason.unwrap_or_default();
        let reason = if reason.is_empty() {
            self.state.name().to_owned()
        } else {
            reason
        };
        let message = self.message.evaluate(scope, budget);
        let message = message.unwrap_or_else(|error| format!("its message has no value: {error}"));
        let since = self.since.as_ref();
        let since = since.and_then(|since| since.evaluate(scope, budget).ok());
        Verdict::new(self.state, reason, message).since(since.as_ref().and_then(time_ms))
    }
}

/// The time in a timestamp or in its text, in Unix milliseconds.
fn time_ms(value: &Value<'_>) -> Option<i64> {
    match value {
        Value::Timestamp(time) => Some(time.unix_ms()),
        Value::String(text) => kindsight_contract::time::unix_ms(text.as_str()),
        Value::Optional(Some(value)) => time_ms(value),
        _ => None,
    }
}

pub(crate) fn program(node: Node<'_>) -> Result<Program, String> {
    Program::compile(node.text_or_empty()).map_err(|error| error.to_string())
}

fn template(node: Node<'_>) -> Result<Template, String> {
    Template::compile(node.text_or_empty()).map_err(|error| error.to_string())
}
