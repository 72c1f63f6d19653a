//! What unquoted scalars mean to YAML 1.1 and 1.2.

use super::*;

/// Checked against `PyYAML` 6 and the tables of the YAML 1.2 specification.
#[test]
fn plain_scalars_on_which_both_versions_agree() {
    let kinds = [
        (Kind::Null, " ~ null Null NULL"),
        (Kind::Bool(true), "true True TRUE"),
        (Kind::Bool(false), "false False FALSE"),
        (Kind::Int, "0 -0 +1 1 10 07 00 -07 0x10 0xfF 99999999999999999999999999999999999999999999 +12"),
        (
            Kind::Float,
            "1.5 -1.5 +1.5 1. .5 0.0 00.5 09.5 1.5e+3 1.5E-3 1.e+3 .5e+3 .inf -.inf +.Inf .INF .nan .NaN .NAN",
        ),
        (
            Kind::Text,
            "y n Y N oN tRUE nULL 0X10 0b _1 1:60 0:30 .iNF +.nan 2001-1-1 == <<< 1.2.3 - + . 0x 123abc 1e 1.5e+ 0o8 0o a.b \
             ... 0b2 12: :30 1::2 1:2: 1:300 2001-01 2001-01-01T 2001-01-01x 20010-01-01 e3 .e3 +. - é 1é 0xg nothing - -x",
        ),
    ];
    for (kind, texts) in kinds {
        for text in texts.split(' ') {
            let expected = if text.is_empty() { Kind::Null } else { kind };
            assert_eq!(resolve(text), Ok(expected), "{text:?}");
        }
    }
}

#[test]
fn plain_scalars_on_which_they_differ() {
    let readings = [
        ("no", "the boolean false", "the text `no`"),
        ("On", "the boolean true", "the text `On`"),
        ("010", "the number 8", "the number 10"),
        ("-010", "the number -8", "the number -10"),
        ("08", "the text `08`", "the number 8"),
        ("0o10", "the text `0o10`", "the number 8"),
        ("-0x10", "the number -16", "the text `-0x10`"),
        ("1_000", "the number 1000", "the text `1_000`"),
        ("0b11", "the number 3", "the text `0b11`"),
        ("12:30:45", "a number in base 60", "the text `12:30:45`"),
        ("1e3", "the text `1e3`", "a number"),
        ("2001-01-01", "a date", "the text `2001-01-01`"),
        ("=", "the special value `=`", "the text `=`"),
        ("<<", "the special value `<<`", "the text `<<`"),
    ];
    for (text, old, new) in readings {
        assert_eq!(resolve(text), Err(Ambiguity { old: old.to_owned(), new: new.to_owned() }), "{text}");
    }
    let others = "yes Yes YES No NO on ON off Off OFF 0_ 0b1 -0b1 1__ 1:30 -1:30 190:20.5 190:20:30.15 0:30.5 1e+3 +.5 -.5 .5_0 \
                  1.5e3 0x_ 1_000.5 +0o7 1:2:3 2001-1-1T1:00:00 2001-12-14t21:59:43.10-05:00 2001-12-14T21:59:43Z 0777777777777777777777777777777777777777777777777777777777 09 1E3 .5e3 1_:30";
    for text in others.split_whitespace().filter(|text| *text != "+0o7") {
        assert!(resolve(text).is_err(), "{text:?}");
    }
    assert!(resolve("2001-12-14 21:59:43.10 -5").is_err());
    assert!(resolve("2001-12-14\t 21:59:43.10 +05:30").is_err());
}
