//! A server that does everything wrong: it hurts itself alone.

use crate::client::{PATIENCE, Setup, code, text};
use serde_json::json;
use std::time::Instant;

#[test]
fn a_mad_server_hurts_itself_alone() {
    let Some(setup) = Setup::new("chaos") else { return };
    let limits = json!({ "limits": { "timeout": "1s", "max_in_flight": 4 } });
    let mut gateway = setup
        .server_with("mad", json!({ "before": ["ELF \u{1b}[2J", "Warning: {"], "flood": 1 << 20 }), limits)
        .server("good", json!({}))
        .session();
    assert_eq!(gateway.tools().len(), 28);
    let deaths = [
        json!({ "pieces": [r#"{"jsonrpc":"2.0","id":@ID@,"#] }),
        json!({ "pieces": ["\u{fe}\u{ff}\u{0}\n", "null\n", "[]\n", "{}\n", "\n", "{\"id\":@ID@}\n"], "latin1": true }),
        json!({ "pieces": [r#"{"jsonrpc":"2.0","id":@ID@,"result":{"content":[{"type":"text","text":"#, "\"\u{ff}\"}]}}\n"], "latin1": true }),
        json!({ "pieces": [r#"{"jsonrpc":"2.0","id":@ID@,"result":7}"#, "\n"] }),
        json!({ "pieces": [r#"{"jsonrpc":"2.0","id":@ID@,"error":"no object"}"#, "\n"] }),
        json!({ "pieces": [r#"{"jsonrpc":"2.0","id":@ID@,"result":"#, "[", "]}\n"], "repeat": "[", "times": 100_000 }),
    ];
    for (round, arguments) in deaths.into_iter().enumerate() {
        let bad = gateway.begin_call("mad__write", arguments);
        let say = format!("round {round}");
        assert_eq!(text(&gateway.call("good__say", json!({ "say": say }))), say);
        let bad = gateway.wait(&bad).json;
        assert!(bad.get("error").is_some() || bad["result"]["isError"] == true, "{bad}");
    }
    // More calls than it may have at one time, none of which it answers; it dies meanwhile.
    let mut waiting: Vec<_> = (0..3).map(|_| gateway.begin_call("mad__hang", json!({}))).collect();
    waiting.push(gateway.begin_call("mad__crash", json!({})));
    waiting.extend((0..8).map(|_| gateway.begin_call("mad__hang", json!({}))));
    let began = Instant::now();
    assert_eq!(text(&gateway.call("good__say", json!({ "say": "meanwhile" }))), "meanwhile");
    for id in &waiting {
        let answer = gateway.wait(id).json;
        let code = code(&answer);
        assert!(["transport_failure", "server_timed_out"].contains(&code), "{answer}");
    }
    assert!(began.elapsed() < PATIENCE / 2, "{:?}", began.elapsed());
    // An answer without end: time passes, memory does not grow.
    gateway.told("mad down");
    let mut endless = json!({});
    for _ in 0..50 {
        endless = gateway.call("mad__write", json!({ "pieces": [r#"{"id":@ID@,""#], "endless": true }));
        // Until it is up again.
        if !text(&endless).contains("nothing was sent") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    assert_eq!(code(&endless), "server_timed_out", "{endless}");
    assert_eq!(text(&gateway.call("good__say", json!({ "say": "still" }))), "still");
    let peak = gateway.memory("VmHWM:") / 1024;
    assert!(peak < 160, "{peak} MiB");
    let end = gateway.close();
    assert_eq!((end.code, end.left.len()), (Some(0), 0), "{}", end.stderr);
    assert!(end.stderr.contains("last words"), "{}", end.stderr);
    assert!(!end.stderr.contains("panicked"), "{}", end.stderr);
    assert!(end.stderr.len() < 40_000, "{} bytes on stderr", end.stderr.len());
}
