//! Resolves the blocks of a wave in file order, between two rounds.

use paje_workers::exclusive;
use splitter::ReadError;

use super::reading::Reading;
use super::round::Wave;
use super::state::Team;
use super::world::World;
use crate::resolve::{Clock, Counter, Resolver, resolve};
use paje_decode::decode::block::DecodedBlock;
use paje_decode::input::feed::BlockBudget;
use paje_model::names::error::{Error, WarningKind};
use paje_model::names::recovered::Remedy;
use paje_model::names::usage::Usage;
use paje_replay::problems::found::error_at_fault;

/// Factor by which waves grow. Waves start small, with a part of a block and then sixteen blocks, because a single
/// worker decodes the blocks after an event definition again.
const GROWTH: usize = 16 * BlockBudget::PER_BLOCK;

/// Number of bytes at the start of the trace that are searched for comments.
const MOST_COMMENTS: usize = 1 << 13;

/// Resolves the names in the wave's blocks, in file order, up to the first problem.
pub(super) fn resolve_wave(
    wave: &mut Wave,
    read: &mut Reading,
    world: &mut World<'_>,
    team: &mut Team,
) {
    team.quota = (team.quota * GROWTH).min(team.full_quota);
    // Blocks after a changed definition were decoded without it, and are decoded again.
    let mut changed = false;
    let mut index = 0;
    world.findings.leave_out_broken(wave, index);
    while index < wave.blocks.len() {
        let origin = &wave.blocks[index].origin;
        if origin.file != read.definitions.file() {
            let unfinished = read.unfinished();
            read.turn_to(origin);
            world.model.turn_to(origin.file, origin.start);
            if let Some(error) = unfinished {
                world.findings.cut_off(error);
            }
            if world.findings.first.is_some() {
                wave.blocks.truncate(index);
                return;
            }
        }
        if !changed && !read.definitions.still_valid_for(&wave.blocks[index]) {
            changed = true;
            team.restart_decoders_of(&wave.blocks[index..]);
        }
        let block = &mut wave.blocks[index];
        if changed {
            let desk = exclusive(&mut team.desks[block.worker]);
            desk.decode(block, read.definitions.current(), None);
        }
        if read.lines == 0 {
            read.comments = comments(block.text.text());
        }
        read.place(block);
        if block.is_marked {
            world.findings.warnings.add(block, WarningKind::ByteOrderMark, Vec::new(), 0);
        }
        world.findings.first = resolve_block(block, read, world, team);
        read.lines += block.decoded.lines;
        read.bytes += block.text.text_len() as u64;
        if world.findings.tally.is_some() {
            // Lines that are too long are in no block.
            let end = block.text.start().0 + block.text.text_len() as u64;
            read.bytes = read.bytes.max(end);
        }
        if let Some(defs) = &block.decoded.defs {
            read.definitions.change(defs);
        }
        // A time window starts with all definitions, so no more follow.
        if block.decoded.changes && !block.is_last && !world.lanes.is_sound {
            team.quota = BlockBudget::of_head(team.desks.len());
        }
        if world.findings.first.is_some() {
            wave.blocks.truncate(index + 1);
            return;
        }
        index += 1;
        world.findings.leave_out_broken(wave, index);
    }
    if world.findings.tally.is_some() {
        for maps in &mut team.maps {
            maps.resolve_pending(&mut world.model);
        }
    }
}

fn resolve_block(
    block: &mut DecodedBlock,
    read: &mut Reading,
    world: &mut World<'_>,
    team: &mut Team,
) -> Option<Error> {
    read.last_time = read.last_time.max(block.decoded.last_time);
    read.events += block.decoded.event_count;
    let mut resolver = Resolver {
        model: &mut world.model,
        lanes: &mut world.lanes,
        maps: &mut team.maps[block.maps],
        effects: &mut world.effects,
        clock: Clock {
            last: read.last_time,
            stop_at: world.job.options.stop_at.unwrap_or(f64::INFINITY),
            kept: read.times.as_mut(),
        },
        keeps: world.job.options.keeps(),
        warnings: &mut world.findings.warnings,
        files: &mut read.files,
        progress: world.job.progress,
        deferred: &mut world.deferred,
        counter: Counter::default(),
        selected: world.selected.as_mut(),
        structural: world.follower.is_some().then(|| std::mem::take(&mut block.structural)),
        usage: read.usage.as_deref_mut(),
        tally: world.findings.tally.as_mut(),
    };
    if let Some(usage) = &mut resolver.usage {
        note_usage(usage, block);
    }
    if let Some(structural) = &mut resolver.structural {
        structural.clear();
    }
    let defs = block.decoded.defs.as_deref().unwrap_or(read.definitions.current());
    let decoder = &exclusive(&mut team.desks[block.worker]).decoder;
    let resolved = resolve(block, decoder, defs, &mut resolver);
    read.last_time = resolver.clock.last;
    block.structural = resolver.structural.unwrap_or_default();
    if let Some(times) = &mut read.times {
        // Adding zero turns minus zero into zero. Otherwise minus zero would count as a different time, unlike in
        // PajeNG.
        times.extend(block.decoded.lane_events().iter().map(|event| event.time + 0.0));
        times.sort_by(f64::total_cmp);
        times.dedup();
    }
    if let Some(tally) = &mut world.findings.tally {
        tally.add_faults(block);
        team.maps[block.maps].count_lines(block, tally);
        if let Some(error) = block.failure.take() {
            note_unread(block, error, read, world);
        }
        return None;
    }
    let fault = || {
        let (line, fault) = block.decoded.fault?;
        Some(error_at_fault(block, line, &fault))
    };
    match resolved.err().or_else(fault) {
        Some(error) => Some(error),
        None => block.failure.take().map(|error| read.failed(block, error)),
    }
}

fn note_unread(block: &DecodedBlock, error: ReadError, read: &mut Reading, world: &mut World<'_>) {
    let is_line = matches!(error, ReadError::LineTooLong { .. });
    let error = read.failed(block, error);
    if is_line {
        // The line that could not be read still counts.
        read.lines += 1;
        world.findings.judge(Remedy::Skipped, 1, error);
        return;
    }
    if let Some(tally) = &mut world.findings.tally {
        tally.broken = Some(block.origin.file);
    }
    world.findings.cut_off(error);
}

fn note_usage(usage: &mut Usage, block: &DecodedBlock) {
    let decoded = &block.decoded;
    decoded.used.iter().chain(&decoded.usage.used).for_each(|def| usage.use_event(*def));
    if let Some(last) = decoded.usage.header_to.checked_sub(1) {
        usage.define_event(block.text.start().0 + u64::from(last));
    }
    if decoded.usage.first_time.is_finite() {
        usage.note_time(decoded.usage.first_time);
    }
    usage.is_doubtful |= decoded.usage.is_doubtful;
    usage.ends_with_newline = block.text.text().ends_with(b"\n");
}

fn comments(text: &[u8]) -> Vec<u8> {
    let head = &text[..text.len().min(MOST_COMMENTS)];
    let lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let lines = lines.take_while(|line| line.is_empty() || line.starts_with(b"#"));
    let comments: Vec<&[u8]> =
        lines.filter_map(|line| Some(line.strip_prefix(b"#")?.trim_ascii())).collect();
    comments.join(&b'\n')
}
