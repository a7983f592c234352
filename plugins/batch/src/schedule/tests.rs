//! Tables of expressions and their next runs.

use super::*;

const MINUTES_PER_DAY: i64 = 24 * 60;

/// Minutes since 1970-01-01T00:00 of `YYYY-MM-DD HH:MM`.
fn minute(text: &str) -> i64 {
    let (date, clock) = text.split_once(' ').unwrap();
    let numbers = |text: &str, separator| -> Vec<i64> {
        text.split(separator)
            .map(|part: &str| part.parse().unwrap())
            .collect()
    };
    let (date, clock) = (numbers(date, '-'), numbers(clock, ':'));
    let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let february = 28 + i64::from(is_leap(date[0]));
    let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let years = (1970..date[0]).map(|year| 365 + i64::from(is_leap(year)));
    let months = lengths.iter().take(usize::try_from(date[1] - 1).unwrap());
    let days = years.sum::<i64>() + months.sum::<i64>() + date[2] - 1;
    days * MINUTES_PER_DAY + clock[0] * 60 + clock[1]
}

fn utc(text: &str) -> Option<Schedule> {
    Schedule::parse(text, "UTC")
}

fn expression(text: &str) -> Expression {
    Expression::parse(text.trim()).unwrap()
}

#[test]
fn the_next_run_is_the_first_minute_that_every_field_includes() {
    let table = [
        ("* * * * *", "2026-01-01 00:00", "2026-01-01 00:01"),
        ("*/15 * * * *", "2026-01-01 00:46", "2026-01-01 01:00"),
        ("7/20 * * * *", "2026-01-01 00:27", "2026-01-01 00:47"),
        ("10-20/5 * * * *", "2026-01-01 00:16", "2026-01-01 00:20"),
        ("5,10,,50 * * * *", "2026-01-01 00:11", "2026-01-01 00:50"),
        ("0 9 * * 1-5", "2026-01-02 09:00", "2026-01-05 09:00"),
        ("0 9 ? * MON-fri", "2026-01-02 09:00", "2026-01-05 09:00"),
        ("30 23 31 * *", "2026-01-31 23:30", "2026-03-31 23:30"),
        ("0 0 29 2 *", "2026-01-01 00:00", "2028-02-29 00:00"),
        ("0 0 1 Jan,JUL *", "2026-01-01 00:00", "2026-07-01 00:00"),
        ("@hourly", "2026-12-31 23:00", "2027-01-01 00:00"),
        ("@daily", "2026-02-28 12:00", "2026-03-01 00:00"),
        ("@midnight", "2028-02-28 12:00", "2028-02-29 00:00"),
        ("@weekly", "2026-01-01 00:00", "2026-01-04 00:00"),
        ("@monthly", "2026-01-01 00:00", "2026-02-01 00:00"),
        ("@yearly", "2026-01-01 00:00", "2027-01-01 00:00"),
        ("@annually", "2099-12-31 23:59", "2100-01-01 00:00"),
        (" 0  12 * * * ", "1970-01-01 00:00", "1970-01-01 12:00"),
        // Both fields of days are set, so either is sufficient.
        ("0 0 13 * 5", "2026-01-01 00:00", "2026-01-02 00:00"),
        ("0 0 13 * 5", "2026-01-10 00:00", "2026-01-13 00:00"),
        // A star with a step is not any day.
        ("0 0 */10 * 5", "2026-01-02 00:00", "2026-01-09 00:00"),
        ("0 0 */1 * 5", "2026-01-02 00:00", "2026-01-09 00:00"),
        ("0 0 */10 * 5", "2026-01-09 00:00", "2026-01-11 00:00"),
    ];
    for (text, after, expected) in table {
        let next = expression(text).next(minute(after));
        assert_eq!(next, Some(minute(expected)), "{text} after {after}");
    }
    let never = expression("0 0 30 2 *");
    assert_eq!(never.next(minute("2026-01-01 00:00")), None);
}

