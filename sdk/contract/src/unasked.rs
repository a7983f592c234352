//! If a fixture fails, searches for the field that the interpreter did not request, or the relation
//! that found too few objects.

use crate::fields::{EVERY_ITEM, Fields, escaped};
use crate::fixture::Fixture;
use crate::node::Node;
use crate::relation::{RelatedRule, Relation};
use crate::relatives::Relatives;
use crate::reported::Reported;

/// Maximum number of calls of one search.
const TRIES_MAX: usize = 64;
/// Maximum number of fields, or of related objects, that the result names.
const NAMED_MAX: usize = 4;

/// The request of a Kind: its fields, and its rules with their fields.
pub struct Request<'k> {
    /// The fields of the object.
    pub fields: &'k Fields,
    /// The rules of related objects, with their fields.
    pub rules: Vec<(&'k RelatedRule, &'k Fields)>,
}

/// Additions to a request that the search tries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wider {
    /// Additional fields of the object, as JSON pointers. The empty pointer is the complete object.
    pub fields: Vec<String>,
    /// Additional fields of the objects of each rule.
    pub rules: Vec<Vec<String>>,
    /// True if every rule finds all objects that match its pattern.
    pub ignores_relations: bool,
}

impl Wider {
    /// Additional fields of the objects of the rule at `index`.
    pub fn of_rule(&self, index: usize) -> &[String] {
        self.rules.get(index).map_or(&[], Vec::as_slice)
    }
}

/// Searches for the missing part of a request with which a failed fixture would succeed. Returns a
/// text that names the field, or the relation and the objects that it did not find. `holds` judges
/// the fixture with a wider request. If it returns `None`, for example because a call trapped, the
/// search ends.
pub fn unasked(
    fixture: &Fixture,
    request: &Request<'_>,
    holds: impl FnMut(&Wider) -> Option<bool>,
) -> Option<String> {
    let related: Vec<Reported> = fixture
        .related
        .iter()
        .map(|json| Reported::read(json))
        .collect();
    let mut search = Search {
        object: Reported::read(&fixture.object),
        related,
        request,
        holds,
        tries: 0,
    };
    search.run()
}

struct Search<'s, 'k, H> {
    object: Reported,
    related: Vec<Reported>,
    request: &'s Request<'k>,
    holds: H,
    tries: usize,
}

/// The part of a request that the search widens.
#[derive(Clone, Copy)]
enum Part {
    Object,
    Rule(usize),
}

impl<H: FnMut(&Wider) -> Option<bool>> Search<'_, '_, H> {
    fn run(&mut self) -> Option<String> {
        // If the result differs without any change, the interpreter is not pure, and no field is
        // the cause.
        if self.holds(&Wider::default())? {
            return None;
        }
        let all = Wider {
            ignores_relations: true,
            ..self.whole()
        };
        if !self.holds(&all)? {
            return None;
        }
        let pointers = self.fields(Part::Object)?;
        if !pointers.is_empty() {
            return Some(not_asked_for(&pointers, "", "the Kind's fields"));
        }
        for index in 0..self.request.rules.len() {
            let pointers = self.fields(Part::Rule(index))?;
            if !pointers.is_empty() {
                let of = format!(" of objects of related[{index}]");
                return Some(not_asked_for(&pointers, &of, "the fields of that rule"));
            }
        }
        if self.holds(&self.whole())? {
            return Some(
                "fields of the object and fields of related objects are not requested, and the verdict depends on both"
                    .to_owned(),
            );
        }
        self.relations()
    }

    /// The request with all fields.
    fn whole(&self) -> Wider {
        let whole = || vec![String::new()];
        Wider {
            fields: whole(),
            rules: self.request.rules.iter().map(|_| whole()).collect(),
            ignores_relations: false,
        }
    }

    fn holds(&mut self, wider: &Wider) -> Option<bool> {
        self.tries += 1;
        if self.tries > TRIES_MAX {
            return None;
        }
        (self.holds)(wider)
    }

    fn holds_with(&mut self, part: Part, pointers: &[String]) -> Option<bool> {
        let mut wider = Wider::default();
        match part {
            Part::Object => wider.fields = pointers.to_vec(),
            Part::Rule(index) => {
                wider.rules = vec![Vec::new(); index + 1];
                if let Some(fields) = wider.rules.get_mut(index) {
                    *fields = pointers.to_vec();
                }
            }
        }
        self.holds(&wider)
    }

    /// The fields of one part with which the fixture succeeds. Empty if it fails even with all
    /// fields of the part.
    fn fields(&mut self, part: Part) -> Option<Vec<String>> {
        let mut found = vec![String::new()];
        if !self.holds_with(part, &found)? {
            return Some(Vec::new());
        }
        // Goes down one step at a time, as long as one field is sufficient.
        while let [pointer] = &found[..] {
            let mut needed = self.below(part, pointer);
            if needed.is_empty() || !self.holds_with(part, &needed)? {
                break;
            }
            let mut at = 0;
            while at < needed.len() {
                let left = needed.remove(at);
                if !self.holds_with(part, &needed)? {
                    needed.insert(at, left);
                    at += 1;
                }
            }
            if needed.is_empty() {
                break;
            }
            found = needed;
        }
        Some(found)
    }

