//! Suggestions for names that do not exist.

use paje_parser::error::shown;

/// Least similarity of a suggestion, from 0 to 1.
const SIMILAR: f64 = 0.8;

/// Number of suggestions.
const MOST: usize = 3;

/// Number of names in a list of all.
const LISTED: usize = 10;

/// Returns the existing names that are most similar to a misspelt name or pattern, as a part of a
/// sentence: `did you mean 'rank-1'?`. If none is similar, lists the first names.
#[must_use]
pub fn nearest<'n>(wanted: &[u8], names: impl IntoIterator<Item = &'n [u8]>) -> String {
    let letters = |name: &[u8]| String::from_utf8_lossy(name).to_lowercase();
    let literal = letters(wanted).replace(['*', '?', '[', ']', '{', '}'], "");
    let mut best: Vec<(f64, &[u8])> = Vec::new();
    let mut first: Vec<&[u8]> = Vec::new();
    for name in names {
        if first.len() <= LISTED && !first.contains(&name) {
            first.push(name);
        }
        let similarity = strsim::jaro_winkler(&literal, &letters(name));
        if similarity >= SIMILAR && best.iter().all(|(_, other)| *other != name) {
            let place = best.partition_point(|(other, _)| *other >= similarity);
            best.insert(place, (similarity, name));
            best.truncate(MOST);
        }
    }
    // Much less similar names only distract.
    let least = best.first().map_or(0.0, |(similarity, _)| similarity - 0.1);
    best.retain(|(similarity, _)| *similarity >= least);
    let list = |names: &mut dyn Iterator<Item = &[u8]>| {
        names.take(LISTED).map(|name| shown(name).to_string()).collect::<Vec<_>>().join(", ")
    };
    match (best.is_empty(), first.len()) {
        (false, _) => format!("did you mean {}?", list(&mut best.iter().map(|(_, name)| *name))),
        (true, 0) => "there are none".into(),
        (true, count) => {
            let more = if count > LISTED { ", …" } else { "" };
            format!("there are {}{more}", list(&mut first.into_iter()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn similar_names_come_first() {
        let names = ["PMPI_Send", "PMPI_Isend", "PMPI_Recv", "computing", "PMPI_Wait"];
        let hint = |wanted: &str| nearest(wanted.as_bytes(), names.map(str::as_bytes));
        assert!(hint("PMPI_Snd").starts_with("did you mean 'PMPI_Send'"), "{}", hint("PMPI_Snd"));
        assert_eq!(hint("compute"), "did you mean 'computing'?");
        assert_eq!(hint("Comput*"), "did you mean 'computing'?");
        assert_eq!(
            hint("zzz"),
            "there are 'PMPI_Send', 'PMPI_Isend', 'PMPI_Recv', 'computing', 'PMPI_Wait'"
        );
        let many: Vec<String> = (0..11).map(|number| number.to_string()).collect();
        let hint = nearest(b"x", many.iter().map(String::as_bytes));
        assert!(hint.ends_with("'8', '9', …"), "{hint}");
        assert_eq!(nearest(b"x", [&b"abc"[..], b"abc"]), "there are 'abc'");
        assert_eq!(nearest(b"x", []), "there are none");
    }
}
