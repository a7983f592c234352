//! Limits on the number of series.

use kindsight_model::{DigName, SubjectSet};
use kindsight_read_model::ReadModelWriter;
use kindsight_status::{ApplicationKey, ConnectionState, ConnectionView, ContextView};
use prometheus_client::collector::Collector;

use super::applications::APPLICATIONS_LABELLED_MAX;
use super::clusters::CLUSTERS_LABELLED_MAX;
use super::*;

/// The text of one collector.
fn text_of(collector: impl Collector) -> String {
    let mut registry = Registry::with_prefix(PREFIX);
    registry.register_collector(Box::new(collector));
    let mut text = String::new();
    encode_registry(&mut text, &registry).unwrap();
    text::with_counter_suffix(&text)
}

fn lines<'a>(text: &'a str, start: &str) -> Vec<&'a str> {
    let lines = text.lines().filter(|line| line.starts_with(start));
    lines.collect()
}

#[test]
fn clusters_over_the_limit_are_added_up() {
    let mut writer = ReadModelWriter::default();
    for number in 0..CLUSTERS_LABELLED_MAX + 100 {
        let connection = ConnectionView {
            owner: kindsight_status::ClusterOwner::default(),
            state: ConnectionState::Stale,
            since_ms: 1000,
            reason: Some("it does not answer".into()),
            faults: Arc::default(),
            heard_ms: Some(i64::try_from(number).unwrap()),
            facts: None,
            coverage: None,
        };
        let name = format!("provider+c{number:05}").parse().unwrap();
        writer.publish_connection(&name, Some(connection));
    }
    let text = text_of(ClusterCollector {
        read_model: writer.read_model().clone(),
        clock: || 61_000,
    });
    let stale = lines(&text, "kindsight_cluster_stale{");
    assert_eq!(stale.len(), CLUSTERS_LABELLED_MAX + 1);
    for line in [
        r#"kindsight_clusters{state="stale"} 600.0"#,
        r#"kindsight_cluster_stale{cluster="provider+c00499"} 1.0"#,
        r#"kindsight_cluster_stale{cluster="other"} 100.0"#,
        r#"kindsight_cluster_stale_seconds{cluster="other"} 60.0"#,
        r#"kindsight_cluster_last_event_timestamp_seconds{cluster="other"} 0.5"#,
        r#"kindsight_cluster_sessions_total{cluster="other"} 0"#,
    ] {
        assert!(text.lines().any(|found| found == line), "no {line}");
    }
}

#[test]
fn applications_have_series_only_on_request_and_within_the_limit() {
    let mut writer = ReadModelWriter::default();
    for number in 0..APPLICATIONS_LABELLED_MAX + 50 {
        let name = DigName::found(&format!("a{number:05}"), Some("web")).unwrap();
        let view = ContextView {
            meta: Some(name.clone()),
            ..ContextView::default()
        };
        writer.publish(&ApplicationKey::Found(name), view, Vec::new());
    }
    let text = |names_applications| {
        text_of(ApplicationCollector {
            all: writer.read_model().visible_to(&SubjectSet::Everything),
            names_applications,
        })
    };
    let unnamed = text(false);
    assert!(!unnamed.contains("a00001"));
    assert!(lines(&unnamed, "kindsight_application_phase{").is_empty());
    let all = [r#"kindsight_applications{phase="unknown"} 10050.0"#];
    assert_eq!(lines(&unnamed, all[0]), all);
    let named = text(true);
    let series = lines(&named, "kindsight_application_phase{");
    assert_eq!(series.len(), APPLICATIONS_LABELLED_MAX + 1);
    let other = [r#"kindsight_application_phase{application="other",phase="unknown"} 50.0"#];
    assert_eq!(lines(&named, other[0]), other);
}

#[test]
fn requests_with_any_path_method_and_status_share_series() {
    let recorded = Recorded::default();
    for number in 0..1000_u16 {
        recorded.answered(&AnsweredRequest {
            route: None,
            method: &format!("M{number}"),
            status: number,
            duration: std::time::Duration::ZERO,
        });
    }
    let mut registry = Registry::with_prefix(PREFIX);
    recorded.register(&mut registry);
    let mut text = String::new();
    encode_registry(&mut text, &registry).unwrap();
    assert_eq!(lines(&text, "kindsight_http_requests_total{").len(), 6);
    let count = "kindsight_http_request_duration_seconds_count{";
    assert_eq!(lines(&text, count).len(), 1);
}
