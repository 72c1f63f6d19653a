//! The configuration of the gateway: what is refused and how that is told, what a good file means, and
//! what holds for every file.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test fails by panicking"
)]

use praxiom::config::{
    self, Allow, Command, Config, Environment, Expose, Launch, Limits, Lookup, Masker, Reading, Remote, Reverse,
    Server, TokenSource, expand,
};
use praxiom::report::human;
use praxiom::text::{Diagnostic, FileId, Sources};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Duration;

const PIN: &str = "sha256:0123456789abcdef0123456789abcdef";

/// A small environment; `LATIN1` is not UTF-8.
fn environment() -> Environment {
    let variables = [
        ("HOME", "/home/me"),
        ("PATH", "/bin"),
        ("TERM", "() { :; }"),
        ("LANG", "C"),
        ("EMPTY", ""),
        ("TOKEN", "t0ken-of-the-environment"),
        ("NESTED", "a${HOME}b$${HOME}"),
        ("SHORT", "abc"),
        ("PRAXIOM_TOKEN_SAME_NAME", "one-token-for-two"),
        ("PRAXIOM_TOKEN_WIKI", "t0ken-by-convention"),
    ];
    let latin1 = {
        use std::os::unix::ffi::OsStringExt;
        ("LATIN1".into(), OsString::from_vec(vec![0xe9]))
    };
    Environment::new(variables.map(|(name, value)| (name.into(), value.into())).into_iter().chain([latin1]))
}

fn read(text: &str) -> Reading {
    config::read(text, FileId(0), Path::new("/etc/praxiom"), &environment())
}

fn rendered(name: &str, reading: &Reading) -> String {
    let mut sources = Sources::default();
    sources.add(name, reading.shown.as_str());
    reading.diagnostics.iter().map(|found| human::render(found, &sources, false)).collect()
}

/// A configuration without a finding.
fn good(text: &str) -> Config {
    let reading = read(text);
    assert_eq!(reading.diagnostics, [], "{}", rendered("praxiom.yaml", &reading));
    reading.config.unwrap()
}

fn command(server: &Server) -> &Command {
    match &server.launch {
        Launch::Command(command) => command,
        Launch::Url(_) => panic!("{} is no command", server.name),
    }
}

fn remote(server: &Server) -> &Remote {
    match &server.launch {
        Launch::Url(remote) => remote,
        Launch::Command(_) => panic!("{} is no URL", server.name),
    }
}

#[test]
fn every_mistake_is_told_where_it_is_and_without_secrets() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/config");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 10);
    for path in paths {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let reading = read(&fs::read_to_string(&path).unwrap());
        assert!(reading.config.is_none(), "{name}");
        let told = rendered(&format!("{name}.yaml"), &reading);
        for secret in ["t0ken", "literal-secret", "hunter2", "one-token", "other-secret", "1234567890"] {
            assert!(!told.contains(secret), "{name} shows {secret}:\n{told}");
        }
        insta::assert_snapshot!(name, told);
    }
}

