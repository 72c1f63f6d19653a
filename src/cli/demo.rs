//! `praxiom demo-server`: a small MCP server for the demo, the bench and tests where there is no other:
//! files in memory, or mail that goes nowhere. Not a part of the gateway; it may be called by anybody.

use super::Outcome;
use super::error::ToolError;
use clap::ValueEnum;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation, JsonObject,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer, ServiceExt};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Serve the demo's files or its mail over standard streams.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[arg(value_enum)]
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// `list_files`, `read_file`, `write_file`; nothing touches the disk
    Files,
    /// `send_mail`; nothing leaves the machine
    Mail,
}

#[derive(Debug)]
struct Demo {
    kind: Kind,
    files: Mutex<BTreeMap<String, String>>,
}

const NOTES: &str = "Release on Friday. Ask Kim about the logo.";
const ENV: &str = "API_TOKEN=tok_live_3f9a1c\nDATABASE_URL=postgres://app:hunter2@db/app";

pub(super) fn run(args: &Args) -> Result<Outcome, ToolError> {
    let files = [("notes.txt", NOTES), (".env", ENV)].map(|(name, text)| (name.to_owned(), text.to_owned()));
    let demo = Demo { kind: args.kind, files: Mutex::new(files.into()) };
    let failed = |error: String| ToolError::usage(format!("the demo server: {error}"), "it is started by a gateway");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| failed(error.to_string()))?;
    runtime.block_on(async {
        let service = demo.serve(rmcp::transport::stdio_pipes()).await.map_err(|error| failed(error.to_string()))?;
        service.waiting().await.map(|_| Outcome::Clean).map_err(|error| failed(error.to_string()))
    })
}

impl rmcp::ServerHandler for Demo {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("praxiom-demo", env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let texts = |names: &[&str]| {
            let properties: JsonObject =
                names.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
            JsonObject::from_iter([
                ("type".to_owned(), json!("object")),
                ("properties".to_owned(), Value::Object(properties)),
                ("required".to_owned(), json!(names)),
            ])
        };
        let tools = match self.kind {
            Kind::Files => vec![
                Tool::new("list_files", "Names of all files", texts(&[])),
                Tool::new("read_file", "The text of a file", texts(&["path"])),
                Tool::new("write_file", "Writes a file", texts(&["path", "content"])),
            ],
            Kind::Mail => vec![Tool::new("send_mail", "Sends a mail", texts(&["to", "subject", "body"]))],
        };
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Arc::new(request.arguments.unwrap_or_default());
        let text = |name: &str| {
            let found = arguments.get(name).and_then(Value::as_str).map(str::to_owned);
            found.ok_or_else(|| ErrorData::invalid_params(format!("`{name}` is missing or no string"), None))
        };
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = match (self.kind, request.name.as_ref()) {
            (Kind::Files, "list_files") => Ok(files.keys().cloned().collect::<Vec<_>>().join("\n")),
            (Kind::Files, "read_file") => {
                let path = text("path")?;
                files.get(&path).cloned().ok_or_else(|| format!("{path}: there is no such file"))
            }
            (Kind::Files, "write_file") => {
                let (path, content) = (text("path")?, text("content")?);
                // A demo that is never restarted must not grow without end.
                if files.len() >= 1000 || content.len() > 1 << 20 {
                    Err("the demo's disk is full".to_owned())
                } else {
                    files.insert(path.clone(), content);
                    Ok(format!("wrote {path}"))
                }
            }
            (Kind::Mail, "send_mail") => Ok(format!("sent to {}", text("to")?)),
            (_, name) => return Err(ErrorData::invalid_params(format!("there is no tool {name}"), None)),
        };
        let result = match answer {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Err(text) => CallToolResult::error(vec![ContentBlock::text(text)]),
        };
        Ok(result.into())
    }
}