    /// Pointers one step below a pointer, without values that are already requested completely.
    fn below(&self, part: Part, pointer: &str) -> Vec<String> {
        let (reported, fields): (Vec<&Reported>, _) = match part {
            Part::Object => (vec![&self.object], Some(self.request.fields)),
            Part::Rule(index) => {
                let rule = self.request.rules.get(index);
                let (rule, fields) = rule.copied().unzip();
                let of_rule =
                    |reported: &&Reported| rule.is_some_and(|rule| matches(rule, reported));
                (self.related.iter().filter(of_rule).collect(), fields)
            }
        };
        let mut pointers = Vec::new();
        for object in reported {
            let document = object.tree.document(&object.json);
            add_below(document.root(), pointer, &mut pointers);
        }
        pointers.retain(|pointer| {
            let place: Vec<String> = crate::pointer::tokens(pointer).collect();
            let asked = fields.and_then(|fields| fields.below(&place));
            asked.is_none_or(|asked| !asked.is_whole())
        });
        pointers
    }

    /// The rules that do not find all objects of their Kinds, with these objects.
    fn relations(&self) -> Option<String> {
        let mut all: Vec<Reported> = self
            .related
            .iter()
            .map(|related| Reported::read(&related.json))
            .collect();
        all.push(Reported::read(&self.object.json));
        let relatives = Relatives::of(all.as_slice());
        let object = all.last()?;
        let document = object.tree.document(&object.json);
        let rules = self.request.rules.iter().enumerate();
        let lacking = rules.filter_map(|(index, (rule, _))| {
            let found = relatives.find(rule, object, document.root()).positions;
            let others = self.related.iter().enumerate();
            let missed = others.filter(|(at, object)| !found.contains(at) && matches(rule, object));
            let missed: Vec<String> = missed
                .map(|(_, object)| label(object))
                .take(NAMED_MAX)
                .collect();
            (!missed.is_empty()).then(|| {
                let missed = missed.join(", ");
                format!(
                    "related[{index}] ({}) does not find {missed}",
                    relation(rule)
                )
            })
        });
        let lacking: Vec<String> = lacking.collect();
        (!lacking.is_empty()).then(|| lacking.join("; "))
    }
}

fn matches(rule: &RelatedRule, object: &Reported) -> bool {
    use crate::relatives::Relative as _;
    let (group, version, kind) = object.gvk();
    rule.pattern.matches(group, version, kind)
}

fn label(object: &Reported) -> String {
    use crate::relatives::Relative as _;
    let ((_, _, kind), namespace, name) = (object.gvk(), object.namespace(), object.name());
    let label = match namespace {
        "" => format!("{kind} {name}"),
        _ => format!("{kind} {namespace}/{name}"),
    };
    crate::reading::cut(&label)
}

fn relation(rule: &RelatedRule) -> String {
    let word = rule.relation.as_str();
    match &rule.relation {
        Relation::SelectedBy(at) | Relation::Named(at) => format!("{word} {at}"),
        Relation::Labelled(key) => format!("{word} {key}"),
        Relation::Owned | Relation::Descendant | Relation::Owner => word.to_owned(),
    }
}

fn not_asked_for(pointers: &[String], of: &str, to: &str) -> String {
    let named = pointers.iter().take(NAMED_MAX);
    let named: Vec<String> = named
        .map(|pointer| format!("`{}`", crate::reading::cut(pointer)))
        .collect();
    let (is, it) = match pointers {
        [one] if one.is_empty() => return format!("the complete object{of} is not requested"),
        [_] => ("is", "it"),
        _ => ("are", "them"),
    };
    let named = named.join(" and ");
    format!("{named}{of} {is} not requested: add {it} to {to}")
}

/// Adds the pointers one step below `pointer`, through every item of arrays.
fn add_below(root: Node<'_>, pointer: &str, pointers: &mut Vec<String>) {
    let mut nodes = vec![root];
    for step in crate::pointer::tokens(pointer) {
        let mut next = Vec::new();
        for node in nodes {
            if node.is_array() && step == EVERY_ITEM {
                next.extend(node.items());
            } else {
                next.push(node.get(&step));
            }
        }
        nodes = next;
    }
    for node in nodes {
        for (key, _) in node.parts() {
            let step = key.map_or_else(|| EVERY_ITEM.to_owned(), escaped);
            let below = format!("{pointer}/{step}");
            if !pointers.contains(&below) {
                pointers.push(below);
            }
        }
    }
}

#[cfg(test)]
mod tests;
