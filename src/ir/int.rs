//! Exact integers of up to 4,300 decimal digits, with Python's floor division.
//! Knows nothing of where the numbers come from or what they count.

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::fmt;
use std::sync::LazyLock;

use num_bigint::{BigInt, BigUint, Sign};
use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::value::RawValue;

/// The most decimal digits that a number may have; Python's own default for reading and printing.
pub const MAX_DIGITS: u32 = 4_300;

/// The bits of 10^4300 - 1, the largest number allowed.
const MAX_BITS: u64 = 14_285;

static TOO_LONG: LazyLock<BigUint> = LazyLock::new(|| BigUint::from(10_u32).pow(MAX_DIGITS));

/// An exact integer of at most [`MAX_DIGITS`] decimal digits.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Int(Repr);

/// A number that fits `i64` is always `Small`, so that equality and hashing can go by the parts.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    Small(i64),
    Big(Box<BigInt>),
}

/// Why an operation on integers has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IntError {
    /// The right side of a division or a remainder is 0.
    #[error("division by zero")]
    DivisionByZero,
    /// The result has more than [`MAX_DIGITS`] decimal digits.
    #[error("a number of more than {MAX_DIGITS} digits")]
    TooLong,
}

impl Int {
    /// Reads decimal digits with an optional `-` in front. `None` when there is anything else, no digit at all,
    /// or more than [`MAX_DIGITS`] digits after leading zeros.
    #[must_use]
    pub fn parse_decimal(text: &str) -> Option<Self> {
        Self::parse_radix(text, 10)
    }

    /// As [`Int::parse_decimal`], for digits of any radix from 2 to 36 in either case, without a prefix like `0x`.
    /// `None` for another radix too.
    #[must_use]
    pub fn parse_radix(text: &str, radix: u32) -> Option<Self> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        if !(2..=36).contains(&radix) || digits.is_empty() || !digits.chars().all(|char| char.is_digit(radix)) {
            return None;
        }
        if let Ok(small) = i64::from_str_radix(text, radix) {
            return Some(Self(Repr::Small(small)));
        }
        // Reading takes time that grows with the square of the length, so the length is looked at first.
        let significant = digits.trim_start_matches('0');
        let fewest_bits = u64::try_from(significant.len()).ok()?.checked_mul(u64::from(radix.ilog2()))?;
        if fewest_bits > MAX_BITS + u64::from(radix.ilog2()) {
            return None;
        }
        let magnitude = BigInt::parse_bytes(significant.as_bytes(), radix)?;
        Self::checked(if digits.len() < text.len() { -magnitude } else { magnitude }).ok()
    }

    /// The number as an `i64`, when it fits.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match self.0 {
            Repr::Small(small) => Some(small),
            Repr::Big(_) => None,
        }
    }

    /// The sum.
    ///
    /// # Errors
    ///
    /// [`IntError::TooLong`].
    pub fn add(&self, other: &Self) -> Result<Self, IntError> {
        self.apply(other, i64::checked_add, |left, right| left + right)
    }

    /// The difference.
    ///
    /// # Errors
    ///
    /// [`IntError::TooLong`].
    pub fn sub(&self, other: &Self) -> Result<Self, IntError> {
        self.apply(other, i64::checked_sub, |left, right| left - right)
    }

    /// The product.
    ///
    /// # Errors
    ///
    /// [`IntError::TooLong`].
    pub fn mul(&self, other: &Self) -> Result<Self, IntError> {
        self.apply(other, i64::checked_mul, |left, right| left * right)
    }

    /// The number with the other sign.
    ///
    /// # Errors
    ///
    /// None in fact: as long as the number itself. A result for the sake of its siblings.
    pub fn neg(&self) -> Result<Self, IntError> {
        Self::from(0).sub(self)
    }

    /// The quotient rounded down, as Python's `//`: `-7 // 2` is `-4`.
    ///
    /// # Errors
    ///
    /// [`IntError::DivisionByZero`].
    pub fn floor_div(&self, other: &Self) -> Result<Self, IntError> {
        other.nonzero()?;
        let small = |left: i64, right: i64| {
            let quotient = left.checked_div(right)?;
            quotient.checked_sub(i64::from(rounds_down(left.wrapping_rem(right).signum(), right.signum())))
        };
        self.apply(other, small, |left, right| {
            let down = rounds_down(signum(&(left % right)), signum(right));
            left / right - i64::from(down)
        })
    }

    /// What [`Int::floor_div`] leaves, with the sign of `other`, as Python's `%`: `-7 % 2` is `1`.
    ///
    /// # Errors
    ///
    /// [`IntError::DivisionByZero`].
    pub fn modulo(&self, other: &Self) -> Result<Self, IntError> {
        other.nonzero()?;
        let small = |left: i64, right: i64| {
            // `i64::MIN % -1` is 0, which only the wrapping remainder says.
            let rest = left.wrapping_rem(right);
            rest.checked_add(if rounds_down(rest.signum(), right.signum()) { right } else { 0 })
        };
        self.apply(other, small, |left, right| {
            let rest = left % right;
            if rounds_down(signum(&rest), signum(right)) { rest + right } else { rest }
        })
    }

    fn nonzero(&self) -> Result<(), IntError> {
        if self.as_i64() == Some(0) { Err(IntError::DivisionByZero) } else { Ok(()) }
    }

    /// `small` where both fit and it has a result, `big` otherwise.
    fn apply(
        &self,
        other: &Self,
        small: impl Fn(i64, i64) -> Option<i64>,
        big: impl Fn(&BigInt, &BigInt) -> BigInt,
    ) -> Result<Self, IntError> {
        let fast = self.as_i64().zip(other.as_i64()).and_then(|(left, right)| small(left, right));
        fast.map_or_else(|| Self::checked(big(&self.to_big(), &other.to_big())), |small| Ok(Self::from(small)))
    }

    fn to_big(&self) -> BigInt {
        match &self.0 {
            Repr::Small(small) => BigInt::from(*small),
            Repr::Big(big) => BigInt::clone(big),
        }
    }

    fn checked(big: BigInt) -> Result<Self, IntError> {
        if let Ok(small) = i64::try_from(&big) {
            return Ok(Self::from(small));
        }
        // The bits settle all but the few numbers next to the limit.
        match big.bits().cmp(&MAX_BITS) {
            Ordering::Greater => Err(IntError::TooLong),
            Ordering::Equal if *big.magnitude() >= *TOO_LONG => Err(IntError::TooLong),
            _ => Ok(Self(Repr::Big(Box::new(big)))),
        }
    }
}

