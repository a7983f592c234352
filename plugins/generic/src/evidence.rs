//! Pieces of evidence, and the verdict that follows from them.

use kindsight_sdk::prelude::*;

use crate::words::{Meaning, tokens};

/// The signal of a piece of evidence, from good to bad. The worst signal determines the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Says {
    /// The object has completed successfully.
    Finished,
    /// Works.
    Ready,
    /// Evidence against Ready that indicates no other state.
    Doubtful,
    /// The controller reports that it does not know.
    Unknown,
    /// The object is not ready yet.
    Pending,
    /// A failure beside evidence for Ready: the object works, but has a problem.
    Impaired,
    /// The thing it represents does not exist.
    Absent,
    /// The object was stopped on purpose.
    Suspended,
    /// The object is broken or was refused.
    Failed,
}

impl Says {
    /// Returns whether it is evidence for Ready.
    pub(crate) fn is_good(self) -> bool {
        self <= Self::Ready
    }
}

impl From<Meaning> for Says {
    fn from(meaning: Meaning) -> Self {
        match meaning {
            Meaning::Finished => Self::Finished,
            Meaning::Good => Self::Ready,
            Meaning::Unknown => Self::Unknown,
            Meaning::Pending => Self::Pending,
            Meaning::Absent => Self::Absent,
            Meaning::Suspended => Self::Suspended,
            Meaning::Failed => Self::Failed,
        }
    }
}

/// Other evidence that outweighs a failure, or that a failure needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outweighed {
    /// No other evidence.
    Never,
    /// Full counts: whatever failed has succeeded since then.
    ByCounts,
    /// Full counts, or any explicit evidence of health: the missing object may not be needed.
    ByHealth,
    /// No other evidence, but it only counts beside evidence for Ready.
    UnlessReady,
}

/// Maximum length of the name of a part in a message, in bytes. The names of members in the API types
/// of Kubernetes are shorter.
const PART_BYTES_MAX: usize = 64;

/// One piece of evidence in an object.
#[derive(Debug, Clone)]
pub(crate) struct Evidence {
    pub(crate) says: Says,
    /// The reason, as one `CamelCase` word.
    pub(crate) reason: String,
    /// The explanation, often a text from the object. Empty if the signal explains itself.
    message: String,
    /// The signal, such as `Ready is True`, if the evidence is one member or one condition.
    signal: Option<String>,
    pub(crate) outweighed: Outweighed,
    /// The start time of this signal, in Unix milliseconds.
    pub(crate) since_ms: Option<i64>,
}

impl Evidence {
    /// Makes evidence. Its reason is the first of `reasons` that is a single word, so that programs
    /// can compare it.
    pub(crate) fn new(says: Says, reasons: &[&str], message: impl Into<String>) -> Self {
        let mut words = reasons.iter().filter_map(|reason| one_word(reason));
        Self {
            says,
            reason: words.next().unwrap_or_default(),
            message: message.into(),
            signal: None,
            outweighed: Outweighed::Never,
            since_ms: None,
        }
    }

    /// Sets the start time of this signal.
    pub(crate) fn since(self, since_ms: Option<i64>) -> Self {
        Self { since_ms, ..self }
    }

    /// Sets the signal that the message explains.
    pub(crate) fn signal(self, signal: String) -> Self {
        let signal = Some(signal);
        Self { signal, ..self }
    }

    /// Makes evidence from a signal that explains itself.
    pub(crate) fn of_signal(says: Says, reasons: &[&str], signal: String) -> Self {
        Self::new(says, reasons, "").signal(signal)
    }

    /// Adds the name of the part that contains the signal: `backup.phase is Failed`. A long name is
    /// left out, because each piece of evidence in the part would copy it.
    pub(crate) fn inside(mut self, part: &str) -> Self {
        let is_short = part.len() <= PART_BYTES_MAX;
        if let Some(signal) = self.signal.as_mut().filter(|_| is_short) {
            let separator = if signal.starts_with('[') { "" } else { "." };
            *signal = format!("{part}{separator}{signal}");
        }
        self
    }

    /// Sets the evidence that outweighs it.
    pub(crate) fn outweighed(mut self, outweighed: Outweighed) -> Self {
        self.outweighed = outweighed;
        self
    }

    /// Reduces a failure or an impairment to a doubt if full counts, or any evidence of health, outweigh it.
    pub(crate) fn weighed_against(self, is_full: bool, is_well: bool) -> Self {
        let is_outweighed = match self.outweighed {
            Outweighed::Never | Outweighed::UnlessReady => false,
            Outweighed::ByCounts => is_full,
            Outweighed::ByHealth => is_full || is_well,
        };
        if matches!(self.says, Says::Failed | Says::Impaired) && is_outweighed {
            return self.doubted();
        }
        self
    }

    /// Reduces evidence against Ready about an object that reports ready: a failure to an
    /// impairment, and anything else to a doubt.
    pub(crate) fn contradicting(self) -> Self {
        if matches!(self.says, Says::Failed | Says::Impaired) {
            let says = Says::Impaired;
            return Self { says, ..self };
        }
        self.doubted()
    }

