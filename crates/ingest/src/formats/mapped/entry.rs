//! From a row of a table to an entry.

use std::borrow::Cow;

use super::cell::Cell;
use super::map::{Filter, Map, Of, Source};
use crate::formats::accounting::{Clock, Entry, Shape, Stage};
use resched_tables::model::Outcome;

/// What is wrong with a row: the field, and what was found there.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) field: &'static str,
    pub(super) found: String,
}

/// The texts that an entry borrows.
#[derive(Debug, Default)]
pub(super) struct Texts {
    name: String,
    user: String,
    queue: String,
    account: String,
    qos: String,
    features: String,
    reservation: String,
}

/// The times of a row, ms.
struct Times {
    eligible: Option<i64>,
    start: Option<i64>,
    end: Option<i64>,
    run: Option<i64>,
}

/// The values of a row.
pub(super) struct Row<'a> {
    pub(super) map: &'a Map,
    pub(super) used: &'a [&'a str],
    pub(super) cells: &'a [Cell<'a>],
    /// Which of the used columns gave a value so far.
    pub(super) seen: &'a Seen,
}

/// Which columns gave a value to a field.
pub(super) type Seen = [std::cell::Cell<bool>];

/// What was counted of a row.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) unknown_states: u64,
    pub(super) damaged_hosts: u64,
}

impl<'a> Row<'a> {
    fn cell(&self, column: &str) -> &'a Cell<'a> {
        let place = self.used.binary_search(&column).ok();
        place.and_then(|place| self.cells.get(place)).unwrap_or(&Cell::None)
    }

    /// Notes that a column gave a value.
    fn note(&self, column: &str) {
        let place = self.used.binary_search(&column).ok();
        place.and_then(|place| self.seen.get(place)).into_iter().for_each(|seen| seen.set(true));
    }

    /// The value of a field; [`Cell::None`] if the map or the row has none.
    fn value(&self, source: Option<&'a Source>) -> Cell<'a> {
        let Some(source) = source else { return Cell::None };
        let is_value = |cell: &Cell<'_>| cell.is_some() && !source.none.iter().any(|none| none.matches(&cell.text()));
        let known = |column: &'a String| {
            let cell = Some(self.cell(column)).filter(|cell| is_value(cell))?;
            self.note(column);
            Some(cell)
        };
        let mut cells = source.columns.iter().filter_map(known);
        if let Some(mark) = &source.join {
            let parts: Vec<String> = cells.map(|cell| cell.text().into_owned()).collect();
            return if parts.is_empty() { Cell::None } else { Cell::Text(Cow::Owned(parts.join(mark))) };
        }
        match (cells.next(), &source.value) {
            (Some(cell), _) => cell.clone(),
            (None, Some(value)) => Cell::Text(Cow::Borrowed(value)),
            (None, None) => Cell::None,
        }
    }

    /// True if the row is a job, as the filters of the map say.
    pub(super) fn is_job(&self) -> bool {
        self.map.filter.iter().all(|Filter { column, is, not }| {
            let text = self.cell(column).text();
            let any = |patterns: &[super::pattern::Pattern]| patterns.iter().any(|pattern| pattern.matches(&text));
            is.as_deref().is_none_or(any) && !any(not)
        })
    }

    /// The texts of the row.
    pub(super) fn texts(&self) -> Texts {
        let fields = &self.map.fields;
        let text = |source: &'a Option<Source>| self.value(source.as_ref()).text().trim().to_owned();
        Texts {
            name: text(&fields.name),
            user: text(&fields.user),
            queue: text(&fields.queue),
            account: text(&fields.account),
            qos: text(&fields.qos),
            features: text(&fields.features),
            reservation: text(&fields.reservation),
        }
    }