/// Whether a division that left a remainder of this sign has to go down by one: the signs differ.
fn rounds_down(remainder: i64, divisor: i64) -> bool {
    remainder != 0 && remainder != divisor
}

fn signum(big: &BigInt) -> i64 {
    match big.sign() {
        Sign::Minus => -1,
        Sign::NoSign => 0,
        Sign::Plus => 1,
    }
}

impl From<i64> for Int {
    fn from(small: i64) -> Self {
        Self(Repr::Small(small))
    }
}

impl Ord for Int {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Repr::Small(left), Repr::Small(right)) => left.cmp(right),
            (Repr::Big(left), Repr::Big(right)) => left.cmp(right),
            // A big number lies beyond every small one, on the side its sign says.
            (Repr::Big(left), Repr::Small(_)) => signum(left).cmp(&0),
            (Repr::Small(_), Repr::Big(right)) => 0.cmp(&signum(right)),
        }
    }
}

impl PartialOrd for Int {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Int {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Small(small) => small.fmt(out),
            Repr::Big(big) => big.fmt(out),
        }
    }
}

impl fmt::Debug for Int {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Int({self})")
    }
}

/// A JSON number with every digit, at any size. A number beyond `i64` keeps its digits only when written
/// straight to JSON text: `serde_json::Value` holds such numbers as floats.
impl Serialize for Int {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Repr::Small(small) => serializer.serialize_i64(*small),
            Repr::Big(big) => RawValue::from_string(big.to_string()).map_err(S::Error::custom)?.serialize(serializer),
        }
    }
}
