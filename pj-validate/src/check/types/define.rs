//! Definitions of types and values.

use super::*;

impl Types {
    pub(crate) fn container_type(
        &mut self,
        name: Field<'_>,
        field: FieldName,
        source: &mut Source<'_>,
    ) -> Checked<u32> {
        let id = self.named_by(name, field, source)?;
        let nature = self.get(id).nature;
        if nature == TypeNature::Container {
            return Ok(id);
        }
        let problem = Problem::NotAContainerType { type_: self.named(id), nature };
        let group = Group::ids("not-a-container-type", id, source.def);
        Err(Stop::at(field, problem).once(group))
    }

    pub(crate) fn define_type(
        &mut self,
        event: &Event<'_>,
        source: &mut Source<'_>,
    ) -> Checked<()> {
        let (name, alias) = match event {
            Event::DefineType { name, alias, .. } | Event::DefineLinkType { name, alias, .. } => {
                (*name, *alias)
            }
            _ => return Ok(()),
        };
        let identifier = alias.unwrap_or(name);
        self.try_define_type(event, name, alias, source)
            .map_err(|stop| stop.spoiling(Spoils::Type(identifier.bare().to_vec())))
    }

    fn try_define_type(
        &mut self,
        event: &Event<'_>,
        name: Field<'_>,
        alias: Option<Field<'_>>,
        source: &mut Source<'_>,
    ) -> Checked<()> {
        let mut container_type = |name: Field<'_>, field| self.container_type(name, field, source);
        let (nature, parent, ends) = match event {
            Event::DefineType { nature, parent, .. } => {
                (*nature, container_type(*parent, FieldName::Type)?, None)
            }
            Event::DefineLinkType { parent, start, end, .. } => {
                let parent = container_type(*parent, FieldName::Type)?;
                let start = container_type(*start, FieldName::StartContainerType)?;
                let end = container_type(*end, FieldName::EndContainerType)?;
                (TypeNature::Link, parent, Some((start, end)))
            }
            _ => return Ok(()),
        };
        let identifier = alias.unwrap_or(name);
        let field = identifier_field(alias);
        if identifier.bare() == b"0" {
            return Err(Stop::at(field, Problem::ReservedType));
        }
        if let Some(id) = self.find(identifier.bare()) {
            let known = self.get_mut(id);
            let ends = ends.unwrap_or((ROOT, ROOT));
            let same = known.nature == nature
                && (known.parent, known.ends) == (parent, ends)
                && *known.name == *name.bare();
            // Files may repeat definitions of other files.
            if std::mem::replace(&mut known.said_in, source.here.file) != source.here.file && same {
                return Ok(());
            }
            let group = Group::ids("type-exists", id, 0);
            let known = self.named(id);
            return Err(Stop::at(field, Problem::TypeExists { known }).once(group));
        }
        let id =
            self.insert(name.bare(), alias.map(Field::bare), quoted(identifier), nature, parent);
        let place = (source.place(field), identifier.raw().len() as u64);
        let type_ = self.get_mut(id);
        type_.said_in = source.here.file;
        type_.place = Some(place);
        let Some((start, end)) = ends else {
            return Ok(());
        };
        type_.ends = (start, end);
        let common = self.is_ancestor(parent, start) && self.is_ancestor(parent, end);
        if common || source.rules == Rules::Replay {
            return Ok(());
        }
        let type_ = self.named(id);
        Err(Stop::at(FieldName::Type, Problem::NoCommonAncestor { type_ }))
    }

    pub(crate) fn define_value(
        &mut self,
        name: Field<'_>,
        alias: Option<Field<'_>>,
        type_: Field<'_>,
        source: &mut Source<'_>,
    ) -> Checked<()> {
        let id = self.named_by(type_, FieldName::Type, source)?;
        let nature = self.get(id).nature;
        if matches!(nature, TypeNature::Container | TypeNature::Variable) {
            let problem = Problem::ValueOfType { type_: self.named(id), nature };
            let group = Group::ids("value-of-type", id, 0);
            return Err(Stop::at(FieldName::Type, problem).once(group));
        }
        let identifier = alias.unwrap_or(name);
        let field = identifier_field(alias);
        let values = self.get_mut(id);
        if let Some(known) = values.by_identifier.get(identifier.bare()) {
            let known = &mut values.values[*known as usize];
            let same = known.name.as_deref().unwrap_or(&known.identifier) == name.bare();
            if std::mem::replace(&mut known.said_in, source.here.file) != source.here.file && same {
                return Ok(());
            }
            let group = Group::named("value-exists", id, identifier.bare());
            let (known, type_) = (known.named(), self.named(id));
            return Err(Stop::at(field, Problem::ValueExists { known, type_ }).once(group));
        }
        self.get_mut(id).add_value(Value {
            identifier: identifier.bare().into(),
            name: alias.and(Some(name.bare().into())),
            said_in: source.here.file,
            quoted: quoted(identifier),
            used: false,
            place: Some(source.place(field)),
        });
        Ok(())
    }
}
