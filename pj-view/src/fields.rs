//! Values of a user-defined field in rows, for colours.

use paje_sim::LaneView;

/// Returns the values of a field in some rows of a lane. The numbers of the rows are sorted.
pub(crate) fn of(lane: LaneView<'_>, name: &str, numbers: &[u64]) -> Vec<Option<String>> {
    let (mut rows, mut next) = (lane.rows(), 0);
    let value = |number: &u64| {
        let row = rows.nth((number - next) as usize)?;
        next = number + 1;
        let (_, value) = row.fields().find(|(field, _)| *field == name)?;
        Some(String::from_utf8_lossy(value).into_owned())
    };
    numbers.iter().map(value).collect()
}
