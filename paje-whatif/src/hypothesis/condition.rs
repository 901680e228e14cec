//! Conditions on messages: `size == 0`, `tag > 5 && from == rank-0`.

use std::str::FromStr;

use paje_sim::Glob;

/// A condition on messages. All of its tests must hold.
#[derive(Clone, Debug)]
pub struct Condition {
    tests: Vec<Test>,
}

type Relation = fn(&f64, &f64) -> bool;

#[derive(Clone, Debug)]
enum Test {
    /// Compares a property with a number. The property is an index into [`NUMBERS`].
    Number(usize, Relation, f64),
    /// Matches a property with a pattern. The property is an index into [`NAMES`]. The first
    /// element says whether it must match or must not match.
    Name(usize, bool, Glob),
}

const NUMBERS: [&str; 2] = ["size", "tag"];
const NAMES: [&str; 3] = ["value", "from", "to"];

const RELATIONS: [(&str, Relation); 6] = [
    ("==", f64::eq),
    ("!=", f64::ne),
    ("<=", f64::le),
    (">=", f64::ge),
    ("<", f64::lt),
    (">", f64::gt),
];

/// Properties of a message, in the order of [`NUMBERS`] and [`NAMES`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Properties<'n> {
    pub(super) numbers: [Option<f64>; NUMBERS.len()],
    pub(super) names: [&'n [u8]; NAMES.len()],
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let tests: Result<Vec<Test>, String> = text.split("&&").map(parse_test).collect();
        Ok(Condition { tests: tests? })
    }
}

fn parse_test(text: &str) -> Result<Test, String> {
    let text = text.trim();
    let found = text.char_indices().find_map(|(at, _)| {
        let (sign, relation) = RELATIONS.iter().find(|(sign, _)| text[at..].starts_with(sign))?;
        Some((text[..at].trim(), *sign, *relation, text[at + sign.len()..].trim()))
    });
    let Some((property, sign, relation, value)) = found else {
        return Err(format!(
            "`{text}`: expected a condition such as `size == 0` or `from == rank-0`"
        ));
    };
    let index = |all: &[&str]| all.iter().position(|name| property.eq_ignore_ascii_case(name));
    if let Some(number) = index(&NUMBERS) {
        let value = value.parse::<f64>().ok().filter(|value| value.is_finite());
        let value =
            value.ok_or_else(|| format!("`{text}`: expected a number after the operator"))?;
        return Ok(Test::Number(number, relation, value));
    }
    let Some(name) = index(&NAMES) else {
        let known = [&NUMBERS[..], &NAMES].concat().join(", ");
        return Err(format!("messages have no property `{property}`; properties are {known}"));
    };
    if !matches!(sign, "==" | "!=") {
        return Err(format!("`{text}`: names can only be compared with == and !="));
    }
    let glob = value.parse().map_err(|error| format!("`{value}`: {error}"))?;
    Ok(Test::Name(name, sign == "==", glob))
}

impl Condition {
    fn needs(&self, property: &str) -> bool {
        let is_it =
            |test: &Test| matches!(test, Test::Number(number, ..) if NUMBERS[*number] == property);
        self.tests.iter().any(is_it)
    }

    pub(super) fn needs_tags(&self) -> bool {
        self.needs("tag")
    }

    pub(super) fn needs_sizes(&self) -> bool {
        self.needs("size")
    }

    /// Returns whether the condition holds for a message. Tests of an unknown size or tag fail.
    pub(super) fn holds(&self, message: &Properties<'_>) -> bool {
        self.tests.iter().all(|test| match test {
            Test::Number(number, relation, value) => {
                message.numbers[*number].is_some_and(|number| relation(&number, value))
            }
            Test::Name(name, matches, glob) => glob.matches(message.names[*name]) == *matches,
        })
    }
}
