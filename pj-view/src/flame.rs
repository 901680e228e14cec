//! Flame view: the time of states in a window, by the path of the states around them.

use paje_parser::TypeNature;
use paje_sim::{LaneView, TimeRange};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use crate::pyramid::Row;
use crate::view::View;

/// Maximum number of states in the window, which bounds time and memory of an answer.
const MOST_STATES: u64 = 4_000_000;

/// Maximum number of listed paths. The longest are listed.
const MOST_PATHS: usize = 2000;

/// Path of nested states. The list of all paths has parents before their children.
#[derive(Clone, Copy, Debug)]
struct Path {
    parent: Option<usize>,
    type_: u32,
    value: u32,
    seconds: f64,
    count: u64,
}

/// Returns paths as arrays of parent, type, value, seconds and number of states. The parent is a
/// position in the list, or null. Refuses windows with too many states.
pub(crate) fn of(view: &View, lanes: &[LaneView<'_>], window: TimeRange) -> Value {
    let TimeRange { from, to, .. } = window;
    let clock = view.pyramid.clock();
    let (low, high) = (clock.ticks(from), clock.ticks(to));
    let states = lanes.iter().filter(|lane| lane.nature() == TypeNature::State);
    let count: u64 = states.clone().map(|lane| view.pyramid.at_most(*lane, low, high)).sum();
    if count > MOST_STATES {
        let most = MOST_STATES / 1_000_000;
        return json!({"refused": format!("More than {most} million states: zoom in, or select a shorter range or one container.")});
    }
    let mut tree = Tree::default();
    let mut rows = Vec::new();
    for lane in states {
        rows.clear();
        view.pyramid.near(*lane, low, high, |row| {
            if row.start < to && row.end > from {
                rows.push(row);
            }
        });
        tree.add(lane.type_id().0, &rows, from, to);
    }
    tree.answer()
}

#[derive(Default)]
struct Tree {
    paths: Vec<Path>,
    known: FxHashMap<(Option<usize>, u32, u32), usize>,
}

impl Tree {
    /// Adds the states of a lane in their order: states come before those nested in them.
    fn add(&mut self, type_: u32, rows: &[Row], from: f64, to: f64) {
        let mut around: Vec<usize> = Vec::new();
        for row in rows {
            around.truncate(row.imbrication as usize);
            let key = (around.last().copied(), type_, row.value.0);
            let new = self.paths.len();
            let at = *self.known.entry(key).or_insert(new);
            if at == new {
                let (parent, type_, value) = key;
                self.paths.push(Path { parent, type_, value, seconds: 0.0, count: 0 });
            }
            self.paths[at].seconds += row.end.min(to) - row.start.max(from);
            self.paths[at].count += 1;
            around.push(at);
        }
    }

    fn answer(&self) -> Value {
        let mut order: Vec<usize> = (0..self.paths.len()).collect();
        order.sort_by(|a, b| self.paths[*b].seconds.total_cmp(&self.paths[*a].seconds));
        let mut listed = vec![false; self.paths.len()];
        for at in order.into_iter().take(MOST_PATHS) {
            // A listed path needs the paths around it.
            let mut next = Some(at);
            while let Some(at) = next.filter(|at| !listed[*at]) {
                listed[at] = true;
                next = self.paths[at].parent;
            }
        }
        let mut places = vec![0; self.paths.len()];
        let mut list = Vec::new();
        for (at, path) in self.paths.iter().enumerate().filter(|(at, _)| listed[*at]) {
            places[at] = list.len();
            let parent = path.parent.map(|parent| places[parent]);
            list.push(json!([parent, path.type_, path.value, path.seconds, path.count]));
        }
        json!({"paths": list, "others": self.paths.len() - list.len()})
    }
}
