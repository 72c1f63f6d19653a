//! stub
use super::System;
use super::universe::ToolName;
use crate::eval::Policy;
use crate::ir::{Expr, Glob};
#[derive(Debug)]
pub struct Mark<'p> {
    pub side: usize,
    pub globs: &'p [Glob],
    pub when: Option<&'p Expr>,
}
#[derive(Debug)]
pub struct Request<'p> {
    pub sides: &'p [&'p Policy],
    pub tools: &'p [ToolName],
    pub marks: &'p [Mark<'p>],
    pub watched: &'p [(usize, &'p Expr)],
}
pub fn build(_r: &Request<'_>) -> System {
    System {
        vars: vec![],
        texts: vec![],
        tools: vec![],
        classes: vec![],
        invariants: vec![],
        fault: None,
        watched: vec![],
        gaps: vec![],
    }
}
