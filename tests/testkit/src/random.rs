//! Parameters of random tests.

/// Returns the number in an environment variable, or `None` if it is not set.
pub fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is not a number: {text}")))
}