#[test]
fn an_expression_that_the_controller_refuses_is_not_read() {
    let table = [
        "",
        "* * * *",
        "* * * * * *",
        "60 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * * 13 *",
        "* * * * 7",
        "9-5 * * * *",
        "*/0 * * * *",
        "*/x * * * *",
        "1-2-3 * * * *",
        "1/2/3 * * * *",
        "* * * Januar *",
        "@every",
        "@every soon",
        "@Hourly",
        "TZ=UTC",
        "soon",
    ];
    for text in table {
        assert!(utc(text).is_none(), "{text}");
    }
}

#[test]
fn a_schedule_without_a_known_offset_is_due_at_the_latest_possible_time() {
    let table = [
        ("0 9 * * *", "UTC", "2026-01-01 12:00", "2026-01-02 09:00"),
        (
            "0 9 * * *",
            "Etc/UTC",
            "2026-01-01 12:00",
            "2026-01-02 09:00",
        ),
        (
            "TZ=UTC 0 9 * * *",
            "",
            "2026-01-01 12:00",
            "2026-01-02 09:00",
        ),
        ("0 9 * * *", "", "2026-01-01 12:00", "2026-01-02 12:00"),
        (
            "0 9 * * *",
            "Asia/Tokyo",
            "2026-01-01 12:00",
            "2026-01-02 12:00",
        ),
        (
            "CRON_TZ=Asia/Tokyo 0 9 * * *",
            "",
            "2026-01-01 12:00",
            "2026-01-02 12:00",
        ),
        ("*/5 * * * *", "", "2026-01-01 12:01", "2026-01-01 12:05"),
        ("20 * * * *", "", "2026-01-01 12:30", "2026-01-01 13:20"),
    ];
    for (text, zone, after, expected) in table {
        let schedule = Schedule::parse(text, zone).unwrap();
        let due_ms = schedule.latest_due_ms(minute(after) * MINUTE_MS, 1);
        assert_eq!(due_ms, Some(minute(expected) * MINUTE_MS), "{text} {zone}");
    }
    let never = Schedule::parse("0 0 30 2 *", "").unwrap();
    assert_eq!(never.latest_due_ms(0, 1), None);
}

#[test]
fn later_runs_follow_each_other() {
    let schedule = utc("0 0,6 * * *").unwrap();
    let after_ms = minute("2026-01-01 05:59") * MINUTE_MS + 30_000;
    let due = |position| schedule.latest_due_ms(after_ms, position).unwrap() / MINUTE_MS;
    assert_eq!(due(1), minute("2026-01-01 06:00"));
    assert_eq!(due(2), minute("2026-01-02 00:00"));
    assert_eq!(due(3), minute("2026-01-02 06:00"));
}

#[test]
fn an_interval_is_due_at_its_multiples_in_every_zone() {
    for (text, zone) in [("@every 90m", "UTC"), ("TZ=Asia/Tokyo @every 1h30m", "")] {
        let schedule = Schedule::parse(text, zone).unwrap();
        let due = |position| schedule.latest_due_ms(30_000, position);
        assert_eq!(due(1), Some(5_430_000), "{text}");
        assert_eq!(due(3), Some(16_230_000), "{text}");
        assert!(schedule.has_run_between(0, 5_400_001));
        assert!(!schedule.has_run_between(0, 5_400_000));
    }
    let schedule = utc("@every 2000000h").unwrap();
    assert_eq!(schedule.latest_due_ms(i64::MAX, 1), None);
    assert_eq!(schedule.latest_due_ms(0, usize::MAX), None);
}

#[test]
fn a_run_between_two_times_is_certain_at_every_offset() {
    let has_run = |text, zone, after, before| {
        let schedule = Schedule::parse(text, zone).unwrap();
        schedule.has_run_between(minute(after) * MINUTE_MS, minute(before) * MINUTE_MS)
    };
    let (succeeded, next) = ("2026-01-01 03:05", "2026-01-02 03:00");
    let after_next = "2026-01-03 03:00";
    for zone in ["UTC", "Europe/Berlin", ""] {
        assert!(!has_run("0 3 * * *", zone, succeeded, next), "{zone}");
        assert!(has_run("0 3 * * *", zone, succeeded, after_next), "{zone}");
        // In a zone with daylight saving time, the next run may be an hour later.
        let an_hour_later = has_run("0 3 * * *", zone, succeeded, "2026-01-02 04:00");
        assert_eq!(an_hour_later, zone == "UTC", "{zone}");
    }
}
