//! Analyses of a trace for R.

use paje_analysis::asked::{self, About, Asked, WaitsBy};
use paje_bindings::Keywords;

#[derive(Clone, Debug, Default)]
pub(crate) struct AnalysisKeywords {
    what: Option<String>,
    by: Option<String>,
    level: Option<String>,
    bytes: Option<String>,
    bins: Option<u32>,
    inclusive: bool,
    classes: bool,
    map: Option<String>,
    group: Option<String>,
    root: Option<String>,
    eager: Option<u64>,
}

impl AnalysisKeywords {
    /// Sets a keyword, or returns `None` if no analysis has it. The error describes the valid
    /// values.
    pub(crate) fn take(&mut self, keyword: &str, value: &str) -> Option<Result<(), &'static str>> {
        let flag = || value.parse::<bool>().map_err(|_| "TRUE or FALSE");
        let text = || Some(value.to_owned());
        match keyword {
            "analysis" => self.what = text(),
            "by" => self.by = text(),
            "level" => self.level = text(),
            "bytes" => self.bytes = text(),
            "map" => self.map = text(),
            "group" => self.group = text(),
            "root" => self.root = text(),
            "bins" => {
                let bins = value.parse().ok().filter(|bins| (1..=1_000_000).contains(bins));
                self.bins = bins;
                return Some(bins.map(|_| ()).ok_or("a whole number from 1 to 1000000"));
            }
            "eager" => {
                self.eager = value.parse().ok();
                return Some(self.eager.map(|_| ()).ok_or("a number of bytes"));
            }
            "inclusive" => return Some(flag().map(|is| self.inclusive = is)),
            "classes" => return Some(flag().map(|is| self.classes = is)),
            _ => return None,
        }
        Some(Ok(()))
    }

    /// Returns the requested analysis, if any, and limits `keywords` to the rows that the analysis
    /// needs.
    ///
    /// # Errors
    /// The request is impossible. The error is a message for the user.
    pub(crate) fn asked(&self, keywords: &mut Keywords) -> Result<Option<Asked>, String> {
        let Some(what) = &self.what else { return Ok(None) };
        let by = self.by.as_deref().unwrap_or_default();
        let map = self.map.as_deref().map(asked::map).transpose()?;
        let (level, bytes) = (self.level.clone(), self.bytes.clone());
        let mut only = |nature: &str| keywords.natures = Some(vec![nature.to_owned()]);
        let asked = match what.as_str() {
            "profile" => {
                only("state");
                Asked::States(asked::by(by))
            }
            "comm" => {
                only("link");
                keywords.user_defined = true;
                Asked::Comm { level, bytes }
            }
            "time" => {
                only("state");
                let (by, bins) = (asked::by(by), self.bins.unwrap_or(60));
                Asked::Time { by, bins, inclusive: self.inclusive, classes: self.classes, map }
            }
            "waits" | "critical_path" => {
                if keywords.types.is_some() || keywords.containers.is_some() {
                    return Err("types and containers cannot restrict waiting, which may depend on any container".into());
                }
                // The rendezvous threshold needs sizes of messages.
                keywords.user_defined = self.eager.is_some() || map.is_some();
                let (group, root) = (self.group.clone(), self.root.clone());
                let about = About { map, group, root, eager: self.eager, bytes };
                match (what.as_str(), by) {
                    ("waits", "waiter") => Asked::Waits(WaitsBy::Waiter, about),
                    ("waits", "pair") => Asked::Waits(WaitsBy::Pair, about),
                    ("waits", _) => Asked::Waits(WaitsBy::Kind, about),
                    (_, by) => Asked::Critical { by_value: by == "value", about },
                }
            }
            _ => return Err(format!("unknown analysis {what}")),
        };
        Ok(Some(asked))
    }
}
