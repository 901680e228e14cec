//! Tables of the two hierarchies.

use arrow_array::ArrayRef;
use paje_sim::{Step, ValueId};

use crate::tables::Tables;
use crate::tables::names::{Coder, spelled};
use crate::tables::table::Column;
use crate::tables::{Error, Table};

pub(crate) fn columns(tables: &Tables<'_>, table: Table) -> Result<Vec<ArrayRef>, Error> {
    let mut columns = Columns::new(tables, table);
    match table {
        Table::TypeHierarchy => columns.types(tables),
        _ => columns.entities(tables),
    }
    columns.finish()
}

struct Columns {
    coders: Vec<(Column, Coder)>,
}

impl Columns {
    fn new(tables: &Tables<'_>, table: Table) -> Self {
        let coder = |column: &Column| (*column, Coder::new(tables.options.order));
        Columns { coders: table.columns().iter().map(coder).collect() }
    }

    fn row(&mut self, texts: &[&str]) {
        for ((_, coder), text) in self.coders.iter_mut().zip(texts) {
            coder.push_text(text);
        }
    }

    fn finish(self) -> Result<Vec<ArrayRef>, Error> {
        let columns = self.coders.into_iter().map(|(column, coder)| {
            let names = coder.finish(column.name())?;
            let codes = names.codes_from(0).to_vec();
            names.array(codes)
        });
        columns.collect()
    }

    fn types(&mut self, tables: &Tables<'_>) {
        let (types, order) = (tables.trace.types(), tables.options.order);
        tables.trace.each_type(order, |id, inside| {
            let parent = spelled(types.name(id), order);
            for child in inside {
                let name = spelled(types.name(*child), order);
                self.row(&[&parent, &name, types.nature(*child).name()]);
                let mut values: Vec<ValueId> =
                    (0..types.value_count(*child) as u32).map(ValueId).collect();
                values
                    .sort_by_cached_key(|value| order.key(types.value_identifier(*child, *value)));
                for value in values {
                    self.row(&[&name, &spelled(types.value_name(*child, value), order), "Value"]);
                }
            }
        });
    }

    fn entities(&mut self, tables: &Tables<'_>) {
        let (types, containers) = (tables.trace.types(), tables.trace.containers());
        let order = tables.options.order;
        for step in tables.trace.walk(order) {
            match step {
                Step::Container(id) => {
                    let parent = spelled(containers.name(containers.parent(id)), order);
                    let name = spelled(containers.name(id), order);
                    let type_ = spelled(types.name(containers.type_of(id)), order);
                    self.row(&[&parent, &name, &type_, "Container"]);
                }
                Step::Type(container, type_) => {
                    let nature = types.nature(type_).name();
                    let name = spelled(types.name(type_), order);
                    let container = spelled(containers.name(container), order);
                    self.row(&[&container, &name, &name, nature]);
                }
            }
        }
    }
}
