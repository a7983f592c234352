//! Calls of a client.

use proptest::prelude::*;

/// One call. Names are small numbers, so that clients meet.
#[derive(Debug, Clone)]
pub(crate) enum Call {
    AddApp(u8),
    DeleteApp(u8),
    AppendApp(u8),
    AddCluster(u8, u8),
    DeleteCluster(u8, u8),
    SetGroup(u8, u8, u8),
    AddResource(u8, u8, u8, u8),
    DeleteResource(u8, u8, u8),
    AppendResource(u8, u8, u8),
    ChangeManifest(u8, u8, u8),
    SetApplied(u8, u8, u8),
    DeleteContext,
}

/// The outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    NotFound,
    Exists,
}

/// Calls with the client that makes them.
pub(crate) fn any_calls(count: usize) -> impl Strategy<Value = Vec<(bool, Call)>> {
    let (app, cluster, resource) = (0..3_u8, 0..2_u8, 0..3_u8);
    let at = (app.clone(), cluster.clone());
    let on = (app.clone(), cluster.clone(), resource.clone());
    let call = prop_oneof![
        8 => app.clone().prop_map(Call::AddApp),
        2 => app.clone().prop_map(Call::DeleteApp),
        4 => app.prop_map(Call::AppendApp),
        10 => at.clone().prop_map(|(a, c)| Call::AddCluster(a, c)),
        2 => at.clone().prop_map(|(a, c)| Call::DeleteCluster(a, c)),
        4 => (at.clone(), 0..3_u8).prop_map(|((a, c), g)| Call::SetGroup(a, c, g)),
        12 => (on.clone(), 0..2_u8).prop_map(|((a, c, r), y)| Call::AddResource(a, c, r, y)),
        4 => on.clone().prop_map(|(a, c, r)| Call::DeleteResource(a, c, r)),
        6 => on.clone().prop_map(|(a, c, r)| Call::AppendResource(a, c, r)),
        6 => on.clone().prop_map(|(a, c, r)| Call::ChangeManifest(a, c, r)),
        6 => on.prop_map(|(a, c, r)| Call::SetApplied(a, c, r)),
        1 => Just(Call::DeleteContext),
    ];
    proptest::collection::vec((any::<bool>(), call), 0..count)
}
