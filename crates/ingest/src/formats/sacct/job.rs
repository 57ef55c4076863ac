//! A job of a list: what its last row says, and its tries. A row is a job with one try.

use resched_tables::cause;
use resched_tables::model::Outcome;
use resched_tables::sink::Sink;
use smallvec::{SmallVec, smallvec};

use super::gpus::{self, Gpus};
use super::id::{Id, Part};
use super::row::{Row, Times};
use super::state::{Standing, State};
use super::submit_line::{Asked, Line};
use super::values::Memory;
use crate::codec::{Front, Sparse, SparseFront, put, put_signed};

/// The tries of a job: mostly one.
pub(super) type Tries<'a> = SmallVec<[Try<'a>; 1]>;

/// A job. An empty text is unknown.
#[derive(Debug, Clone)]
pub(super) struct Job<'a> {
    pub(super) id: Id,
    /// The ranges of tasks that have no id yet.
    pub(super) pending: &'a str,
    pub(super) name: &'a str,
    pub(super) user: &'a str,
    pub(super) account: &'a str,
    pub(super) partition: &'a str,
    pub(super) qos: &'a str,
    pub(super) reservation: &'a str,
    pub(super) constraints: &'a str,
    pub(super) priority: Option<i64>,
    /// ms.
    pub(super) limit: Option<i64>,
    /// Why it waited last.
    pub(super) reason: &'a str,
    /// True if Slurm counts restarts of it.
    pub(super) was_restarted: bool,
    pub(super) demand: Demand<'a>,
    /// What it takes off its priority.
    pub(super) nice: Option<i64>,
    /// The text behind `--dependency`.
    pub(super) dependency: Option<&'a str>,
    options: Options,
    pub(super) tries: Tries<'a>,
}

/// What a job asked for.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Demand<'a> {
    pub(super) cpus: u32,
    /// The fewest nodes.
    pub(super) nodes: u32,
    /// In total, bytes.
    pub(super) memory: Option<i64>,
    pub(super) gres: &'a str,
    pub(super) licenses: &'a str,
    /// The options of its command.
    pub(super) asked: Asked,
}

/// Options of its command that are counted.
#[derive(Debug, Clone, Copy, Default)]
struct Options {
    names_nodes: bool,
    has_time_min: bool,
    /// True if they alone give its GPUs.
    give_gpus: bool,
}

/// A row of a job.
#[derive(Debug, Clone, Copy)]
pub(super) struct Try<'a> {
    pub(super) times: Times,
    pub(super) state: State,
    /// True if a later row of the job may be its next try.
    goes_on: bool,
    is_preempted: bool,
    /// True if the next row goes on with the same run, at another size.
    is_resized: bool,
    pub(super) ran: bool,
    /// True if the list has what it held by resource.
    pub(super) has_alloc_tres: bool,
    /// What it held; 0: unknown.
    pub(super) cpus: u32,
    pub(super) nodes: u32,
    pub(super) memory: Option<i64>,
    pub(super) gres: &'a str,
    /// Its nodes, as the list writes them.
    pub(super) hosts: &'a str,
}

impl<'a> Try<'a> {
    fn of(row: &'a Row<'_>) -> Self {
        let Standing { state, goes_on, is_preempted, is_resized } = row.standing;
        Self {
            times: row.times,
            state,
            goes_on,
            is_preempted,
            is_resized,
            ran: row.ran(),
            has_alloc_tres: row.alloc.cpus.is_some(),
            cpus: row.alloc_cpus.or(row.alloc.cpus).unwrap_or(0),
            nodes: row.nodes(),
            memory: row.alloc.memory,
            gres: row.alloc.gres.as_deref().unwrap_or_default(),
            hosts: row.hosts().unwrap_or_default(),
        }
    }

