//! The tool lock: written, read back, kept, compared.

use super::any::value;
use super::{parse, text};
use praxiom::catalogue::{Catalogue, Lock, LockedServer, Start, differences_to_json, pin, show_differences};
use praxiom::json::{Json, Object};
use praxiom::text::{Diagnostic, Sources};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

fn command(command: &str, args: &[&str], env: &[&str], cwd: Option<&str>) -> Start {
    Start::Command {
        command: command.to_owned(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        env: env.iter().map(|name| (*name).to_owned()).collect(),
        cwd: cwd.map(str::to_owned),
    }
}

fn url(url: &str, headers: &[&str]) -> Start {
    Start::Url { url: url.to_owned(), headers: headers.iter().map(|name| (*name).to_owned()).collect() }
}

fn server(start: Start, tools: &[&str]) -> LockedServer {
    let tools = tools.iter().map(|tool| parse(tool));
    LockedServer {
        start,
        server: parse(r#"{"name":"demo","version":"1.0"}"#),
        protocol: "2025-11-25".to_owned(),
        tools: tools.map(|tool| (tool.get("name").and_then(Json::as_str).unwrap().to_owned(), tool)).collect(),
        resources: vec![parse(r#"{"uri":"x:b","name":"b"}"#), parse(r#"{"uriTemplate":"x:{a}","name":"a"}"#)],
        prompts: vec![parse(r#"{"name":"p"}"#)],
    }
}

fn lock(servers: Vec<(&str, LockedServer)>) -> Lock {
    Lock { servers: servers.into_iter().map(|(name, server)| (name.to_owned(), server)).collect() }
}

fn read(text: &str) -> Result<Lock, Box<Diagnostic>> {
    let mut sources = Sources::default();
    let file = sources.add("praxiom.lock.json", text);
    Lock::read(text, file)
}

const TOOL: &str = r#"{"name":"read_file","description":"Reads.\u200b","inputSchema":{"type":"object","properties":{"n":{"default":1E2}}},"annotations":{"readOnlyHint":true},"_meta":null,"pin":"mine"}"#;

const FILE: &str = r#"{
  "servers": {
    "fs": {
      "prompts": [
        {
          "name": "p"
        }
      ],
      "protocol": "2025-11-25",
      "resources": [
        {
          "name": "b",
          "uri": "x:b"
        },
        {
          "name": "a",
          "uriTemplate": "x:{a}"
        }
      ],
      "server": {
        "name": "demo",
        "version": "1.0"
      },
      "start": {
        "args": [
          "-y",
          "${HOME}/work"
        ],
        "command": "npx",
        "cwd": null,
        "env": [
          "A",
          "TOKEN"
        ]
      },
      "tools": {
        "read_file": {
          "annotations": {
            "readOnlyHint": true
          },
          "description": "Reads.\u200b",
          "full": "FULL",
          "inputSchema": {
            "properties": {
              "n": {
                "default": 1E2
              }
            },
            "type": "object"
          },
          "other": {
            "_meta": null,
            "pin": "mine"
          },
          "outputSchema": null,
          "pin": "PIN",
          "title": null
        }
      }
    },
    "web": {
      "prompts": [],
      "protocol": "2025-11-25",
      "resources": [],
      "server": {
        "name": "demo",
        "version": "1.0"
      },
      "start": {
        "headers": [
          "X-Api-Key"
        ],
        "url": "https://example.com/mcp"
      },
      "tools": {}
    }
  },
  "version": 1
}
"#;

fn sample() -> (Lock, String) {
    let web = LockedServer {
        resources: Vec::new(),
        prompts: Vec::new(),
        ..server(url("https://example.com/mcp", &["X-Api-Key"]), &[])
    };
    let fs = server(command("npx", &["-y", "${HOME}/work"], &["TOKEN", "A"], None), &[TOOL]);
    let tool = parse(TOOL);
    let file = FILE.replace("PIN", &pin(&tool)).replace("FULL", &praxiom::catalogue::full_digest(&tool));
    (lock(vec![("web", web), ("fs", fs)]), file)
}

#[test]
fn a_lock_is_written_for_review_and_read_back() {
    let (lock, file) = sample();
    assert_eq!(lock.to_text(), file);
    let again = read(&file).unwrap();
    assert_eq!(again.to_text(), file);
    assert_eq!(lock.diff(&again), []);
    // Commands that type-check policies read the same file.
    let mut sources = Sources::default();
    let id = sources.add("praxiom.lock.json", file.as_str());
    let mut catalogue = Catalogue::default();
    catalogue.add(&file, id, None).unwrap();
    assert_eq!(catalogue.servers.keys().collect::<Vec<_>>(), ["fs", "web"]);
    assert_eq!(catalogue.servers["fs"]["read_file"].description.as_deref(), Some("Reads.\u{200b}"));
}

#[test]
fn a_lock_that_was_tampered_with_is_refused() {
    let (_, file) = sample();
    for (from, to, message) in [
        (
            "Reads.",
            "Writes.",
            "the tool `read_file` of the server `fs` was edited by hand: its digests are not those of the texts beside them",
        ),
        (
            "\"readOnlyHint\": true",
            "\"readOnlyHint\": false",
            "the tool `read_file` of the server `fs` was edited by hand: its digests are not those of the texts beside them",
        ),
        (
            "\"read_file\": {",
            "\"write_file\": {",
            "the tool `write_file` of the server `fs` was edited by hand: its digests are not those of the texts beside them",
        ),
        (
            "\"pin\": \"mine\"",
            "\"name\": \"mine\"",
            "`other` of the tool `read_file` of the server `fs` repeats `name`",
        ),
        ("\"_meta\": null", "\"title\": \"x\"", "`other` of the tool `read_file` of the server `fs` repeats `title`"),
        ("\"title\": null", "\"titel\": null", "the tool `read_file` of the server `fs` has no `title`"),
        (
            "\"version\": 1\n",
            "\"version\": 2\n",
            "the lock is of a version that this praxiom does not read; it reads version 1",
        ),
        ("\"cwd\": null", "\"cwd\": 7", "`cwd` of `start` of the server `fs` must be text or null"),
        ("\"A\",", "7,", "`env` of `start` of the server `fs` must be a list of texts"),
        (
            "\"cwd\": null",
            "\"cwd\": null, \"shell\": true",
            "`start` of the server `fs` has a member `shell` that means nothing here",
        ),
        ("\"tools\": {}", "\"tools\": []", "`tools` of the server `web` is no object"),
        ("\"version\": 1\n", "\"version\": 1,\n", "not JSON: expected a key in quotes"),
    ] {
        assert!(file.contains(from), "{from}");
        assert_eq!(read(&file.replacen(from, to, 1)).unwrap_err().message, message);
    }
}

#[test]
fn an_old_lock_survives_a_write_that_fails() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lock");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("praxiom.lock.json");
    let (lock, file) = sample();
    lock.save(&path).unwrap();
    lock.save(&path).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), file);
    // So deep that no reader would take it back.
    let mut bad = lock.clone();
    let deep = format!("{}{}", "[".repeat(127), "]".repeat(127));
    bad.servers.get_mut("fs").unwrap().resources.push(parse(&deep));
    assert!(
        bad.save(&path).unwrap_err().to_string().starts_with("the lock could not be read back: arrays and objects")
    );
    assert!(lock.save(&folder.join("missing/praxiom.lock.json")).is_err());
    assert!(lock.save(&folder).is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), file);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "a temporary file is left");
}

