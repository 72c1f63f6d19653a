//! Reads JSON strictly: what two readers could understand differently is refused, or else read as Python does.
//! Knows nothing of where the bytes come from.

use super::scan::plain_prefix;
use super::{Json, Malformed, Number, Object, Reason};
use hifijson::escape::{self, Lex as _};
use hifijson::num::LexWrite as _;
use hifijson::token::Lex as _;
use hifijson::{Read as _, SliceLexer};
use std::collections::HashMap;

/// The deepest nesting of arrays and objects that is read.
pub const MAX_DEPTH: usize = 128;

/// The most digits of an integer that are read; that of Python's `int`.
pub const MAX_DIGITS: usize = 4300;

/// Up to here comparing keys one by one beats hashing them.
const FEW_KEYS: usize = 16;

/// Reads a text that is exactly one JSON value, with whitespace around it at most.
///
/// # Errors
/// Refuses whatever is not JSON in UTF-8, and of JSON: equal keys in one object (compared decoded),
/// half surrogate pairs, floats beyond `f64`, integers longer than [`MAX_DIGITS`] and nesting
/// deeper than [`MAX_DEPTH`].
pub fn parse(bytes: &[u8]) -> Result<Json, Malformed> {
    read(bytes, false)
}

/// The same for a text that nothing is decided by: of equal keys in one object the last value counts,
/// in the place of the first, and a float beyond `f64` keeps its spelling.
///
/// # Errors
/// As [`parse`] but for these two.
pub fn parse_lenient(bytes: &[u8]) -> Result<Json, Malformed> {
    read(bytes, true)
}

fn read(bytes: &[u8], lenient: bool) -> Result<Json, Malformed> {
    let text =
        std::str::from_utf8(bytes).map_err(|error| Malformed { offset: error.valid_up_to(), reason: Reason::Utf8 })?;
    let mut reader = Reader { text, lexer: SliceLexer::new(text.as_bytes()), lenient };
    let json = reader.document()?;
    match reader.lexer.ws_peek() {
        None => Ok(json),
        Some(_) => reader.fault(Reason::Trailing),
    }
}

struct Reader<'a> {
    text: &'a str,
    lexer: SliceLexer<'a>,
    lenient: bool,
}