    /// Adds it to `bytes`. Of times that follow each other, the differences are short.
    fn write(&self, bytes: &mut Vec<u8>) {
        let Times { submit, eligible, start, end, elapsed } = self.times;
        put_signed(submit, bytes);
        put(self.state.number(), bytes);
        let mut to = Sparse::new(bytes);
        let began = start.unwrap_or(submit);
        to.signed(eligible.map(|at| at.wrapping_sub(submit)));
        to.signed(start.map(|at| at.wrapping_sub(submit)));
        to.signed(end.map(|at| at.wrapping_sub(began)));
        // Mostly, it is the time between both.
        let is_span = elapsed.is_some() && elapsed == end.map(|end| end.wrapping_sub(began));
        to.truth(is_span);
        to.signed(elapsed.filter(|_| !is_span));
        let given = |count: u32| Some(count).filter(|&count| count > 0);
        [self.cpus, self.nodes].into_iter().for_each(|count| to.count(given(count)));
        to.signed(self.memory);
        [self.gres, self.hosts].into_iter().for_each(|text| to.text(text));
        [self.goes_on, self.is_preempted, self.is_resized, self.ran, self.has_alloc_tres]
            .into_iter()
            .for_each(|truth| to.truth(truth));
        to.end();
    }

    /// The try that was written so.
    fn read(front: &mut Front<'a>) -> Option<Self> {
        let submit = front.signed()?;
        let state = State::of_number(front.number()?)?;
        let mut from = SparseFront::new(front)?;
        let eligible = from.signed()?.map(|at| submit.wrapping_add(at));
        let start = from.signed()?.map(|at| submit.wrapping_add(at));
        let began = start.unwrap_or(submit);
        let span = from.signed()?;
        let is_span = from.truth();
        let elapsed = from.signed()?.or(span.filter(|_| is_span));
        let end = span.map(|span| began.wrapping_add(span));
        Some(Self {
            times: Times { submit, eligible, start, end, elapsed },
            state,
            cpus: from.count()?.unwrap_or(0),
            nodes: from.count()?.unwrap_or(0),
            memory: from.signed()?,
            gres: from.text()?,
            hosts: from.text()?,
            goes_on: from.truth(),
            is_preempted: from.truth(),
            is_resized: from.truth(),
            ran: from.truth(),
            has_alloc_tres: from.truth(),
        })
    }

    /// When it ended, without the time in which it was suspended; `None` if it still runs. The flag says whether that differs from the
    /// time in the list.
    pub(super) fn finish(&self) -> (Option<i64>, bool) {
        let Times { start, end, elapsed, .. } = self.times;
        if !self.state.has_ended() {
            return (None, false);
        }
        let ran = start.zip(elapsed).map(|(start, elapsed)| start.saturating_add(elapsed));
        match (end, ran) {
            (Some(end), Some(ran)) if ran < end => (Some(ran), true),
            (end, ran) => (end.or(ran), false),
        }
    }

    /// When it started.
    pub(super) fn start(&self) -> Option<i64> {
        let Times { start, end, elapsed, .. } = self.times;
        start.or_else(|| end?.checked_sub(elapsed?))
    }

    /// From when on it could start.
    pub(super) fn queued(&self) -> i64 {
        self.times.eligible.map_or(self.times.submit, |eligible| eligible.max(self.times.submit))
    }

    /// How far it had come when the list was written: whether it had started or ended, and how long it had run.
    pub(super) fn progress(&self) -> (u8, Option<i64>) {
        let stage = match self.state {
            State::Pending => 0,
            State::Running => 1,
            State::Ended(_) => 2,
        };
        (stage, self.times.elapsed)
    }
}

/// The generic resources that a row asked for on so many nodes with so many CPUs. If only options or columns of older versions give them,
/// they are put together in `text`, and the flag is set.
fn gres_of<'r>(row: &'r Row<'_>, asked: Asked, (nodes, cpus): (u32, u32), text: &'r mut String) -> (&'r str, bool) {
    if let Some(gres) = row.req.gres.as_deref() {
        return (gres, false);
    }
    if row.alloc.gres.is_some() {
        return ("", false);
    }
    let tasks = asked.tasks.or_else(|| Some(cpus / asked.cpus_per_task?)).unwrap_or(1);
    let gpus = gpus::in_all(asked.gpus, row.old_gres, nodes, tasks);
    if let Some(gpus) = gpus {
        *text = format!("gres/gpu={gpus}");
    }
    (text, gpus.is_some())
}

/// What the row of a later submission under the id of a job is.
pub(super) enum Next {
    /// The next try.
    Try,
    /// The rest of the run, at another size.
    Part,
    /// Another job.
    Other,
}

