//! The tables of a trace.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use paje_sim::{LaneView, NameOrder, Selection, Step, Trace, TypeNature, ValueId};
use paje_workers::Workers;

use crate::batches::{Batches, survey};
use crate::extras::Extras;
use crate::lines::Lines;
use crate::names::{Coder, Names};
use crate::table::{Column, fields};
use crate::{Error, Table};
use paje_workers::in_order;

/// Options for the contents of a trace's tables.
#[derive(Clone, Debug, Default)]
pub struct TableOptions {
    /// Spelling and order of names: bare, or with their quotes.
    pub order: NameOrder,
    /// Which rows there are. The hierarchies have all of theirs.
    pub selection: Selection,
    /// Facts about the trace that go with each table, as metadata of its schema.
    pub metadata: BTreeMap<String, String>,
}

/// A trace, seen as tables. Making one costs a walk through the containers; what rows need is made
/// when they are asked for.
#[derive(Debug)]
pub struct Tables<'t> {
    pub(crate) trace: &'t Trace,
    pub(crate) options: TableOptions,
    /// All steps of the walk whose rows are wanted: containers, and lanes.
    pub(crate) steps: Vec<Step>,
    containers: OnceLock<Result<Names, Error>>,
    types: OnceLock<Result<Names, Error>>,
    values: [OnceLock<Result<Values, Error>>; 3],
    extras: [OnceLock<Extras>; Table::ALL.len()],
    pub(crate) lines: Lines,
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

    /// The columns of a table.
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

    /// The user-defined columns of a table.
    pub(crate) fn extras(&self, table: Table) -> &Extras {
        self.extras[table as usize].get_or_init(|| match self.trace.has_user_defined() {
            true => survey(self, table).columns(self.trace, table),
            false => Extras::default(),
        })
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

    /// The names of the values that rows of a table have.
    pub(crate) fn values_of(&self, table: Table) -> Result<Option<&Values>, Error> {
        match table.nature() {
            Some(nature @ (TypeNature::State | TypeNature::Event | TypeNature::Link)) => {
                self.values(nature).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The names of the values of all types of a nature.
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

/// Result that was made before, or is made now.
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
