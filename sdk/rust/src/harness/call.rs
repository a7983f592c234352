//! One call of an interpreter, as the host makes it.

use kindsight_contract::{
    Claim as _, Coverage, Description, Document, Fields, Fixture, HandledKind, InputWriter,
    RECHECK_WITHOUT_TIME, Reads, Relatives, Reported, Trace, Tree, ViewWriter, Wider, handled,
    member,
};

use crate::{Failure, Interpreter, Verdict, export};

/// A fixture, and the entry of the description that handles its object.
pub(super) struct Call<'c> {
    description: &'c Description,
    fixture: &'c Fixture,
    /// Coverage of the first rules of related objects, instead of the fixture's.
    coverage: &'c [Coverage],
    pub(super) kind: &'c HandledKind,
}

/// The reads of one call.
#[derive(Default)]
pub(super) struct CallReads {
    pub(super) object: Reads,
    /// The reads of the related objects of each rule.
    pub(super) rules: Vec<Reads>,
}

impl<'c> Call<'c> {
    /// The call for a fixture, or `None` if no entry of the description takes its object.
    pub(super) fn of(description: &'c Description, fixture: &'c Fixture) -> Option<Self> {
        let tree = Tree::read(&fixture.object).ok()?;
        let document = tree.document(&fixture.object);
        let root = document.root();
        let text = |name| root.get(name).text_or_empty();
        let api_version = text("apiVersion");
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let kind = handled(&description.kinds, (group, version, text("kind")), root)?;
        Some(Self {
            description,
            fixture,
            coverage: &[],
            kind: description.kinds.get(kind)?,
        })
    }

    /// Judges the fixture.
    pub(super) fn judge<I: Interpreter>(&self) -> Result<Verdict, Failure> {
        self.judge_with::<I>(&Wider::default())
    }

    /// The same as [`Self::judge`], with a wider request.
    pub(super) fn judge_with<I: Interpreter>(&self, wider: &Wider) -> Result<Verdict, Failure> {
        let verdict = export::judge::<I>(&self.view(wider), self.now_ms())?;
        self.checked(verdict)
    }

    /// The same as [`Self::judge`], with a record of the reads.
    pub(super) fn judge_traced<I: Interpreter>(&self) -> (Result<Verdict, Failure>, CallReads) {
        let view = self.view(&Wider::default());
        let trace = Trace::default();
        let Ok(document) = Document::view(&view) else {
            return (Err(Failure::Internal(String::new())), CallReads::default());
        };
        let document = document.traced(&trace);
        let verdict = export::judge_document::<I>(&document, self.now_ms());
        let untraced = Document::view(&view);
        let Ok(untraced) = &untraced else {
            return (verdict, CallReads::default());
        };
        let root = untraced.root();
        let rules = root.get(member::RELATED).items().map(|set| {
            let mut reads = Reads::default();
            for object in set.get(member::OBJECTS).items() {
                reads.extend(trace.reads(object));
            }
            reads
        });
        let reads = CallReads {
            object: trace.reads(root.get(member::OBJECT)),
            rules: rules.collect(),
        };
        (verdict, reads)
    }

    /// The reads that were not requested, as text for the author.
    pub(super) fn unasked(&self, reads: &CallReads) -> Vec<String> {
        let pattern = self.kind.pattern();
        let of_object = reads.object.unasked(&Fields::new(&self.kind.fields));
        let of_object = of_object.into_iter().map(|field| {
            format!("reads {field}, which `{pattern}` does not request: add it to its fields")
        });
        let rules = self.kind.related.iter().zip(&reads.rules).enumerate();
        let of_rules = rules.flat_map(|(index, (rule, reads))| {
            let unasked = reads.unasked(&Fields::of_related(&rule.fields)).into_iter();
            unasked.map(move |field| {
                format!(
                    "reads {field} of objects of related[{index}], which that rule of `{pattern}` does not request: add it to its fields"
                )
            })
        });
        of_object.chain(of_rules).collect()
    }

    /// The time, if the Kind requests it.
    fn now_ms(&self) -> Option<i64> {
        self.kind.uses_now.then_some(self.fixture.now_ms)
    }

    /// Applies the checks of the host.
    fn checked(&self, mut verdict: Verdict) -> Result<Verdict, Failure> {
        let mut declared = self.description.states.iter();
        if !declared.any(|state| verdict.state == *state.name) {
            let name = verdict.state.name();
            return Err(Failure::Internal(format!(
                "the state {name} is not declared: add it to `states` in `describe`"
            )));
        }
        if verdict.recheck_at_ms.is_some() && !self.kind.uses_now {
            return Err(Failure::Internal(RECHECK_WITHOUT_TIME.to_owned()));
        }
        verdict.since_ms = self.fixture.since(verdict.since_ms);
        Ok(verdict)
    }

    /// Writes the input in the same way as the host.
    fn view(&self, wider: &Wider) -> Vec<u8> {
        let Self { fixture, kind, .. } = self;
        let mut related = fixture.related.iter();
        let mut reported: Vec<Reported> =
            related.by_ref().map(|json| Reported::read(json)).collect();
        reported.push(Reported::read(&fixture.object));
        let mut relatives = Relatives::of(reported.as_slice());
        if wider.ignores_relations {
            relatives = relatives.ignoring_relations();
        }
        let mut view = Vec::new();
        let Some(itself) = reported.last() else {
            return view;
        };
        let object = itself.tree.document(&itself.json);
        let mut writer = ViewWriter::default();
        let fields = with(Fields::new(&kind.fields), &wider.fields);
        let (mut input, _) = InputWriter::begin(&mut writer, object.root(), &fields, None);
        let list = input.begin_related();
        for (index, rule) in kind.related.iter().enumerate() {
            let found = relatives.find(rule, itself, object.root());
            let coverage = self.coverage.get(index).copied();
            let set = input.begin_set(coverage.unwrap_or(fixture.coverage), found.total);
            let objects = found.positions.iter().filter_map(|&at| reported.get(at));
            let fields = with(Fields::of_related(&rule.fields), wider.of_rule(index));
            for related in objects {
                let document = related.tree.document(&related.json);
                input.related(document.root(), &fields, None, usize::MAX);
            }
            input.end_set(
                set,
                u32::try_from(found.positions.len()).unwrap_or(u32::MAX),
            );
        }
        input.end_related(list, u32::try_from(kind.related.len()).unwrap_or(u32::MAX));
        let settings = fixture.settings.as_deref().unwrap_or("{}");
        let tree = Tree::read(settings).unwrap_or_default();
        let document = tree.document(settings);
        input.finish(Some(document.root()));
        writer.finish(&mut view);
        view
    }
}

/// A set of fields with additional fields.
fn with(fields: Fields, more: &[String]) -> Fields {
    more.iter()
        .fold(fields, |fields, pointer| fields.with(pointer))
}

/// Judges a fixture. `coverage` replaces the fixture's for the first rules of related objects.
pub(super) fn run<I: Interpreter>(
    fixture: &Fixture,
    coverage: &[Coverage],
) -> Result<Verdict, Failure> {
    let description = super::described::<I>();
    if let Some(call) = Call::of(&description, fixture) {
        return Call { coverage, ..call }.judge::<I>();
    }
    match Tree::read(&fixture.object) {
        Err(error) => Err(Failure::InvalidObject(format!("not JSON: {error}"))),
        Ok(tree) if !tree.document(&fixture.object).root().is_object() => {
            Err(Failure::InvalidObject("not a JSON object".to_owned()))
        }
        Ok(_) => Err(Failure::unsupported("no Kind of its description matches")),
    }
}
