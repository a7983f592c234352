//! Cost of a status query, from memory to JSON text: a small application and a large one.
//!
//! `cargo bench -p kindsight-tests --bench query`

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use kindsight_model::{
    ClusterName, ContextStatus, DigName, Digest, InterpretedBy, LifecycleState, Object, Phase,
    RecordSubject, RsyncStatus, SubjectSet, Verdict,
};
use kindsight_read_model::{ReadModel, ReadModelWriter};
use kindsight_status::{
    ActionView, AppView, ApplicationKey, ClusterInput, ContextView, Expected, RecordView, Reported,
    StatusQuery, project,
};

/// Apps and clusters of every application here; each app has its share of resources in each cluster.
const APPS: usize = 3;
const CLUSTERS: usize = 2;

/// A read model with one application of about `resources` resources.
fn read_model(resources: usize) -> (ReadModel, DigName) {
    let each = resources.div_ceil(APPS * CLUSTERS);
    let id: kindsight_model::ContextId = "2755581958183303505".parse().expect("an id");
    let dig = DigName::new("project", "app", "v1", "dig").expect("a name");
    let app = |number: usize| {
        AppView::new(
            format!("app-{number}").into(),
            (0..CLUSTERS)
                .map(|cluster| Arc::new(cluster_view(cluster, each)))
                .collect(),
        )
    };
    let context = ContextView {
        id: Some(id.clone()),
        meta: Some(dig.clone()),
        status: Some(ContextStatus::Instantiated),
        apps: (0..APPS).map(app).collect(),
        ..ContextView::default()
    };
    let record = RecordView {
        actions: vec![ActionView {
            state: LifecycleState::Instantiated,
            instance: Some(id.clone()),
            time: "2024-01-01T00:00:00Z".into(),
            revision: 0,
        }],
        ..RecordView::default()
    };
    let mut writer = ReadModelWriter::default();
    writer.publish_record(&RecordSubject::Group(dig.clone()), Some(record));
    writer.publish(&ApplicationKey::Context(id), context, Vec::new());
    (writer.read_model().clone(), dig)
}

fn cluster_view(number: usize, resources: usize) -> kindsight_status::ClusterView {
    let objects: Vec<Object> = (0..resources).map(deployment).collect();
    let name = "apps".parse().expect("a name");
    let by = Arc::new(InterpretedBy::new(name, "1.0.0", Digest::of(b"apps")));
    let verdict = Verdict::host(Phase::Ready, "Available", "3 of 3 replicas are available");
    let verdict = verdict.given_by(&by);
    let expected = objects
        .iter()
        .map(|manifest| Expected::new(manifest.clone(), Some(RsyncStatus::Applied)));
    let input = ClusterInput {
        cluster: ClusterName::new("provider", &format!("edge-{number}")).expect("a name"),
        namespace: "default".into(),
        expected: expected.collect(),
        reported: Some(Reported {
            verdicts: vec![verdict; objects.len()],
            objects: objects.into(),
            ..Reported::default()
        }),
        unseen: Vec::new(),
        faults: Vec::new(),
    };
    project(input, None, 0)
}

fn deployment(number: usize) -> Object {
    let json = format!(
        r#"{{"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {{"name": "web-{number}", "namespace": "default"}}}}"#
    );
    Object::from_json(json).expect("an object")
}

/// One query as a handler does it: find, select, write JSON.
fn ask(read_model: &ReadModel, dig: &DigName, query: &StatusQuery) -> Vec<u8> {
    let subject = read_model
        .visible_to(&SubjectSet::Everything)
        .dig(dig, query)
        .expect("a subject");
    let answer = subject.answer(query).expect("an answer");
    serde_json::to_vec(&answer).expect("JSON")
}

fn queries(criterion: &mut Criterion) {
    for resources in [12, 10_000] {
        let (read_model, dig) = read_model(resources);
        let mut group = criterion.benchmark_group(format!("query of {resources} resources"));
        group.throughput(Throughput::Elements(1)).sample_size(20);
        for (name, pairs) in [
            ("rsync, all", vec![]),
            ("cluster, all", vec![("type", "cluster")]),
            (
                "cluster, summary",
                vec![("type", "cluster"), ("output", "summary")],
            ),
            (
                "cluster, one resource",
                vec![("type", "cluster"), ("resource", "web-0")],
            ),
        ] {
            let query = StatusQuery::parse(pairs).expect("a query");
            group.bench_function(name, |bencher| {
                bencher.iter(|| black_box(ask(&read_model, &dig, black_box(&query))));
            });
        }
        group.finish();
    }
}

criterion_group!(benches, queries);
criterion_main!(benches);