#[test]
fn what_is_started_is_part_of_what_was_agreed_to() {
    let old = lock(vec![("s", server(command("node", &["s.js"], &[], None), &[]))]);
    for (start, wanted) in [
        (command("node", &["s.js"], &[], None), ""),
        (
            command("sh", &["-c", "node s.js; id"], &[], None),
            "s: what is started changed\n  args\n      [\n    -   \"s.js\"\n    +   \"-c\",\n    +   \"node s.js; id\"\n      ]\n  command\n    - node\n    + sh\n",
        ),
        (
            command("node", &["s.js"], &["NODE_OPTIONS"], None),
            "s: what is started changed\n  env\n    - []\n    + [\n    +   \"NODE_OPTIONS\"\n    + ]\n",
        ),
        (command("node", &["s.js"], &[], Some("/tmp")), "s: what is started changed\n  cwd\n    - null\n    + /tmp\n"),
    ] {
        let found = old.diff_start("s", &start);
        assert_eq!(show_differences(&found), wanted);
        assert!(found.iter().all(praxiom::catalogue::Difference::refused));
        assert_eq!(old.diff(&lock(vec![("s", server(start, &[]))])), found);
    }
    let found = old.diff_start("s", &url("https://other.example/mcp", &[]));
    let names: Vec<&str> = found[0].fields.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names, ["args", "command", "cwd", "env", "headers", "url"]);
    assert!(old.diff_start("new", &url("https://other.example/mcp", &[]))[0].refused());
}

