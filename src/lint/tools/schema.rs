//! What the JSON Schema of a tool says of one argument. Schemas come from servers: they may be cyclic,
//! huge or nonsense, and then nothing is claimed. Knows nothing of policies.

use crate::ir::Type;
use crate::json::Json;
use std::collections::BTreeSet;

/// The deepest nesting that is followed, references included.
const MAX_DEPTH: usize = 64;

/// Keywords by which a schema takes more arguments than it lists, under conditions that are not followed here.
const CONDITIONAL: [&str; 6] = ["then", "else", "dependentSchemas", "dependencies", "$dynamicRef", "$recursiveRef"];

/// What a schema says of an argument.
#[derive(Debug)]
pub(super) enum Argument<'j> {
    Takes(Values<'j>),
    /// The schema lists its arguments, these, and it is none of them.
    Lacks(BTreeSet<&'j str>),
}

/// What may stand as an argument.
#[derive(Clone, Debug)]
pub(super) struct Values<'j> {
    kinds: u8,
    /// All values of the type that was asked for, where they are listed.
    exact: Option<Vec<&'j Json>>,
}

const NULL: u8 = 1;
const BOOLEAN: u8 = 1 << 1;
const INTEGER: u8 = 1 << 2;
/// A number that is no integer.
const FRACTION: u8 = 1 << 3;
const STRING: u8 = 1 << 4;
const ARRAY: u8 = 1 << 5;
const OBJECT: u8 = 1 << 6;
const ALL: u8 = (1 << 7) - 1;

const NAMES: [(&str, u8); 7] = [
    ("boolean", BOOLEAN),
    ("integer", INTEGER),
    ("number", INTEGER | FRACTION),
    ("string", STRING),
    ("array", ARRAY),
    ("object", OBJECT),
    ("null", NULL),
];

impl<'j> Values<'j> {
    const ANY: Self = Self { kinds: ALL, exact: None };

    /// Whether something is said at all, and it can be met.
    fn is_clear(&self) -> bool {
        self.kinds != ALL && self.kinds != 0
    }

    /// Whether no value of the type is taken.
    pub(super) fn exclude(&self, ty: Type) -> bool {
        self.is_clear() && self.kinds & kind(ty) == 0
    }

    /// Whether numbers are taken that are not whole.
    pub(super) fn have_fractions(&self) -> bool {
        self.is_clear() && self.kinds & FRACTION != 0
    }

    /// All values of the type that was asked for, where they are listed.
    pub(super) fn listed(&self) -> Option<&[&'j Json]> {
        self.exact.as_deref().filter(|_| self.is_clear())
    }

    /// The types in the schema's words.
    pub(super) fn names(&self) -> Vec<&'static str> {
        let has = |bits: u8| self.kinds & bits == bits;
        let number = has(INTEGER | FRACTION);
        // `null` stands for an argument that is left out.
        let kept = |name: &str| match name {
            "integer" => !number,
            "null" => self.kinds == NULL,
            _ => true,
        };
        NAMES.iter().filter(|(name, bits)| has(*bits) && kept(name)).map(|(name, _)| *name).collect()
    }

    /// The one type of a policy among those that are taken.
    pub(super) fn only_type(&self) -> Option<Type> {
        let mut fitting = Type::ALL.into_iter().filter(|ty| self.kinds & kind(*ty) != 0);
        let first = fitting.next()?;
        (fitting.next().is_none() && self.kinds & (FRACTION | ARRAY | OBJECT) == 0).then_some(first)
    }
}

fn kind(ty: Type) -> u8 {
    match ty {
        Type::Bool => BOOLEAN,
        Type::Int => INTEGER,
        Type::Str => STRING,
    }
}

/// The question took too long or leads nowhere.
struct Unclear;

/// What a part of a schema says of the argument.
enum Says<'j> {
    /// No object can be of it.
    Never,
    /// Nothing of any argument.
    Nothing,
    /// Arguments that it does not list are taken too.
    Open,
    Names(BTreeSet<&'j str>),
    Takes(Values<'j>),
}

/// What `schema` says of the argument `name`, declared as `ty`; `None`: nothing. Takes from `budget` what the
/// answer cost, and gives up where that is used up.
pub(super) fn argument<'j>(schema: &'j Json, name: &str, ty: Type, budget: &mut usize) -> Option<Argument<'j>> {
    let mut reader = Reader { root: schema, name, ty, budget };
    match reader.says(schema, 0) {
        Ok(Says::Takes(values)) => Some(Argument::Takes(values)),
        Ok(Says::Names(names)) => Some(Argument::Lacks(names)),
        Ok(Says::Never | Says::Nothing | Says::Open) | Err(Unclear) => None,
    }
}

