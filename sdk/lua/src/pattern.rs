//! Lua's patterns, by backtracking with a limit of work and depth.

use crate::error::{Failure, OUT_OF_STEPS};
use crate::limits::{CAPTURES_MAX, PATTERN_DEPTH_MAX, STEPS_PER_MATCH};

/// A captured part of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Capture {
    /// From a position to a position.
    Text(usize, usize),
    /// A position, from 0.
    Position(usize),
    /// Not closed yet.
    Open(usize),
}

/// A match: where it begins and ends, and its captures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Match {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) captures: Vec<Capture>,
}

/// A search for a pattern in a text.
pub(crate) struct Search<'t> {
    text: &'t [u8],
    pattern: &'t [u8],
    is_anchored: bool,
    captures: Vec<Capture>,
    depth: usize,
    /// The remaining work.
    pub(crate) steps: u32,
}

impl<'t> Search<'t> {
    pub(crate) fn new(text: &'t [u8], pattern: &'t [u8], steps: u32) -> Self {
        let anchored = pattern.strip_prefix(b"^");
        Self {
            text,
            pattern: anchored.unwrap_or(pattern),
            is_anchored: anchored.is_some(),
            captures: Vec::new(),
            depth: 0,
            steps,
        }
    }

    /// The first match at or behind a position.
    pub(crate) fn find(&mut self, from: usize) -> Result<Option<Match>, Failure> {
        let last = if self.is_anchored {
            from
        } else {
            self.text.len()
        };
        for from in from..=last.min(self.text.len()) {
            self.captures.clear();
            if let Some(to) = self.matches(from, 0)? {
                let captures = self.captures.clone();
                return Ok(Some(Match { from, to, captures }));
            }
        }
        Ok(None)
    }

    /// All matches, at most `limit`.
    pub(crate) fn all(&mut self, limit: usize) -> Result<Vec<Match>, Failure> {
        let (mut matches, mut from) = (Vec::new(), 0);
        while matches.len() < limit
            && let Some(found) = self.find(from)?
        {
            self.spend(STEPS_PER_MATCH)?;
            from = if found.to > found.from {
                found.to
            } else {
                found.to + 1
            };
            matches.push(found);
            if self.is_anchored || from > self.text.len() {
                break;
            }
        }
        Ok(matches)
    }

    fn spend(&mut self, steps: u32) -> Result<(), Failure> {
        match self.steps.checked_sub(steps) {
            Some(rest) => {
                self.steps = rest;
                Ok(())
            }
            None => Err(Failure::Limit(OUT_OF_STEPS)),
        }
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.get(at).copied()
    }

    fn code(&self, at: usize) -> Option<u8> {
        self.pattern.get(at).copied()
    }

    /// The end of a match of the pattern from `code` on with the text from `at` on.
    fn matches(&mut self, at: usize, code: usize) -> Result<Option<usize>, Failure> {
        if self.depth >= PATTERN_DEPTH_MAX {
            return Failure::text("pattern too complex");
        }
        self.depth += 1;
        let end = self.matches_here(at, code);
        self.depth -= 1;
        end
    }

    fn matches_here(&mut self, mut at: usize, mut code: usize) -> Result<Option<usize>, Failure> {
        loop {
            self.spend(1)?;
            match (self.code(code), self.code(code + 1)) {
                (None, _) => return Ok(Some(at)),
                (Some(b'$'), None) => return Ok((at == self.text.len()).then_some(at)),
                (Some(b'('), Some(b')')) => {
                    return self.captured(Capture::Position(at), at, code + 2);
                }
                (Some(b'('), _) => return self.captured(Capture::Open(at), at, code + 1),
                (Some(b')'), _) => return self.close(at, code + 1),
                (Some(b'%'), Some(b'b')) => match self.balanced(at, code)? {
                    Some(end) => (at, code) = (end, code + 4),
                    None => return Ok(None),
                },
                (Some(b'%'), Some(digit @ b'0'..=b'9')) => match self.same_as(at, digit)? {
                    Some(end) => (at, code) = (end, code + 2),
                    None => return Ok(None),
                },
                _ => {
                    let next = self.class_end(code)?;
                    match self.code(next) {
                        Some(b'*') => return self.greedy(at, code, next, 0),
                        Some(b'+') => return self.greedy(at, code, next, 1),
                        Some(b'-') => return self.lazy(at, code, next),
                        Some(b'?') => {
                            if self.is_in(at, code, next)
                                && let Some(end) = self.matches(at + 1, next + 1)?
                            {
                                return Ok(Some(end));
                            }
                            code = next + 1;
                        }
                        _ if self.is_in(at, code, next) => (at, code) = (at + 1, next),
                        _ => return Ok(None),
                    }
                }
            }
        }
    }

    fn captured(
        &mut self,
        capture: Capture,
        at: usize,
        code: usize,
    ) -> Result<Option<usize>, Failure> {
        if self.captures.len() >= CAPTURES_MAX {
            return Failure::text("too many captures");
        }
        let length = self.captures.len();
        self.captures.push(capture);
        let end = self.matches(at, code)?;
        if end.is_none() {
            self.captures.truncate(length);
        }
        Ok(end)
    }

    fn close(&mut self, at: usize, code: usize) -> Result<Option<usize>, Failure> {
        let is_open = |capture: &Capture| matches!(capture, Capture::Open(_));
        let Some(position) = self.captures.iter().rposition(is_open) else {
            return Failure::text("invalid pattern capture");
        };
        let Some(capture) = self.captures.get_mut(position) else {
            return Ok(None);
        };
        let opened = *capture;
        if let Capture::Open(from) = opened {
            *capture = Capture::Text(from, at);
        }
        let end = self.matches(at, code)?;
        if end.is_none()
            && let Some(capture) = self.captures.get_mut(position)
        {
            *capture = opened;
        }
        Ok(end)
    }