#[test]
fn differences_name_the_member_and_show_every_character() {
    let start = || command("node", &[], &[], None);
    let base = r#"{"name":"send","title":"Send","description":"One.\nTwo.\nThree.\nFour.\nFive.\nSix.","inputSchema":{"type":"object","n":1.0}}"#;
    let old = lock(vec![("s", server(start(), &[base, r#"{"name":"gone"}"#]))]);
    for (from, to, wanted) in [
        (r#""title":"Send","#, "", "  title\n    - Send\n"),
        (r#""title":"Send","#, r#""title":null,"#, "  title\n    - Send\n    + null\n"),
        (
            "Six.",
            "Six.\\u200b\\u001b[2J",
            "  description\n      Three.\n      Four.\n      Five.\n    - Six.\n    + Six.\\u{200b}\\u{1b}[2J\n",
        ),
        (
            "1.0",
            "1",
            "  inputSchema\n      {\n    -   \"n\": 1.0,\n    +   \"n\": 1,\n        \"type\": \"object\"\n      }\n",
        ),
        ("1.0", "1.00", ""),
        (
            r#"{"name""#,
            r#"{"_meta":{"a":1},"icons":[],"outputSchema":{},"annotations":{},"name""#,
            "  _meta\n    + {\n    +   \"a\": 1\n    + }\n  annotations\n    + {}\n  icons\n    + []\n  outputSchema\n    + {}\n",
        ),
    ] {
        assert!(base.contains(from));
        let live = lock(vec![("s", server(start(), &[&base.replacen(from, to, 1), r#"{"name":"gone"}"#]))]);
        let shown = show_differences(&old.diff(&live));
        assert_eq!(shown.strip_prefix("s: the tool `send` changed\n").unwrap_or(&shown), wanted);
    }
    let mut renamed = server(start(), &[&base.replacen("send", "se\\u202end", 1), r#"{"name":"gone"}"#]);
    renamed.server = parse(r#"{"name":"demo","version":"2.0"}"#);
    renamed.protocol = "2026-07-28".to_owned();
    renamed.prompts.clear();
    renamed.resources.pop();
    let live = lock(vec![("s", renamed), ("t", server(start(), &[r#"{"name":"x"}"#]))]);
    let found = old.diff(&live);
    let lines: Vec<String> =
        show_differences(&found).lines().filter(|line| !line.starts_with(' ')).map(str::to_owned).collect();
    assert_eq!(
        lines,
        [
            "s: what the server says of itself changed",
            "s: the protocol version changed",
            "s: the tool `send` is gone",
            "s: the tool `se\\u{202e}nd` is new",
            "s: the prompt `p` is gone",
            "s: the resource `x:{a}` is gone",
            "t: the server is new",
            "t: the tool `x` is new",
            "t: the prompt `p` is new",
        ]
    );
    let refused: Vec<bool> = found.iter().map(praxiom::catalogue::Difference::refused).collect();
    assert_eq!(refused, [false, false, false, true, false, false, true, true, true]);
    let rows = differences_to_json(&found);
    assert_eq!(
        text(&rows.as_array().unwrap()[0]),
        r#"{"change":"changed","fields":[{"field":"version","new":"2.0","old":"1.0"}],"item":"identity","name":null,"refused":false,"server":"s"}"#
    );
    assert_eq!(show_differences(&old.diff(&Lock::default())), "s: the server is gone\n");
}

proptest! {
    #[test]
    fn any_definition_survives_the_lock(definitions in vec(value(), 0..4), start in vec(any::<String>(), 2), odd in value()) {
        let mut tools = BTreeMap::new();
        for (at, definition) in definitions.into_iter().enumerate() {
            let mut object = match definition { Json::Object(object) => object, other => {
                let mut object = Object::default();
                object.set("inputSchema", other);
                object
            }};
            let name = format!("tool {at}\u{202e}");
            object.set("name", Json::String(name.clone()));
            tools.insert(name, Json::Object(object));
        }
        let start = Start::Command { command: start[0].clone(), args: start.clone(), env: BTreeSet::from([start[1].clone()]), cwd: None };
        let one = LockedServer { start, server: odd.clone(), protocol: String::new(), tools, resources: vec![odd.clone()], prompts: vec![odd] };
        let lock = lock(vec![("s", one)]);
        let again = read(&lock.to_text()).unwrap();
        prop_assert_eq!(again.to_text(), lock.to_text());
        prop_assert_eq!(lock.diff(&again), vec![]);
        prop_assert!(show_differences(&Lock::default().diff(&lock)).starts_with("s: the server is new\n"));
        prop_assert_eq!(show_differences(&lock.diff(&Lock::default())), "s: the server is gone\n");
    }
}