    fn doubted(self) -> Self {
        let message = format!("it reports ready, but: {}", self.text());
        Self::new(Says::Doubtful, &["Contradictory"], message)
    }

    /// The explanation, or else the signal.
    fn text(&self) -> &str {
        match &self.signal {
            Some(signal) if self.message.is_empty() => signal,
            _ => &self.message,
        }
    }

    /// The signal with its explanation.
    fn explained(&self) -> String {
        match &self.signal {
            Some(signal) if !self.message.is_empty() => format!("{signal}: {}", self.message),
            _ => self.text().to_owned(),
        }
    }

    /// Names the good signal that this failure contradicts.
    fn beside(self, good: &Self) -> Self {
        let signal = good.signal.as_ref().unwrap_or(&good.message);
        let message = format!("{signal}, but {}", self.explained());
        Self { message, ..self }
    }

    fn verdict(self) -> Verdict {
        let message = self.text().to_owned();
        let Self {
            reason, since_ms, ..
        } = self;
        let verdict = match self.says {
            Says::Finished => Verdict::succeeded(reason, message),
            Says::Ready => Verdict::ready(reason, message),
            Says::Doubtful => Verdict::present(reason, message),
            Says::Impaired => Verdict::degraded(reason, message),
            Says::Unknown => Verdict::unknown(reason, message),
            Says::Pending => Verdict::pending(reason, message),
            Says::Absent => Verdict::new(crate::NOT_PRESENT, reason, message),
            Says::Suspended => Verdict::suspended(reason, message),
            Says::Failed => Verdict::failed(reason, message),
        };
        verdict.since(since_ms)
    }
}

/// The verdict from the first piece of evidence with the worst signal. An impairment also names the
/// first good signal.
pub(crate) fn verdict(evidence: &[Evidence]) -> Option<Verdict> {
    let worst = evidence.iter().map(|piece| piece.says).max()?;
    let first = evidence.iter().find(|piece| piece.says == worst)?.clone();
    let good = evidence.iter().find(|piece| piece.says.is_good());
    let first = match good {
        Some(good) if worst == Says::Impaired => first.beside(good),
        _ => first,
    };
    Some(first.verdict())
}

/// Converts a reason to one `CamelCase` word: `yellow` to `Yellow`, `NOT_READY` to `NotReady`.
/// Returns `None` for a sentence.
fn one_word(reason: &str) -> Option<String> {
    const TOKENS_MAX: usize = 6;
    const REASON_BYTES_MAX: usize = 128;
    let is_word = reason.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_camel_case = reason.starts_with(|first: char| first.is_ascii_uppercase())
        && reason.contains(|char: char| char.is_ascii_lowercase());
    let word = if is_word && is_camel_case {
        reason.to_owned()
    } else {
        camel_case(&tokens(reason), TOKENS_MAX)?
    };
    let starts_well = word.starts_with(|first: char| first.is_ascii_alphabetic());
    (starts_well && word.is_ascii() && word.len() <= REASON_BYTES_MAX).then_some(word)
}

fn camel_case(tokens: &[String], tokens_max: usize) -> Option<String> {
    if tokens.len() > tokens_max {
        return None;
    }
    let capitalised = tokens.iter().map(|token| {
        let mut chars = token.chars();
        let first = chars.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(chars).collect::<String>()
    });
    Some(capitalised.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_one_word() {
        let table = [
            ("ReconcileError", Some("ReconcileError")),
            ("NOT_READY", Some("NotReady")),
            ("green", Some("Green")),
            ("bucket in CREATING state", Some("BucketInCreatingState")),
            ("2 of 3", None),
            ("none of the seven words of this sentence", None),
            ("Größe", None),
            ("", None),
        ];
        for (reason, expected) in table {
            assert_eq!(one_word(reason).as_deref(), expected, "{reason}");
        }
    }

    #[test]
    fn a_signal_names_the_part_that_contains_it() {
        let signal =
            || Evidence::of_signal(Says::Failed, &["Failed"], "phase is Failed".to_owned());
        let in_a_list = signal().inside("[1]").inside("backups").inside("storage");
        assert_eq!(in_a_list.text(), "storage.backups[1].phase is Failed");
        let long = signal().inside(&"a".repeat(PART_BYTES_MAX + 1));
        assert_eq!(long.text(), "phase is Failed");
    }

    #[test]
    fn the_first_of_the_worst_decides() {
        let piece = |says, reason: &str| Evidence::new(says, &[reason], "");
        let evidence = vec![
            piece(Says::Ready, "A"),
            piece(Says::Failed, "B"),
            piece(Says::Failed, "C"),
            piece(Says::Pending, "D"),
        ];
        let decided = verdict(&evidence).expect("there is evidence");
        assert_eq!((&*decided.state, &*decided.reason), ("Failed", "B"));
        assert_eq!(verdict(&[]), None);
    }
}
