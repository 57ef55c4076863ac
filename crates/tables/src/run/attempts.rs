//! Attempts of a replay as columns, on their way to files, memory and sums. Texts are numbers there until a table needs them.

use arrow_array::ArrayRef;
use arrow_array::RecordBatch;
use arrow_schema::ArrowError;

use crate::model::{AttemptRow, Locality, Outcome, TaskKind};
use crate::placed::as_text;
use crate::store::{BATCH_ROWS, Batches, Numbers, repeated};

/// The texts of the rows of a run, by numbers.
pub trait Names {
    /// The id of the job in that row of the table of jobs.
    fn job_id(&self, job: u32) -> &str;

    /// Writes the id of a task of a job at the end of `id`; `None` is the job's application master.
    fn write_task_id(&self, job: u32, task: Option<u32>, id: &mut String);

    /// The name of a node, and that of its rack.
    fn node(&self, node: u32) -> (&str, Option<&str>);

    /// Amounts of named resources with this number ([`RunAttempt::resources`]), as one text.
    fn resources(&self, _number: u32) -> &str {
        ""
    }

    /// How many GPUs these amounts have.
    fn gpus(&self, _number: u32) -> u64 {
        0
    }

    /// The flavours with this number ([`RunAttempt::flavors`]), as one text.
    fn flavors(&self, _number: u32) -> &str {
        ""
    }
}

/// An attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunAttempt {
    /// The row of its job in the table of jobs.
    pub job: u32,
    /// The number of its task among all; `None` if it is an application master.
    pub task: Option<u32>,
    /// What its task does.
    pub kind: TaskKind,
    /// Its number among the tries at its task.
    pub attempt: u32,
    /// When it was asked for, ms.
    pub queued: Option<i64>,
    /// When it started, ms.
    pub start: Option<i64>,
    /// When a reduce had all its input, ms.
    pub shuffle_finish: Option<i64>,
    /// When a reduce had sorted its input, ms.
    pub sort_finish: Option<i64>,
    /// When it ended, ms.
    pub finish: Option<i64>,
    /// How it ended.
    pub outcome: Outcome,
    /// The number of the node that it ran on.
    pub node: Option<u32>,
    /// How near its input it ran.
    pub locality: Option<Locality>,
    /// Whether it was a backup of another running attempt.
    pub speculative: Option<bool>,
    /// What there is to say of its end.
    pub error: Option<&'static str>,
    /// The processor that it held, in thousandths of a core.
    pub cpu_request: Option<i64>,
    /// The memory that it held, bytes.
    pub memory_request: Option<i64>,
    /// The number of the other resources that it held ([`Names::resources`]).
    pub resources: Option<u32>,
    /// The number of the flavours that its resources were taken from ([`Names::flavors`]).
    pub flavors: Option<u32>,
}

/// Attempts, column by column.
#[derive(Debug, Default)]
pub struct Attempts {
    job: Vec<u32>,
    /// The numbers of the tasks, or [`NONE`].
    task: Vec<u32>,
    kind: Vec<TaskKind>,
    attempt: Numbers,
    queued: Numbers,
    start: Numbers,
    shuffle_finish: Numbers,
    sort_finish: Numbers,
    finish: Numbers,
    outcome: Vec<Outcome>,
    /// The numbers of the nodes, or [`NONE`].
    node: Vec<u32>,
    locality: Vec<Option<Locality>>,
    speculative: Vec<Option<bool>>,
    error: Vec<Option<&'static str>>,
    cpu_request: Numbers,
    memory_request: Numbers,
    /// The rows of attempts that held other resources, in order, each with their number.
    resources: Sparse,
    /// The rows of attempts with flavours, likewise.
    flavors: Sparse,
    /// The rows of attempts on several nodes, in order, each with the numbers of these nodes and of the instances on them.
    places: Vec<(usize, Places)>,
}

/// The numbers of several nodes, each with the number of instances there.
type Places = Box<[(u32, u32)]>;

/// Numbers that only some rows have: the rows in their order, each with its number.
#[derive(Debug, Default)]
struct Sparse(Vec<(usize, u32)>);

