//! Names of keys, variables and headers whose values are not for everyone. Knows nothing of the values.

const WORDS: [&str; 14] = [
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "apikey",
    "api-key",
    "api_key",
    "authorization",
    "credential",
    "cookie",
    "private",
    "session",
];

/// Whether the value of a key of this name is not for everyone, letter case ignored.
#[must_use]
pub fn is_secret_key(key: &str) -> bool {
    let starts =
        |tail: &[u8], word: &str| tail.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word.as_bytes()));
    let bytes = key.as_bytes();
    (0..bytes.len()).any(|at| bytes.get(at..).is_some_and(|tail| WORDS.iter().any(|word| starts(tail, word))))
}

#[cfg(test)]
mod tests {
    use super::is_secret_key;

    #[test]
    fn names_of_credentials() {
        for name in ["pwd", "DB_PWD", "passphrase", "sshPassphrase", "X-API-KEY", "github_TOKEN", "cookies"] {
            assert!(is_secret_key(name), "{name}");
        }
        for name in ["", "path", "pass", "cwd", "pw", "key", "tokeñ"] {
            assert!(!is_secret_key(name), "{name}");
        }
    }
}
