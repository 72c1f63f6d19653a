//! What the reader takes and what it refuses, and where.

use super::*;

fn refused(bytes: &[u8]) -> (usize, Reason) {
    let fault = parse(bytes).expect_err(&String::from_utf8_lossy(bytes));
    (fault.offset, fault.reason)
}

#[test]
fn faults_are_named_and_placed() {
    let many = (0..40).map(|key| format!("\"k{key}\":0,")).collect::<Vec<_>>().concat();
    let cases: &[(&str, usize, Reason)] = &[
        ("", 0, Reason::Empty),
        (" \n", 2, Reason::Empty),
        ("{} x", 3, Reason::Trailing),
        ("007", 1, Reason::Trailing),
        ("nul", 0, Reason::Expected("a value")),
        ("\u{feff}1", 0, Reason::Expected("a value")),
        ("[1,]", 3, Reason::Expected("a value")),
        ("[1 2]", 3, Reason::Expected("`,` or `]`")),
        ("[", 1, Reason::Expected("`,` or `]`")),
        ("[1", 2, Reason::Expected("`,` or `]`")),
        ("{1:2}", 1, Reason::Expected("a key in quotes")),
        ("{\"a\":1,}", 7, Reason::Expected("a key in quotes")),
        ("{\"a\" 1}", 5, Reason::Expected("`:`")),
        ("{\"a\":1", 6, Reason::Expected("`,` or `}`")),
        ("-", 1, Reason::Expected("a digit")),
        ("1.", 2, Reason::Expected("a digit")),
        ("1e+", 3, Reason::Expected("a digit")),
        ("+1", 0, Reason::Expected("a value")),
        ("\"abc", 4, Reason::Expected("the closing quote")),
        ("\"a\\", 3, Reason::Expected("the rest of an escape sequence")),
        ("\"\\u00", 5, Reason::Expected("the rest of an escape sequence")),
        ("\"a\nb\"", 2, Reason::Control),
        ("\"\\x\"", 2, Reason::Escape),
        ("\"\\u00g0\"", 5, Reason::Escape),
        ("\"\\ud800\"", 1, Reason::LoneSurrogate),
        ("\"\\udc00\"", 1, Reason::LoneSurrogate),
        ("\"\\ud800\\u0041\"", 7, Reason::LoneSurrogate),
        ("\"\\ud800\\ud800\"", 7, Reason::LoneSurrogate),
        ("NaN", 0, Reason::NotFinite("NaN")),
        ("[Infinity]", 1, Reason::NotFinite("Infinity")),
        ("[-Infinity]", 1, Reason::NotFinite("-Infinity")),
        ("[1e400]", 1, Reason::TooLarge),
        ("-1e400", 0, Reason::TooLarge),
        (r#"{"a":1,"b":2,"\u0061":3}"#, 13, Reason::DuplicateKey("a".to_owned())),
        (r#"[{"":{"x":1,"x":2}}]"#, 12, Reason::DuplicateKey("x".to_owned())),
        (&format!("{{{many}\"k3\":1}}"), many.len() + 1, Reason::DuplicateKey("k3".to_owned())),
        (&format!("{{{many}\"k39\":1}}"), many.len() + 1, Reason::DuplicateKey("k39".to_owned())),
    ];
    for (text, offset, reason) in cases {
        assert_eq!(refused(text.as_bytes()), (*offset, reason.clone()), "{text}");
    }
    assert_eq!(refused(b"\"a\xff\""), (2, Reason::Utf8));
    let fault = parse(br#"{"k":1,"k":2}"#).unwrap_err();
    assert_eq!(fault.to_string(), "duplicate key \"k\" at byte 7");
}

#[test]
fn limits_hold_exactly() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(parse(nested(MAX_DEPTH).as_bytes()).is_ok());
    assert_eq!(refused(nested(MAX_DEPTH + 1).as_bytes()), (MAX_DEPTH, Reason::Depth));
    assert_eq!(refused("{\"a\":".repeat(100_000).as_bytes()).1, Reason::Depth);
    let digits = "9".repeat(MAX_DIGITS);
    assert!(parse(digits.as_bytes()).is_ok());
    assert!(parse(format!("-{digits}").as_bytes()).is_ok());
    assert_eq!(refused(format!("-9{digits}").as_bytes()), (0, Reason::TooLong));
    assert!(parse(format!("0.{digits}{digits}").as_bytes()).is_ok());
    assert!(parse(b"1e-400").is_ok());
}

#[test]
fn values_keep_order_and_spelling() {
    let json = parse(br#" { "b" : [ -0 , 1E5 , true , null ] , "a\u0062" : "\ud83d\ude00\/" } "#).unwrap();
    let object = json.as_object().unwrap();
    assert_eq!(object.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["b", "ab"]);
    assert_eq!(object.get("ab").and_then(Json::as_str), Some("\u{1f600}/"));
    let [Json::Number(zero), Json::Number(float), Json::Bool(true), Json::Null] =
        object.get("b").and_then(Json::as_array).unwrap()
    else {
        panic!("{object:?}");
    };
    assert_eq!((zero.spelling().as_ref(), zero.is_integer()), ("-0", true));
    assert_eq!((float.spelling().as_ref(), float.is_integer(), float.to_f64()), ("1E5", false, 1e5));
    assert_eq!((object.len(), object.is_empty(), object.get("a")), (2, false, None));
}

#[test]
fn leniently_the_last_of_equal_keys_counts_and_floats_have_no_bound() {
    let many = (0..40).map(|key| format!("\"k{key}\":0")).collect::<Vec<_>>().join(",");
    for (text, wanted) in [
        (r#"{"a":1,"b":[{"x":1,"x":2}],"\u0061":1E5}"#, r#"{"a":1E5,"b":[{"x":2}]}"#.to_owned()),
        ("[1e400,-1E+400]", "[1e400,-1E+400]".to_owned()),
        (
            &format!("{{{many},\"k3\":7,\"k39\":8}}"),
            format!("{{{many}}}").replace("k3\":0", "k3\":7").replace("k39\":0", "k39\":8"),
        ),
        // What `serde_json` would read as something else.
        (
            r#"{"$serde_json::private::RawValue":"[1]","$serde_json::private::Number":"1"}"#,
            r#"{"$serde_json::private::RawValue":"[1]","$serde_json::private::Number":"1"}"#.to_owned(),
        ),
    ] {
        let read = parse_lenient(text.as_bytes()).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), wanted);
        assert_eq!(serde_json::to_string(&serde_json::Value::from(read)).unwrap(), wanted);
    }
    let deep = "[".repeat(MAX_DEPTH + 1);
    for text in ["", "{} x", "\"\\ud800\"", "[NaN]", deep.as_str()] {
        assert_eq!(parse_lenient(text.as_bytes()), parse(text.as_bytes()), "{text}");
        assert!(parse(text.as_bytes()).is_err(), "{text}");
    }
}
