//! Random steps of a sequence.

use kindsight_model::KindState;
use proptest::prelude::*;

use super::server::{APPLICATIONS, KINDS, NAMES, NAMESPACES, Name, Spec};
use super::source::Configuration;

/// One step: of the cluster, of its source, or of this process.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    /// An object is created or changed. `None` if it is deleted.
    Set(&'static str, Name, Option<Spec>),
    /// The server answers otherwise for a Kind.
    Answers(&'static str, KindState),
    /// The server removes a Kind.
    Remove(&'static str),
    /// The server returns to earlier versions.
    Restore,
    /// A whole list; true if it has an item without identity.
    List(usize, bool),
    /// A list begins; true if it has an item without identity.
    Init(usize, bool),
    InitApply(usize),
    InitDone(usize),
    /// Events of a watch.
    Follow(usize, usize),
    /// An event cannot be decoded.
    Skip(usize),
    ListParts,
    Report,
    /// The cluster cannot be reached.
    Lost,
    /// A session with this configuration; true if the previous one failed.
    Session(Configuration, bool),
    /// Another cluster has the name.
    OtherCluster,
    /// Ten minutes pass.
    Later,
    /// The process ends and starts again.
    Restart,
    /// An object changes three times. A list of a part overtakes the second event.
    Overtake(usize, Name, [Spec; 3]),
    /// Each Kind that the server answers for is listed, and everything is reported.
    Sync,
    /// The server answers for every Kind, and everything is listed and reported.
    Settle,
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    let kind = || prop::sample::select(&KINDS[..]);
    let watch = || 0..KINDS.len();
    let name = (
        prop::sample::select(&NAMESPACES[..]),
        prop::sample::select(vec![NAMES[0], NAMES[0], NAMES[0], NAMES[1]]),
    );
    let states = [
        KindState::Complete,
        KindState::Complete,
        KindState::Forbidden,
        KindState::NotListable,
        KindState::Unserved,
        KindState::Unavailable,
    ];
    let state = prop::sample::select(states.to_vec());
    let configuration = (prop::bool::weighted(0.3), prop::bool::weighted(0.3));
    let configuration = configuration.prop_map(|(is_one_namespace, is_selected)| Configuration {
        is_one_namespace,
        is_selected,
    });
    prop_oneof![
        10 => (kind(), name.clone(), prop::option::weighted(0.75, spec()))
            .prop_map(|(kind, name, spec)| Step::Set(kind, name, spec)),
        4 => (kind(), state).prop_map(|(kind, state)| Step::Answers(kind, state)),
        1 => kind().prop_map(Step::Remove),
        1 => Just(Step::Restore),
        4 => (watch(), prop::bool::weighted(0.3)).prop_map(|(at, unnamed)| Step::List(at, unnamed)),
        3 => (watch(), prop::bool::weighted(0.2)).prop_map(|(at, unnamed)| Step::Init(at, unnamed)),
        3 => watch().prop_map(Step::InitApply),
        4 => watch().prop_map(Step::InitDone),
        5 => (watch(), 1..4_usize).prop_map(|(at, count)| Step::Follow(at, count)),
        1 => watch().prop_map(Step::Skip),
        3 => Just(Step::ListParts),
        6 => Just(Step::Report),
        1 => Just(Step::Lost),
        2 => (configuration, any::<bool>()).prop_map(|(to, failed)| Step::Session(to, failed)),
        1 => Just(Step::OtherCluster),
        1 => Just(Step::Later),
        1 => Just(Step::Restart),
        2 => (watch(), name, [spec(), spec(), spec()])
            .prop_map(|(at, name, specs)| Step::Overtake(at, name, specs)),
        4 => Just(Step::Sync),
        2 => Just(Step::Settle),
    ]
}

fn spec() -> impl Strategy<Value = Spec> {
    let application = prop::option::weighted(0.8, prop::sample::select(&APPLICATIONS[..]));
    let parts = (
        application,
        prop::bool::weighted(0.7),
        any::<bool>(),
        prop::bool::weighted(0.9),
        prop::bool::weighted(0.6),
    );
    parts.prop_map(
        |(application, is_selected, is_ready, is_readable, is_owned)| Spec {
            application,
            is_selected,
            is_ready,
            is_readable,
            is_owned,
        },
    )
}
