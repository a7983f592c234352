//! Random changes of contexts: the image in memory equals a fresh read after each of them.

use super::*;

/// A change of the store, or of the follower.
#[derive(Debug, Clone)]
enum Step {
    Put(String, String),
    Delete(String),
    DeletePrefix(String),
    Batch(Vec<(String, Option<String>)>),
    /// The follower reads everything again.
    Restart,
}

fn any_context_key() -> impl Strategy<Value = String> {
    let below = prop_oneof![
        2 => Just(""),
        1 => Just("meta/"),
        1 => Just("status/"),
        1 => Just("stopflag/"),
        4 => Just("statusappctxid/"),
        1 => Just("app/instruction/order/"),
        1 => Just("app/a/instruction/dependency/"),
        2 => Just("app/a/"),
        1 => Just("app/a-b/"),
        2 => Just("app/a/cluster/p+c/"),
        1 => Just("app/a/cluster/p+d/"),
        1 => Just("app/a-b/cluster/p+c/"),
        3 => Just("app/a/cluster/p+c/status/"),
        2 => Just("app/a/cluster/p+c/readystatus/"),
        3 => Just("app/a/cluster/p+c/reference/"),
        1 => Just("app/a/cluster/p+c/!@#metaGrp/"),
        1 => Just("app/a/cluster/p+c/resource/instruction/order/"),
        1 => Just("app/a/cluster/p+c/resource/instruction/dependency/"),
        2 => Just("app/a/cluster/p+c/resource/x+Pod/"),
        2 => Just("app/a/cluster/p+c/resource/x+Pod/status/"),
        3 => Just("app/a/cluster/p+c/resource/x+Pod/reference/"),
        1 => Just("app/a/cluster/p+c/resource/y+Pod/"),
        1 => Just("app/a/cluster/p+c/resource/noKind/"),
        1 => Just("approvals/"),
    ];
    let id = prop::sample::select(&CONTEXTS[..]);
    (id, below).prop_map(|(id, below)| format!("/context/{id}/{below}"))
}

/// A key of a context that refers to another one, or that is read through a reference.
fn any_reference() -> impl Strategy<Value = (String, String)> {
    let id = || prop::sample::select(&CONTEXTS[..]);
    let cluster = "app/a/cluster/p+c/";
    let written = prop_oneof![
        id().prop_map(|id| ("statusappctxid/".to_owned(), format!("\"{id}\""))),
        id().prop_map(move |id| (format!("{cluster}reference/"), format!("\"{id}\""))),
        id().prop_map(move |id| (
            format!("{cluster}resource/x+Pod/reference/"),
            format!("\"{id}\"")
        )),
        prop::sample::select(&["Retrying", "Available"][..])
            .prop_map(move |word| (format!("{cluster}readystatus/"), format!("\"{word}\""))),
        prop::sample::select(&["nil", "x: 1", "x: 2"][..])
            .prop_map(move |yaml| (format!("{cluster}resource/x+Pod/"), format!("\"{yaml}\""))),
        prop::sample::select(&["Applied", "Failed"][..]).prop_map(move |word| {
            let key = format!("{cluster}resource/x+Pod/status/");
            (key, format!(r#"{{"Status":"{word}"}}"#))
        }),
    ];
    (id(), written).prop_map(|(id, (below, value))| (format!("/context/{id}/{below}"), value))
}

fn any_context_value() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(&CONTEXTS[..]).prop_map(|id| format!("\"{id}\"")),
        prop::sample::select(
            &[
                r#""a""#,
                r#""nil""#,
                r#""{\"apporder\":[\"a-b\",\"a\"]}""#,
                r#""{\"resorder\":[\"y+Pod\"]}""#,
                r#""{\"resdependency\":{\"pre-install\":[\"x+Pod\"]}}""#,
                r#"{"Status":"Applied"}"#,
                r#"{"Status":"Instantiated"}"#,
                r#"{"Project":"p"}"#,
                r#""Retrying""#,
                "true",
                "{",
            ][..]
        )
        .prop_map(str::to_owned),
    ]
}

fn any_step() -> impl Strategy<Value = Step> {
    let write = (
        any_context_key(),
        proptest::option::weighted(0.8, any_context_value()),
    );
    let prefix = any_context_key();
    prop_oneof![
        8 => (any_context_key(), any_context_value()).prop_map(|(key, value)| Step::Put(key, value)),
        2 => any_context_key().prop_map(Step::Delete),
        1 => prefix.prop_map(Step::DeletePrefix),
        // Contexts that refer to each other, with values where they are expected.
        8 => any_reference().prop_map(|(key, value)| Step::Put(key, value)),
        4 => proptest::collection::vec(write, 1..12).prop_map(Step::Batch),
        1 => Just(Step::Restart),
    ]
}

/// The batch of a step, each key once.
fn batch_of(step: &Step) -> Batch {
    let batch = Batch::new();
    match step {
        Step::Put(key, value) => batch.put(key, value.as_str()),
        Step::Delete(key) => batch.delete(key),
        Step::DeletePrefix(prefix) => batch.delete_prefix(prefix),
        Step::Batch(writes) => {
            let writes: BTreeMap<_, _> = writes.iter().cloned().collect();
            writes
                .iter()
                .fold(batch, |batch, (key, value)| match value {
                    Some(value) => batch.put(key, value.as_str()),
                    None => batch.delete(key),
                })
        }
        Step::Restart => batch,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn contexts_in_memory_equal_fresh_reads_after_each_step(
        steps in proptest::collection::vec((any_step(), any::<bool>()), 1..60)
    ) {
        let mut follower = Follower::new();
        for id in CONTEXTS {
            create_as(&follower, id);
        }
        for (step, is_followed) in &steps {
            follower.write(&batch_of(step));
            if matches!(step, Step::Restart) {
                follower.restart();
                follower.check();
            }
            // Changes of several batches are applied together.
            if *is_followed {
                follower.follow(false);
                follower.check();
            }
        }
        follower.follow(false);
        follower.check();
    }
}
