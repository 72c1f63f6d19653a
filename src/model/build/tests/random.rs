//! Small random policies and calls. The same seed gives the same.

use crate::json::Json;
use std::fmt::Write;

pub(super) struct Random(u64);

const PARTS: &[&str] = &["a", "b", "ab", "/.env", "a/", "x"];
const TEXTS: &[&str] =
    &["", "a", "b", "ab", "ba", "/.env", "a/.env", "x", "a/b", "é\"", "b\n", "\\a", "p", "xx/.envab"];
const SPELLED: &[&str] = &[
    "ab",
    "/.env",
    "\"p\": \"a",
    "\"x\": [",
    "\", \"",
    "true",
    "\"k\": ",
    "\"k\": 1",
    "\\\"",
    "{\"x\"",
    "\"p\": \"\"",
];

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 11) % (end as u64)).unwrap()
    }

    pub(super) fn of<'t>(&mut self, all: &[&'t str]) -> &'t str {
        all[self.below(all.len())]
    }

    fn number(&mut self) -> String {
        match self.below(9) {
            0..=2 => self.below(7).to_string(),
            3..=4 => "k".to_owned(),
            5 => "n".to_owned(),
            6 => format!("n + {}", self.of(&["k", "1", "2 * k"])),
            7 => format!("k - {}", self.below(4)),
            _ => format!("ite({}, 1, {})", self.condition(0), self.below(3)),
        }
    }

    fn list(&mut self) -> String {
        format!("[\"{}\", \"{}\"]", self.of(PARTS), self.of(PARTS))
    }

    pub(super) fn condition(&mut self, depth: usize) -> String {
        if depth > 0 {
            let (a, b) = (self.condition(depth - 1), self.condition(depth - 1));
            match self.below(7) {
                0 | 1 => return format!("({a} and {b})"),
                2 | 3 => return format!("({a} or {b})"),
                4 => return format!("not {a}"),
                5 => return format!("implies({a}, {b})"),
                _ => return format!("ite({a}, {b}, {})", self.condition(0)),
            }
        }
        let subject = self.of(&["p", "q", "p", "call.text", "s"]);
        match self.below(18) {
            0 | 1 => format!("contains({subject}, \"{}\")", self.of(PARTS)),
            2 => format!("startswith({subject}, \"{}\")", self.of(PARTS)),
            3 => format!("endswith({subject}, \"{}\")", self.of(PARTS)),
            4 => format!("{subject} == \"{}\"", self.of(TEXTS).replace(['"', '\n', '\\'], "")),
            5 => format!("matches({subject}, {})", self.list()),
            6 => format!("member({subject}, {})", self.list()),
            7 | 8 => format!("contains(payload, '{}')", self.of(SPELLED).replace('\\', "\\\\")),
            9 => "flag".to_owned(),
            10 => "t".to_owned(),
            11 => format!("{} {} {}", self.number(), self.of(&["<", "<=", "==", "!=", ">", ">="]), self.number()),
            12 => format!("{} < {} <= {}", self.below(3), self.number(), self.number()),
            13 => format!("upstream == \"{}\"", self.of(&["fs", "db"])),
            14 => self
                .of(&[
                    "p == q",
                    "contains(p, q)",
                    "startswith(q, p)",
                    "p != q",
                    "contains('ab/x', p)",
                    "startswith('ba', q)",
                ])
                .to_owned(),
            15 => self.of(&["s == p", "s != q", "s == 'a'"]).to_owned(),
            16 => format!("{} // n == 1", self.below(3)),
            _ => format!("contains(tool, \"{}\")", self.of(&["read", "w"])),
        }
    }

    pub(super) fn policy(&mut self) -> String {
        let quote = |text: String| format!("{text:?}");
        let mut actions = String::new();
        for at in 0..=self.below(2) {
            let depth = self.below(3);
            let guards: Vec<String> = (0..=self.below(2)).map(|_| quote(self.condition(depth))).collect();
            let mut effect = vec![format!("t: {}", quote(self.condition(1)))];
            if self.below(2) == 0 {
                effect.push(format!("n: {}", quote(self.number())));
            }
            if self.below(3) == 0 {
                effect.push(format!("s: {}", self.of(&["p", "\"'ab'\"", "\"ite(t, p, 'x')\"", "q"])));
            }
            let results = format!(
                "t: {}",
                quote(format!(
                    "{} or contains(result, '{}') and matches(call.result_text, {})",
                    self.condition(0),
                    self.of(PARTS),
                    self.list()
                ))
            );
            let _ = writeln!(
                actions,
                "  - {{name: a{at}, match: \"{}\", args: {{p: str, q: str, k: int, flag: bool}}, requires: [{}], effect: {{{}}}, on_result: {{{results}}}}}",
                self.of(&["fs__read", "fs__*", "fs__read", "*__w"]),
                guards.join(", "),
                effect.join(", "),
            );
        }
        format!(
            "state: {{t: {{type: bool, init: false}}, n: {{type: int, init: 1}}, s: {{type: str, init: x}}}}\n\
             invariants: [{{name: i, expr: n <= {}}}]\nactions:\n{actions}",
            5 + self.below(5),
        )
    }

    pub(super) fn call(&mut self, texts: &[String]) -> Json {
        let text = |random: &mut Self| match random.below(3) {
            0 if !texts.is_empty() => texts[random.below(texts.len())].clone(),
            1 => format!("{}{}", random.of(TEXTS), random.of(TEXTS)),
            _ => random.of(TEXTS).to_owned(),
        };
        let mut call = crate::json::Object::default();
        call.set("p", Json::String(text(self)));
        call.set(
            "q",
            Json::String(if self.below(4) == 0 {
                call.get("p").unwrap().as_str().unwrap().to_owned()
            } else {
                text(self)
            }),
        );
        let number = i64::try_from(self.below(14)).unwrap() - 4;
        call.set("k", Json::Number(number.into()));
        call.set("flag", Json::Bool(self.below(2) == 0));
        if self.below(2) == 0 {
            let inner = Json::Array(vec![Json::String(text(self)), Json::Bool(true)]);
            call.set(self.of(&["x", "a", "z/.env", "ab"]), inner);
        }
        Json::Object(call)
    }

    pub(super) fn answer(&mut self) -> Json {
        let text = format!("{}{}", self.of(TEXTS), self.of(TEXTS));
        match self.below(3) {
            0 => Json::String(text),
            1 => Json::String(format!("[\"\\u0061b\", {text:?}]")),
            _ => {
                let mut result = crate::json::Object::default();
                result.set("structuredContent", Json::Array(vec![Json::String(text)]));
                Json::Object(result)
            }
        }
    }
}