impl Reader<'_> {
    /// Bytes read so far.
    fn position(&self) -> usize {
        self.text.len() - self.lexer.as_slice().len()
    }

    fn fault<T>(&self, reason: Reason) -> Result<T, Malformed> {
        self.fault_before(0, reason)
    }

    /// A fault that starts `back` bytes before the place reached.
    fn fault_before<T>(&self, back: usize, reason: Reason) -> Result<T, Malformed> {
        Err(Malformed { offset: self.position().saturating_sub(back), reason })
    }

    fn document(&mut self) -> Result<Json, Malformed> {
        if self.lexer.ws_peek().is_none() { self.fault(Reason::Empty) } else { self.value(MAX_DEPTH) }
    }

    /// `depth`: how many arrays and objects may still be opened. Bounds the recursion.
    fn value(&mut self, depth: usize) -> Result<Json, Malformed> {
        match self.lexer.ws_peek() {
            Some(b'"') => Ok(Json::String(self.string()?)),
            Some(b'[' | b'{') if depth == 0 => self.fault(Reason::Depth),
            Some(b'[') => self.array(depth - 1),
            Some(b'{') => self.object(depth - 1),
            Some(b'0'..=b'9' | b'-') => self.number(),
            _ => self.word(),
        }
    }

    fn word(&mut self) -> Result<Json, Malformed> {
        let rest = self.lexer.as_slice();
        if let Some(word) = ["NaN", "Infinity", "-Infinity"].into_iter().find(|word| rest.starts_with(word.as_bytes()))
        {
            return self.fault(Reason::NotFinite(word));
        }
        match self.lexer.null_or_bool() {
            Some(None) => Ok(Json::Null),
            Some(Some(value)) => Ok(Json::Bool(value)),
            None => {
                self.lexer = SliceLexer::new(rest);
                self.fault(Reason::Expected("a value"))
            }
        }
    }

    fn number(&mut self) -> Result<Json, Malformed> {
        if self.lexer.as_slice().starts_with(b"-I") {
            return self.word();
        }
        let start = self.position();
        let Ok((spelling, parts)) = self.lexer.num_string().validated() else {
            return self.fault(Reason::Expected("a digit"));
        };
        let number = Number::new(spelling, parts.is_int());
        let reason = if parts.is_int() {
            (spelling.trim_start_matches('-').len() > MAX_DIGITS).then_some(Reason::TooLong)
        } else {
            (!self.lenient && !number.to_f64().is_finite()).then_some(Reason::TooLarge)
        };
        match reason {
            None => Ok(Json::Number(number)),
            Some(reason) => Err(Malformed { offset: start, reason }),
        }
    }

    fn array(&mut self, depth: usize) -> Result<Json, Malformed> {
        let mut items = Vec::new();
        while self.item(b']', items.is_empty(), "`,` or `]`")? {
            items.push(self.value(depth)?);
        }
        Ok(Json::Array(items))
    }

    fn object(&mut self, depth: usize) -> Result<Json, Malformed> {
        let mut members: Vec<(String, Json)> = Vec::new();
        let mut places = HashMap::new();
        while self.item(b'}', members.is_empty(), "`,` or `}`")? {
            if self.lexer.ws_peek() != Some(b'"') {
                return self.fault(Reason::Expected("a key in quotes"));
            }
            let start = self.position();
            let name = self.string()?;
            let earlier = if members.len() < FEW_KEYS {
                members.iter().position(|(other, _)| *other == name)
            } else {
                if places.is_empty() {
                    places.extend(members.iter().enumerate().map(|(at, (other, _))| (other.clone(), at)));
                }
                let earlier = places.get(&name).copied();
                if earlier.is_none() {
                    places.insert(name.clone(), members.len());
                }
                earlier
            };
            if earlier.is_some() && !self.lenient {
                return Err(Malformed { offset: start, reason: Reason::DuplicateKey(name) });
            }
            if self.lexer.expect(SliceLexer::ws_peek, b':').is_none() {
                return self.fault(Reason::Expected("`:`"));
            }
            let value = self.value(depth)?;
            match earlier.and_then(|at| members.get_mut(at)) {
                Some((_, old)) => *old = value,
                None => members.push((name, value)),
            }
        }
        Ok(Json::Object(Object::new(members)))
    }

    /// Steps over an opening bracket or a comma to the next item, or over `end`: then false.
    fn item(&mut self, end: u8, first: bool, expected: &'static str) -> Result<bool, Malformed> {
        if first {
            self.lexer.take_next();
        }
        match self.lexer.ws_peek() {
            Some(byte) if byte == end => {
                self.lexer.take_next();
                Ok(false)
            }
            Some(_) if first => Ok(true),
            Some(b',') => {
                self.lexer.take_next();
                Ok(true)
            }
            _ => self.fault(Reason::Expected(expected)),
        }
    }

    /// The decoded string whose opening quote comes next.
    fn string(&mut self) -> Result<String, Malformed> {
        self.lexer.take_next();
        let mut decoded = String::new();
        loop {
            let start = self.position();
            let rest = self.lexer.as_slice();
            let plain = plain_prefix(rest);
            // Stops before an ASCII byte or at the end, so this is a character boundary.
            decoded.push_str(self.text.get(start..start + plain).unwrap_or_default());
            self.lexer = SliceLexer::new(rest.get(plain..).unwrap_or_default());
            match self.lexer.take_next() {
                Some(b'"') => return Ok(decoded),
                Some(b'\\') => decoded.push(self.escape()?),
                Some(_) => return self.fault_before(1, Reason::Control),
                None => return self.fault(Reason::Expected("the closing quote")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Malformed> {
        let Some(kind) = self.lexer.take_next() else {
            return self.fault(Reason::Expected("the rest of an escape sequence"));
        };
        match self.lexer.escape(kind) {
            Ok(decoded) => Ok(decoded),
            Err(escape::Error::Eof) => self.fault(Reason::Expected("the rest of an escape sequence")),
            Err(escape::Error::InvalidKind(_) | escape::Error::InvalidHex(_)) => self.fault_before(1, Reason::Escape),
            // The six bytes just read are the half pair, or stand where the other half should.
            Err(escape::Error::InvalidChar(_) | escape::Error::ExpectedLowSurrogate) => {
                self.fault_before(6, Reason::LoneSurrogate)
            }
        }
    }
}

#[cfg(test)]
mod tests;
