//! From the text of a script to its tokens.

use crate::CompileError;
use crate::number;

/// A token of Lua.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token {
    Name(String),
    String(Vec<u8>),
    Number(f64),
    /// A keyword or an operator.
    Word(&'static str),
    End,
}

const KEYWORDS: [&str; 22] = [
    "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in",
    "local", "nil", "not", "or", "repeat", "return", "then", "true", "until", "while",
];

/// Operators, longer ones before their prefixes.
const OPERATORS: [&str; 27] = [
    "...", "..", "==", "~=", "<=", ">=", "::", "+", "-", "*", "/", "%", "^", "#", "<", ">", "=",
    "(", ")", "{", "}", "[", "]", ";", ":", ",", ".",
];

pub(crate) struct Lexer<'s> {
    source: &'s [u8],
    at: usize,
    /// The line of the next token, from 1.
    line: u32,
}

impl<'s> Lexer<'s> {
    pub(crate) fn new(source: &'s [u8]) -> Self {
        let mut lexer = Self {
            source,
            at: 0,
            line: 1,
        };
        if source.starts_with(b"#") {
            lexer.skip_line();
        }
        lexer
    }

    /// The next token with its line.
    pub(crate) fn next(&mut self) -> Result<(Token, u32), CompileError> {
        self.skip_blank()?;
        let line = self.line;
        let Some(first) = self.peek(0) else {
            return Ok((Token::End, line));
        };
        let token = match first {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.word(),
            b'0'..=b'9' => self.number()?,
            b'.' if self.peek(1).is_some_and(|byte| byte.is_ascii_digit()) => self.number()?,
            b'"' | b'\'' => Token::String(self.quoted(first)?),
            b'[' if matches!(self.peek(1), Some(b'[' | b'=')) => match self.long_level() {
                Some(level) => Token::String(self.long(level)?),
                None => self.operator()?,
            },
            _ => self.operator()?,
        };
        Ok((token, line))
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.source.get(self.at + ahead).copied()
    }

    fn rest(&self) -> &'s [u8] {
        self.source.get(self.at..).unwrap_or_default()
    }

    fn error(&self, what: impl Into<String>) -> CompileError {
        CompileError {
            line: self.line,
            what: what.into(),
        }
    }

    fn skip_line(&mut self) {
        while self.peek(0).is_some_and(|byte| byte != b'\n') {
            self.at += 1;
        }
    }

    fn skip_blank(&mut self) -> Result<(), CompileError> {
        loop {
            match self.peek(0) {
                Some(b'\n') => {
                    self.line += 1;
                    self.at += 1;
                }
                Some(b' ' | b'\t' | b'\r' | 0x0b | 0x0c) => self.at += 1,
                Some(b'-') if self.peek(1) == Some(b'-') => {
                    self.at += 2;
                    match self.long_level() {
                        Some(level) => {
                            self.long(level)?;
                        }
                        None => self.skip_line(),
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    fn word(&mut self) -> Token {
        let rest = self.rest();
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let length = rest.iter().take_while(|byte| is_part(byte)).count();
        let word = rest.get(..length).unwrap_or_default();
        let word = String::from_utf8_lossy(word).into_owned();
        self.at += length;
        match KEYWORDS.iter().find(|keyword| **keyword == word) {
            Some(keyword) => Token::Word(keyword),
            None => Token::Name(word),
        }
    }

    fn number(&mut self) -> Result<Token, CompileError> {
        let rest = self.rest();
        let mut length = 0;
        while let Some(&byte) = rest.get(length) {
            let after_exponent = length > 0
                && matches!(rest.get(length - 1), Some(b'e' | b'E'))
                && !rest.starts_with(b"0x")
                && !rest.starts_with(b"0X");
            if byte.is_ascii_alphanumeric()
                || byte == b'.'
                || (after_exponent && matches!(byte, b'+' | b'-'))
            {
                length += 1;
            } else {
                break;
            }
        }
        let text = rest.get(..length).unwrap_or_default();
        let value = number::literal(text).ok_or_else(|| {
            self.error(format!(
                "malformed number near '{}'",
                String::from_utf8_lossy(text)
            ))
        })?;
        self.at += length;
        Ok(Token::Number(value))
    }

    fn operator(&mut self) -> Result<Token, CompileError> {
        let rest = self.rest();
        let found = OPERATORS
            .iter()
            .find(|operator| rest.starts_with(operator.as_bytes()));
        if let Some(operator) = found {
            self.at += operator.len();
            Ok(Token::Word(operator))
        } else {
            let first = String::from_utf8_lossy(rest).chars().next();
            Err(self.error(format!("unexpected symbol '{}'", first.unwrap_or('?'))))
        }
    }

    /// The level of a long bracket (`[[`, `[=[`) at this place.
    fn long_level(&self) -> Option<usize> {
        let rest = self.rest().strip_prefix(b"[")?;
        let level = rest.iter().take_while(|byte| **byte == b'=').count();
        (rest.get(level) == Some(&b'[')).then_some(level)
    }

    /// The text in a long bracket.
    fn long(&mut self, level: usize) -> Result<Vec<u8>, CompileError> {
        self.at += level + 2;
        if self.rest().starts_with(b"\r\n") {
            self.at += 1;
        }
        if self.peek(0) == Some(b'\n') {
            self.at += 1;
            self.line += 1;
        }
        let close = [b"]".as_slice(), &vec![b'='; level], b"]"].concat();
        let rest = self.rest();
        let end = rest.windows(close.len()).position(|part| part == close);
        let Some(text) = end.and_then(|end| rest.get(..end)) else {
            return Err(self.error("unfinished long string or comment"));
        };
        let lines = text.split(|byte| *byte == b'\n').count() - 1;
        self.line += u32::try_from(lines).unwrap_or(u32::MAX);
        self.at += text.len() + close.len();
        Ok(text.to_vec())
    }

    fn quoted(&mut self, quote: u8) -> Result<Vec<u8>, CompileError> {
        self.at += 1;
        let mut text = Vec::new();
        loop {
            let byte = self.peek(0);
            self.at += 1;
            match byte {
                Some(byte) if byte == quote => return Ok(text),
                None | Some(b'\n') => return Err(self.error("unfinished string")),
                Some(b'\\') => self.escape(&mut text)?,
                Some(byte) => text.push(byte),
            }
        }
    }

    fn escape(&mut self, text: &mut Vec<u8>) -> Result<(), CompileError> {
        let Some(byte) = self.peek(0) else {
            return Err(self.error("unfinished string"));
        };
        self.at += 1;
        text.push(match byte {
            b'a' => 0x07,
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 0x0b,
            b'\n' => {
                self.line += 1;
                b'\n'
            }
            b'0'..=b'9' => {
                let mut code = u32::from(byte - b'0');
                for _ in 0..2 {
                    let Some(digit @ b'0'..=b'9') = self.peek(0) else {
                        break;
                    };
                    code = code * 10 + u32::from(digit - b'0');
                    self.at += 1;
                }
                u8::try_from(code).map_err(|_| self.error("escape sequence too large"))?
            }
            other => other,
        });
        Ok(())
    }
}