struct Reader<'j, 'q> {
    root: &'j Json,
    name: &'q str,
    ty: Type,
    budget: &'q mut usize,
}

impl<'j> Reader<'j, '_> {
    fn spend(&mut self, cost: usize) -> Result<(), Unclear> {
        *self.budget = self.budget.saturating_sub(cost);
        if *self.budget == 0 { Err(Unclear) } else { Ok(()) }
    }

    fn says(&mut self, node: &'j Json, depth: usize) -> Result<Says<'j>, Unclear> {
        self.spend(1)?;
        if depth > MAX_DEPTH {
            return Err(Unclear);
        }
        if node.as_object().is_none() {
            return Ok(match node {
                Json::Bool(true) => Says::Nothing,
                Json::Bool(false) => Says::Never,
                _ => Says::Open,
            });
        }
        if node.get("type").is_some_and(|ty| kinds(ty) & OBJECT == 0) {
            return Ok(Says::Never);
        }
        let mut said = self.own(node, depth)?;
        if let Some(target) = node.get("$ref") {
            let target = self.target(target)?;
            said = and(said, self.says(target, depth + 1)?);
        }
        for part in node.get("allOf").and_then(Json::as_array).unwrap_or_default() {
            said = and(said, self.says(part, depth + 1)?);
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(branches) = node.get(key).and_then(Json::as_array) {
                said = and(said, self.branches(branches, depth)?);
            }
        }
        if CONDITIONAL.iter().any(|key| node.get(key).is_some()) {
            said = and(said, Says::Open);
        }
        Ok(said)
    }

    fn own(&mut self, node: &'j Json, depth: usize) -> Result<Says<'j>, Unclear> {
        let properties = node.get("properties").and_then(Json::as_object);
        if let Some(properties) = properties {
            self.spend(properties.len())?;
            if let Some(schema) = properties.get(self.name) {
                return Ok(Says::Takes(self.values(schema, depth + 1)?));
            }
        }
        let open = |key: &str| node.get(key).is_some_and(|more| *more != Json::Bool(false));
        let patterns = node.get("patternProperties").is_some_and(|more| more.as_object().is_none_or(|m| !m.is_empty()));
        if patterns || open("additionalProperties") || open("unevaluatedProperties") {
            return Ok(Says::Open);
        }
        let closed = node.get("additionalProperties").or(node.get("unevaluatedProperties")).is_some();
        let names: BTreeSet<&str> = properties.into_iter().flat_map(|all| all.iter().map(|(name, _)| name)).collect();
        Ok(if closed || !names.is_empty() { Says::Names(names) } else { Says::Nothing })
    }

    /// One of the branches must be met.
    fn branches(&mut self, branches: &'j [Json], depth: usize) -> Result<Says<'j>, Unclear> {
        let mut any = Says::Never;
        for branch in branches {
            any = or(any, self.says(branch, depth + 1)?, self.ty);
        }
        Ok(any)
    }

    /// What a schema takes as a value of any kind.
    fn values(&mut self, node: &'j Json, depth: usize) -> Result<Values<'j>, Unclear> {
        self.spend(1)?;
        if depth > MAX_DEPTH {
            return Err(Unclear);
        }
        let mut values = Values::ANY;
        if let Some(ty) = node.get("type") {
            values.kinds = kinds(ty);
        }
        let whole = |step: &Json| matches!(step, Json::Number(number) if number.is_integer());
        if node.get("multipleOf").is_some_and(whole) {
            values.kinds &= !FRACTION;
        }
        let listed = node.get("enum").and_then(Json::as_array);
        for literals in [listed, node.get("const").map(std::slice::from_ref)].into_iter().flatten() {
            self.spend(literals.len())?;
            values = meet(values, self.of_literals(literals));
        }
        if let Some(target) = node.get("$ref") {
            let target = self.target(target)?;
            values = meet(values, self.values(target, depth + 1)?);
        }
        for part in node.get("allOf").and_then(Json::as_array).unwrap_or_default() {
            values = meet(values, self.values(part, depth + 1)?);
        }
        for key in ["anyOf", "oneOf"] {
            let Some(branches) = node.get(key).and_then(Json::as_array) else { continue };
            let mut any = Values { kinds: 0, exact: None };
            for branch in branches {
                any = join(any, self.values(branch, depth + 1)?, self.ty);
            }
            values = meet(values, any);
        }
        self.spend(values.exact.as_ref().map_or(0, Vec::len))?;
        Ok(values)
    }

    fn of_literals(&self, literals: &'j [Json]) -> Values<'j> {
        let mut kinds = 0;
        let mut exact = Some(Vec::new());
        for literal in literals {
            let own = match literal {
                Json::Null => NULL,
                Json::Bool(_) => BOOLEAN,
                Json::Number(number) if number.is_integer() => INTEGER,
                // `1.0` is 1 to a schema.
                Json::Number(_) => INTEGER | FRACTION,
                Json::String(_) => STRING,
                Json::Array(_) => ARRAY,
                Json::Object(_) => OBJECT,
            };
            kinds |= own;
            match &mut exact {
                Some(all) if own == kind(self.ty) => all.push(literal),
                _ if own & kind(self.ty) != 0 => exact = None,
                _ => {}
            }
        }
        Values { kinds, exact }
    }

    /// The schema that a reference into the same document names.
    fn target(&mut self, reference: &Json) -> Result<&'j Json, Unclear> {
        let pointer = reference.as_str().and_then(|text| text.strip_prefix('#')).ok_or(Unclear)?;
        let pointer = percent_decoded(pointer).ok_or(Unclear)?;
        let mut node = self.root;
        let mut steps = pointer.split('/');
        // An anchor is no pointer.
        if steps.next() != Some("") {
            return Err(Unclear);
        }
        for step in steps {
            let step = step.replace("~1", "/").replace("~0", "~");
            node = match node {
                Json::Object(object) => {
                    self.spend(object.len())?;
                    object.get(&step)
                }
                Json::Array(items) => step.parse().ok().and_then(|at: usize| items.get(at)),
                _ => None,
            }
            .ok_or(Unclear)?;
        }
        Ok(node)
    }
}

fn and<'j>(a: Says<'j>, b: Says<'j>) -> Says<'j> {
    match (a, b) {
        (Says::Never, _) | (_, Says::Never) => Says::Never,
        (Says::Takes(a), Says::Takes(b)) => Says::Takes(meet(a, b)),
        (Says::Takes(values), _) | (_, Says::Takes(values)) => Says::Takes(values),
        (Says::Open, _) | (_, Says::Open) => Says::Open,
        (Says::Names(mut a), Says::Names(b)) => {
            a.extend(b);
            Says::Names(a)
        }
        (said, Says::Nothing) | (Says::Nothing, said) => said,
    }
}

fn or<'j>(a: Says<'j>, b: Says<'j>, ty: Type) -> Says<'j> {
    match (a, b) {
        (said, Says::Never) | (Says::Never, said) => said,
        (Says::Takes(a), Says::Takes(b)) => Says::Takes(join(a, b, ty)),
        (Says::Takes(_), Says::Open | Says::Nothing) | (Says::Open | Says::Nothing, Says::Takes(_)) => {
            Says::Takes(Values::ANY)
        }
        (Says::Takes(values), Says::Names(_)) | (Says::Names(_), Says::Takes(values)) => Says::Takes(values),
        (Says::Open, _) | (_, Says::Open) => Says::Open,
        (Says::Nothing, _) | (_, Says::Nothing) => Says::Nothing,
        (Says::Names(mut a), Says::Names(b)) => {
            a.extend(b);
            Says::Names(a)
        }
    }
}

fn meet<'j>(a: Values<'j>, b: Values<'j>) -> Values<'j> {
    let exact = match (a.exact, b.exact) {
        (Some(a), Some(b)) => {
            let b: BTreeSet<String> = b.into_iter().map(spelled).collect();
            Some(a.into_iter().filter(|value| b.contains(&spelled(value))).collect())
        }
        (one, other) => one.or(other),
    };
    Values { kinds: a.kinds & b.kinds, exact }
}

fn join<'j>(a: Values<'j>, b: Values<'j>, ty: Type) -> Values<'j> {
    let kinds = a.kinds | b.kinds;
    let values = |values: Values<'j>| if values.kinds & kind(ty) == 0 { Some(Vec::new()) } else { values.exact };
    let exact = values(a).zip(values(b)).map(|(mut a, b)| {
        a.extend(b);
        a
    });
    Values { kinds, exact }
}

/// A literal as it is compared and shown: a text in quotes, a number by its digits.
pub(super) fn spelled(literal: &Json) -> String {
    match literal {
        Json::String(text) => crate::syntax::print::quoted(text),
        Json::Number(number) => number.spelling().into_owned(),
        Json::Bool(value) => value.to_string(),
        other => other.python_type().to_owned(),
    }
}

/// The kinds of `type`; a name that no schema has says nothing.
fn kinds(ty: &Json) -> u8 {
    let named = |ty: &Json| {
        let name = ty.as_str().unwrap_or_default();
        NAMES.iter().find(|(known, _)| *known == name).map_or(ALL, |(_, bits)| *bits)
    };
    match ty {
        Json::Array(names) if !names.is_empty() => names.iter().map(named).fold(0, |all, one| all | one),
        one => named(one),
    }
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
            let (high, low) = (digit(rest.next())?, digit(rest.next())?);
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}
