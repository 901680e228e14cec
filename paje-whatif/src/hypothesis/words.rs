//! Parses `key=value,key=value`, the syntax of hypotheses on the command line.

use paje_sim::Glob;

use super::States;

/// Pairs that have not been used yet.
pub(super) struct Words(Vec<(String, String)>);

impl Words {
    pub(super) fn parse(text: &str, known: &[&str]) -> Result<Self, String> {
        let mut words: Vec<(String, String)> = Vec::new();
        for word in text.split(',').filter(|word| !word.is_empty()) {
            let Some((key, value)) = word.split_once('=') else {
                // A comma may be part of a value.
                match words.last_mut() {
                    Some((_, value)) => value.push_str(&format!(",{word}")),
                    None => return Err(format!("`{word}`: expected {}=…", known.join("=…, "))),
                }
                continue;
            };
            if !known.contains(&key) {
                return Err(format!("unknown key `{key}`; keys are {}", known.join(", ")));
            }
            if words.iter().any(|(other, _)| other == key) {
                return Err(format!("`{key}` is given twice"));
            }
            words.push((key.to_owned(), value.to_owned()));
        }
        Ok(Words(words))
    }

    pub(super) fn take(&mut self, key: &str) -> Option<String> {
        let at = self.0.iter().position(|(other, _)| other == key)?;
        Some(self.0.swap_remove(at).1)
    }

    /// Takes a finite number, at least 0, that `read` parses.
    pub(super) fn amount(
        &mut self,
        key: &str,
        read: impl FnOnce(&str) -> Result<f64, String>,
    ) -> Result<Option<f64>, String> {
        let Some(text) = self.take(key) else { return Ok(None) };
        let number = read(&text).map_err(|error| format!("{key}={text}: {error}"))?;
        match number.is_finite() && number >= 0.0 {
            true => Ok(Some(number)),
            false => Err(format!("{key}={text}: expected a number of 0 or more")),
        }
    }

    pub(super) fn integer(&mut self, key: &str) -> Result<Option<u64>, String> {
        let Some(text) = self.take(key) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| format!("{key}={text}: expected a whole number"))
    }

    pub(super) fn glob(&mut self, key: &str) -> Result<Option<Glob>, String> {
        let Some(text) = self.take(key) else { return Ok(None) };
        text.parse().map(Some).map_err(|error| format!("{key}={text}: {error}"))
    }

    pub(super) fn states(&mut self, container: Option<Glob>) -> Result<States, String> {
        let state = self.glob("state")?.ok_or("state=NAME is missing")?;
        Ok(States { state, container })
    }
}
