//! Parameters of random tests.

/// Returns the number in an environment variable, which says how much a test tries; `None` if it is not set.
///
/// # Panics
///
/// If it is not a number.
pub fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is not a number: {text}")))
}
