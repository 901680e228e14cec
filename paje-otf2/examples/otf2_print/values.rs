//! Values as otf2-print writes them.

use paje_otf2::table::{DEFINITIONS, Type};
use paje_otf2::{Enumeration, UNDEFINED};

pub(crate) fn flags(names: &Enumeration, value: u64) -> String {
    let set: Vec<&str> =
        (0..32).filter(|bit| value >> bit & 1 == 1).filter_map(|bit| names.get(bit)).collect();
    if set.is_empty() { "NONE".into() } else { format!("{{{}}}", set.join(", ")) }
}

pub(crate) fn type_name(type_: u8) -> String {
    let types = DEFINITIONS.get(11).and_then(|it| match it.fields[2].type_ {
        Type::One(names) => names.get(type_.into()),
        _ => None,
    });
    types.map_or_else(|| type_.to_string(), str::to_owned)
}

/// Writes a date, in nanoseconds since 1970.
pub(crate) fn date(nanoseconds: u64) -> String {
    if nanoseconds == UNDEFINED {
        return "UNDEFINED".into();
    }
    let (seconds, part) = (nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000);
    let (mut day, time) = (seconds / 86_400, seconds % 86_400);
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while day >= 365 + u64::from(is_leap(year)) {
        day -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let mut month = 1;
    for days in [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if day < days {
            break;
        }
        (day, month) = (day - days, month + 1);
    }
    let (hour, minute, second) = (time / 3600, time / 60 % 60, time % 60);
    format!("{year}-{month:02}-{:02} {hour:02}:{minute:02}:{second:02}.{part:09} +0000", day + 1)
}

/// Writes a number as C's `%g` does.
pub(crate) fn general(number: f64) -> String {
    if !number.is_finite() {
        return format!("{number}").to_lowercase();
    }
    let scientific = format!("{number:.5e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..6).contains(&exponent) {
        return trimmed(&format!("{number:.*}", (5 - exponent) as usize));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(digits), exponent.abs())
}

pub(crate) fn screaming(name: &str) -> String {
    let mut text = String::new();
    for (number, c) in name.char_indices() {
        if c.is_uppercase() && number > 0 {
            text.push('_');
        }
        text.push(c.to_ascii_uppercase());
    }
    text
}
