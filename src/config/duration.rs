//! Durations as people write them: `500ms`, `5s`, `0.5s`, `2m`, `1h`.

use std::time::Duration;

/// The longest duration a configuration may name.
const MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// Nanoseconds of each unit.
const UNITS: [(&str, u128); 4] =
    [("ms", 1_000_000), ("s", 1_000_000_000), ("m", 60_000_000_000), ("h", 3_600_000_000_000)];

/// A number, with a fraction or without, and one of the units `ms`, `s`, `m` and `h`: more than zero
/// and at most 24 hours. What is finer than a nanosecond is dropped.
///
/// # Errors
/// What is wrong, to follow "… must be a duration: ".
pub fn parse_duration(text: &str) -> Result<Duration, &'static str> {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text.get(number.len()..).unwrap_or("");
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return Err("it is not a number and a unit");
    }
    if unit.is_empty() {
        return Err("it has no unit");
    }
    let Some((_, scale)) = UNITS.iter().find(|(name, _)| *name == unit) else {
        return Err("its unit is not one of `ms`, `s`, `m` and `h`");
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if whole.is_empty() || fraction.is_empty() || fraction.contains('.') {
        return Err("it is not a number and a unit");
    }
    // Eighteen digits of each leave room for the multiplication.
    let fraction = fraction.get(..18).unwrap_or(fraction);
    let digits = |text: &str| text.parse::<u128>().ok().filter(|_| text.len() <= 18);
    let Some(whole) = digits(whole) else { return Err("it is longer than 24 hours") };
    let Some(part) = digits(fraction) else { return Err("it is not a number and a unit") };
    let power = 10_u128.pow(u32::try_from(fraction.len()).unwrap_or(18));
    let nanos = whole * scale + part * scale / power;
    match u64::try_from(nanos).map(Duration::from_nanos) {
        Ok(Duration::ZERO) => Err("it is zero"),
        Ok(found) if found <= MAX => Ok(found),
        _ => Err("it is longer than 24 hours"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, millis) in [("500ms", 500), ("5s", 5_000), ("0.5s", 500), ("2m", 120_000), ("24h", 86_400_000)] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        assert_eq!(parse_duration("0.1ms"), Ok(Duration::from_micros(100)));
        for text in
            ["", "s", "5", "5 s", "-5s", "5d", "5S", ".5s", "5.s", "1.2.3s", "0s", "0.0h", "24.0001h", "25h", "é"]
        {
            assert!(parse_duration(text).is_err(), "{text}");
        }
        assert_eq!(parse_duration(&("9".repeat(400) + "s")), Err("it is longer than 24 hours"));
        assert_eq!(parse_duration(&format!("1.{}s", "0".repeat(400))), Ok(Duration::from_secs(1)));
    }
}
