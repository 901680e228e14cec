//! Searches containers by name, and rows by value, key and field.

use std::convert::Infallible;

use paje_parser::TypeNature;
use paje_sim::{
    Annotations, Events, LaneId, LaneView, Links, States, TypeId, ValueId, Variables, Visitor,
};
use rustc_hash::FxHashSet;
use serde_json::{Value, json};

use crate::best::Best;
use crate::details;
use crate::view::View;

/// What is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Within {
    Values,
    Containers,
    Keys,
    Fields,
}

impl Within {
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "value" => Some(Within::Values),
            "container" => Some(Within::Containers),
            "key" => Some(Within::Keys),
            "field" => Some(Within::Fields),
            _ => None,
        }
    }
}

/// Lists the containers or rows that contain a text, in order of time. Skips the first ones. Ignores
/// case. A text `name=text` searches only the fields of this name.
pub(crate) fn find(view: &View, within: Within, text: &str, first: usize, count: usize) -> Value {
    let text = text.to_lowercase();
    let mut best = Best::new(first + count);
    match within {
        Within::Containers => return containers(view, &text, first, count),
        Within::Values => values(view, &text, &mut best),
        Within::Keys => {
            for lane in view.lanes().filter(|lane| lane.nature() == TypeNature::Link) {
                see(lane, &text, false, &mut best);
            }
        }
        Within::Fields if !view.trace.has_user_defined() => {
            return json!({"refused": "user-defined fields are not kept; start pj_view with --fields"});
        }
        Within::Fields => view.lanes().for_each(|lane| see(lane, &text, true, &mut best)),
    }
    let total = best.total();
    let page = best.sorted().into_iter().skip(first);
    let hits = page.filter_map(|(_, lane, row)| details::without_links(view, lane, row));
    json!({"total": total, "first": first, "hits": hits.collect::<Value>()})
}

fn containers(view: &View, text: &str, first: usize, count: usize) -> Value {
    let (shown, containers) = (view.shown(), view.trace.containers());
    let name = |id| containers.name(id).to_string();
    let found = containers.ids().skip(1).filter(|id| shown[id.index()]);
    let found: Vec<_> = found.filter(|id| name(*id).to_lowercase().contains(text)).collect();
    let page = found.iter().skip(first).take(count);
    let hits = page.map(|id| json!({"container": id.0, "start": containers.start(*id)}));
    json!({"total": found.len(), "first": first, "hits": hits.collect::<Value>()})
}

fn values(view: &View, text: &str, best: &mut Best) {
    let types = view.trace.types();
    let shown: FxHashSet<TypeId> = view.lanes().map(|lane| lane.type_id()).collect();
    let mut wanted: FxHashSet<(TypeId, ValueId)> = FxHashSet::default();
    for type_ in shown {
        let all = (0..types.value_count(type_) as u32).map(ValueId);
        let name = |value| types.value_name(type_, value).to_str_lossy().to_lowercase();
        wanted.extend(all.filter(|value| name(*value).contains(text)).map(|value| (type_, value)));
    }
    let types: FxHashSet<TypeId> = wanted.iter().map(|(type_, _)| *type_).collect();
    for lane in view.lanes().filter(|lane| lane.nature() != TypeNature::Variable) {
        let type_ = lane.type_id();
        if !types.contains(&type_) {
            continue;
        }
        view.pyramid.near(lane, 0, u64::MAX, |row| {
            if wanted.contains(&(type_, row.value)) {
                best.push((row.start, lane.id(), row.number));
            }
        });
    }
}

fn see(lane: LaneView<'_>, text: &str, in_fields: bool, best: &mut Best) {
    let (name, value) = text.split_once('=').map_or((None, text), |(a, b)| (Some(a), b));
    let mut texts = Texts { lane: lane.id(), next: 0, name, value, in_fields, best };
    let Ok(()) = lane.visit(&mut texts);
}

struct Texts<'a> {
    lane: LaneId,
    next: u64,
    name: Option<&'a str>,
    value: &'a str,
    in_fields: bool,
    best: &'a mut Best,
}

impl Texts<'_> {
    fn add(&mut self, start: &[f64], fields: &Annotations<'_>, has: impl Fn(usize) -> bool) {
        for (i, start) in start.iter().enumerate() {
            let is_found = match self.in_fields {
                true => fields.of(i).any(|(name, text)| {
                    let is_name = self.name.is_none_or(|wanted| name.to_lowercase() == wanted);
                    is_name && contains(text, self.value)
                }),
                false => has(i),
            };
            if is_found {
                self.best.push((*start, self.lane, self.next));
            }
            self.next += 1;
        }
    }
}

fn contains(text: &[u8], wanted: &str) -> bool {
    String::from_utf8_lossy(text).to_lowercase().contains(wanted)
}

impl Visitor for Texts<'_> {
    type Error = Infallible;

    fn states(&mut self, _: LaneView<'_>, it: States<'_>) -> Result<(), Infallible> {
        self.add(it.start, &it.user_defined, |_| false);
        Ok(())
    }

    fn variables(&mut self, _: LaneView<'_>, it: Variables<'_>) -> Result<(), Infallible> {
        self.add(it.start, &it.user_defined, |_| false);
        Ok(())
    }

    fn events(&mut self, _: LaneView<'_>, it: Events<'_>) -> Result<(), Infallible> {
        self.add(it.time, &it.user_defined, |_| false);
        Ok(())
    }

    fn links(&mut self, _: LaneView<'_>, it: Links<'_>) -> Result<(), Infallible> {
        let whole = match self.name {
            Some(name) => format!("{name}={}", self.value),
            None => self.value.to_owned(),
        };
        self.add(it.start, &it.user_defined, |i| contains(it.raw_key(i), &whole));
        Ok(())
    }
}
