//! What a server lists: digests, schemas, mirrored parameters.

use super::any::value;
use super::{parse, text};
use praxiom::boundary::{Mirrors, Triage, prompts, resources, templates, tools};
use praxiom::catalogue::{full_digest, pin};
use praxiom::json::{Json, Number};
use proptest::collection::vec;
use proptest::prelude::*;

fn vectors(name: &str) -> Vec<Json> {
    let all = parse(include_str!("../fixtures/boundary/digests.json"));
    all.get(name).and_then(Json::as_array).unwrap().to_vec()
}

fn strip<'a>(json: &'a Json, name: &str) -> &'a str {
    json.get(name).and_then(Json::as_str).unwrap()
}

#[test]
fn pins_are_those_of_the_vectors() {
    let rows = vectors("definitions");
    assert_eq!(rows.len(), 16);
    for row in rows {
        let payload = row.get("payload").unwrap();
        assert_eq!(pin(payload), strip(&row, "digest"), "{}", text(payload));
    }
}

#[test]
fn pins_and_digests_cover_what_they_should() {
    let base = r#"{"name":"send","title":"Send","description":"Send mail.","inputSchema":{"type":"object","properties":{"n":{"type":"number","default":1.0},"to":{"type":"string"}}},"annotations":{"readOnlyHint":false}}"#;
    let (pinned, full) = (pin(&parse(base)), full_digest(&parse(base)));
    assert_eq!((pinned.len(), full.len()), (7 + 32, 7 + 64));
    for (from, to, same_pin, same_digest) in [
        (r#""title":"Send","description":"Send mail.""#, r#""description":"Send mail.","title":"Send""#, true, true),
        ("Send mail.", "Send m\\u0061il.", true, true),
        ("1.0", "1.00", true, true),
        ("1.0", "1", false, false),
        ("Send mail.", "Send mail, and more.", false, false),
        ("Send mail.", "Send\u{200b} mail.", false, false),
        (r#""to":{"#, r#""to":{"description":"all","#, false, false),
        (r#""title":"Send""#, r#""title":"Post""#, false, false),
        (r#""name":"send""#, r#""name":"post""#, false, false),
        (r#""readOnlyHint":false"#, r#""readOnlyHint":true"#, true, false),
        (r#"{"name""#, r#"{"_meta":{"orders":"obey"},"name""#, true, false),
        (r#"{"name""#, r#"{"outputSchema":{"type":"object"},"name""#, true, false),
        (r#"{"name""#, r#"{"icons":[{"src":"x:y"}],"name""#, true, false),
        (r#"{"name""#, r#"{"unheard of":1,"name""#, true, false),
    ] {
        assert!(base.contains(from), "{from}");
        let variant = parse(&base.replacen(from, to, 1));
        assert_eq!(pin(&variant) == pinned, same_pin, "{from} -> {to}");
        assert_eq!(full_digest(&variant) == full, same_digest, "{from} -> {to}");
    }
}

#[test]
fn odd_tools_are_sorted_one_by_one() {
    let good = r#"{"name":"t6","inputSchema":{"type":"object"}}"#;
    let deep = format!(r#"{{"type":"object","a":{}{}}}"#, "[".repeat(70), "]".repeat(70));
    let large = format!(r#"{{"type":"object","title":"{}"}}"#, "x".repeat(256 * 1024));
    // A tool beside a good one, the definition that is shown (none: withheld; `=`: as it is), and the warning.
    for (tool, wanted, warning) in [
        (
            r##"{"name":"t","inputSchema":{"type":"object","$defs":{"Q":{"type":"object","properties":{"n":{"type":"integer"}}}},"properties":{"q":{"$ref":"#/$defs/Q"}},"required":["q"]}}"##,
            Some("="),
            "",
        ),
        (
            r##"{"name":"t","inputSchema":{"type":"object","properties":{"q":{"$ref":"#/$defs/Gone"}}}}"##,
            None,
            "the tool `t` is withheld: its input schema cannot be used: its reference `#/$defs/Gone` leads to nothing",
        ),
        (
            r#"{"name":"t","inputSchema":{}}"#,
            Some(r#"{"name":"t","inputSchema":{"type":"object"}}"#),
            "the tool `t` is repaired: its input schema has no `type`: it gets `\"type\": \"object\"`",
        ),
        (
            r#"{"name":"t"}"#,
            Some(r#"{"name":"t","inputSchema":{"type":"object"}}"#),
            "the tool `t` is repaired: it has no input schema: `{\"type\": \"object\"}` stands in for it",
        ),
        (
            r#"{"name":"t","inputSchema":{"properties":{"a":{"type":"string","default":1E2}}},"x":0}"#,
            Some(
                r#"{"name":"t","inputSchema":{"properties":{"a":{"type":"string","default":1E2}},"type":"object"},"x":0}"#,
            ),
            "the tool `t` is repaired: its input schema has no `type`: it gets `\"type\": \"object\"`",
        ),
        (
            r#"{"name":"t","inputSchema":{"type":"object","properties":[]},"title":null,"annotations":"x"}"#,
            Some(r#"{"name":"t","inputSchema":{"type":"object","properties":{}}}"#),
            "the tool `t` is repaired: its `title` is left out, which has the wrong type; its `annotations` is left out, which has the wrong type; the `properties` of its input schema are an empty list, taken for an empty object",
        ),
        (
            r##"{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"$ref":"#/gone"}}"##,
            Some(r#"{"name":"t","inputSchema":{"type":"object"}}"#),
            "the tool `t` is repaired: its output schema is left out: its reference `#/gone` leads to nothing",
        ),
        (
            r#"{"name":"t","inputSchema":{"type":"array"}}"#,
            None,
            "the tool `t` is withheld: its input schema is of another type than object",
        ),
        (
            r#"{"name":"t","inputSchema":{"type":["object","null"]}}"#,
            None,
            "the tool `t` is withheld: its input schema is of another type than object",
        ),
        (r#"{"name":"t","inputSchema":[1]}"#, None, "the tool `t` is withheld: its input schema is no object"),
        (
            r#"{"name":"t","inputSchema":{"type":"object","properties":7}}"#,
            None,
            "the tool `t` is withheld: the `properties` of its input schema are no object",
        ),
        (
            r#"{"name":"t","inputSchema":{"type":"object","items":{"$ref":"https://example.com/s.json"}}}"#,
            None,
            "the tool `t` is withheld: its input schema cannot be used: its reference `https://example.com/s.json` leads out of the schema",
        ),
        (
            r##"{"name":"t","inputSchema":{"type":"object","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"not":{"$ref":"#/$defs/a"}}}"##,
            None,
            "the tool `t` is withheld: its input schema cannot be used: its reference `#/$defs/a` leads round in a circle",
        ),
        // References that are none, or sound: names, instances, anchors, the root, escapes.
        (
            r##"{"name":"t","inputSchema":{"type":"object","default":{"$ref":"#/gone"},"properties":{"$ref":{"$ref":"#"},"a":{"$ref":"#here"},"b":{"$ref":"#/$defs/x%20~1y"}},"$defs":{"x /y":true,"z":{"$anchor":"here"}}}}"##,
            Some("="),
            "",
        ),
        (
            &format!(r#"{{"name":"t","inputSchema":{deep}}}"#),
            None,
            "the tool `t` is withheld: it is nested more than 64 deep",
        ),
        (
            &format!(r#"{{"name":"t","inputSchema":{large}}}"#),
            None,
            "the tool `t` is withheld: its input schema cannot be used: it is larger than 256 KiB",
        ),
        ("{}", None, "tool 1 of the list is withheld: it has no name"),
        (r#"{"name":""}"#, None, "tool 1 of the list is withheld: its name is empty"),
        (r#"{"name":7}"#, None, "tool 1 of the list is withheld: its name is no text"),
        ("null", None, "tool 1 of the list is withheld: it is no object"),
        (
            r#"{"name":"@t"}"#,
            None,
            "the tool `@t` is withheld: its name begins with `@`, which praxiom keeps for itself",
        ),
        (
            r#"{"name":"a\u001b[2J"}"#,
            None,
            "the tool `a\\u{1b}[2J` is withheld: its name holds control characters or others that do not show",
        ),
    ] {
        let sorted = tools(vec![parse(tool), parse(good)]);
        let shown: Vec<String> = sorted.offered.iter().map(|offered| text(offered.shown())).collect();
        let wanted = wanted.map(|wanted| if wanted == "=" { tool.to_owned() } else { wanted.to_owned() });
        assert_eq!(shown, wanted.into_iter().chain([good.to_owned()]).collect::<Vec<_>>());
        assert_eq!(sorted.findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("|"), warning);
        // Pins are about what the server sent.
        assert!(sorted.offered.iter().all(|offered| [parse(tool), parse(good)].contains(&offered.sent)));
    }
    let twice = tools(
        ["a", "b", "a"].map(|name| parse(&format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#))).into(),
    );
    assert_eq!(twice.offered.iter().map(|offered| offered.name.as_str()).collect::<Vec<_>>(), ["b"]);
    assert_eq!(twice.findings.len(), 2);
    let sorted = prompts(
        [r#"{"name":"p","arguments":[]}"#, r#"{"name":"q","arguments":{}}"#, r#"{"name":"r","title":1}"#]
            .map(parse)
            .into(),
    );
    assert_eq!(
        sorted.offered.iter().map(|offered| text(offered.shown())).collect::<Vec<_>>(),
        [r#"{"name":"p","arguments":[]}"#, r#"{"name":"r"}"#]
    );
}

/// What is shown, and what is said.
fn told(sorted: &Triage) -> (Vec<String>, Vec<String>) {
    let shown = sorted.offered.iter().map(|offered| text(offered.shown())).collect();
    (shown, sorted.findings.iter().map(ToString::to_string).collect())
}

#[test]
fn odd_resources_are_sorted_one_by_one() {
    let large = format!(r#"{{"uri":"x:l","name":"{}"}}"#, "x".repeat(512 * 1024));
    let deep = format!(r#"{{"uri":"x:d","name":"d","_meta":{{"a":{}{}}}}}"#, "[".repeat(70), "]".repeat(70));
    // A resource, what is shown of it (none: withheld; `=`: as it is), and the warning.
    let rows: &[(&str, Option<&str>, &str)] = &[
        (
            r#"{"uri":"x:1","name":"","size":0,"x":[1.0],"annotations":{"audience":["user"],"priority":0.5,"x":1}}"#,
            Some("="),
            "",
        ),
        (
            r#"{"uri":"x:2"}"#,
            Some(r#"{"uri":"x:2","name":"x:2"}"#),
            "the resource `x:2` is repaired: it has no name: its `uri` stands in for it",
        ),
        (
            r#"{"uri":"x:3","name":5,"description":["x"],"mimeType":1,"size":1.5,"icons":[5],"_meta":[]}"#,
            Some(r#"{"uri":"x:3","name":"x:3"}"#),
            "the resource `x:3` is repaired: its name is no text: its `uri` stands in for it; its `description` is left out, which has the wrong type; its `mimeType` is left out, which has the wrong type; its `size` is left out, which has the wrong type; its `icons` is left out, which has the wrong type; its `_meta` is left out, which has the wrong type",
        ),
        (
            r#"{"uri":"x:4","name":"n","annotations":{"audience":["all"],"priority":2,"lastModified":"t"}}"#,
            Some(r#"{"uri":"x:4","name":"n","annotations":{"lastModified":"t"}}"#),
            "the resource `x:4` is repaired: its `annotations.audience` is left out, which has the wrong type; its `annotations.priority` is left out, which has the wrong type",
        ),
        (
            r#"{"uri":"x:1","name":"again"}"#,
            None,
            "the resource `x:1` is withheld: one before it in the list has this `uri`",
        ),
        (
            r#"{"uri":"x:\u200b","name":"n"}"#,
            None,
            "the resource `x:\\u{200b}` is withheld: its `uri` holds control characters or others that do not show",
        ),
        (
            r#"{"uri":"notes.md","name":"n"}"#,
            None,
            "the resource `notes.md` is withheld: its `uri` begins with no scheme such as `file:`",
        ),
        (r#"{"uri":"","name":"n"}"#, None, "resource 8 of the list is withheld: its `uri` is empty"),
        (r#"{"name":"n"}"#, None, "resource 9 of the list is withheld: it has no `uri`"),
        (r#"{"uri":7}"#, None, "resource 10 of the list is withheld: its `uri` is no text"),
        ("7", None, "resource 11 of the list is withheld: it is no object"),
        (&large, None, "the resource `x:l` is withheld: it is larger than 512 KiB"),
        (&deep, None, "the resource `x:d` is withheld: it is nested more than 64 deep"),
        (r#"{"uri":"x:5","name":"n"}"#, Some("="), ""),
    ];
    let (shown, found) = told(&resources(rows.iter().map(|(sent, ..)| parse(sent)).collect()));
    let wanted =
        rows.iter().filter_map(|(sent, wanted, _)| wanted.map(|wanted| if wanted == "=" { sent } else { wanted }));
    assert_eq!(shown, wanted.collect::<Vec<_>>());
    assert_eq!(found, rows.iter().map(|row| row.2).filter(|found| !found.is_empty()).collect::<Vec<_>>());

    let list = [
        r#"{"uriTemplate":"x:{a}"}"#,
        r#"{"uriTemplate":"x:{a}","name":"n"}"#,
        r#"{"uriTemplate":"y:{a}","name":"n"}"#,
    ];
    let (shown, found) = told(&templates(list.map(parse).into()));
    assert_eq!(shown, [r#"{"uriTemplate":"x:{a}","name":"x:{a}"}"#, list[2]]);
    assert!(found[0].contains("resource template `x:{a}` is repaired") && found[1].contains("has this `uriTemplate`"));
}

#[test]
fn odd_arguments_of_prompts_are_left_out() {
    let list = [
        r#"{"name":"p","arguments":[5,null,{"name":"a","required":"yes","x":1},{"name":2},{"name":"b","required":true}]}"#,
        r#"{"name":"q","arguments":[{"name":"a","description":"d"}]}"#,
    ];
    let (shown, found) = told(&prompts(list.map(parse).into()));
    assert_eq!(shown, [r#"{"name":"p","arguments":[{"name":"a","x":1},{"name":"b","required":true}]}"#, list[1]]);
    assert_eq!(
        found,
        [
            "the prompt `p` is repaired: its argument 1 is left out, which has no name; its argument 2 is left out, which has no name; of its argument 3, its `required` is left out, which has the wrong type; its argument 4 is left out, which has no name"
        ]
    );
    // However many, a finding stays readable.
    let many = format!(r#"{{"name":"p","arguments":[{}null]}}"#, "5,".repeat(5000));
    assert!(told(&prompts(vec![parse(&many)])).1[0].ends_with("; and 4993 more of the kind"));
}

#[test]
fn mirrored_parameters_are_judged_as_the_vectors_say() {
    let rows = vectors("mirrored");
    assert_eq!(rows.len(), 9);
    for row in rows {
        let found = Mirrors::read(row.get("inputSchema").unwrap());
        assert_eq!(found.is_ok(), row.get("ok") == Some(&Json::Bool(true)), "{}: {found:?}", text(&row));
        let Ok(found) = found else { continue };
        let parameters = row.get("parameters").unwrap().as_object().unwrap();
        assert_eq!(found.iter().len(), parameters.len());
        for mirror in found.iter() {
            let wanted = parameters.get(&mirror.header).unwrap();
            assert_eq!(mirror.kind, strip(wanted, "type"));
            let path: Vec<&str> =
                wanted.get("path").and_then(Json::as_array).unwrap().iter().filter_map(Json::as_str).collect();
            assert_eq!(mirror.path, path);
        }
    }
}

#[test]
fn annotations_off_the_chain_are_refused() {
    for (schema, ok) in [
        (r#"{"x-mcp-header":"A"}"#, false),
        (r#"{"items":{"type":"string","x-mcp-header":"A"}}"#, false),
        (r#"{"anyOf":[{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}]}"#, false),
        (r#"{"$defs":{"a":{"type":"string","x-mcp-header":"A"}}}"#, false),
        (r#"{"properties":{"a":{"items":{"properties":{"b":{"type":"string","x-mcp-header":"A"}}}}}}"#, false),
        (r#"{"properties":{"a":{"type":["string"],"x-mcp-header":"A"}}}"#, false),
        (r#"{"properties":{"x-mcp-header":{"type":"string"}}}"#, true),
        (r#"{"default":{"x-mcp-header":"A"},"properties":{"a":{"enum":[{"x-mcp-header":"A"}]}}}"#, true),
        ("[1]", true),
    ] {
        assert_eq!(Mirrors::read(&parse(schema)).is_ok(), ok, "{schema}");
    }
}

#[test]
fn headers_repeat_arguments_and_are_held_against_them() {
    let schema = r#"{"properties":{"s":{"type":"string","x-mcp-header":"S"},"i":{"type":"integer","x-mcp-header":"I"},
        "o":{"properties":{"b":{"type":"boolean","x-mcp-header":"B"}}}}}"#;
    let mirrors = Mirrors::read(&parse(schema)).unwrap();
    for (arguments, wanted) in [
        ("{}", ""),
        (r#"{"s":null,"i":[1],"o":{"b":{}}}"#, ""),
        (r#"{"s":"a b","i":-0,"o":{"b":false}}"#, "Mcp-Param-S: a b|Mcp-Param-I: 0|Mcp-Param-B: false"),
        (r#"{"s":"","i":4.2e1}"#, "Mcp-Param-S: |Mcp-Param-I: 42"),
        (r#"{"s":" a"}"#, "Mcp-Param-S: =?base64?IGE=?="),
        (r#"{"s":"a\t"}"#, "Mcp-Param-S: =?base64?YQk=?="),
        (r#"{"s":"a\r\nX: y"}"#, "Mcp-Param-S: =?base64?YQ0KWDogeQ==?="),
        (r#"{"s":"é"}"#, "Mcp-Param-S: =?base64?w6k=?="),
        (r#"{"s":"=?base64?YQ==?="}"#, "Mcp-Param-S: =?base64?PT9iYXNlNjQ/WVE9PT89?="),
        (r#"{"i":9007199254740991}"#, "Mcp-Param-I: 9007199254740991"),
    ] {
        let headers = mirrors.headers(&parse(arguments)).unwrap();
        let shown: Vec<String> = headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        assert_eq!(shown.join("|"), wanted);
        let lower: Vec<String> = headers.iter().map(|(name, _)| name.to_lowercase()).collect();
        let sent: Vec<(&str, &str)> =
            lower.iter().map(String::as_str).zip(headers.iter().map(|(_, v)| v.as_str())).collect();
        assert_eq!(mirrors.mismatch(&sent, &parse(arguments)), Ok(()));
        for at in 0..sent.len() {
            let mut missing = sent.clone();
            missing.remove(at);
            assert!(mirrors.mismatch(&missing, &parse(arguments)).unwrap_err().ends_with("is missing"));
            let mut other = sent.clone();
            other[at].1 = "other";
            assert!(mirrors.mismatch(&other, &parse(arguments)).unwrap_err().contains("differs"));
            let mut twice = sent.clone();
            twice.push(sent[at]);
            assert!(mirrors.mismatch(&twice, &parse(arguments)).unwrap_err().ends_with("stands twice"));
        }
    }
    for arguments in [r#"{"i":9007199254740992}"#, r#"{"i":1.5}"#, r#"{"s":1e300}"#] {
        assert!(mirrors.headers(&parse(arguments)).is_err(), "{arguments}");
    }
    let sent = |value| mirrors.mismatch(&[("Mcp-Param-I", value)], &parse(r#"{"i":42}"#));
    assert_eq!(sent("42.0"), Ok(()));
    assert!(sent("42.5").is_err());
    assert!(mirrors.mismatch(&[("Mcp-Param-S", "42.0")], &parse(r#"{"s":"42"}"#)).is_err());
    assert!(mirrors.mismatch(&[("Mcp-Param-S", "=?base64?%?=")], &parse(r#"{"s":"a"}"#)).is_err());
    assert!(mirrors.mismatch(&[("Mcp-Param-S", "a")], &parse("{}")).unwrap_err().contains("without the parameter"));
}

proptest! {
    #[test]
    fn any_list_is_sorted(list in vec(value(), 0..4), schema in value()) {
        let sorted = tools(list.clone());
        prop_assert!(sorted.offered.len() <= list.len());
        for offered in &sorted.offered {
            let schema = offered.shown().get("inputSchema").unwrap();
            prop_assert_eq!(schema.get("type").and_then(Json::as_str), Some("object"));
            // What was repaired needs no repair.
            prop_assert!(tools(vec![offered.shown().clone()]).findings.is_empty());
        }
        for sort in [prompts, resources, templates] {
            for offered in sort(list.clone()).offered {
                prop_assert!(sort(vec![offered.shown().clone()]).findings.is_empty());
            }
        }
        if let Ok(mirrors) = Mirrors::read(&schema) {
            prop_assert!(mirrors.headers(&schema).is_ok() || text(&schema).contains(|c: char| c.is_ascii_digit()));
        }
        prop_assert_eq!(full_digest(&schema).len(), 71);
        prop_assert_eq!(pin(&schema).len(), 39);
    }

    #[test]
    fn headers_never_hold_a_control_character(argument in any::<String>(), number in any::<i64>()) {
        let schema = parse(r#"{"properties":{"s":{"type":"string","x-mcp-header":"S"}}}"#);
        let mirrors = Mirrors::read(&schema).unwrap();
        for value in [Json::String(argument.clone()), Json::Number(Number::from(number))] {
            let arguments = Json::Object(vec![("s".to_owned(), value)].try_into().unwrap());
            for (name, value) in mirrors.headers(&arguments).unwrap_or_default() {
                prop_assert!(value.bytes().all(|byte| (0x20..0x7f).contains(&byte)));
                prop_assert_eq!(mirrors.mismatch(&[(&name, &value)], &arguments), Ok(()));
            }
        }
    }
}
