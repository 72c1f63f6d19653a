//! Which declared arguments a call brings, and whose declarations it fits. Knows nothing of rules.

use crate::ir::{Policy, Type};
use std::sync::Arc;

/// Calls of one tool with the same arguments of the same types; further arguments aside.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) args: Vec<Declared>,
    /// For each side whether its declarations accept such a call.
    pub(super) fits: Vec<bool>,
    /// What a witness leaves out.
    pub(super) omitted: Vec<Arc<str>>,
}

#[derive(Clone, Debug)]
pub(super) struct Declared {
    pub(super) name: Arc<str>,
    pub(super) ty: Type,
}

impl Shape {
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.args.iter().position(|arg| &*arg.name == name)
    }
}

/// The shapes that some side accepts.
pub(super) fn shapes(sides: &[(&Policy, &[usize])]) -> Vec<Shape> {
    let declared: Vec<Option<Vec<Declared>>> =
        sides.iter().map(|(policy, actions)| declared(policy, actions)).collect();
    let mut shapes = Vec::new();
    if let Some(all) = declared.iter().cloned().collect::<Option<Vec<_>>>()
        && let Some(args) = joined(all.iter().flatten())
    {
        shapes.push(Shape { args, fits: vec![true; sides.len()], omitted: Vec::new() });
    }
    if sides.len() < 2 {
        return shapes;
    }
    for (at, own) in declared.iter().enumerate() {
        let Some(own) = own else { continue };
        let others = declared.iter().enumerate().filter(|(side, _)| *side != at);
        let mut omitted: Vec<Arc<str>> = Vec::new();
        let mut differs = false;
        for (_, other) in others {
            let Some(other) = other else {
                differs = true;
                continue;
            };
            for arg in other {
                match own.iter().find(|mine| mine.name == arg.name) {
                    Some(mine) if mine.ty == arg.ty => {}
                    Some(_) => differs = true,
                    None => omitted.push(Arc::clone(&arg.name)),
                }
            }
        }
        if differs || !omitted.is_empty() {
            let fits = (0..sides.len()).map(|side| side == at).collect();
            shapes.push(Shape { args: own.clone(), fits, omitted });
        }
    }
    shapes
}

/// The arguments that the actions declare; `None` if no call has all of them.
fn declared(policy: &Policy, actions: &[usize]) -> Option<Vec<Declared>> {
    let actions = actions.iter().filter_map(|at| policy.actions.get(*at));
    let all: Vec<Declared> = actions
        .flat_map(|action| &action.args)
        .map(|arg| Declared { name: Arc::clone(&arg.name), ty: arg.ty })
        .collect();
    joined(all.iter())
}

fn joined<'d>(all: impl Iterator<Item = &'d Declared>) -> Option<Vec<Declared>> {
    let mut joined: Vec<Declared> = Vec::new();
    for arg in all {
        match joined.iter().find(|known| known.name == arg.name) {
            Some(known) if known.ty == arg.ty => {}
            Some(_) => return None,
            None => joined.push(arg.clone()),
        }
    }
    Some(joined)
}
