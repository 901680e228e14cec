//! Which messages: `size == 0`, `tag > 5 && from == rank-0`.

use std::str::FromStr;

use paje_sim::Glob;

/// Which messages: those of which all parts are true.
#[derive(Clone, Debug)]
pub struct Condition {
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
enum Part {
    Number(Field, Relation, f64),
    /// A name, true if it is to match, and the pattern.
    Name(NameField, bool, Glob),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Size,
    Tag,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameField {
    Value,
    From,
    To,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    More,
    MoreOrEqual,
}

/// Facts about a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'n> {
    pub(super) size: Option<f64>,
    pub(super) tag: Option<f64>,
    pub(super) value: &'n [u8],
    pub(super) from: &'n [u8],
    pub(super) to: &'n [u8],
}

impl Relation {
    const ALL: [(&'static str, Relation); 6] = [
        ("==", Relation::Equal),
        ("!=", Relation::NotEqual),
        ("<=", Relation::LessOrEqual),
        (">=", Relation::MoreOrEqual),
        ("<", Relation::Less),
        (">", Relation::More),
    ];

    fn holds(self, a: f64, b: f64) -> bool {
        match self {
            Relation::Equal => a == b,
            Relation::NotEqual => a != b,
            Relation::Less => a < b,
            Relation::LessOrEqual => a <= b,
            Relation::More => a > b,
            Relation::MoreOrEqual => a >= b,
        }
    }
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Result<Vec<Part>, String> = text.split("&&").map(parse_part).collect();
        Ok(Condition { parts: parts? })
    }
}

fn parse_part(text: &str) -> Result<Part, String> {
    let text = text.trim();
    let found = text.char_indices().find_map(|(at, _)| {
        let (sign, relation) =
            Relation::ALL.into_iter().find(|(s, _)| text[at..].starts_with(s))?;
        Some((text[..at].trim(), relation, text[at + sign.len()..].trim()))
    });
    let Some((field, relation, value)) = found else {
        return Err(format!(
            "`{text}`: expected a condition such as `size == 0` or `from == rank-0`"
        ));
    };
    let number = match field.to_ascii_lowercase().as_str() {
        "size" => Field::Size,
        "tag" => Field::Tag,
        name => {
            let name = match name {
                "value" => NameField::Value,
                "from" => NameField::From,
                "to" => NameField::To,
                _ => {
                    let known = "size, tag, value, from, to";
                    return Err(format!("messages have no `{field}`; there are {known}"));
                }
            };
            let is_equal = match relation {
                Relation::Equal => true,
                Relation::NotEqual => false,
                _ => return Err(format!("`{text}`: names are compared by == and !=")),
            };
            let glob = value.parse().map_err(|error| format!("`{value}`: {error}"))?;
            return Ok(Part::Name(name, is_equal, glob));
        }
    };
    let value = value.parse::<f64>().ok().filter(|value| value.is_finite());
    let value = value.ok_or_else(|| format!("`{text}`: expected a number behind the sign"))?;
    Ok(Part::Number(number, relation, value))
}

impl Condition {
    /// True if it is about tags.
    pub(super) fn needs_tags(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Number(Field::Tag, ..)))
    }

    /// True if it is about sizes.
    pub(super) fn needs_sizes(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Number(Field::Size, ..)))
    }

    /// True if a message is meant; one whose size or tag is not known is not, if that matters.
    pub(super) fn holds(&self, message: &Known<'_>) -> bool {
        self.parts.iter().all(|part| match part {
            Part::Number(field, relation, value) => {
                let known = match field {
                    Field::Size => message.size,
                    Field::Tag => message.tag,
                };
                known.is_some_and(|known| relation.holds(known, *value))
            }
            Part::Name(field, is_equal, glob) => {
                let name = match field {
                    NameField::Value => message.value,
                    NameField::From => message.from,
                    NameField::To => message.to,
                };
                glob.matches(name) == *is_equal
            }
        })
    }
}