impl Sparse {
    #[inline]
    fn of(&self, row: usize) -> Option<u32> {
        if self.0.is_empty() {
            return None;
        }
        let found = self.0.binary_search_by_key(&row, |(row, _)| *row);
        found.ok().and_then(|place| self.0.get(place)).map(|(_, number)| *number)
    }
}

/// Stands for no task, or no node.
const NONE: u32 = u32::MAX;

impl Attempts {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.job.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.job.is_empty()
    }

    /// True if a batch of the table is full.
    pub fn is_full(&self) -> bool {
        self.job.len() >= BATCH_ROWS
    }

    /// Adds an attempt.
    #[inline]
    pub fn push(&mut self, attempt: RunAttempt) {
        self.job.push(attempt.job);
        self.task.push(attempt.task.unwrap_or(NONE));
        self.kind.push(attempt.kind);
        self.attempt.push(Some(i64::from(attempt.attempt)));
        self.queued.push(attempt.queued);
        self.start.push(attempt.start);
        self.shuffle_finish.push(attempt.shuffle_finish);
        self.sort_finish.push(attempt.sort_finish);
        self.finish.push(attempt.finish);
        self.outcome.push(attempt.outcome);
        self.node.push(attempt.node.unwrap_or(NONE));
        self.locality.push(attempt.locality);
        self.speculative.push(attempt.speculative);
        self.error.push(attempt.error);
        self.cpu_request.push(attempt.cpu_request);
        self.memory_request.push(attempt.memory_request);
        // The row is in: its place is the last.
        let row = self.job.len() - 1;
        self.resources.0.extend(attempt.resources.map(|number| (row, number)));
        self.flavors.0.extend(attempt.flavors.map(|number| (row, number)));
    }

    /// Adds an attempt on several nodes, each with the number of its instances there.
    pub fn push_on(&mut self, attempt: RunAttempt, places: Box<[(u32, u32)]>) {
        self.places.push((self.len(), places));
        self.push(attempt);
    }

    /// The nodes of the attempt in that row, each with the number of its instances there, if it ran on several; else none.
    pub fn places(&self, row: usize) -> &[(u32, u32)] {
        let found = self.places.binary_search_by_key(&row, |(row, _)| *row);
        found.ok().and_then(|place| self.places.get(place)).map_or(&[], |(_, places)| places)
    }

    /// The attempt in that row. Always inlined, so that columns of which nothing is asked are not read.
    #[inline(always)]
    pub fn get(&self, row: usize) -> Option<RunAttempt> {
        Some(RunAttempt {
            job: *self.job.get(row)?,
            task: self.task.get(row).copied().filter(|task| *task != NONE),
            kind: *self.kind.get(row)?,
            attempt: self.attempt.get(row).and_then(|attempt| u32::try_from(attempt).ok()).unwrap_or_default(),
            queued: self.queued.get(row),
            start: self.start.get(row),
            shuffle_finish: self.shuffle_finish.get(row),
            sort_finish: self.sort_finish.get(row),
            finish: self.finish.get(row),
            outcome: *self.outcome.get(row)?,
            node: self.node.get(row).copied().filter(|node| *node != NONE),
            locality: self.locality.get(row).copied().flatten(),
            speculative: self.speculative.get(row).copied().flatten(),
            error: self.error.get(row).copied().flatten(),
            cpu_request: self.cpu_request.get(row),
            memory_request: self.memory_request.get(row),
            resources: self.resources.of(row),
            flavors: self.flavors.of(row),
        })
    }

    /// All of them, in order.
    #[inline]
    pub fn rows(&self) -> impl Iterator<Item = RunAttempt> {
        (0..self.len()).filter_map(|row| self.get(row))
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.job.clear();
        self.task.clear();
        self.kind.clear();
        self.outcome.clear();
        self.node.clear();
        self.locality.clear();
        self.speculative.clear();
        self.error.clear();
        self.places.clear();
        self.resources.0.clear();
        self.flavors.0.clear();
        let numbers = [
            &mut self.attempt,
            &mut self.queued,
            &mut self.start,
            &mut self.shuffle_finish,
            &mut self.sort_finish,
            &mut self.finish,
            &mut self.cpu_request,
            &mut self.memory_request,
        ];
        numbers.into_iter().for_each(Numbers::clear);
    }
}