impl<'a> Job<'a> {
    /// The job of a row whose command says `line`. `gres` takes what it asked for, if that has to be put together.
    pub(super) fn of(row: &'a Row<'_>, line: &Line<'a>, gres: &'a mut String) -> Self {
        // The command of a heterogeneous job has the options of its components one after the other.
        let is_component = matches!(row.id.part, Part::Component(component) if component > 0);
        let line = if is_component { Line::default() } else { *line };
        let Line { asked, dependency, nice, names_nodes, has_time_min, .. } = line;
        let cpus = row.cpus().unwrap_or(0);
        let got = Some(row.nodes()).filter(|&nodes| nodes > 0).or(row.any_nodes);
        let nodes = row.req_nodes.or(row.req.nodes).unwrap_or(1);
        // `ReqMem` and options are for each node. What a job got is at least what it asked for.
        let of_each = row.req_nodes.or(row.req.nodes).max(got).unwrap_or(1);
        let licenses = row.req.licenses.as_deref().or(row.alloc.licenses.as_deref()).unwrap_or_default();
        let of_memory = |memory: Memory| memory.total(of_each, cpus);
        let (gres, give_gpus) = gres_of(row, asked, (of_each, cpus), gres);
        Job {
            id: row.id,
            pending: row.pending,
            name: row.name,
            user: row.user,
            account: row.account,
            partition: row.partition,
            qos: row.qos,
            reservation: row.reservation,
            constraints: row.constraints,
            priority: row.priority,
            limit: row.limit,
            reason: row.reason,
            was_restarted: row.restarts > 0,
            demand: Demand {
                cpus,
                nodes,
                memory: row.req.memory.or_else(|| row.req_mem.and_then(of_memory)).filter(|&bytes| bytes > 0),
                gres,
                licenses,
                asked,
            },
            nice,
            dependency,
            options: Options { names_nodes, has_time_min, give_gpus },
            tries: smallvec![Try::of(row)],
        }
    }

    /// Counts the options that have no place in the tables, and those that say what the columns do not.
    pub(super) fn count_options(&self, sink: &mut dyn Sink) {
        let Options { names_nodes, has_time_min, give_gpus } = self.options;
        sink.skip(cause::NAMED_NODES_LEFT_OUT, names_nodes.into());
        sink.skip(cause::SHORTEST_LIMIT_LEFT_OUT, has_time_min.into());
        sink.skip(cause::GPUS_BY_SUBMIT_LINE, give_gpus.into());
    }