    /// The end of a balanced text (`%b()`).
    fn balanced(&mut self, at: usize, code: usize) -> Result<Option<usize>, Failure> {
        let (Some(open), Some(close)) = (self.code(code + 2), self.code(code + 3)) else {
            return Failure::text("missing arguments to '%b'");
        };
        if self.byte(at) != Some(open) {
            return Ok(None);
        }
        let mut level = 0usize;
        let mut end = at;
        while let Some(byte) = self.byte(end) {
            self.spend(1)?;
            end += 1;
            if byte == close {
                level = level.saturating_sub(1);
                if level == 0 {
                    return Ok(Some(end));
                }
            } else if byte == open {
                level += 1;
            }
        }
        Ok(None)
    }

    /// The end of the text of a capture (`%1`) at a position.
    fn same_as(&mut self, at: usize, digit: u8) -> Result<Option<usize>, Failure> {
        let position = usize::from(digit - b'0');
        let capture = position.checked_sub(1).and_then(|at| self.captures.get(at));
        let Some(Capture::Text(from, to)) = capture.copied() else {
            return Failure::text("invalid capture index");
        };
        let captured = self.text.get(from..to).unwrap_or_default();
        let rest = self.text.get(at..).unwrap_or_default();
        let work = u32::try_from(captured.len()).unwrap_or(u32::MAX) / 64;
        self.steps = self.steps.saturating_sub(work);
        Ok(rest.starts_with(captured).then_some(at + captured.len()))
    }

    /// The position behind the class of characters at `code`.
    fn class_end(&self, code: usize) -> Result<usize, Failure> {
        match self.code(code) {
            Some(b'%') => match self.code(code + 1) {
                Some(_) => Ok(code + 2),
                None => Failure::text("malformed pattern (ends with '%')"),
            },
            Some(b'[') => {
                let mut at = code + 1;
                if self.code(at) == Some(b'^') {
                    at += 1;
                }
                // A bracket at the beginning is an ordinary character.
                let first = at;
                loop {
                    match self.code(at) {
                        None => return Failure::text("malformed pattern (missing ']')"),
                        Some(b']') if at > first => return Ok(at + 1),
                        Some(b'%') => at += 2,
                        Some(_) => at += 1,
                    }
                }
            }
            _ => Ok(code + 1),
        }
    }

    /// Whether the byte at a position belongs to the class from `code` to `end`.
    fn is_in(&self, at: usize, code: usize, end: usize) -> bool {
        let Some(byte) = self.byte(at) else {
            return false;
        };
        match (self.code(code), self.code(code + 1)) {
            (Some(b'.'), _) => true,
            (Some(b'%'), Some(letter)) => is_of_class(byte, letter),
            (Some(b'['), _) => self.is_in_set(byte, code + 1, end - 1),
            (literal, _) => literal == Some(byte),
        }
    }

    /// Whether a byte belongs to the set whose items are from `code` to `end`.
    fn is_in_set(&self, byte: u8, mut code: usize, end: usize) -> bool {
        let is_negated = self.code(code) == Some(b'^');
        if is_negated {
            code += 1;
        }
        while code < end {
            let item = self.code(code).unwrap_or_default();
            let next = self.code(code + 1).unwrap_or_default();
            let found = if item == b'%' {
                code += 2;
                is_of_class(byte, next)
            } else if next == b'-' && code + 2 < end {
                let last = self.code(code + 2).unwrap_or_default();
                code += 3;
                (item..=last).contains(&byte)
            } else {
                code += 1;
                item == byte
            };
            if found {
                return !is_negated;
            }
        }
        is_negated
    }

    fn greedy(
        &mut self,
        at: usize,
        code: usize,
        next: usize,
        least: usize,
    ) -> Result<Option<usize>, Failure> {
        let mut count = 0;
        while self.is_in(at + count, code, next) {
            self.spend(1)?;
            count += 1;
        }
        loop {
            if count < least {
                return Ok(None);
            }
            if let Some(end) = self.matches(at + count, next + 1)? {
                return Ok(Some(end));
            }
            let Some(fewer) = count.checked_sub(1) else {
                return Ok(None);
            };
            count = fewer;
        }
    }

    fn lazy(&mut self, mut at: usize, code: usize, next: usize) -> Result<Option<usize>, Failure> {
        loop {
            if let Some(end) = self.matches(at, next + 1)? {
                return Ok(Some(end));
            }
            if !self.is_in(at, code, next) {
                return Ok(None);
            }
            at += 1;
        }
    }
}

/// Whether a byte belongs to the class of a letter; an upper-case letter negates its class.
fn is_of_class(byte: u8, letter: u8) -> bool {
    let is_member = match letter.to_ascii_lowercase() {
        b'a' => byte.is_ascii_alphabetic(),
        b'c' => byte.is_ascii_control(),
        b'd' => byte.is_ascii_digit(),
        b'l' => byte.is_ascii_lowercase(),
        b'p' => byte.is_ascii_punctuation(),
        b's' => byte.is_ascii_whitespace() || byte == 0x0b,
        b'u' => byte.is_ascii_uppercase(),
        b'w' => byte.is_ascii_alphanumeric(),
        b'x' => byte.is_ascii_hexdigit(),
        b'z' => byte == 0,
        _ => return letter == byte,
    };
    is_member != letter.is_ascii_uppercase()
}
