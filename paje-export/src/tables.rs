//! The tables of a trace.

use std::sync::OnceLock;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use paje_sim::{LaneView, NameOrder, Step, Trace, TypeNature, ValueId};
use workers::Workers;

use crate::batches::Batches;
use crate::names::{Coder, Names};
use crate::ordered::in_order;
use crate::table::{Column, fields};
use crate::{Error, Table};

/// What the tables of a trace are to hold.
#[derive(Clone, Debug)]
pub struct TableOptions {
    /// How names are spelled, and ordered: bare, or with their quotes.
    pub order: NameOrder,
    /// Rows that are over before this time, in seconds, are left out; containers are not.
    pub from: f64,
    /// Rows that begin after this time, in seconds, are left out; containers are not.
    pub to: f64,
}

impl Default for TableOptions {
    fn default() -> Self {
        TableOptions { order: NameOrder::Bare, from: f64::NEG_INFINITY, to: f64::INFINITY }
    }
}

impl TableOptions {
    /// Whether a row from `start` to `end` is wanted.
    pub(crate) fn wants(&self, start: f64, end: f64) -> bool {
        start.min(end) <= self.to && start.max(end) >= self.from
    }

    pub(crate) fn wants_all(&self) -> bool {
        self.from == f64::NEG_INFINITY && self.to == f64::INFINITY
    }
}

/// A trace, seen as tables. Making one costs a walk through the containers; what rows need is made
/// when they are asked for.
#[derive(Debug)]
pub struct Tables<'t> {
    pub(crate) trace: &'t Trace,
    pub(crate) options: TableOptions,
    /// All steps of the walk: containers, and their lanes.
    pub(crate) steps: Vec<Step>,
    containers: OnceLock<Result<Names, Error>>,
    types: OnceLock<Result<Names, Error>>,
    values: [OnceLock<Result<Values, Error>>; 3],
}

/// The names of the values of all types of one nature.
#[derive(Debug)]
pub(crate) struct Values {
    pub(crate) names: Names,
    /// By type: the number of its first value.
    firsts: Vec<usize>,
}

impl Values {
    /// By value: the code of its name.
    pub(crate) fn codes(&self, lane: LaneView<'_>) -> &[i32] {
        self.names.codes_from(self.firsts[lane.type_id().index()])
    }
}

impl<'t> Tables<'t> {
    /// The tables of this trace.
    #[must_use]
    pub fn new(trace: &'t Trace, options: TableOptions) -> Self {
        let steps = trace.walk(options.order).collect();
        Tables {
            trace,
            options,
            steps,
            containers: OnceLock::new(),
            types: OnceLock::new(),
            values: Default::default(),
        }
    }

    /// The columns of a table.
    #[must_use]
    pub fn schema(&self, table: Table) -> SchemaRef {
        SchemaRef::new(Schema::new(fields(table)))
    }

    /// The batches of a table, to be made one by one, in any order and by several threads at once.
    #[must_use]
    pub fn batches(&self, table: Table) -> Batches<'_, 't> {
        Batches::new(self, table)
    }

    /// All rows of a table.
    ///
    /// # Errors
    /// They cannot be told in Arrow's way.
    pub fn read(&self, table: Table, workers: &Workers) -> Result<Vec<RecordBatch>, Error> {
        let batches = self.batches(table);
        let mut all = Vec::with_capacity(batches.len());
        in_order(
            workers,
            batches.len(),
            |number| batches.read(number),
            |_, batch| {
                all.push(batch);
                Ok(())
            },
        )?;
        Ok(all)
    }

    /// The names of containers, by their numbers.
    pub(crate) fn containers(&self) -> Result<&Names, Error> {
        made(&self.containers, || {
            let containers = self.trace.containers();
            let mut coder = Coder::new(self.options.order);
            containers.ids().for_each(|id| coder.push(containers.name(id)));
            coder.finish(Column::Container.name())
        })
    }

    /// The names of types, by their numbers.
    pub(crate) fn types(&self) -> Result<&Names, Error> {
        made(&self.types, || {
            let types = self.trace.types();
            let mut coder = Coder::new(self.options.order);
            types.ids().for_each(|id| coder.push(types.name(id)));
            coder.finish(Column::Type.name())
        })
    }

    /// The names of the values of all types of a nature.
    pub(crate) fn values(&self, nature: TypeNature) -> Result<&Values, Error> {
        let place = match nature {
            TypeNature::State => 0,
            TypeNature::Event => 1,
            _ => 2,
        };
        made(&self.values[place], || {
            let types = self.trace.types();
            let mut coder = Coder::new(self.options.order);
            let mut firsts = Vec::with_capacity(types.len());
            let mut count = 0;
            for id in types.ids() {
                firsts.push(count);
                if types.nature(id) == nature {
                    let values = types.value_count(id);
                    (0..values as u32)
                        .for_each(|value| coder.push(types.value_name(id, ValueId(value))));
                    count += values;
                }
            }
            Ok(Values { names: coder.finish(Column::Value.name())?, firsts })
        })
    }
}

/// What was made before, or is made now.
fn made<T>(
    place: &OnceLock<Result<T, Error>>,
    make: impl FnOnce() -> Result<T, Error>,
) -> Result<&T, Error> {
    match place.get_or_init(make) {
        Ok(made) => Ok(made),
        Err(Error::TooMuchText(column)) => Err(Error::TooMuchText(column)),
        Err(_) => unreachable!("names have no other errors"),
    }
}
