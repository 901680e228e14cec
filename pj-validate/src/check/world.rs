use std::path::Path;

use paje_parser::{Event, FieldName};
use paje_sim::error::Problem;

use super::containers::Containers;
use super::files::Files;
use super::lanes::Lanes;
use super::source::Source;
use super::stop::Checked;
use super::things::Things;
use super::types::Types;

#[derive(Debug)]
pub(crate) struct World {
    pub(crate) things: Things,
    pub(crate) lanes: Lanes,
    pub(crate) files: Files,
}

impl World {
    pub(crate) fn new(ignores_open_links: bool) -> Self {
        World {
            things: Things { types: Types::new(), containers: Containers::new() },
            lanes: Lanes::new(ignores_open_links),
            files: Files::of(Path::new("-"), false, None),
        }
    }

    pub(crate) fn open_links(&mut self, container: u32, file: u32) -> Vec<(Problem, String)> {
        self.lanes.open_links(container, file, &self.things.containers, &self.files)
    }

    pub(crate) fn create_container(
        &mut self,
        event: &Event<'_>,
        source: &mut Source<'_>,
    ) -> Checked<()> {
        let Event::CreateContainer { file, .. } = event else {
            return Ok(());
        };
        let created = self.things.create_container(event, source);
        // The file is read even if the container is wrong.
        let named = file.map_or(Ok(()), |file| self.files.name_file(file, source));
        created.and(named)
    }

    pub(crate) fn trace_file(&mut self, event: &Event<'_>, source: &mut Source<'_>) -> Checked<()> {
        let Event::TraceFile { container, type_, file } = *event else {
            return Ok(());
        };
        let known = if self.files.are_wanted() {
            let field = FieldName::Container;
            self.things.container_of_type(type_, container, field, source).map(|_| ())
        } else {
            Ok(())
        };
        let named = self.files.name_file(file, source);
        known.and(named)
    }
}
