//! Tables of a replayed trace: Arrow record batches, and Parquet, Arrow and CSV files.

mod batches;
mod error;
mod extras;
mod gather;
mod hierarchy;
mod lines;
mod names;
mod rows;
mod table;
mod write;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use paje_sim::{ContainerId, LaneView, NameOrder, Selection, Step, Trace, TypeNature, ValueId};
use paje_workers::Workers;

use self::batches::survey;
use self::extras::Extras;
use self::lines::Lines;
use self::names::{Coder, Names};
use self::table::{Column, fields};
use paje_workers::in_order;

pub use self::batches::Batches;
pub use self::error::Error;
pub use self::table::Table;
pub use self::write::{Format, Times, Written, write};

/// Options of a trace's tables.
#[derive(Clone, Debug, Default)]
pub struct TableOptions {
    /// Spelling and order of names: bare, or with their quotes.
    pub order: NameOrder,
    /// Selected rows. Hierarchies are always complete.
    pub selection: Selection,
    /// Metadata of each table's schema.
    pub metadata: BTreeMap<String, String>,
}

/// The tables of a trace. Creating them only visits the containers. Everything else is made on
/// demand.
#[derive(Debug)]
pub struct Tables<'t> {
    pub(crate) trace: &'t Trace,
    pub(crate) options: TableOptions,
    pub(crate) steps: Vec<Step>,
    containers: OnceLock<Result<Names, Error>>,
    types: OnceLock<Result<Names, Error>>,
    values: [OnceLock<Result<Values, Error>>; 3],
    extras: [OnceLock<Extras>; Table::ALL.len()],
    pub(crate) lines: Lines,
}

#[derive(Debug)]
pub(crate) struct Values {
    pub(crate) names: Names,
    firsts: Vec<usize>,
}

impl Values {
    pub(crate) fn codes(&self, lane: LaneView<'_>) -> &[i32] {
        self.names.codes_from(self.firsts[lane.type_id().index()])
    }
}

impl<'t> Tables<'t> {
    /// Creates the tables of a trace.
    #[must_use]
    pub fn new(trace: &'t Trace, options: TableOptions) -> Self {
        let selected = trace.select(&options.selection);
        let steps = trace.walk(options.order).filter(|step| selected.wants_step(*step)).collect();
        Tables {
            trace,
            options,
            steps,
            containers: OnceLock::new(),
            types: OnceLock::new(),
            values: Default::default(),
            extras: Default::default(),
            lines: Lines::new(trace),
        }
    }

    /// Returns the columns of a table.
    #[must_use]
    pub fn schema(&self, table: Table) -> SchemaRef {
        let mut fields = fields(table);
        if table.nature().is_some() {
            fields.extend(self.lines.fields());
        }
        fields.extend(self.extras(table).fields.iter().map(Arc::clone));
        let metadata = self.options.metadata.clone();
        SchemaRef::new(Schema::new_with_metadata(fields, metadata))
    }

    /// Returns the batches of a table. Several threads can read them, in any order.
    #[must_use]
    pub fn batches(&self, table: Table) -> Batches<'_, 't> {
        Batches::new(self, table)
    }

    /// Reads all rows of a table.
    ///
    /// # Errors
    /// The table's strings exceed Arrow's offsets.
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

    /// Divides a table by the times at which its rows begin. Returns one part for each pair of
    /// adjacent times, which must be sorted. All rows are read once to find them.
    #[must_use]
    pub fn batches_between(&self, table: Table, borders: &[f64]) -> Vec<Batches<'_, 't>> {
        Batches::between(self, table, borders)
    }

    /// Divides a table by container. Returns the containers that have rows, in output order, with
    /// their names as the table spells them. The containers inside a container have their own rows.
    #[must_use]
    pub fn batches_by_container(
        &self,
        table: Table,
    ) -> Vec<(ContainerId, String, Batches<'_, 't>)> {
        let named = Batches::by_container(self, table).into_iter().map(|(id, batches)| {
            let name = self.trace.containers().name(id);
            (id, names::spelled(name, self.options.order).into_owned(), batches)
        });
        named.collect()
    }

    pub(crate) fn extras(&self, table: Table) -> &Extras {
        self.extras[table as usize].get_or_init(|| match self.trace.has_user_defined() {
            true => survey(self, table).columns(self.trace, table),
            false => Extras::default(),
        })
    }

    pub(crate) fn containers(&self) -> Result<&Names, Error> {
        made(&self.containers, || {
            let containers = self.trace.containers();
            let mut coder = Coder::new(self.options.order);
            containers.ids().for_each(|id| coder.push(containers.name(id)));
            coder.finish(Column::Container.name())
        })
    }

    pub(crate) fn types(&self) -> Result<&Names, Error> {
        made(&self.types, || {
            let types = self.trace.types();
            let mut coder = Coder::new(self.options.order);
            types.ids().for_each(|id| coder.push(types.name(id)));
            coder.finish(Column::Type.name())
        })
    }

    pub(crate) fn values_of(&self, table: Table) -> Result<Option<&Values>, Error> {
        match table.nature() {
            Some(nature @ (TypeNature::State | TypeNature::Event | TypeNature::Link)) => {
                self.values(nature).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn values(&self, nature: TypeNature) -> Result<&Values, Error> {
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
