//! Searches containers by name, and rows by value, key and field.

use std::convert::Infallible;

use paje_parser::TypeNature;
use paje_sim::{Annotations, LaneView, Links, TypeId, ValueId, Visitor};
use rustc_hash::FxHashSet;
use serde_json::{Value, json};

use crate::best::Best;
use crate::details;
use crate::fields::EachChunk;
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
                let Ok(()) = lane.visit(&mut Keys { next: 0, text: &text, best: &mut best });
            }
        }
        Within::Fields if !view.trace.has_user_defined() => {
            return json!({"refused": "user-defined fields are not kept; start pj_view with --fields"});
        }
        Within::Fields => view.lanes().for_each(|lane| fields(lane, &text, &mut best)),
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

/// Searches the keys of links.
struct Keys<'a> {
    next: u64,
    text: &'a str,
    best: &'a mut Best,
}

impl Visitor for Keys<'_> {
    type Error = Infallible;

    fn links(&mut self, lane: LaneView<'_>, it: Links<'_>) -> Result<(), Infallible> {
        for (i, start) in it.start.iter().enumerate() {
            if contains(it.raw_key(i), self.text) {
                self.best.push((*start, lane.id(), self.next));
            }
            self.next += 1;
        }
        Ok(())
    }
}

/// Searches the user-defined fields of a lane.
fn fields(lane: LaneView<'_>, text: &str, best: &mut Best) {
    let (wanted, value) = text.split_once('=').map_or((None, text), |(a, b)| (Some(a), b));
    let mut row = 0;
    let mut see = EachChunk(|starts: &[f64], fields: &Annotations<'_>| {
        for (i, start) in starts.iter().enumerate() {
            let is_found = fields.of(i).any(|(name, text)| {
                wanted.is_none_or(|wanted| name.to_lowercase() == wanted) && contains(text, value)
            });
            if is_found {
                best.push((*start, lane.id(), row));
            }
            row += 1;
        }
    });
    let Ok(()) = lane.visit(&mut see);
}

fn contains(text: &[u8], wanted: &str) -> bool {
    String::from_utf8_lossy(text).to_lowercase().contains(wanted)
}