#[test]
fn the_files_of_earlier_versions_load() {
    let config = good(
        r#"
servers:
  fs: {command: npx, args: [-y, server-filesystem, "${HOME}/work", 8080, true, 0.5], env: {DEBUG: true, N: 3}, cwd: null}
  wiki: https://wiki.example.com/mcp
  github: {url: "https://api.example.com/${SHORT}/mcp?k=${TOKEN}", headers: {Authorization: "Bearer ${TOKEN}", X-N: 7}}
  notes: {url: "https://notes.example.com/", args: [], env: {}, token: "${TOKEN}"}
  mail: {url: "https://mail.example.com/", token_env: TOKEN, token: ""}
"#,
    );
    let [fs, wiki, github, notes, mail] = config.servers.as_slice() else { panic!("{config:?}") };
    let written: Vec<&str> = command(fs).args.iter().map(|arg| arg.written.as_str()).collect();
    assert_eq!(written, ["-y", "server-filesystem", "${HOME}/work", "8080", "true", "0.5"]);
    assert_eq!(command(fs).args[2].value.expose(), "/home/me/work");
    let child = command(fs).environment();
    assert_eq!(
        child.into_iter().collect::<Vec<_>>(),
        [("DEBUG", "true"), ("HOME", "/home/me"), ("N", "3"), ("PATH", "/bin")]
    );
    assert_eq!(fs.describe(), "npx -y server-filesystem ${HOME}/work 8080 true 0.5");
    assert_eq!((fs.variables.as_slice(), fs.trust.is_none()), (["HOME".to_owned()].as_slice(), true));
    assert_eq!((&fs.limits, fs.expose), (&Limits::default(), Expose::Prefixed));

    let source = |server| remote(server).token_source.clone();
    let token = |server| remote(server).token.as_ref().map(|token| token.expose().to_owned());
    assert_eq!(source(wiki), TokenSource::Convention("PRAXIOM_TOKEN_WIKI".into()));
    assert_eq!(token(wiki).as_deref(), Some("t0ken-by-convention"));
    assert_eq!((source(github), token(github)), (TokenSource::Header, None));
    let headers: Vec<_> =
        remote(github).headers.iter().map(|(name, text)| (name.as_str(), text.value.expose())).collect();
    assert_eq!(headers, [("Authorization", "Bearer t0ken-of-the-environment"), ("X-N", "7")]);
    assert_eq!(remote(github).address().as_str(), "https://api.example.com/abc/mcp?k=t0ken-of-the-environment");
    assert_eq!(github.describe(), "https://api.example.com/${SHORT}/mcp?k=${TOKEN}");
    assert_eq!(github.variables, ["TOKEN", "SHORT"]);
    assert_eq!((source(notes), token(notes).as_deref()), (TokenSource::Token, Some("t0ken-of-the-environment")));
    assert_eq!(
        (source(mail), token(mail).as_deref()),
        (TokenSource::TokenEnv("TOKEN".into()), Some("t0ken-of-the-environment"))
    );

    assert_eq!((config.start_wait, config.name_budget, config.lock), (Duration::from_secs(5), 50, None));
    let told = "cannot reach https://api.example.com/?k=t0ken-of-the-environment as t0ken-by-convention from /home/me";
    assert_eq!(config.masker.mask(told), "cannot reach https://api.example.com/?k=*** as *** from /home/me");
    let settings =
        good("servers: {a: {command: x, env: {MODE: add, LVL: long, X: fake, TOKEN: pass, ID: sk_live_1}}}\n");
    assert_eq!(settings.masker.mask("a fake added as long, pass sk_live_1"), "a fake added as long, *** ***");
    let debug = format!("{:?} {:?}", config.servers, environment());
    assert!(!debug.contains("t0ken"), "{debug}");
}

#[test]
fn everything_that_can_be_written() {
    let config = good(&format!(
        r#"
start_wait: 500ms
name_budget: 40
lock: locks/${{SHORT}}.json
state: memory
http: {{allowed_hosts: ["Gateway.example.com:8080"], allowed_origins: ["https://App.example.com"]}}
trust: {{tools: [search], resources: true, max_result_bytes: 1000, filter: [{{regex: 'b+', replace: '<$0>'}}]}}
servers:
  own:
    command: "my server"
    args: ["it's", "", "$${{HOME}}"]
    cwd: /srv
    expose: bare
    limits: {{start: 1s, timeout: 2s, max_time: 1m, max_in_flight: 3}}
    trust:
      tools: [read, write]
      prompts: "*"
      pins: {{read: "{PIN}"}}
      reverse: [sampling, roots]
      max_blob_bytes: 5
      frame: false
  all: {{command: x, trust: "*"}}
  inherits: {{command: x}}
"#
    ));
    assert_eq!((config.start_wait, config.name_budget), (Duration::from_millis(500), 40));
    let lock = config.lock.unwrap();
    assert_eq!(
        (lock.written.as_str(), lock.path.to_str().unwrap()),
        ("locks/${SHORT}.json", "/etc/praxiom/locks/abc.json")
    );
    assert_eq!(config.http.allowed_hosts, ["gateway.example.com:8080"]);
    assert_eq!(config.http.allowed_origins, ["https://app.example.com"]);

    let [own, all, inherits] = config.servers.as_slice() else { panic!() };
    assert_eq!(own.describe(), r"'my server' 'it'\''s' '' $${HOME}");
    assert_eq!(command(own).args[2].value.expose(), "${HOME}");
    assert_eq!(command(own).cwd.as_ref().unwrap().value.expose(), "/srv");
    let limits = &own.limits;
    assert_eq!((limits.start, limits.timeout), (Duration::from_secs(1), Duration::from_secs(2)));
    assert_eq!((limits.max_time, limits.max_in_flight, own.expose), (Duration::from_secs(60), 3, Expose::Bare));

    // Key by key over what is declared for all.
    let trust = own.trust.as_ref().unwrap();
    assert_eq!(trust.tools, Allow::Only(["read".to_owned(), "write".to_owned()].into()));
    assert!(trust.resources && trust.prompts == Allow::All && !trust.frame);
    assert_eq!(trust.pins.iter().collect::<Vec<_>>(), [(&"read".to_owned(), &PIN.to_owned())]);
    assert_eq!(trust.reverse, [Reverse::Sampling, Reverse::Roots].into());
    assert_eq!((trust.max_result_bytes, trust.max_blob_bytes), (1000, 5));
    assert_eq!(trust.filter[0].apply("abbc"), "a<bb>c");

    // `"*"` is a declaration for every key.
    let trust = all.trust.as_ref().unwrap();
    assert!(trust.tools == Allow::All && trust.resources && trust.prompts == Allow::All && trust.frame);
    assert_eq!((trust.max_result_bytes, trust.max_blob_bytes), (262_144, 8_388_608));
    assert!(trust.filter.is_empty() && trust.pins.is_empty() && trust.reverse == [Reverse::Elicitation].into());

    let trust = inherits.trust.as_ref().unwrap();
    assert!(trust.tools.allows("search") && !trust.tools.allows("read") && trust.prompts.is_nothing());
    assert_eq!((trust.resources, trust.max_result_bytes, trust.filter.len()), (true, 1000, 1));
}

