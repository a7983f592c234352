//! One field of a cron expression.

/// The permitted values of a field.
pub(super) struct Field {
    first: u32,
    last: u32,
    /// Names of the values, in order.
    names: &'static [&'static str],
}

pub(super) const MINUTES: Field = Field::numbers(0, 59);
pub(super) const HOURS: Field = Field::numbers(0, 23);
pub(super) const DAYS: Field = Field::numbers(1, 31);
pub(super) const MONTHS: Field = Field {
    first: 1,
    last: 12,
    names: &[
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ],
};
pub(super) const WEEKDAYS: Field = Field {
    first: 0,
    last: 6,
    names: &["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
};

impl Field {
    const fn numbers(first: u32, last: u32) -> Self {
        Self {
            first,
            last,
            names: &[],
        }
    }

    fn value(&self, text: &str) -> Option<u32> {
        let is_name = |name: &&str| name.eq_ignore_ascii_case(text);
        match (self.first..)
            .zip(self.names)
            .find(|(_, name)| is_name(name))
        {
            Some((value, _)) => Some(value),
            None => text.parse().ok(),
        }
    }
}

/// The values that a field of an expression selects.
#[derive(Debug)]
pub(super) struct Values {
    /// One bit for each value.
    bits: u64,
    is_any: bool,
}

impl Values {
    /// Parses a list of ranges. `None` if the controller would refuse it.
    pub(super) fn parse(text: &str, field: &Field) -> Option<Self> {
        let mut values = Self {
            bits: 0,
            is_any: false,
        };
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let range = Self::range(part, field)?;
            values.bits |= range.bits;
            values.is_any |= range.is_any;
        }
        Some(values)
    }

    /// Parses one range: `*`, `5`, `5-9`, each with or without a step such as `/2`. A step after a
    /// single value means all values from this one.
    fn range(text: &str, field: &Field) -> Option<Self> {
        let (range, step) = match text.split_once('/') {
            Some((range, step)) => (range, Some(step.parse::<u32>().ok()?)),
            None => (text, None),
        };
        let is_star = matches!(range, "*" | "?");
        let (first, last) = match range.split_once('-') {
            _ if is_star => (field.first, field.last),
            Some((first, last)) => (field.value(first)?, field.value(last)?),
            None => {
                let first = field.value(range)?;
                let is_single = step.is_none();
                (first, if is_single { first } else { field.last })
            }
        };
        let step = step.unwrap_or(1);
        if first < field.first || last > field.last || first > last || step == 0 {
            return None;
        }
        let stepped = (first..=last).step_by(usize::try_from(step).ok()?);
        Some(Self {
            bits: stepped.fold(0, |bits, value| bits | 1 << value),
            // A star with a step selects certain values, as a list does.
            is_any: is_star && step == 1,
        })
    }

    /// Returns whether the field permits every value.
    pub(super) fn is_any(&self) -> bool {
        self.is_any
    }

    /// Returns whether a value is selected.
    pub(super) fn contain(&self, value: i64) -> bool {
        let value = u32::try_from(value).ok();
        let bit = value.and_then(|value| 1_u64.checked_shl(value));
        bit.is_some_and(|bit| self.bits & bit != 0)
    }
}
