//! Hostile texts of either side.

use super::*;

/// Objects that `serde_json` reads as the text under their key, one in the other.
fn russian_doll(levels: usize) -> String {
    let mut text = "1".to_owned();
    for _ in 0..levels {
        let quoted = text.replace('\\', r"\u005c").replace('"', r"\u0022");
        let (open, close) = ("[".repeat(60), "]".repeat(60));
        text = format!(r#"{open}{{"$serde_json::private::RawValue":"{quoted}"}}{close}"#);
    }
    text
}

#[test]
fn keys_of_the_json_library_mean_nothing() {
    let doll = russian_doll(60);
    for text in [r#"{"$serde_json::private::RawValue":"[1]"}"#, r#"{"$serde_json::private::Number":"12"}"#] {
        assert_eq!(lenient(text.as_bytes()).unwrap().to_string(), text);
    }
    lenient(doll.as_bytes()).unwrap();
    let message = |text: &str| match lenient(text.as_bytes()).unwrap() {
        Value::Object(message) => message,
        other => panic!("{other}"),
    };
    let answer = format!(
        r#"{{"id":1,"result":{{"protocolVersion":"2025-06-18","serverInfo":{{"name":"a","version":"1"}},"capabilities":{{"experimental":{{"x":{{"y":{doll}}}}}}}}}}}"#
    );
    assert!(from_server(message(&answer), |_| true).is_err());
    assert!(from_server(message(&answer), |_| false).is_ok());
    let note = format!(r#"{{"method":"notifications/cancelled","params":{{"requestId":{doll}}}}}"#);
    assert!(from_server(message(&note), |_| false).is_err());
    let meta = format!(r#"{{"io.modelcontextprotocol/clientCapabilities":{{"experimental":{{"x":{doll}}}}}}}"#);
    for text in [
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"_meta":{meta}}}}}"#),
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"2025-06-18","clientInfo":{{"name":"a","version":"1"}},"capabilities":{{"experimental":{{"x":{{"y":{doll}}}}}}}}}}}"#
        ),
    ] {
        let refused = from_client(text.as_bytes()).unwrap_err();
        assert_eq!((refused.error.code, refused.answer), (ErrorCode::INVALID_PARAMS, true));
    }
}

#[test]
fn null_params_are_none_and_wrong_notifications_get_no_answer() {
    for text in [
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":null}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized","params":null}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/x","params":null}"#,
    ] {
        assert!(from_client(text.as_bytes()).is_ok(), "{text}");
    }
    for (text, answer) in [
        (r#"{"jsonrpc":"2.0","method":"notifications/x","params":[]}"#, false),
        (r#"{"jsonrpc":"2.0","method":"notifications/x","params":{"_meta":1}}"#, false),
        (r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}"#, false),
        (r#"{"method":"notifications/x"}"#, false),
        (r#"{"jsonrpc":"2.0","id":1,"method":"x","params":[]}"#, true),
        (r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#, true),
        (r#"{"jsonrpc":"2.0","method":1}"#, true),
    ] {
        assert_eq!(from_client(text.as_bytes()).unwrap_err().answer, answer, "{text}");
    }
}

#[test]
fn a_wrong_answer_to_the_handshake_says_what_is_wrong() {
    for (result, wrong) in [
        (r#"{"protocolVersion":"2025-06-18","serverInfo":{"name":"a","version":"1"}}"#, "missing field `capabilities`"),
        ("{}", "missing field"),
        ("7", "expected"),
    ] {
        let Ok(Value::Object(message)) = lenient(format!(r#"{{"id":1,"result":{result}}}"#).as_bytes()) else {
            panic!()
        };
        let why = from_server(message, |_| true).unwrap_err();
        assert!(why.contains("handshake") && why.contains(wrong), "{why}");
    }
}