/// Written into the entry, the lines declare what they say.
#[test]
fn the_lines_that_declare_trust_fit_the_file() {
    for (text, lines) in [
        (
            "servers:\n    fs:\n        command: x\n        env: {A: b}\n",
            "        trust: {tools: [read_file, \"no\"]}\n",
        ),
        ("servers:\n  fs: {command: x}\n", "  fs: {trust: {tools: [read_file, \"no\"]}, …}\n"),
        ("servers: {fs: {command: x}}\n", "  fs: {trust: {tools: [read_file, \"no\"]}, …}\n"),
        (
            "servers:\n  fs: https://a.example/mcp\n",
            "  fs:\n    url: \"https://a.example/mcp\"\n    trust: {tools: [read_file, \"no\"]}\n",
        ),
    ] {
        let server = good(text).servers.remove(0);
        assert_eq!(server.trust_lines(Some(&["read_file", "no"])), lines);
        assert!(server.trust_lines(None).contains("trust: {tools: \"*\"}"));
        let fixed = match lines.strip_suffix(", …}\n") {
            Some(open) => text.replace("fs: {", &format!("{}, ", open.trim_start())),
            None if lines.contains("url:") => format!("servers:\n{lines}"),
            None => format!("{text}{lines}"),
        };
        let trust = good(&fixed).servers.remove(0).trust.unwrap();
        assert_eq!(trust.tools, Allow::Only(["read_file".to_owned(), "no".to_owned()].into()), "{fixed}");
    }
}

#[test]
fn env_files() {
    let mut environment = environment();
    let text =
        "\u{feff}# comment\n\nexport A = one two # three\r\nB='it's'\n C=\"\"\nHOME=/elsewhere\nEMPTY=full\nexport=x\n";
    assert_eq!(environment.add_file(text).unwrap(), ["A", "B", "C", "export"]);
    for (name, value) in [("A", "one two # three"), ("B", "it's"), ("C", ""), ("HOME", "/home/me"), ("EMPTY", "")] {
        assert_eq!(environment.lookup(name), Lookup::Set(value));
    }
    // Only the process environment is handed on.
    environment.add_file("USER=me\n").unwrap();
    assert_eq!(environment.inherited().into_keys().collect::<Vec<_>>(), ["HOME", "PATH"]);
    let bad =
        environment.add_file("secret\n=secret\nA B=secret\nX=\"secret\nY='secret' # c\nZ=1\nZ=secret\n").unwrap_err();
    let told = bad.iter().fold(String::new(), |mut told, line| {
        writeln!(told, "{line}").unwrap();
        told
    });
    assert!(!told.contains("secret"), "{told}");
    insta::assert_snapshot!("env_file", told);
    assert_eq!(environment.lookup("Z"), Lookup::Unset);
}

