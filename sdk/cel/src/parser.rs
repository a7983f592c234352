//! The parser: a recursive descent with a limit of depth.

use crate::CompileError;
use crate::expression::{
    Comprehension, Expression, ListItem, Literal, MapEntry, Operator, Pattern,
};
use crate::functions::{self, Function};
use crate::lexer::{Token, TokenKind, tokens};

/// Maximum length of an expression, in bytes.
pub const EXPRESSION_BYTES_MAX: usize = 16 * 1024;
/// Maximum number of nested expressions. The stack of a component suffices for this many.
pub const DEPTH_MAX: usize = 64;

/// Words that are reserved for other languages and cannot be variables.
const RESERVED: [&str; 17] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// Names that are types, and cannot be variables.
const TYPES: [&str; 10] = [
    "bool",
    "bytes",
    "double",
    "int",
    "list",
    "map",
    "null_type",
    "string",
    "type",
    "uint",
];

/// Parses an expression.
pub(crate) fn parse(text: &str) -> Result<Expression, CompileError> {
    if text.len() > EXPRESSION_BYTES_MAX {
        return Err(CompileError::TooLong(text.len()));
    }
    let mut parser = Parser {
        tokens: tokens(text)?,
        next: 0,
        locals: Vec::new(),
        nesting: 0,
    };
    let parsed = parser.expression()?;
    if parser.peek() != &TokenKind::End {
        return Err(parser.unexpected("the end"));
    }
    Ok(parsed.expression)
}

/// An expression and its depth.
struct Parsed {
    expression: Expression,
    depth: usize,
}

impl From<Expression> for Parsed {
    fn from(expression: Expression) -> Self {
        Self {
            expression,
            depth: 1,
        }
    }
}

struct Parser {
    tokens: Vec<Token>,
    next: usize,
    /// The names of the variables of the enclosing macros, outermost first.
    locals: Vec<String>,
    /// Number of expressions whose parsing has begun.
    nesting: usize,
}

type Result<T, E = CompileError> = std::result::Result<T, E>;