/// Makes batches of the table of attempts.
#[derive(Debug, Default)]
pub struct AttemptBatches {
    batches: Batches<AttemptRow>,
    /// Whole columns of one word. Mostly all attempts of a batch are of one kind, or end in one way.
    words: Vec<(&'static str, ArrayRef)>,
}

impl AttemptBatches {
    /// At most [`BATCH_ROWS`] attempts as a batch of their table.
    ///
    /// # Errors
    /// That of Arrow, if there are more.
    pub fn batch(&mut self, rows: &Attempts, names: &dyn Names) -> Result<RecordBatch, ArrowError> {
        let [kind, outcome] = [
            self.word(rows.kind.iter().map(|kind| kind.as_str())),
            self.word(rows.outcome.iter().map(|outcome| outcome.as_str())),
        ];
        let mut batch = self.batches.batch(rows.len());
        batch.set_texts("job_id", rows.job.iter().map(|job| names.job_id(*job)));
        batch.set_written_texts("task_id", rows.job.iter().zip(&rows.task), |(job, task), id| {
            names.write_task_id(*job, (*task != NONE).then_some(*task), id);
        });
        match kind {
            Some(column) => batch.set("kind", column),
            None => batch.set_texts("kind", rows.kind.iter().map(|kind| kind.as_str())),
        }
        match outcome {
            Some(column) => batch.set("outcome", column),
            None => batch.set_texts("outcome", rows.outcome.iter().map(|outcome| outcome.as_str())),
        }
        batch.set_numbers("attempt", &rows.attempt);
        batch.set_numbers("queued", &rows.queued);
        batch.set_numbers("start", &rows.start);
        batch.set_numbers("shuffle_finish", &rows.shuffle_finish);
        batch.set_numbers("sort_finish", &rows.sort_finish);
        batch.set_numbers("finish", &rows.finish);
        let node = |node: &u32| (*node != NONE).then(|| names.node(*node));
        batch.set_known_texts("host", rows.node.iter().map(|row| Some(node(row)?.0)));
        batch.set_known_texts("rack", rows.node.iter().map(|row| node(row)?.1));
        batch.set_known_texts("locality", rows.locality.iter().map(|row| Some((*row)?.as_str())));
        batch.set_truths("speculative", &rows.speculative);
        batch.set_known_texts("error", rows.error.iter().copied());
        batch.set_numbers("cpu_request", &rows.cpu_request);
        batch.set_numbers("memory_request", &rows.memory_request);
        if !rows.resources.0.is_empty() {
            let of_row = |row: usize| rows.resources.of(row).map(|number| names.resources(number));
            batch.set_known_texts("resources", (0..rows.len()).map(of_row));
        }
        if !rows.flavors.0.is_empty() {
            let of_row = |row: usize| rows.flavors.of(row).map(|number| names.flavors(number));
            batch.set_known_texts("flavors", (0..rows.len()).map(of_row));
        }
        if !rows.places.is_empty() {
            let of_row = |row: usize| {
                let places = rows.places(row);
                (!places.is_empty()).then(|| as_text(places.iter().map(|(node, count)| (names.node(*node).0, *count))))
            };
            let hosts: Vec<Option<String>> = (0..rows.len()).map(of_row).collect();
            batch.set_known_texts("hosts", hosts.iter().map(Option::as_deref));
        }
        batch.finish()
    }

    /// The column of these words, if all are one.
    fn word(&mut self, mut words: impl ExactSizeIterator<Item = &'static str>) -> Option<ArrayRef> {
        let rows = words.len();
        let first = words.next()?;
        if rows > BATCH_ROWS || words.any(|word| word != first) {
            return None;
        }
        if let Some((_, column)) = self.words.iter().find(|(word, _)| *word == first) {
            return Some(column.slice(0, rows));
        }
        let column = repeated(first);
        self.words.push((first, column.clone()));
        Some(column.slice(0, rows))
    }
}