#[test]
fn an_expansion_cannot_fill_the_memory() {
    let mut environment = Environment::new([("BIG".into(), "x".repeat(100_000).into())]);
    environment.add_file("SMALL=y\n").unwrap();
    let many = "${BIG}".repeat(500_000);
    assert!(expand(&many, &environment).value.len() <= config::MAX_EXPANDED_BYTES);
    let args = format!("\"{}\", ", "${BIG}".repeat(9)).repeat(30);
    let text = format!("servers: {{a: {{command: x, args: [{args}]}}}}\n");
    let reading = config::read(&text, FileId(0), Path::new(""), &environment);
    assert!(reading.config.is_none() && reading.diagnostics.iter().all(|found| found.code.id() == "PX7005"));
}

/// Reads, and complains only about places in the file.
fn loads_or_says_why(text: &str) -> Result<(), TestCaseError> {
    let reading = read(text);
    let errors = reading.diagnostics.iter().any(Diagnostic::is_error);
    prop_assert_eq!(reading.config.is_some(), !errors);
    prop_assert_eq!(reading.shown.len(), text.len());
    for found in &reading.diagnostics {
        for label in std::iter::once(&found.primary).chain(&found.secondary) {
            prop_assert!(text.get(label.span.range()).is_some(), "{found:?}");
        }
    }
    let told = rendered("praxiom.yaml", &reading);
    prop_assert!(!told.contains("t0ken-of-the-environment"), "{told}");
    Ok(())
}

const PIECES: &[&str] = &[
    "servers:",
    "trust:",
    "tools: ",
    "\"*\"",
    "command: x",
    "url: https://a.example/?k=${TOKEN}",
    "headers: {A: b}",
    "env: {A: ${SHORT}}",
    "token: ${TOKEN}",
    "${",
    "}",
    "$${",
    "${LATIN1}",
    "{",
    "[",
    "]",
    ": ",
    ", ",
    "- ",
    "\n",
    "\n  ",
    "\n    ",
    "&a ",
    "*a",
    "<<: ",
    "|\n",
    "\"",
    "'",
    "é",
    "\u{202e}",
    "\0",
    "5s",
    "pins: {a: b}",
    "limits: {start: 1s}",
    "filter: [{regex: a, replace: $1}]",
    "#",
    "~",
    "fs: ",
];

proptest! {
    #[test]
    fn no_bytes_make_reading_panic(bytes in vec(any::<u8>(), 0..300)) {
        loads_or_says_why(&String::from_utf8_lossy(&bytes))?;
    }

    #[test]
    fn no_pieces_make_reading_panic(pieces in vec(select(PIECES), 0..40)) {
        loads_or_says_why(&pieces.concat())?;
        loads_or_says_why(&format!("servers:\n  fs:\n    {}", pieces.concat()))?;
    }

    /// A text built of parts whose meaning is known.
    #[test]
    fn variables_are_expanded_once(
        parts in vec(
            select(vec![
                ("${HOME}", "/home/me"), ("${NESTED}", "a${HOME}b$${HOME}"), ("${EMPTY}", ""), ("$${", "${"),
                ("x", "x"), ("}", "}"), ("{", "{"), ("é$é", "é$é"), ("$HOME ", "$HOME "), ("\\", "\\"),
            ]),
            0..12,
        ),
    ) {
        let (text, value): (String, String) = parts.into_iter().unzip();
        let expansion = expand(&text, &environment());
        prop_assert_eq!(expansion.faults, []);
        prop_assert_eq!(expansion.value, value);
        for (name, range) in expansion.variables {
            prop_assert_eq!(&text[range], format!("${{{name}}}"));
        }
    }

    #[test]
    fn no_text_makes_expanding_panic(text in "[$\\{\\}A-C_0-9é]{0,30}") {
        let expansion = expand(&text, &environment());
        let faults: Vec<_> = expansion.faults.iter().map(|fault| text.get(fault.range.clone())).collect();
        prop_assert!(faults.iter().all(|fault| fault.is_some_and(|fault| fault.starts_with("${"))), "{faults:?}");
    }

    #[test]
    fn no_secret_survives_masking(secrets in vec("[ab]{3,7}", 0..5), text in "[ab ]{0,40}") {
        let masker = Masker::new(secrets.iter().map(String::as_str));
        let masked = masker.mask(&text);
        for secret in secrets.iter().filter(|secret| secret.len() >= 4) {
            prop_assert!(!masked.contains(secret.as_str()), "{secret} in {masked}");
        }
        prop_assert_eq!(masker.blank(&text).len(), text.len());
        if !secrets.iter().any(|secret| secret.len() >= 4 && text.contains(secret.as_str())) {
            prop_assert_eq!(&masked, &text);
        }
    }
}