impl Parser {
    fn peek(&self) -> &TokenKind {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> &TokenKind {
        let token = self.tokens.get(self.next + ahead);
        token.map_or(&TokenKind::End, |token| &token.kind)
    }

    /// The column of the next token, from 1.
    fn column(&self) -> usize {
        let token = self.tokens.get(self.next).or(self.tokens.last());
        token.map_or(1, |token| token.at + 1)
    }

    fn is_at(&self, mark: &str) -> bool {
        matches!(self.peek(), TokenKind::Mark(next) if *next == mark)
    }

    fn take(&mut self, mark: &str) -> bool {
        let is_there = self.is_at(mark);
        self.next += usize::from(is_there);
        is_there
    }

    fn expect(&mut self, mark: &str) -> Result<()> {
        if self.take(mark) {
            return Ok(());
        }
        Err(self.unexpected(&format!("`{mark}`")))
    }

    fn unexpected(&self, expected: &str) -> CompileError {
        let found = match self.peek() {
            TokenKind::Identifier(name) => format!("`{name}`"),
            TokenKind::Literal(_) | TokenKind::Whole(_) => "a literal".to_owned(),
            TokenKind::Mark(mark) => format!("`{mark}`"),
            TokenKind::End => "the end".to_owned(),
        };
        self.invalid(format!("expected {expected}, found {found}"))
    }

    fn invalid(&self, what: impl Into<String>) -> CompileError {
        CompileError::Invalid(self.column(), what.into())
    }

    /// An expression above others of this depth.
    fn above(&self, expression: Expression, below: usize) -> Result<Parsed> {
        let depth = below + 1;
        if depth > DEPTH_MAX {
            return Err(CompileError::TooDeep(self.column()));
        }
        Ok(Parsed { expression, depth })
    }

    fn expression(&mut self) -> Result<Parsed> {
        self.nesting += 1;
        if self.nesting > DEPTH_MAX {
            return Err(CompileError::TooDeep(self.column()));
        }
        let condition = self.logical("||")?;
        let parsed = if self.take("?") {
            let yes = self.logical("||")?;
            self.expect(":")?;
            let no = self.expression()?;
            let depth = condition.depth.max(yes.depth).max(no.depth);
            let parts = [condition.expression, yes.expression, no.expression];
            self.above(Expression::Conditional(Box::new(parts)), depth)
        } else {
            Ok(condition)
        };
        self.nesting -= 1;
        parsed
    }

    /// A chain of `||`, or of `&&`. A chain has one level, however long it is.
    fn logical(&mut self, mark: &str) -> Result<Parsed> {
        let is_any = mark == "||";
        let part = |parser: &mut Self| {
            if is_any {
                parser.logical("&&")
            } else {
                parser.binary(0)
            }
        };
        let first = part(self)?;
        if !self.is_at(mark) {
            return Ok(first);
        }
        let mut depth = first.depth;
        let mut parts = vec![first.expression];
        while self.take(mark) {
            let next = part(self)?;
            depth = depth.max(next.depth);
            parts.push(next.expression);
        }
        let chain = if is_any {
            Expression::Any
        } else {
            Expression::All
        };
        self.above(chain(parts), depth)
    }

    /// The operator at the next token, and how strongly it binds.
    fn operator(&self) -> Option<(Operator, usize)> {
        Some(match self.peek() {
            TokenKind::Identifier(name) if name == "in" => (Operator::In, 0),
            TokenKind::Mark(mark) => match *mark {
                "==" => (Operator::Equal, 0),
                "!=" => (Operator::NotEqual, 0),
                "<" => (Operator::Less, 0),
                "<=" => (Operator::LessOrEqual, 0),
                ">" => (Operator::Greater, 0),
                ">=" => (Operator::GreaterOrEqual, 0),
                "+" => (Operator::Add, 1),
                "-" => (Operator::Subtract, 1),
                "*" => (Operator::Multiply, 2),
                "/" => (Operator::Divide, 2),
                "%" => (Operator::Modulo, 2),
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Binary operators that bind at least this strongly, from the left.
    fn binary(&mut self, strength_min: usize) -> Result<Parsed> {
        let mut left = self.unary()?;
        while let Some((operator, strength)) = self.operator()
            && strength >= strength_min
        {
            self.next += 1;
            let right = self.binary(strength + 1)?;
            let depth = left.depth.max(right.depth);
            let operands = Box::new([left.expression, right.expression]);
            left = self.above(Expression::Binary { operator, operands }, depth)?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Parsed> {
        for mark in ["!", "-"] {
            let mut count = 0_usize;
            while self.take(mark) {
                count += 1;
            }
            if count == 0 {
                continue;
            }
            if mark == "-"
                && count == 1
                && let Some(parsed) = self.negative_literal()?
            {
                return Ok(parsed);
            }
            let operand = self.postfix()?;
            // Two of them have no effect, except that the operand must have the right type.
            let times = if count % 2 == 1 { 1 } else { 2 };
            let mut parsed = operand;
            for _ in 0..times {
                let inner = Box::new(parsed.expression);
                let outer = if mark == "!" {
                    Expression::Not
                } else {
                    Expression::Negative
                };
                parsed = self.above(outer(inner), parsed.depth)?;
            }
            return Ok(parsed);
        }
        self.postfix()
    }

    /// A number after a minus sign. It is one literal, so that the smallest int can be written.
    fn negative_literal(&mut self) -> Result<Option<Parsed>> {
        let literal = match self.peek() {
            TokenKind::Whole(magnitude) => Literal::Int(0_i64.wrapping_sub_unsigned(*magnitude)),
            TokenKind::Literal(Literal::Double(float)) => Literal::Double(-float),
            _ => return Ok(None),
        };
        self.next += 1;
        self.members(Expression::Literal(literal).into()).map(Some)
    }

    fn postfix(&mut self) -> Result<Parsed> {
        let primary = self.primary()?;
        self.members(primary)
    }

    /// Fields, indexes and methods after an operand.
    fn members(&mut self, mut operand: Parsed) -> Result<Parsed> {
        loop {
            if self.take(".") {
                let is_optional = self.take("?");
                let column = self.column();
                let name = self.name("a field or a function")?;
                operand = if self.is_at("(") && !is_optional {
                    self.method(operand, &name, column)?
                } else {
                    let depth = operand.depth;
                    let select = Expression::Select {
                        operand: Box::new(operand.expression),
                        field: name,
                        is_optional,
                    };
                    self.above(select, depth)?
                };
            } else if self.take("[") {
                let is_optional = self.take("?");
                let index = self.expression()?;
                self.expect("]")?;
                let depth = operand.depth.max(index.depth);
                let index = Expression::Index {
                    operand: Box::new(operand.expression),
                    index: Box::new(index.expression),
                    is_optional,
                };
                operand = self.above(index, depth)?;
            } else if self.is_at("{") {
                return Err(self.invalid("messages are not supported: objects are maps"));
            } else {
                return Ok(operand);
            }
        }
    }

    fn name(&mut self, expected: &str) -> Result<String> {
        match self.peek() {
            TokenKind::Identifier(name) if !is_keyword(name) => {
                let name = name.clone();
                self.next += 1;
                Ok(name)
            }
            _ => Err(self.unexpected(expected)),
        }
    }

    fn primary(&mut self) -> Result<Parsed> {
        let column = self.column();
        match self.peek().clone() {
            TokenKind::Literal(literal) => {
                self.next += 1;
                Ok(Expression::Literal(literal).into())
            }
            TokenKind::Whole(magnitude) => {
                let value = i64::try_from(magnitude);
                let value = value.map_err(|_| self.invalid("the number is too large"))?;
                self.next += 1;
                Ok(Expression::Literal(Literal::Int(value)).into())
            }
            TokenKind::Identifier(name) => {
                self.next += 1;
                self.named(&name, column)
            }
            TokenKind::Mark("(") => {
                self.next += 1;
                let inner = self.expression()?;
                self.expect(")")?;
                Ok(inner)
            }
            TokenKind::Mark("[") => self.list(),
            TokenKind::Mark("{") => self.map(),
            TokenKind::Mark(".") => {
                // A leading dot names a variable of the outermost scope.
                self.next += 1;
                let name = self.name("a name")?;
                Ok(Expression::Variable(name).into())
            }
            _ => Err(self.unexpected("an expression")),
        }
    }

    /// A literal, variable, type or function that starts with a name.
    fn named(&mut self, name: &str, column: usize) -> Result<Parsed> {
        let literal = match name {
            "true" => Some(Literal::Bool(true)),
            "false" => Some(Literal::Bool(false)),
            "null" => Some(Literal::Null),
            _ => None,
        };
        if let Some(literal) = literal {
            return Ok(Expression::Literal(literal).into());
        }
        let invalid = |what: String| CompileError::Invalid(column, what);
        if RESERVED.contains(&name) || name == "in" {
            return Err(invalid(format!("`{name}` is a reserved word")));
        }
        if self.is_at("(") {
            if name == "has" {
                return self.has(column);
            }
            let arguments = self.arguments()?;
            return self.call(functions::global(name), name, arguments, column);
        }
        if let Some(local) = self.locals.iter().rposition(|local| local == name) {
            return Ok(Expression::Local(local).into());
        }
        if let Some(name) = TYPES.iter().find(|known| **known == name) {
            return Ok(Expression::Literal(Literal::Type(name)).into());
        }
        match self.qualified(name) {
            Some((path, tokens)) => {
                let found = functions::global(path);
                let literal = qualified_type(path);
                self.next += tokens;
                if let Some(name) = literal {
                    return Ok(Expression::Literal(Literal::Type(name)).into());
                }
                let arguments = self.arguments()?;
                self.call(found, path, arguments, column)
            }
            None => Ok(Expression::Variable(name.to_owned()).into()),
        }
    }

    /// The function with a qualified name (`sets.contains`) or the type with such a name that starts
    /// with the last token, and the number of further tokens of its name.
    fn qualified(&self, first: &str) -> Option<(&'static str, usize)> {
        let mut path = first.to_owned();
        let mut tokens = 0;
        while let (TokenKind::Mark("."), TokenKind::Identifier(name)) =
            (self.peek_at(tokens), self.peek_at(tokens + 1))
        {
            path.push('.');
            path.push_str(name);
            tokens += 2;
            let is_call = matches!(self.peek_at(tokens), TokenKind::Mark("("));
            if let Some(known) = functions::qualified_name(&path).filter(|_| is_call) {
                return Some((known, tokens));
            }
            if let Some(known) = qualified_type(&path) {
                return Some((known, tokens));
            }
            if tokens >= 4 {
                break;
            }
        }
        None
    }

    fn arguments(&mut self) -> Result<Vec<Parsed>> {
        self.expect("(")?;
        let mut arguments = Vec::new();
        while !self.is_at(")") {
            arguments.push(self.expression()?);
            if !self.take(",") {
                break;
            }
        }
        self.expect(")")?;
        Ok(arguments)
    }

    /// The call of the function with this name and this number of arguments.
    fn call(
        &self,
        function: Option<Function>,
        name: &str,
        arguments: Vec<Parsed>,
        column: usize,
    ) -> Result<Parsed> {
        let invalid = |what: &str| CompileError::Invalid(column, what.to_owned());
        let function = function.ok_or_else(|| invalid(&format!("unknown function `{name}`")))?;
        if !function.arguments().contains(&arguments.len()) {
            return Err(invalid(&format!(
                "`{name}` does not take this number of arguments"
            )));
        }
        let depth = arguments.iter().map(|argument| argument.depth).max();
        let arguments = arguments.into_iter();
        let call = Expression::Call {
            function,
            arguments: arguments.map(|argument| argument.expression).collect(),
            pattern: Pattern::default(),
        };
        self.above(call, depth.unwrap_or_default())
    }

    /// A macro or a function after an operand.
    fn method(&mut self, operand: Parsed, name: &str, column: usize) -> Result<Parsed> {
        let comprehension = match name {
            "all" => Some(Comprehension::All),
            "exists" => Some(Comprehension::Exists),
            "exists_one" | "existsOne" => Some(Comprehension::ExistsOne),
            "map" => Some(Comprehension::Map),
            "filter" => Some(Comprehension::Filter),
            _ => None,
        };
        if let Some(kind) = comprehension {
            return self.comprehension(kind, operand);
        }
        if let "optMap" | "optFlatMap" = name {
            let mut bodies = self.bodies(1)?;
            let (body, body_depth) = bodies.pop().unwrap_or_else(nothing);
            let depth = operand.depth.max(body_depth);
            let map = Expression::OptionalMap {
                operand: Box::new(operand.expression),
                body: Box::new(body),
                is_flat: name == "optFlatMap",
            };
            return self.above(map, depth);
        }
        let mut arguments = vec![operand];
        arguments.extend(self.arguments()?);
        self.call(functions::method(name), name, arguments, column)
    }

    fn comprehension(&mut self, kind: Comprehension, range: Parsed) -> Result<Parsed> {
        let bodies_max = if kind == Comprehension::Map { 2 } else { 1 };
        let mut bodies = self.bodies(bodies_max)?;
        let depth = bodies.iter().map(|(_, depth)| *depth).max();
        let depth = range.depth.max(depth.unwrap_or_default());
        let (body, _) = bodies.pop().unwrap_or_else(nothing);
        let filter = bodies.pop().map(|(filter, _)| Box::new(filter));
        let comprehension = Expression::Comprehension {
            kind,
            range: Box::new(range.expression),
            filter,
            body: Box::new(body),
        };
        self.above(comprehension, depth)
    }

    /// The arguments of a macro: a variable, then one to `max` expressions that can use it.
    fn bodies(&mut self, max: usize) -> Result<Vec<(Expression, usize)>> {
        self.expect("(")?;
        let variable = self.name("the name of a variable")?;
        if RESERVED.contains(&variable.as_str()) {
            return Err(self.invalid(format!("`{variable}` is a reserved word")));
        }
        self.locals.push(variable);
        let mut bodies = Vec::new();
        while bodies.is_empty() || (bodies.len() < max && self.is_at(",")) {
            self.expect(",")?;
            let body = self.expression()?;
            bodies.push((body.expression, body.depth));
        }
        self.locals.pop();
        self.expect(")")?;
        Ok(bodies)
    }

    fn has(&mut self, column: usize) -> Result<Parsed> {
        let mut arguments = self.arguments()?;
        let argument = arguments.pop().filter(|_| arguments.is_empty());
        let Some(Parsed {
            expression:
                Expression::Select {
                    operand,
                    field,
                    is_optional: false,
                },
            depth,
        }) = argument
        else {
            let what = "`has` takes one field, such as `has(status.phase)`".to_owned();
            return Err(CompileError::Invalid(column, what));
        };
        Ok(Parsed {
            expression: Expression::Has { operand, field },
            depth,
        })
    }

    fn list(&mut self) -> Result<Parsed> {
        self.expect("[")?;
        let (mut items, mut depth) = (Vec::new(), 0);
        while !self.is_at("]") {
            let is_optional = self.take("?");
            let item = self.expression()?;
            depth = depth.max(item.depth);
            items.push(ListItem {
                value: item.expression,
                is_optional,
            });
            if !self.take(",") {
                break;
            }
        }
        self.expect("]")?;
        self.above(Expression::List(items), depth)
    }

    fn map(&mut self) -> Result<Parsed> {
        self.expect("{")?;
        let (mut entries, mut depth) = (Vec::new(), 0);
        while !self.is_at("}") {
            let is_optional = self.take("?");
            let key = self.expression()?;
            self.expect(":")?;
            let value = self.expression()?;
            depth = depth.max(key.depth).max(value.depth);
            let (key, value) = (key.expression, value.expression);
            entries.push(MapEntry {
                key,
                value,
                is_optional,
            });
            if !self.take(",") {
                break;
            }
        }
        self.expect("}")?;
        self.above(Expression::Map(entries), depth)
    }
}

/// The body of a macro without one. [`Parser::bodies`] always returns at least one.
fn nothing() -> (Expression, usize) {
    (Expression::Literal(Literal::Null), 1)
}

/// Names that cannot even be fields.
fn is_keyword(name: &str) -> bool {
    matches!(name, "in" | "true" | "false" | "null")
}

/// A type whose name contains dots.
fn qualified_type(path: &str) -> Option<&'static str> {
    let types = ["google.protobuf.Timestamp", "google.protobuf.Duration"];
    types.into_iter().find(|name| *name == path)
}
