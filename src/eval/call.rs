//! One call and what an expression can ask of it.

use crate::ir::{Context, ListId};
use crate::json::{self, Json};
use std::cell::{Cell, OnceCell};

/// A tool call as the agent made it.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The public name, `server__tool`.
    pub tool: &'a str,
    pub upstream: &'a str,
    /// A JSON object; a value of another kind has no arguments.
    pub arguments: &'a Json,
}

/// What an upstream answered.
#[derive(Clone, Copy, Debug)]
pub enum Answer<'a> {
    /// A tool result, an `isError` one included, or a plain text.
    Result(&'a Json),
    /// A JSON-RPC error: code, message, data.
    Error(&'a Json),
}

/// The texts of a call, each rendered at most once, and what has been searched in them.
#[derive(Debug)]
pub(super) struct Facts<'a> {
    call: Call<'a>,
    answer: Option<Answer<'a>>,
    payload: OnceCell<String>,
    call_text: OnceCell<String>,
    result: OnceCell<String>,
    result_text: OnceCell<String>,
    /// Recent answers of `matches` on a context text: guards and effects often ask the same.
    searched: [Cell<Option<(Context, ListId, bool)>>; 4],
    next: Cell<usize>,
}

impl<'a> Facts<'a> {
    pub(super) fn new(call: Call<'a>, answer: Option<Answer<'a>>) -> Self {
        Self {
            call,
            answer,
            payload: OnceCell::new(),
            call_text: OnceCell::new(),
            result: OnceCell::new(),
            result_text: OnceCell::new(),
            searched: [const { Cell::new(None) }; 4],
            next: Cell::new(0),
        }
    }

    pub(super) fn text(&self, context: Context) -> &str {
        match context {
            Context::Tool => self.call.tool,
            Context::Upstream => self.call.upstream,
            Context::Payload => self.payload.get_or_init(|| {
                let mut out = String::with_capacity(128);
                json::write_python(self.call.arguments, true, &mut out);
                out
            }),
            Context::CallText => self.call_text.get_or_init(|| {
                let mut out = String::with_capacity(128);
                json::strings(self.call.arguments, &mut out);
                out
            }),
            // Lowering admits these two only in `on_result`, where there is an answer.
            Context::Result => self.result.get_or_init(|| match self.answer {
                Some(Answer::Result(result)) => json::result_text(result),
                Some(Answer::Error(error)) => json::error_text(error),
                None => String::new(),
            }),
            Context::ResultText => self.result_text.get_or_init(|| match self.answer {
                Some(Answer::Result(result)) => json::result_strings(result),
                Some(Answer::Error(error)) => json::error_strings(error),
                None => String::new(),
            }),
        }
    }

    pub(super) fn search(&self, context: Context, list: ListId, search: impl FnOnce(&str) -> bool) -> bool {
        for cell in &self.searched {
            if let Some((c, l, found)) = cell.get()
                && c == context
                && l == list
            {
                return found;
            }
        }
        let found = search(self.text(context));
        let next = self.next.get();
        if let Some(cell) = self.searched.get(next) {
            cell.set(Some((context, list, found)));
        }
        self.next.set((next + 1) % self.searched.len());
        found
    }
}
