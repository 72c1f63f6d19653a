//! The solver. The only module that names the Z3 crate; nothing that decides a live call uses it.

mod bmc;
pub mod child;
mod clock;
mod encode;
mod facts;
mod induction;
mod path;
mod project;
mod reach;
mod recheck;
mod sexpr;
mod spacer;
mod target;
mod tidy;
mod transition;
mod walk;

#[cfg(test)]
mod tests;

pub use reach::{Found, Limits, reach, recheck};

/// The oldest Z3 whose answers are trusted here; the crate's own minimum.
pub const MINIMUM: (u32, u32, u32) = (4, 13, 3);

/// `Z3 5.4.1.0`, of the library that is loaded now.
#[must_use]
pub fn version() -> String {
    let version = z3::full_version().trim();
    format!("Z3 {}", version.strip_prefix("Z3").unwrap_or(version).trim())
}

/// Refuses a library below [`MINIMUM`]: an old system library can be loaded without a word.
pub fn require_minimum() -> Result<(), String> {
    let found = version();
    if numbers(&found).is_some_and(|found| found >= MINIMUM) {
        return Ok(());
    }
    let (major, minor, patch) = MINIMUM;
    Err(format!("the loaded solver is {found}, but praxiom needs Z3 {major}.{minor}.{patch} or later"))
}

/// The first three numbers of a text such as `Z3 5.4.1.0`.
fn numbers(text: &str) -> Option<(u32, u32, u32)> {
    // "Z3" itself holds a digit.
    let text = text.strip_prefix("Z3").unwrap_or(text);
    let mut parts = text.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod versions {
    use super::*;

    #[test]
    fn the_loaded_library_is_recent() {
        println!("loaded solver: {}", version());
        assert_eq!(require_minimum(), Ok(()));
        // Z3_SYS_Z3_VERSION is what the build was told to link; another library must not slip in.
        let told = option_env!("Z3_SYS_Z3_VERSION").and_then(numbers);
        assert_eq!(numbers(&version()), told, "another library than the one built for: {}", version());
    }

    #[test]
    fn versions_are_read() {
        assert_eq!(numbers("Z3 5.4.1.0"), Some((5, 4, 1)));
        assert_eq!(numbers("4.8.12"), Some((4, 8, 12)));
        assert_eq!(numbers("Z3"), None);
    }
}
