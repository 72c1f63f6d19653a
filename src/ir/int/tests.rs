//! Holds integers against `BigInt` and the limits.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use proptest::prelude::*;

use super::*;

fn int(text: &str) -> Int {
    Int::parse_decimal(text).unwrap()
}

fn hash(int: &Int) -> u64 {
    let mut hasher = DefaultHasher::new();
    int.hash(&mut hasher);
    hasher.finish()
}

/// Floor division by its definition: the quotient times the divisor, plus a rest on the divisor's side of 0.
fn floor(left: &BigInt, right: &BigInt) -> (BigInt, BigInt) {
    let mut rest = left % right;
    if rest.sign() != Sign::NoSign && rest.sign() != right.sign() {
        rest += right;
    }
    ((left - &rest) / right, rest)
}

#[test]
fn python_division() {
    for (left, right, quotient, rest) in
        [(-7, 2, -4, 1), (7, -2, -4, -1), (-7, -2, 3, -1), (7, 2, 3, 1), (6, -3, -2, 0)]
    {
        assert_eq!(Int::from(left).floor_div(&Int::from(right)), Ok(Int::from(quotient)));
        assert_eq!(Int::from(left).modulo(&Int::from(right)), Ok(Int::from(rest)));
    }
    let (least, minus_one) = (Int::from(i64::MIN), Int::from(-1));
    assert_eq!(least.floor_div(&minus_one), Ok(int("9223372036854775808")));
    assert_eq!(least.modulo(&minus_one), Ok(Int::from(0)));
    assert_eq!(least.neg().and_then(|big| big.neg()), Ok(least.clone()));
    assert_eq!(least.floor_div(&Int::from(0)), Err(IntError::DivisionByZero));
    assert_eq!(int(&"9".repeat(30)).modulo(&Int::from(0)).unwrap_err().to_string(), "division by zero");
}

#[test]
fn the_limit_is_exact() {
    let most = int(&"9".repeat(4_300));
    let one = Int::from(1);
    assert_eq!(most.to_string().len(), 4_300);
    assert_eq!(most.add(&one), Err(IntError::TooLong));
    assert_eq!(most.neg().unwrap().sub(&one).unwrap_err().to_string(), "a number of more than 4300 digits");
    assert_eq!(most.mul(&most), Err(IntError::TooLong));
    assert_eq!(most.sub(&one).and_then(|less| less.add(&one)), Ok(most.clone()));
    assert_eq!(Int::parse_decimal(&format!("{}{most}", "0".repeat(100_000))), Some(most));
    assert_eq!(Int::parse_decimal(&format!("1{}", "0".repeat(4_300))), None);
    assert_eq!(Int::parse_decimal(&"9".repeat(10_000_000)), None);
    assert!(Int::parse_radix(&"1".repeat(14_284), 2).is_some() && Int::parse_radix(&"1".repeat(14_285), 2).is_none());
    for radix in 2..=36 {
        let text = TOO_LONG.to_str_radix(radix);
        assert_eq!(Int::parse_radix(&text, radix), None);
        let text = (&*TOO_LONG - 1_u32).to_str_radix(radix).to_uppercase();
        assert_eq!(Int::parse_radix(&format!("-00{text}"), radix).map(|int| int.to_string().len()), Some(4_301));
    }
}

#[test]
fn only_digits_are_read() {
    for text in ["", "-", "+1", "--1", "1_0", " 1", "1 ", "0x1", "a", "1.0", "-+1", "٣", "é"] {
        assert_eq!(Int::parse_decimal(text), None, "{text:?}");
    }
    assert_eq!(Int::parse_decimal("-0"), Some(Int::from(0)));
    assert_eq!(Int::parse_radix("fF", 16), Some(Int::from(255)));
    assert_eq!(Int::parse_radix("-8000000000000000", 16), Some(Int::from(i64::MIN)));
    assert_eq!([0, 1, 37].map(|radix| Int::parse_radix("1", radix)), [None, None, None]);
}

/// Numbers around the ends of `i64` and far beyond them, and plain ones.
fn any_number() -> impl Strategy<Value = BigInt> {
    let edge = (prop_oneof![Just(i64::MIN), Just(i64::MAX), Just(0)], -3_i64..=3);
    let far = (any::<bool>(), proptest::collection::vec(any::<u32>(), 0..12));
    prop_oneof![
        any::<i64>().prop_map(BigInt::from),
        edge.prop_map(|(edge, by)| BigInt::from(edge) + by),
        far.prop_map(|(minus, digits)| BigInt::from_slice(if minus { Sign::Minus } else { Sign::Plus }, &digits)),
    ]
}

proptest! {
    #[test]
    fn agrees_with_big_integers(left in any_number(), right in any_number()) {
        let (a, b) = (int(&left.to_string()), int(&right.to_string()));
        let expected = |big: BigInt| Ok(int(&big.to_string()));
        prop_assert_eq!(a.add(&b), expected(&left + &right));
        prop_assert_eq!(a.sub(&b), expected(&left - &right));
        prop_assert_eq!(a.mul(&b), expected(&left * &right));
        prop_assert_eq!(a.neg(), expected(-&left));
        prop_assert_eq!(a.cmp(&b), left.cmp(&right));
        prop_assert_eq!(a.to_string(), left.to_string());
        prop_assert_eq!(serde_json::to_string(&a).unwrap(), left.to_string());
        prop_assert_eq!(a.as_i64(), i64::try_from(&left).ok());
        if right.sign() != Sign::NoSign {
            let (quotient, rest) = floor(&left, &right);
            prop_assert_eq!(a.floor_div(&b), expected(quotient));
            prop_assert_eq!(a.modulo(&b), expected(rest));
        }
        // The same number by another way is the same value.
        let back = a.add(&b).and_then(|sum| sum.sub(&b)).unwrap();
        prop_assert_eq!(hash(&back), hash(&a));
        prop_assert_eq!(back, a);
    }
}
