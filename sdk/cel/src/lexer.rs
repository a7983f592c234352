//! Tokens of an expression.

use crate::CompileError;
use crate::expression::Literal;
use crate::literal;

/// A token and the position of its first byte.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) at: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TokenKind {
    Identifier(String),
    Literal(Literal),
    /// The digits of a whole number, which may follow a minus sign: their value, at most 2^63.
    Whole(u64),
    /// An operator, a bracket, or another mark.
    Mark(&'static str),
    End,
}

/// The marks, longer ones first.
const MARKS: [&str; 25] = [
    "||", "&&", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "!", "?", ":", ".", ",",
    "(", ")", "[", "]", "{", "}", "=",
];

/// Splits a text into tokens. The last one is [`TokenKind::End`].
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, CompileError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    loop {
        at += blank(rest(text, at));
        let rest = rest(text, at);
        if rest.is_empty() {
            tokens.push(Token {
                kind: TokenKind::End,
                at,
            });
            return Ok(tokens);
        }
        let (kind, length) = token(rest, at)?;
        tokens.push(Token { kind, at });
        at += length;
    }
}

fn rest(text: &str, at: usize) -> &str {
    text.get(at..).unwrap_or_default()
}

/// The length of white space and comments at the start of a text.
fn blank(text: &str) -> usize {
    let mut at = 0;
    loop {
        let now = rest(text, at);
        let space = now.len()
            - now
                .trim_start_matches([' ', '\t', '\n', '\r', '\x0c'])
                .len();
        let comment = match rest(now, space) {
            after if after.starts_with("//") => after.find('\n').unwrap_or(after.len()),
            _ => 0,
        };
        if space + comment == 0 {
            return at;
        }
        at += space + comment;
    }
}

/// The first token of a text and its length.
fn token(text: &str, at: usize) -> Result<(TokenKind, usize), CompileError> {
    let invalid = |what: String| CompileError::Invalid(at + 1, what);
    if let Some((literal, length)) = literal::quoted(text).map_err(invalid)? {
        return Ok((TokenKind::Literal(literal), length));
    }
    let mut bytes = text.bytes();
    let (first, second) = (bytes.next(), bytes.next());
    let is_digit = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_digit());
    if is_digit(first) || (first == Some(b'.') && is_digit(second)) {
        return literal::number(text).map_err(invalid);
    }
    let is_name_byte = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let length = text.bytes().take_while(|&byte| is_name_byte(byte)).count();
    if length > 0 {
        let name = text.get(..length).unwrap_or_default().to_owned();
        return Ok((TokenKind::Identifier(name), length));
    }
    let mark = MARKS.into_iter().find(|mark| text.starts_with(mark));
    mark.map(|mark| (TokenKind::Mark(mark), mark.len()))
        .ok_or_else(|| {
            let character = text.chars().next().unwrap_or_default();
            invalid(format!("unexpected character `{character}`"))
        })
}
