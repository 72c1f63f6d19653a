//! Terms as flat code: one slice of instructions for a stack of numbers, without allocation.

use crate::model::{NoValue, Term};

#[derive(Clone, Copy, Debug)]
enum Op {
    Push(i64),
    Var(u32),
    Param(u32),
    Not,
    Neg,
    Eq,
    Lt,
    Le,
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    /// Is the text one of a stretch of the table of texts?
    In(u32, u32),
    /// Goes on at the place if the top is 0 (1), which stays there; else drops it.
    SkipIfZero(u32),
    SkipIfOne(u32),
    /// Takes the top; goes on at the place if it is 0.
    JumpIfZero(u32),
    Jump(u32),
}

/// A term that is quick to evaluate.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    code: Vec<Op>,
    texts: Vec<i64>,
    /// The value where it does not depend on anything.
    constant: Option<i64>,
}

impl Program {
    pub(super) fn new(term: &Term) -> Self {
        let constant = match term {
            Term::Bool(value) => Some(i64::from(*value)),
            Term::Int(value) => Some(*value),
            _ => None,
        };
        let mut program = Self { constant, ..Self::default() };
        program.emit(term);
        program
    }

    fn emit(&mut self, term: &Term) {
        match term {
            Term::Bool(value) => self.code.push(Op::Push(i64::from(*value))),
            Term::Int(value) => self.code.push(Op::Push(*value)),
            Term::Var(at) => self.code.push(Op::Var(small(*at))),
            Term::Param(at) => self.code.push(Op::Param(small(*at))),
            Term::Not(inner) => self.one(inner, Op::Not),
            Term::Neg(inner) => self.one(inner, Op::Neg),
            Term::In(inner, texts) => {
                let start = small(self.texts.len());
                self.texts.extend_from_slice(texts);
                let end = small(self.texts.len());
                self.one(inner, Op::In(start, end));
            }
            Term::And(all) => self.junction(all, Op::SkipIfZero),
            Term::Or(all) => self.junction(all, Op::SkipIfOne),
            Term::Ite(three) => {
                let [c, a, b] = &**three;
                self.emit(c);
                let test = self.hole();
                self.emit(a);
                let end = self.hole();
                let other = small(self.code.len());
                self.fill(test, Op::JumpIfZero(other));
                self.emit(b);
                let after = small(self.code.len());
                self.fill(end, Op::Jump(after));
            }
            Term::Eq(two) => self.two(two, Op::Eq),
            Term::Lt(two) => self.two(two, Op::Lt),
            Term::Le(two) => self.two(two, Op::Le),
            Term::Add(two) => self.two(two, Op::Add),
            Term::Sub(two) => self.two(two, Op::Sub),
            Term::Mul(two) => self.two(two, Op::Mul),
            Term::FloorDiv(two) => self.two(two, Op::Div),
            Term::Mod(two) => self.two(two, Op::Mod),
        }
    }

    fn one(&mut self, inner: &Term, op: Op) {
        self.emit(inner);
        self.code.push(op);
    }

    fn two(&mut self, two: &[Term; 2], op: Op) {
        let [a, b] = two;
        self.emit(a);
        self.emit(b);
        self.code.push(op);
    }

    fn junction(&mut self, all: &[Term], skip: fn(u32) -> Op) {
        let mut holes = Vec::new();
        for (at, operand) in all.iter().enumerate() {
            self.emit(operand);
            if at + 1 < all.len() {
                holes.push(self.hole());
            }
        }
        let end = small(self.code.len());
        for hole in holes {
            self.fill(hole, skip(end));
        }
    }

    fn hole(&mut self) -> usize {
        self.code.push(Op::Jump(0));
        self.code.len() - 1
    }

    fn fill(&mut self, hole: usize, op: Op) {
        if let Some(slot) = self.code.get_mut(hole) {
            *slot = op;
        }
    }

    /// The value; `stack` is scratch.
    pub(super) fn value(&self, state: &[i64], params: &[i64], stack: &mut Vec<i64>) -> Result<i64, NoValue> {
        if let Some(value) = self.constant {
            return Ok(value);
        }
        stack.clear();
        let mut at = 0;
        while let Some(op) = self.code.get(at) {
            at += 1;
            match *op {
                Op::Push(value) => stack.push(value),
                Op::Var(var) => stack.push(*state.get(var as usize).ok_or(NoValue::Undefined)?),
                Op::Param(param) => stack.push(*params.get(param as usize).ok_or(NoValue::Undefined)?),
                Op::Not => {
                    let value = pop(stack)?;
                    stack.push(1 - value);
                }
                Op::Neg => {
                    let value = pop(stack)?;
                    stack.push(value.checked_neg().ok_or(NoValue::TooLarge)?);
                }
                Op::In(start, end) => {
                    let value = pop(stack)?;
                    let texts = self.texts.get(start as usize..end as usize).unwrap_or_default();
                    stack.push(i64::from(texts.binary_search(&value).is_ok()));
                }
                Op::SkipIfZero(to) => {
                    if stack.last() == Some(&0) {
                        at = to as usize;
                    } else {
                        stack.pop();
                    }
                }
                Op::SkipIfOne(to) => {
                    if stack.last() == Some(&1) {
                        at = to as usize;
                    } else {
                        stack.pop();
                    }
                }
                Op::JumpIfZero(to) => {
                    if pop(stack)? == 0 {
                        at = to as usize;
                    }
                }
                Op::Jump(to) => at = to as usize,
                binary => {
                    let b = pop(stack)?;
                    let a = pop(stack)?;
                    stack.push(apply(binary, a, b)?);
                }
            }
        }
        pop(stack)
    }

    /// Whether it is true; without a value it is not.
    pub(super) fn holds(&self, state: &[i64], params: &[i64], stack: &mut Vec<i64>) -> Result<bool, NoValue> {
        match self.value(state, params, stack) {
            Ok(value) => Ok(value != 0),
            Err(NoValue::Undefined) => Ok(false),
            Err(NoValue::TooLarge) => Err(NoValue::TooLarge),
        }
    }
}

fn apply(op: Op, a: i64, b: i64) -> Result<i64, NoValue> {
    let value = match op {
        Op::Eq => return Ok(i64::from(a == b)),
        Op::Lt => return Ok(i64::from(a < b)),
        Op::Le => return Ok(i64::from(a <= b)),
        Op::Add => a.checked_add(b),
        Op::Sub => a.checked_sub(b),
        Op::Mul => a.checked_mul(b),
        _ => {
            // Division has one meaning, that of the terms.
            let two = std::sync::Arc::new([Term::Int(a), Term::Int(b)]);
            let term = if matches!(op, Op::Div) { Term::FloorDiv(two) } else { Term::Mod(two) };
            return term.value(&[], &[]);
        }
    };
    value.ok_or(NoValue::TooLarge)
}

fn pop(stack: &mut Vec<i64>) -> Result<i64, NoValue> {
    stack.pop().ok_or(NoValue::Undefined)
}

fn small(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
