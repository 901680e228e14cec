//! Looks up names that options refer to. Each error has the option and the nearest names.

use paje_sim::{ContainerId, Glob, Name, Trace, TypeId, TypeNature, nearest};

/// Shows an option as it was given: `--group Node`, or `group="Node"` for keywords, which end in `=`.
fn given(option: &str, wanted: &str) -> String {
    match option.ends_with('=') {
        true => format!("{option}{wanted:?}"),
        false => format!("{option} {wanted}"),
    }
}

fn is(name: Name<'_>, alias: Option<Name<'_>>, wanted: &str) -> bool {
    let wanted = wanted.as_bytes();
    name.text == wanted || alias.is_some_and(|alias| alias.text == wanted)
}

/// Checks that several files are one trace.
///
/// # Errors
/// Fails if the files define different outermost containers.
pub fn one_trace(trace: &Trace) -> Result<(), String> {
    let types = trace.types();
    let outermost = types.children(TypeId::ROOT);
    let mut outermost = outermost.filter(|id| types.nature(*id) == TypeNature::Container);
    let Some(first) = outermost.next() else { return Ok(()) };
    match outermost.find(|id| types.defined_in(*id) != types.defined_in(first)) {
        None => Ok(()),
        Some(other) => Err(format!(
            "these files are not one trace: one defines containers of type {}, another of type {}; \
             `pj_profile compare` compares two traces",
            types.name(first),
            types.name(other)
        )),
    }
}

/// Finds a container type by its name or alias.
///
/// # Errors
/// Fails if the trace has no such container type.
pub fn container_type(trace: &Trace, option: &str, wanted: &str) -> Result<TypeId, String> {
    let types = trace.types();
    let all = || types.ids().filter(|id| types.nature(*id) == TypeNature::Container);
    all().find(|id| is(types.name(*id), types.alias(*id), wanted)).ok_or_else(|| {
        let hint = nearest(wanted.as_bytes(), all().skip(1).map(|id| types.name(id).text));
        format!("{}: the trace has no such container type; {hint}", given(option, wanted))
    })
}

/// Finds a container by its name or alias.
///
/// # Errors
/// Fails if the trace has no such container.
pub fn container(trace: &Trace, option: &str, wanted: &str) -> Result<ContainerId, String> {
    let containers = trace.containers();
    let found = containers.ids().find(|id| is(containers.name(*id), containers.alias(*id), wanted));
    found.ok_or_else(|| {
        let names = containers.ids().skip(1).map(|id| containers.name(id).text);
        let hint = nearest(wanted.as_bytes(), names);
        format!("{}: the trace has no such container; {hint}", given(option, wanted))
    })
}

/// Checks that an event of the trace has a user-defined field of this name.
///
/// # Errors
/// Fails if no event has the field.
pub fn field(trace: &Trace, option: &str, wanted: &str) -> Result<(), String> {
    let all = || trace.defs().iter().flat_map(|def| def.extras().map(|(name, _)| name));
    if all().any(|name| name == wanted) {
        return Ok(());
    }
    let hint = nearest(wanted.as_bytes(), all().map(str::as_bytes));
    Err(format!("{option} {wanted}: the trace has no such user-defined field; {hint}"))
}

/// Checks that a value of a state or link matches the pattern.
///
/// # Errors
/// Fails if no value matches.
pub fn value(trace: &Trace, option: &str, glob: &Glob) -> Result<(), String> {
    let types = trace.types();
    let has_values =
        |id: &TypeId| matches!(types.nature(*id), TypeNature::State | TypeNature::Link);
    let all = || {
        let ids = types.ids().filter(has_values);
        ids.flat_map(|id| types.values(id).map(move |value| types.value_name(id, value).text))
    };
    if all().any(|name| glob.matches(name)) {
        return Ok(());
    }
    let hint = nearest(glob.as_str().as_bytes(), all());
    Err(format!("{option} {}: no value of a state or link matches; {hint}", glob.as_str()))
}
