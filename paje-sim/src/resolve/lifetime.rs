use paje_parser::Span;

use super::Resolver;
use paje_decode::decode::Decoder;
use paje_decode::decode::block::DecodedBlock;
use paje_decode::decode::decoded::Lifetime;
use paje_model::model::lifetimes::PlainCreation;
use paje_model::names::text::Name;

impl Resolver<'_> {
    /// Creates or destroys a container for a line whose words the decoder has already parsed. If the line is invalid or
    /// unusual, or if more of its fields are needed, changes nothing and returns `false`. The slow path must then read
    /// the line.
    pub(super) fn lifetime(
        &mut self,
        block: &DecodedBlock,
        decoder: &Decoder,
        line: u32,
        words: &[Span],
        lifetime: &Lifetime,
    ) -> bool {
        let Lifetime { time, hash, .. } = *lifetime;
        if self.structural.is_some()
            || self.tally.is_some()
            || self.keeps.anything()
            || time > self.clock.stop_at
        {
            return false;
        }
        let Ok(type_) = self.type_of(decoder, lifetime.type_) else { return false };
        let text = block.bytes();
        let name = |word: u8| Name::from(words[usize::from(word)].of(text));
        let endings = self.effects.endings.len();
        let is_plain = match lifetime.parent() {
            Some((parent, parent_hash)) => {
                let alias = lifetime.alias().map(name);
                let (name, parent) = (name(lifetime.name), (name(parent).text, parent_hash));
                self.model.create_plainly(PlainCreation { name, alias, hash, type_, parent, time })
            }
            None => {
                let at = block.text.start().0 + u64::from(line);
                let name = name(lifetime.name).text;
                self.model.destroy_plainly(type_, name, hash, time, at, self.effects)
            }
        };
        if is_plain {
            self.note_time(Some(time));
            if self.effects.endings.len() > endings {
                self.end_lanes(block, line, endings);
            }
        }
        is_plain
    }
}
