//! Operators, words and punctuation of other languages: what each is called here.

use super::token::Token;
use crate::text::Code;

/// A spelling that is not ours, and the token it stands for so that parsing goes on.
#[derive(Debug)]
pub(crate) struct Foreign {
    pub(crate) code: Code,
    pub(crate) message: &'static str,
    pub(crate) help: &'static str,
    pub(crate) token: Token,
}

fn operator(message: &'static str, help: &'static str, token: Token) -> Foreign {
    Foreign { code: Code::PX0103, message, help, token }
}

fn construct(message: &'static str, help: &'static str) -> Foreign {
    Foreign { code: Code::PX0102, message, help, token: Token::Invalid }
}

/// The symbol's replacement; every symbol that the lexer calls foreign has one.
pub(crate) fn symbol(spelled: &str) -> Foreign {
    match spelled {
        "&&" | "&" => operator("`and` is written as a word", "write `and`", Token::And),
        "||" | "|" => operator("`or` is written as a word", "write `or`", Token::Or),
        "!" | "~" => operator("`not` is written as a word", "write `not`, as in `not tainted`", Token::Not),
        "=" => operator(
            "`=` assigns nothing here",
            "write `==` to compare; a variable is assigned under `effect:`",
            Token::EqEq,
        ),
        "===" | "<=>" => operator("equality is `==`", "write `==`", Token::EqEq),
        "!==" | "<>" => operator("inequality is `!=`", "write `!=`", Token::Ne),
        "=<" => operator("this comparison is written the other way round", "write `<=`", Token::Le),
        "=>" => operator("`=>` is no operator", "write `>=` to compare, or `implies(a, b)`", Token::Ge),
        "->" => operator("`->` is no operator", "write `implies(a, b)`", Token::Invalid),
        "/" => operator(
            "`/` is no operator: numbers are whole",
            "write `//`, which rounds down as in Python",
            Token::SlashSlash,
        ),
        "**" => operator("there is no power operator", "multiply: `n * n`", Token::Star),
        "^" => operator("there is no `^` operator", "for two booleans write `a != b`", Token::Ne),
        "+=" | "-=" | "*=" => operator(
            "expressions do not assign",
            "write the new value under `effect:`, as in `n: n + 1`",
            Token::Invalid,
        ),
        ":=" => operator("expressions do not assign", "write `==` to compare", Token::EqEq),
        "≤" => operator("operators are written in ASCII", "write `<=`", Token::Le),
        "≥" => operator("operators are written in ASCII", "write `>=`", Token::Ge),
        "≠" => operator("operators are written in ASCII", "write `!=`", Token::Ne),
        "¬" => operator("operators are written in ASCII", "write `not`", Token::Not),
        "∧" => operator("operators are written in ASCII", "write `and`", Token::And),
        "∨" => operator("operators are written in ASCII", "write `or`", Token::Or),
        "−" => operator("operators are written in ASCII", "write `-`", Token::Minus),
        "×" => operator("operators are written in ASCII", "write `*`", Token::Star),
        "<<" | ">>" => operator("there are no shift operators", "multiply or divide: `n * 2`, `n // 2`", Token::Star),
        "?" => construct("`c ? a : b` is not praxiom's choice", "write `ite(c, a, b)`"),
        ":" => {
            construct("`:` has no meaning inside an expression", "write `ite(c, a, b)` to choose between two values")
        }
        ";" => construct("`;` separates nothing here", "write several rules as a YAML list, or join them with `and`"),
        "." => construct("`.` has no meaning here", "call built-ins as functions: `startswith(path, \"/w/\")`"),
        "$" => construct("`$` has no meaning here", "name a variable by its bare name: `tainted`"),
        "@" => construct("`@` has no meaning here", "name a variable by its bare name: `tainted`"),
        "\\" => construct("a backslash stands only inside quotes", "an expression may run over lines without one"),
        "`" => construct("backticks do not quote", "write texts in double or single quotes"),
        _ => construct("this character has no meaning in an expression", "remove it, or put it in quotes"),
    }
}

/// What a Python keyword stands for, but for `if`, `else` and `in`, which the grammar reads.
pub(crate) fn word(spelled: &str) -> Foreign {
    match spelled {
        "None" => construct("there is no `None`", "a declared argument is always present; compare with a value"),
        "lambda" => construct("there are no lambdas", "write the condition itself"),
        "for" => construct("there are no comprehensions", "use `matches(text, LIST)` or `member(text, LIST)`"),
        "is" => operator("`is` compares identity in Python", "write `==`", Token::EqEq),
        "as" | "assert" | "await" | "async" | "yield" | "return" | "raise" | "try" | "with" | "while" | "import"
        | "from" | "def" | "class" | "del" | "global" | "nonlocal" | "pass" | "break" | "continue" | "elif"
        | "except" | "finally" => construct(
            "this word is a keyword of Python and has no meaning here",
            "an expression is built from names, literals, operators and built-in functions",
        ),
        _ => construct("this word has no meaning here", "remove it"),
    }
}

/// Quotes that word processors write.
pub(crate) fn is_curly_quote(c: char) -> bool {
    matches!(c, '\u{2018}' | '\u{2019}' | '\u{201c}' | '\u{201d}' | '\u{00ab}' | '\u{00bb}' | '\u{201e}')
}