    /// Adds it to `bytes`.
    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        self.id.write(bytes);
        put(u64::from(self.demand.cpus), bytes);
        put(u64::from(self.demand.nodes), bytes);
        put(self.tries.len() as u64, bytes);
        let Self { demand, options, .. } = self;
        let mut to = Sparse::new(bytes);
        [self.pending, self.name, self.user, self.account, self.partition, self.qos, self.reservation]
            .into_iter()
            .chain([self.constraints, self.reason, demand.gres, demand.licenses])
            .for_each(|text| to.text(text));
        to.some_text(self.dependency);
        [self.priority, self.limit, self.nice, demand.memory].into_iter().for_each(|number| to.signed(number));
        let Asked { tasks, nodes, cpus_per_task, exclusive, gpus } = demand.asked;
        [tasks, nodes, cpus_per_task].into_iter().chain(gpus.all()).for_each(|count| to.count(count));
        [self.was_restarted, exclusive, options.names_nodes, options.has_time_min, options.give_gpus]
            .into_iter()
            .for_each(|truth| to.truth(truth));
        to.end();
        self.tries.iter().for_each(|one| one.write(bytes));
    }

    /// The job that was written so.
    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut front = Front(bytes);
        let id = Id::read(&mut front)?;
        let [cpus, nodes] = [front.count()?, front.count()?];
        let tries = front.number()?;
        let mut from = SparseFront::new(&mut front)?;
        let mut job = Job {
            id,
            pending: from.text()?,
            name: from.text()?,
            user: from.text()?,
            account: from.text()?,
            partition: from.text()?,
            qos: from.text()?,
            reservation: from.text()?,
            constraints: from.text()?,
            reason: from.text()?,
            demand: Demand { cpus, nodes, gres: from.text()?, licenses: from.text()?, ..Demand::default() },
            dependency: from.some_text()?,
            priority: from.signed()?,
            limit: from.signed()?,
            nice: from.signed()?,
            was_restarted: false,
            options: Options::default(),
            tries: Tries::new(),
        };
        job.demand.memory = from.signed()?;
        let [tasks, nodes, cpus_per_task] = [from.count()?, from.count()?, from.count()?];
        let gpus = Gpus::of_all([from.count()?, from.count()?, from.count()?, from.count()?]);
        job.was_restarted = from.truth();
        job.demand.asked = Asked { tasks, nodes, cpus_per_task, exclusive: from.truth(), gpus };
        job.options = Options { names_nodes: from.truth(), has_time_min: from.truth(), give_gpus: from.truth() };
        for _ in 0..tries {
            job.tries.push(Try::read(&mut front)?);
        }
        Some(job)
    }

    /// When it was submitted first.
    pub(super) fn submit(&self) -> Option<i64> {
        self.tries.first().map(|one| one.times.submit)
    }

    /// What copies of one row have in common, and the user, who may be unknown in some of them. It is of a row, which has one try.
    pub(super) fn copies(&self) -> impl Ord + use<'a> {
        let of_try = |one: &Try<'_>| (one.times.submit, one.is_resized, one.times.start.filter(|_| one.is_resized));
        (self.tries.first().map(of_try), self.pending, self.user)
    }

    /// True if a row with the same id is another copy of this one, if both are of one user.
    pub(super) fn is_same_row(&self, other: &Self) -> bool {
        let is_same_part = |(new, known): (&Try<'_>, &Try<'_>)| {
            known.times.submit == new.times.submit
                && known.is_resized == new.is_resized
                && (!new.is_resized || known.times.start == new.times.start)
        };
        self.pending == other.pending && self.tries.iter().zip(&other.tries).all(is_same_part)
    }

    /// What `job` is, whose row has the same id and comes later.
    pub(super) fn next(&self, job: &Self) -> Next {
        let agree = |one: &str, other: &str| one.is_empty() || other.is_empty() || one == other;
        let is_same = agree(self.user, job.user) && agree(self.account, job.account) && agree(self.name, job.name);
        match self.tries.last() {
            Some(last) if is_same && last.is_resized => Next::Part,
            Some(last) if is_same && (last.goes_on || job.was_restarted || !last.state.has_ended()) => Next::Try,
            _ => Next::Other,
        }
    }

    /// Takes the next try: what the job asked for is as in its last row.
    pub(super) fn try_again(&mut self, next: Self) {
        let again = next.submit();
        let before = std::mem::replace(self, next);
        let mut tries = before.tries;
        // A list of that time saw it wait or run. It was given back when it was submitted again.
        if let Some(last) = tries.last_mut().filter(|last| !last.state.has_ended()) {
            last.state = State::Ended(Outcome::Evicted);
            (last.times.end, last.times.elapsed) = (again.filter(|_| last.ran), None);
        }
        tries.append(&mut self.tries);
        (self.tries, self.id) = (tries, before.id);
    }

    /// Takes the rest of a run whose size was changed. The job counts as large as it was first: so much it waited for.
    pub(super) fn go_on(&mut self, rest: &Self) {
        let (Some(last), Some(rest)) = (self.tries.last_mut(), rest.tries.first()) else { return };
        let elapsed = last.times.elapsed.zip(rest.times.elapsed).map(|(one, other)| one.saturating_add(other));
        (last.times.end, last.times.elapsed) = (rest.times.end, elapsed);
        (last.state, last.goes_on, last.is_preempted) = (rest.state, rest.goes_on, rest.is_preempted);
        last.is_resized = rest.is_resized;
    }

    /// True if a job that was preempted did not come again, so that it ended then (`PreemptMode=CANCEL`).
    pub(super) fn end_by_preemption(&mut self) -> bool {
        let last = self.tries.last_mut().filter(|last| last.is_preempted && last.ran);
        let Some(last) = last.filter(|last| last.state == State::Ended(Outcome::Evicted)) else { return false };
        last.state = State::Ended(Outcome::Killed);
        true
    }
}
