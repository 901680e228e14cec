//! The tasks of a run as tables.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use paje_decimal::amounts::{duration, percent};
use paje_sim::{Name, TypeId, ValueId};

use super::{Delay, Findings, Reason, Usage, What};
use crate::{Data, Label, Seconds, Table};

/// Time of the critical path in a state or between states (`None`), or for submission.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Activity {
    State(TypeId, Option<ValueId>),
    Submission,
}

impl Findings<'_> {
    /// Returns `kind,workers,tasks,execution,transfer,overhead,ready,dependencies,submission,none_left,share` by kind of
    /// worker. `share` is the share of the execution. The other times are those of [`Reason`].
    #[must_use]
    pub fn kinds_table(&self) -> Table {
        let mut rows = vec![Usage::default(); self.run.kinds.len()];
        for (worker, usage) in self.run.workers.iter().zip(&self.usage) {
            rows[worker.kind as usize].add(usage);
        }
        let workers = self.run.workers_by_kind();
        let counts: Vec<u64> = workers.iter().map(|count| u64::from(*count)).collect();
        let table = Table::new("workers")
            .with(
                "kind",
                Data::Text(self.run.kinds.iter().map(|kind| kind.as_str().into()).collect()),
            )
            .with("workers", Data::Count(counts.clone()));
        self.with_usage(table, &rows, &counts)
    }

    /// Returns the columns of [`Findings::kinds_table`] for each worker, with `container` for `kind` and `workers`.
    #[must_use]
    pub fn workers_table(&self) -> Table {
        let names = self.run.workers.iter().map(|worker| self.container(worker.track));
        let table = Table::new("workers").with("container", Data::Text(names.collect()));
        self.with_usage(table, &self.usage, &vec![1; self.usage.len()])
    }

    fn with_usage(&self, table: Table, rows: &[Usage], workers: &[u64]) -> Table {
        let length = self.length();
        let whole = |count: u64| (0..count).map(|_| length).sum::<Seconds>();
        let share =
            rows.iter().zip(workers).map(|(row, count)| row.execution.share_of(whole(*count)));
        let reason = |reason| Data::seconds(rows, |row| row.time(reason));
        table
            .with("tasks", Data::count(rows, |row| row.tasks))
            .with("execution", Data::seconds(rows, |row| row.execution))
            .with("transfer", reason(Reason::Transfer))
            .with("overhead", reason(Reason::Overhead))
            .with("ready", reason(Reason::Ready))
            .with("dependencies", reason(Reason::Dependencies))
            .with("submission", reason(Reason::Submission))
            .with("none_left", reason(Reason::End))
            .with("share", Data::Number(share.map(Some).collect()))
            .in_seconds(self.scale())
    }

    /// Returns `kernel,kind,count,seconds,mean,queued,beside_idle,transfer` by kernel and kind of worker. The last
    /// columns are sums of [`Delay`].
    #[must_use]
    pub fn kernels_table(&self) -> Table {
        let mut rows: BTreeMap<(&[u8], u32), (u64, Seconds, Delay)> = BTreeMap::new();
        for (at, _, execution) in self.executed() {
            let kind = self.run.workers[execution.worker as usize].kind;
            let row = rows.entry((self.run.kernel(execution.type_), kind)).or_default();
            let delay = &self.delays[at as usize];
            row.0 += 1;
            row.1 += Seconds::between(execution.start, execution.end);
            row.2.queued += delay.queued;
            row.2.beside_idle += delay.beside_idle;
            row.2.transfer += delay.transfer;
        }
        let mut rows: Vec<_> = rows.into_iter().collect();
        rows.sort_by_key(|(_, row)| Reverse(row.1));
        let kernels = rows.iter().map(|((kernel, _), _)| Label::from(Name::bare(kernel)));
        let kinds =
            rows.iter().map(|((_, kind), _)| self.run.kinds[*kind as usize].as_str().into());
        Table::new("kernels")
            .with("kernel", Data::Text(kernels.collect()))
            .with("kind", Data::Text(kinds.collect()))
            .with("count", Data::count(&rows, |(_, row)| row.0))
            .with("seconds", Data::seconds(&rows, |(_, row)| row.1))
            .with("mean", Data::seconds(&rows, |(_, row)| row.1.mean(row.0)))
            .with("queued", Data::seconds(&rows, |(_, row)| row.2.queued))
            .with("beside_idle", Data::seconds(&rows, |(_, row)| row.2.beside_idle))
            .with("transfer", Data::seconds(&rows, |(_, row)| row.2.transfer))
            .in_seconds(self.scale())
    }

    /// Returns `job,kernel,container,priority,submit,ready,start,end,seconds,queued,beside_idle,transfer` for each executed
    /// task. The tasks that waited longest beside an idle worker come first.
    #[must_use]
    pub fn tasks_table(&self) -> Table {
        let mut rows: Vec<_> = self.executed().collect();
        let delay = |at: u32| &self.delays[at as usize];
        rows.sort_by_key(|(at, ..)| Reverse((delay(*at).beside_idle, delay(*at).queued)));
        let record = |at: u32| &self.run.records.list()[at as usize];
        let jobs = rows.iter().map(|(at, ..)| record(*at).job.to_string().as_str().into());
        let kernel = |type_| Label::from(Name::bare(self.run.kernel(type_)));
        let kernels = rows.iter().map(|(_, _, execution)| kernel(execution.type_));
        let track = |worker: u32| self.run.workers[worker as usize].track;
        let workers = rows.iter().map(|(_, _, execution)| self.container(track(execution.worker)));
        let duration = |start, end| Seconds::between(start, end);
        Table::new("tasks")
            .with("job", Data::Text(jobs.collect()))
            .with("kernel", Data::Text(kernels.collect()))
            .with("container", Data::Text(workers.collect()))
            .with("priority", Data::amount(&rows, |(at, ..)| Some(record(*at).priority as f64)))
            .with("submit", Data::time(&rows, |(_, task, _)| Some(task.submit)))
            .with("ready", Data::time(&rows, |(_, task, _)| Some(task.ready)))
            .with("start", Data::time(&rows, |(_, _, execution)| Some(execution.start)))
            .with("end", Data::time(&rows, |(_, _, execution)| Some(execution.end)))
            .with("seconds", Data::seconds(&rows, |(_, _, it)| duration(it.start, it.end)))
            .with("queued", Data::seconds(&rows, |(at, ..)| delay(*at).queued))
            .with("beside_idle", Data::seconds(&rows, |(at, ..)| delay(*at).beside_idle))
            .with("transfer", Data::seconds(&rows, |(at, ..)| delay(*at).transfer))
            .in_seconds(self.scale())
    }

    /// Returns `kind,count,seconds,share,mean,max`: the time of all workers without a task, by [`Reason`].
    #[must_use]
    pub fn waits_table(&self) -> Table {
        let mut all = Usage::default();
        self.usage.iter().for_each(|usage| all.add(usage));
        let length = self.length();
        let whole: Seconds = self.usage.iter().map(|_| length).sum();
        let mut rows: Vec<_> = Reason::ALL.into_iter().zip(all.reasons).collect();
        rows.retain(|(_, (count, ..))| *count > 0);
        rows.sort_by_key(|(reason, (_, time, _))| (*reason == Reason::Overhead, Reverse(*time)));
        let names = rows.iter().map(|(reason, _)| reason.name().into());
        Table::new("kinds")
            .with("kind", Data::Text(names.collect()))
            .with("count", Data::count(&rows, |(_, row)| row.0))
            .with("seconds", Data::seconds(&rows, |(_, row)| row.1))
            .with("share", Data::number(&rows, |(_, row)| Some(row.1.share_of(whole))))
            .with("mean", Data::seconds(&rows, |(_, row)| row.1.mean(row.0)))
            .with("max", Data::seconds(&rows, |(_, row)| row.2))
            .in_seconds(self.scale())
    }

    /// Returns `type,value,container,seconds,share`: the critical path by state and worker. With `by_value`, `count` is
    /// the number of tasks and replaces `container`.
    #[must_use]
    pub fn path_table(&self, by_value: bool) -> Table {
        let mut rows: BTreeMap<(Activity, u32), (u64, Seconds)> = BTreeMap::new();
        let mut whole = Seconds::ZERO;
        let mut add = |activity, track: Option<u32>, tasks, start, end| {
            let place = track.filter(|_| !by_value).unwrap_or(u32::MAX);
            let row = rows.entry((activity, place)).or_default();
            let time = Seconds::between(start, end);
            *row = (row.0 + tasks, row.1 + time);
            whole += time;
        };
        for part in &self.path.parts {
            let (task, is_execution) = match part.what {
                What::Submission => {
                    add(Activity::Submission, None, 0, part.start, part.end);
                    continue;
                }
                What::Task(task) => (task, true),
                What::Before(task) => (task, false),
            };
            let Some(execution) = self.run.tasks[task as usize].execution else { continue };
            let at = self.run.workers[execution.worker as usize].track;
            let track = &self.run.tracks.list()[at as usize];
            let value = |state: usize| Activity::State(track.type_, Some(track.value[state]));
            if is_execution {
                add(value(execution.state as usize), Some(at), 1, part.start, part.end);
                continue;
            }
            for piece in track.pieces_back(part.start, part.end) {
                let activity = piece.state.map_or(Activity::State(track.type_, None), value);
                add(activity, Some(at), 0, piece.start, piece.end);
            }
        }
        let mut rows: Vec<_> = rows.into_iter().collect();
        rows.sort_by_key(|(_, (_, time))| Reverse(*time));
        let types = self.run.tracks.trace().types();
        let state_type = self.run.workers.first().map(|worker| {
            let track = &self.run.tracks.list()[worker.track as usize];
            Label::from(types.name(track.type_))
        });
        let type_ = rows.iter().map(|_| state_type.clone().unwrap_or_else(|| "".into()));
        let value = |activity| match activity {
            Activity::State(type_, Some(value)) => types.value_name(type_, value).into(),
            Activity::State(_, None) => "".into(),
            Activity::Submission => "(submission)".into(),
        };
        let values = rows.iter().map(|((activity, _), _)| value(*activity));
        let table = Table::new(if by_value { "path" } else { "critical" })
            .with("type", Data::Text(type_.collect()))
            .with("value", Data::Text(values.collect()));
        let place = |track: u32| match track {
            u32::MAX => "".into(),
            track => self.container(track),
        };
        let places = rows.iter().map(|((_, track), _)| place(*track));
        let table = match by_value {
            true => table.with("count", Data::count(&rows, |(_, row)| row.0)),
            false => table.with("container", Data::Text(places.collect())),
        };
        table
            .with("seconds", Data::seconds(&rows, |(_, row)| row.1))
            .with("share", Data::number(&rows, |(_, row)| Some(row.1.share_of(whole))))
            .in_seconds(self.scale())
    }

    /// Returns sentences on the bounds, and on what the file leaves out.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let scale = self.scale();
        let [took, best] = [self.span.1 - self.span.0, self.bounds.best()];
        let shown = |time| duration(scale.seconds(time));
        let whole = if self.window == self.span { "" } else { "in the whole run, " };
        let mut notes = vec![format!(
            "note: {whole}tasks took {}; the best possible makespan is at least {}, or {} of it (area bound {}, critical-path \
             bound {})",
            shown(took),
            shown(best),
            percent(best / took),
            shown(self.bounds.area),
            shown(self.bounds.path)
        )];
        let never = self.never();
        if !never.is_empty() {
            let (first, more) = never.split_at(never.len().min(4));
            let more =
                if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
            notes.push(format!(
                "note: the bounds assume that kernels fit only kinds of workers that executed them; never executed: {}{more}",
                first.join(", ")
            ));
        }
        if self.run.unknown_dependencies > 0 {
            let count = self.run.unknown_dependencies;
            notes.push(format!(
                "note: dependencies on tasks that are not in the file are ignored: {count}"
            ));
        }
        notes
    }

    /// Returns the kernels and kinds of workers that never executed them.
    fn never(&self) -> Vec<String> {
        let mut counts: BTreeMap<&[u8], Vec<u64>> = BTreeMap::new();
        for (at, type_) in self.run.types.iter().enumerate() {
            let kinds = vec![0; self.run.kinds.len()];
            let sums = counts.entry(self.run.kernel(at as u32)).or_insert(kinds);
            sums.iter_mut().zip(&type_.by_kind).for_each(|(sum, (count, _))| *sum += count);
        }
        let kinds = &self.run.kinds;
        let all = counts.iter().flat_map(|(kernel, counts)| {
            let never = counts.iter().zip(kinds).filter(|(count, _)| **count == 0);
            never.map(|(_, kind)| format!("{} on {kind}", String::from_utf8_lossy(kernel)))
        });
        all.collect()
    }

    fn length(&self) -> Seconds {
        let (from, until) = self.window;
        if from < until { Seconds::between(from, until) } else { Seconds::ZERO }
    }

    fn scale(&self) -> paje_sim::TimeScale {
        self.run.tracks.trace().time_scale()
    }

    fn container(&self, track: u32) -> Label {
        let container = self.run.tracks.list()[track as usize].container;
        self.run.tracks.trace().containers().name(container).into()
    }
}
