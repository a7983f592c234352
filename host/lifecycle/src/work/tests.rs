use super::*;

fn record(actions: &[(LifecycleState, &str, i64)]) -> Record {
    let actions = actions.iter().map(|(state, instance, revision)| Action {
        state: *state,
        instance: instance.parse().ok(),
        time: String::new(),
        revision: *revision,
    });
    Record {
        actions: actions.collect(),
        ..Record::default()
    }
}

#[test]
fn updates_keep_the_status_context_until_the_group_is_terminated() {
    use LifecycleState::{Approved, Created, Instantiated, Terminated, Updated};
    let mut actions = vec![
        (Created, "", 0),
        (Approved, "", 0),
        (Instantiated, "1", 1),
        (Updated, "1", 1),
        (Instantiated, "2", 2),
        (Updated, "2", 2),
        (Instantiated, "3", 3),
    ];
    let work = Work::of(&record(&actions)).unwrap();
    assert_eq!(work.kind, WorkKind::Instantiate);
    assert_eq!(work.status_context.as_str(), "1");
    assert_eq!(work.source.unwrap().as_str(), "2");
    assert_eq!(work.revision, 3);
    actions.push((Terminated, "3", 0));
    let work = Work::of(&record(&actions)).unwrap();
    assert_eq!(work.kind, WorkKind::Terminate);
    assert_eq!(work.status_context.as_str(), "1");
    assert_eq!(work.revision, 3);
    actions.push((Instantiated, "4", 4));
    let work = Work::of(&record(&actions)).unwrap();
    assert_eq!(work.status_context.as_str(), "4");
    assert_eq!(work.source, None);
    let mut stopped = actions.clone();
    let last = stopped.pop().unwrap();
    stopped.push((LifecycleState::TerminateStopped, "3", 0));
    stopped.push(last);
    let work = Work::of(&record(&stopped)).unwrap();
    assert_eq!(work.status_context.as_str(), "1");
    let instances = Instance::all(&record(&actions));
    assert_eq!(instances.len(), 4);
    let kept = Instance::kept(&instances, 2);
    let kept: Vec<&str> = kept.iter().map(ContextId::as_str).collect();
    assert_eq!(kept, ["1", "3", "4"]);
}

#[test]
fn the_text_of_a_job_is_read_back() {
    let group = RecordSubject::Group("p/shop/v1/prod".parse().unwrap());
    let cluster = RecordSubject::Cluster("lab+edge01".parse().unwrap());
    let context = Job::Context("7".parse().unwrap());
    for job in [Job::Subject(group), Job::Subject(cluster), context] {
        assert_eq!(job.to_string().parse::<Job>().unwrap(), job);
    }
    assert!("p/shop".parse::<Job>().is_err());
    assert!("".parse::<Job>().is_err());
}
