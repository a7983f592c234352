//! Cost of replication: bytes and processor time of each change, without a follower and with one.
//!
//! `cargo bench -p kindsight-tests --bench replication`

use std::sync::Arc;
use std::time::Duration;

use kindsight_model::{ClusterName, DigName, Object, Phase, Verdict};
use kindsight_read_model::ReadModelWriter;
use kindsight_replication::{Feed, FeedScope, FeedStream, Image};
use kindsight_status::{
    AppView, ApplicationKey, ClusterView, ContextView, Report, ResourceView, Role,
};
use rustix::time::{ClockId, clock_gettime};
use tokio::time::timeout;

/// The allocator of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Applications, each with one app in one cluster.
const APPLICATIONS: usize = 1_000;
/// Resources of each application.
const RESOURCES: usize = 50;
/// Changes of one resource.
const CHANGES: usize = 10_000;
/// Changes that are gathered into one batch: the changes of 50 ms at 1,000 changes a second.
const GATHERED: usize = 50;

/// Time without bytes after which a batch is complete.
const WAIT: Duration = Duration::from_millis(100);

/// Processor time of this process.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::from_secs(seconds) + Duration::from_nanos(u64::try_from(time.tv_nsec).unwrap_or(0))
}

fn key(application: usize) -> ApplicationKey {
    let name = format!("app-{application:04}");
    ApplicationKey::Found(DigName::found(&name, Some("web")).expect("a name"))
}

fn cluster(application: usize) -> ClusterName {
    let name = format!("p+edge{:02}", application % 100);
    name.parse().expect("a name")
}

/// A Deployment of about 3 KiB, as an API server returns it without managed fields.
fn resource(application: usize, at: usize, version: usize) -> ResourceView {
    let name = format!("deployment-{application:04}-{at:02}");
    let env: Vec<_> = (0..24)
        .map(|at| {
            serde_json::json!({
                "name": format!("SETTING_{at}_{name}"),
                "value": format!("https://service-{at}.{name}.web.svc"),
            })
        })
        .collect();
    let object = serde_json::json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {
            "name": name, "namespace": "web", "uid": format!("{application:08x}-{at:04x}"),
            "generation": version, "resourceVersion": version.to_string(),
        },
        "spec": {"replicas": 3, "template": {"spec": {"containers": [{
            "name": "main", "image": "registry.example.org/team/main:1.2.3", "env": env,
        }]}}},
        "status": {"replicas": 3, "readyReplicas": version % 4, "observedGeneration": version},
    });
    let object = Object::from_json(object.to_string()).expect("an object");
    ResourceView {
        gvk: object.gvk.clone(),
        namespace: "web".into(),
        name: object.name.to_string().into(),
        manifest: None,
        rsync: None,
        object: Some(object),
        verdict: Verdict::host(Phase::Ready, "", "3 of 3 replicas are ready"),
        since_ms: Some(1_700_000_000_000),
        role: Role::Unsent,
        owner: None,
        claims: None,
    }
}

fn context(placement: ClusterView) -> ContextView {
    ContextView {
        apps: vec![AppView::new("app".into(), vec![Arc::new(placement)])],
        ..ContextView::default()
    }
}

fn filled() -> (ReadModelWriter, Vec<ClusterView>) {
    let mut writer = ReadModelWriter::default();
    let views = (0..APPLICATIONS).map(|application| {
        let resources = (0..RESOURCES).map(|at| resource(application, at, 0));
        let report = Report::Received { stale: None };
        ClusterView::replicated(
            cluster(application),
            report,
            resources.collect(),
            Vec::new(),
        )
    });
    let views: Vec<ClusterView> = views.collect();
    for (application, view) in views.iter().enumerate() {
        writer.publish(&key(application), context(view.clone()), Vec::new());
    }
    (writer, views)
}

/// The changed resources of all changes. Their construction is not measured.
fn changes() -> Vec<(usize, usize, ResourceView)> {
    let change = |number: usize| {
        let (application, at) = (number * 7 % APPLICATIONS, number * 13 % RESOURCES);
        (application, at, resource(application, at, number + 1))
    };
    (0..CHANGES).map(change).collect()
}

/// A follower in this process.
struct Follower {
    feed: FeedStream,
    /// Applies the lines; without it, the bytes are only counted.
    image: Option<Image>,
}

impl Follower {
    /// Takes everything until the feed waits for changes. Returns the number of bytes.
    async fn follow(&mut self) -> usize {
        let mut chunks = Vec::new();
        while let Ok(Some(chunk)) = timeout(WAIT, self.feed.next()).await {
            chunks.push(chunk);
        }
        let bytes = chunks.concat();
        if let Some(image) = &mut self.image {
            let lines = bytes.split(|byte| *byte == b'\n');
            for line in lines.filter(|line| !line.is_empty()) {
                image.take(line).expect("a line");
            }
        }
        bytes.len()
    }
}

fn measure(what: &str, make: impl FnOnce(Feed) -> Option<Follower>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("an executor");
    let (mut writer, mut views) = filled();
    let mut changes = changes();
    let feed = Feed::new(writer.read_model().clone(), FeedScope::Every);
    let mut follower = make(feed);
    if let Some(follower) = &mut follower {
        let before = processor_time();
        let bytes = runtime.block_on(follower.follow());
        let took = processor_time().saturating_sub(before);
        println!("{what}: the snapshot has {bytes} bytes and takes {took:.1?}");
    }
    let (mut bytes, before) = (0, processor_time());
    for gathered in changes.chunks_mut(GATHERED) {
        for (application, at, resource) in gathered {
            let view = views.get_mut(*application).expect("a view");
            let changed = [(*at, resource.clone())].into();
            *view = view.with_resources(changed).expect("the same resources");
            writer.publish(&key(*application), context(view.clone()), Vec::new());
        }
        if let Some(follower) = &mut follower {
            bytes += runtime.block_on(follower.follow());
        }
    }
    let took = processor_time().saturating_sub(before);
    let changes = u32::try_from(CHANGES).expect("a number");
    println!(
        "{what}: {} bytes and {:.1?} for each change",
        bytes / CHANGES,
        took / changes
    );
}

fn main() {
    let follower = |feed, is_gzip, image| {
        let feed = FeedStream::new(feed, is_gzip);
        Some(Follower { feed, image })
    };
    measure("no follower", |_| None);
    measure("one follower", |feed| follower(feed, false, None));
    measure("one follower with gzip", |feed| follower(feed, true, None));
    measure(
        "one follower that applies the lines in the same process",
        |feed| {
            let mut image = Image::default();
            image.restart();
            follower(feed, false, Some(image))
        },
    );
}
