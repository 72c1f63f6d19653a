//! stub
use super::Gap;
use crate::catalogue::Catalogue;
use crate::eval::Policy;
use crate::ir::Glob;
#[derive(Debug)]
pub struct ToolName {
    pub name: String,
    pub upstream: String,
    pub listed: bool,
}
pub fn universe(_p: &[&Policy], _e: &[&Glob], _c: Option<&Catalogue>) -> (Vec<ToolName>, Vec<Gap>) {
    (vec![], vec![])
}