    /// The entry of the row.
    pub(super) fn entry<'t>(
        &self,
        number: u64,
        texts: &'t Texts,
        clock: &mut Clock,
        counts: &mut Counts,
    ) -> Result<Entry<'t>, Problem> {
        let fields = &self.map.fields;
        let problem = |field, cell: &Cell<'_>| Problem { field, found: cell.text().into_owned() };
        let cell = self.value(Some(&fields.submit));
        let submit = cell.time(&fields.submit, clock).ok_or_else(|| problem("submit", &cell))?;
        let id = match self.value(fields.id.as_ref()) {
            Cell::None if fields.id.is_some() => return Err(problem("id", &Cell::None)),
            Cell::None => number.to_string(),
            cell => cell.text().trim().to_owned(),
        };
        let Times { eligible, start, end, run } = self.times(submit, clock);
        let stage = self.stage(start.is_some() || run.is_some(), end.is_some() || run.is_some(), counts);
        let hosts = self.hosts(counts);
        Ok(Entry {
            id: Cow::Owned(id),
            name: &texts.name,
            user: &texts.user,
            queue: &texts.queue,
            account: &texts.account,
            qos: &texts.qos,
            features: &texts.features,
            reservation: &texts.reservation,
            priority: self.value(fields.priority.as_ref()).whole(),
            submit: Some(submit),
            is_exact: true,
            eligible,
            start,
            end,
            run: run.filter(|_| start.is_none()),
            stage,
            limit: self.duration(&fields.limit),
            shape: self.shape(hosts.len()),
            hosts,
            ..Entry::default()
        })
    }

    fn duration(&self, source: &'a Option<Source>) -> Option<i64> {
        let source = source.as_ref()?;
        self.value(Some(source)).duration(source)
    }

    /// The times of the row behind its submission. Waits and run times take the place of missing starts and ends.
    fn times(&self, submit: i64, clock: &mut Clock) -> Times {
        let fields = &self.map.fields;
        let mut time = |source: &'a Option<Source>| {
            let source = source.as_ref()?;
            self.value(Some(source)).time(source, clock)
        };
        let (eligible, start, end) = (time(&fields.eligible), time(&fields.start), time(&fields.end));
        let (wait, run) = (self.duration(&fields.wait), self.duration(&fields.run));
        let from_end = || end?.checked_sub(run?).filter(|&start| start >= submit);
        let start = start.or_else(|| submit.checked_add(wait?)).or_else(from_end);
        let end = end.or_else(|| start?.checked_add(run?));
        Times { eligible, start, end, run }
    }

    /// How far the job has come.
    fn stage(&self, has_started: bool, has_ended: bool, counts: &mut Counts) -> Stage {
        let state = self.value(self.map.fields.state.as_ref());
        let outcome = if state.is_some() {
            let word = self.map.word(&state.text());
            counts.unknown_states += u64::from(!word.is_known);
            word.outcome
        } else {
            self.map.states.otherwise()
        };
        match outcome {
            Outcome::Incomplete if has_started => Stage::Running,
            Outcome::Incomplete => Stage::Waiting,
            // Without an end and a state, nobody knows what became of it.
            Outcome::Unknown if !has_ended && !state.is_some() => {
                if has_started {
                    Stage::Running
                } else {
                    Stage::Waiting
                }
            }
            Outcome::Evicted if has_started => Stage::GivenBack,
            outcome => Stage::Ended(outcome),
        }
    }

    fn hosts<'t>(&self, counts: &mut Counts) -> Vec<(Cow<'t, str>, u32)> {
        let Some(source) = &self.map.fields.hosts else { return Vec::new() };
        let cell = self.value(Some(source));
        if !cell.is_some() {
            return Vec::new();
        }
        let Some(mut hosts) = cell.hosts(source) else {
            counts.damaged_hosts += 1;
            return Vec::new();
        };
        hosts.sort_by(|(one, _), (other, _)| one.cmp(other));
        hosts.dedup_by(|(one, _), (other, _)| one == other);
        let cpus = self.cpus(i64::try_from(hosts.len()).ok(), None).unwrap_or(0);
        let each = cpus.checked_div(i64::try_from(hosts.len()).unwrap_or(1)).unwrap_or(0);
        let each = u32::try_from(each).unwrap_or(0);
        hosts.into_iter().map(|(host, known)| (host, if known > 0 { known } else { each })).collect()
    }

    fn count(&self, source: &'a Option<Source>) -> Option<i64> {
        let source = source.as_ref()?;
        self.value(Some(source)).count(source)
    }

    /// An amount for the whole job.
    fn total(
        &self,
        source: &Source,
        amount: i64,
        nodes: Option<i64>,
        tasks: Option<i64>,
        cpus: Option<i64>,
    ) -> Option<i64> {
        amount.checked_mul(match source.of {
            Of::Job => 1,
            Of::Node => nodes?,
            Of::Task => tasks.or(nodes)?,
            Of::Cpu => cpus?,
        })
    }

    /// The processors of the job.
    fn cpus(&self, nodes: Option<i64>, tasks: Option<i64>) -> Option<i64> {
        let source = self.map.fields.cpus.as_ref()?;
        let nodes = self.count(&self.map.fields.nodes).or(nodes);
        let tasks = tasks.or_else(|| self.count(&self.map.fields.tasks));
        self.total(source, self.value(Some(source)).count(source)?, nodes, tasks, None)
    }

    /// The shape of the job. `hosts`: how many it ran on, if that is known.
    fn shape(&self, hosts: usize) -> Option<Shape> {
        let fields = &self.map.fields;
        let nodes = self.count(&fields.nodes).or_else(|| i64::try_from(hosts).ok().filter(|&hosts| hosts > 0));
        let tasks = self.count(&fields.tasks);
        let cpus = self.cpus(nodes, tasks);
        let of_job = |source: &'a Option<Source>| {
            let source = source.as_ref()?;
            self.total(source, self.value(Some(source)).count(source)?, nodes, tasks, cpus)
        };
        let gpus = of_job(&fields.gpus).unwrap_or(0);
        let exclusive = self.value(fields.exclusive.as_ref());
        let exclusive = ["true", "1", "yes", "exclusive"].iter().any(|yes| exclusive.text().eq_ignore_ascii_case(yes));
        let total = cpus.or(nodes)?;
        let is_even = |parts: Option<i64>| parts.filter(|&parts| parts > 0 && total % parts == 0);
        let by_node = is_even(nodes).filter(|_| exclusive || gpus > 0 || tasks.is_none() || tasks <= nodes);
        let instances = by_node.or(is_even(tasks)).unwrap_or(total);
        let memory = fields.memory.as_ref().and_then(|source| {
            let bytes = self.value(Some(source)).bytes(source)?;
            self.total(source, bytes, nodes, tasks, Some(total))
        });
        Some(Shape {
            instances,
            cpu: cpus.and_then(|cpus| (cpus / instances).checked_mul(1_000)),
            memory: memory.map(|bytes| bytes / instances),
            gpus: u64::try_from(gpus / instances + i64::from(gpus % instances > 0)).unwrap_or(0),
            machines: nodes.filter(|&nodes| nodes <= instances),
            exclusive,
            ..Shape::default()
        })
    }
}
