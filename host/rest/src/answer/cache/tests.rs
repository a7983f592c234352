use kindsight_model::{DigName, RecordSubject, SubjectSet};
use kindsight_read_model::ReadModelWriter;
use kindsight_status::{RecordView, StatusQuery};

use super::*;

const BYTES_MAX: usize = 256 * 1024;

fn subject() -> Subject {
    let mut writer = ReadModelWriter::default();
    let name = RecordSubject::Group(DigName::new("p", "ca", "v1", "d").unwrap());
    writer.publish_record(&name, Some(RecordView::default()));
    let visible = writer.read_model().visible_to(&SubjectSet::Everything);
    visible.subject(&name, &StatusQuery::default()).unwrap()
}

fn key(url: &str) -> RequestKey<'_> {
    let dialect = Dialect::Specification;
    RequestKey { dialect, url }
}

#[test]
fn an_answer_is_for_its_url_and_its_dialect() {
    let (cache, subject) = (AnswerCache::new(BYTES_MAX), subject());
    cache.insert(key("/a"), subject.version(), "1".into());
    assert_eq!(cache.get(key("/a"), &subject).unwrap(), "1");
    assert!(cache.get(key("/b"), &subject).is_none());
    let dialect = Dialect::V22;
    let other = RequestKey { dialect, url: "/a" };
    assert!(cache.get(other, &subject).is_none());
}

#[test]
fn the_cache_stays_within_its_limit() {
    let (cache, subject) = (AnswerCache::new(BYTES_MAX), subject());
    for number in 0..10_000 {
        let url = format!("/{number}{}", "?".repeat(number % 5000));
        let json = vec![b' '; number % 3000].into();
        cache.insert(key(&url), subject.version(), json);
    }
    assert!(cache.answers.weight() <= BYTES_MAX as u64);
    assert!(cache.answers.len() > 10, "{}", cache.answers.len());
}
