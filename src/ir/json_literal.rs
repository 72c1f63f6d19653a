//! Which texts can occur in `payload`: JSON as Python spells it. A literal that cannot occur makes a
//! rule that never fires.
//!
//! The lexer of that spelling runs over the literal from every state at once, nesting ignored; the
//! literal can occur iff a run survives.

/// Where the lexer can stand between two characters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Between tokens.
    Between,
    /// After `,` or `:`, before the space that always follows.
    BeforeSpace,
    InString,
    AfterBackslash,
    /// In `\u00XX`: the digits read so far, and whether they began with `001`.
    Hex(u8, bool),
    /// In a number; the part says what may follow.
    Number(Part),
    /// In `true`, `false` or `null`: the word and the characters read.
    Word(u8, u8),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Minus,
    /// A leading zero, which no digit follows.
    Zero,
    Whole,
    Point,
    Fraction,
    Exponent,
    ExponentSign,
    ExponentDigits,
}

const WORDS: [&str; 3] = ["true", "false", "null"];

const PARTS: [Part; 8] = [
    Part::Minus,
    Part::Zero,
    Part::Whole,
    Part::Point,
    Part::Fraction,
    Part::Exponent,
    Part::ExponentSign,
    Part::ExponentDigits,
];

/// Whether `literal` can be part of a payload.
#[must_use]
pub fn can_occur_in_payload(literal: &str) -> bool {
    // Inside a string everything else stands for itself.
    if !literal.bytes().any(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)) {
        return true;
    }
    let mut states = every_state();
    let mut next = Vec::with_capacity(states.len());
    for c in literal.chars() {
        next.clear();
        for state in &states {
            step(*state, c, &mut |reached| {
                if !next.contains(&reached) {
                    next.push(reached);
                }
            });
        }
        std::mem::swap(&mut states, &mut next);
        if states.is_empty() {
            return false;
        }
    }
    true
}

fn every_state() -> Vec<State> {
    let mut states = vec![State::Between, State::BeforeSpace, State::InString, State::AfterBackslash];
    for digits in 0..4 {
        states.push(State::Hex(digits, false));
        states.push(State::Hex(digits, true));
    }
    states.extend(PARTS.map(State::Number));
    for (word, spelled) in (0..).zip(WORDS) {
        states.extend((1..spelled.len()).filter_map(|read| Some(State::Word(word, u8::try_from(read).ok()?))));
    }
    states
}

fn step(state: State, c: char, reach: &mut dyn FnMut(State)) {
    match state {
        State::Between => between(c, reach),
        State::BeforeSpace if c == ' ' => reach(State::Between),
        State::InString => match c {
            '"' => reach(State::Between),
            '\\' => reach(State::AfterBackslash),
            c if c >= ' ' => reach(State::InString),
            _ => {}
        },
        State::AfterBackslash => match c {
            '"' | '\\' | 'n' | 'r' | 't' | 'b' | 'f' => reach(State::InString),
            'u' => reach(State::Hex(0, false)),
            _ => {}
        },
        // Only controls without a short escape are spelled so: 00 to 1f, in lower case.
        State::Hex(0, _) if c == '0' => reach(State::Hex(1, false)),
        State::Hex(1, _) if c == '0' => reach(State::Hex(2, false)),
        State::Hex(2, _) if c == '0' || c == '1' => reach(State::Hex(3, c == '1')),
        State::Hex(3, one) => {
            let short = matches!(c, '8' | '9' | 'a' | 'c' | 'd') && !one;
            if matches!(c, '0'..='9' | 'a'..='f') && !short {
                reach(State::InString);
            }
        }
        State::Number(part) => number(part, c, reach),
        State::Word(word, read) => {
            let spelled = WORDS.get(usize::from(word)).copied().unwrap_or("");
            if spelled.chars().nth(usize::from(read)) == Some(c) {
                let read = read + 1;
                reach(if usize::from(read) == spelled.len() { State::Between } else { State::Word(word, read) });
            }
        }
        State::BeforeSpace | State::Hex(..) => {}
    }
}

fn between(c: char, reach: &mut dyn FnMut(State)) {
    match c {
        '"' => reach(State::InString),
        ',' | ':' => reach(State::BeforeSpace),
        '[' | ']' | '{' | '}' => reach(State::Between),
        '-' => reach(State::Number(Part::Minus)),
        '0' => reach(State::Number(Part::Zero)),
        '1'..='9' => reach(State::Number(Part::Whole)),
        't' => reach(State::Word(0, 1)),
        'f' => reach(State::Word(1, 1)),
        'n' => reach(State::Word(2, 1)),
        _ => {}
    }
}

fn number(part: Part, c: char, reach: &mut dyn FnMut(State)) {
    let digit = c.is_ascii_digit();
    let next = match (part, c) {
        (Part::Minus, '0') => Some(Part::Zero),
        (Part::Minus | Part::Whole, _) if digit => Some(Part::Whole),
        (Part::Zero | Part::Whole, '.') => Some(Part::Point),
        (Part::Point | Part::Fraction, _) if digit => Some(Part::Fraction),
        (Part::Whole | Part::Fraction, 'e') => Some(Part::Exponent),
        (Part::Exponent, '+' | '-') => Some(Part::ExponentSign),
        (Part::ExponentSign | Part::ExponentDigits, _) if digit => Some(Part::ExponentDigits),
        _ => None,
    };
    if let Some(next) = next {
        reach(State::Number(next));
    }
    // A number may end here, and the character begins what follows.
    if matches!(part, Part::Zero | Part::Whole | Part::Fraction | Part::ExponentDigits) && !digit {
        between(c, reach);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals() {
        for possible in [
            "/.env",
            "\"path\": \"",
            "\", \"",
            "/.env\"",
            "\\\"",
            "C:\\\\secret",
            "\\n",
            "\": null",
            "true}",
            "1.5e-0",
            "e+16",
            "é",
            ", ",
            ": ",
            "\"recipients\": [\"a@b\"]",
            "\u{7f}",
            "\\u001f",
            "001b",
            " ",
            "",
            "null, \"x\": -0.0",
            "\"participants\": []",
            ",",
            "a, b: c",
        ] {
            assert!(can_occur_in_payload(possible), "{possible:?}");
        }
        for impossible in [
            "C:\\secret",
            "a\"b",
            "line\nend",
            "\u{1}",
            "\"path\":\"",
            "password=\"h",
            "x\\u002f",
            "x\\u000A",
            "{\"a\":1}",
            "x\\/",
            "\t",
            "a\\ b",
        ] {
            assert!(!can_occur_in_payload(impossible), "{impossible:?}");
        }
        // What follows a backslash that is itself escaped is free.
        for possible in ["\\u002f", "\\/", "x\\"] {
            assert!(can_occur_in_payload(possible), "{possible:?}");
        }
    }
}
