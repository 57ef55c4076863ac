//! The batch form: what waits, as arrays.
//!
//! The arrays belong to Python and are made once. A row that has not changed is not written again: rows leave at the front and come at the
//! end, and the slices that the policy gets move along. The engine never reads the arrays back.

use std::collections::{BTreeSet, VecDeque};

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use resched_sim::batch::{Offer, View};
use resched_sim::{Resources, TaskId};

/// The columns of the arrays, in the order of [`Row::cells`].
pub(super) const COLUMNS: [&str; 11] =
    ["job", "task", "submit", "units", "cpu", "memory", "estimate", "user", "queue", "cum_cpu", "cum_memory"];

/// A waiting task.
#[derive(Debug, Clone, Copy)]
struct Row {
    task: TaskId,
    unit: Resources,
    cells: [i64; COLUMNS.len()],
}

/// Where the columns stand that change: the waiting units, and what all rows up to one need together.
const UNITS: usize = 3;
const CUM_CPU: usize = 9;
const CUM_MEMORY: usize = 10;

/// The tasks that wait, in order of submission, and the arrays that show the first of them.
pub(super) struct Queue {
    /// The most rows that the policy sees.
    window: usize,
    /// Those in the window.
    rows: VecDeque<Row>,
    /// Those behind it.
    rest: BTreeSet<TaskId>,
    /// The columns of Python; each holds twice the window.
    columns: Vec<PyBuffer<i64>>,
    /// Makes the slices: `frame(first, count)`.
    frame: Py<PyAny>,
    /// Where the first row stands in the columns.
    first: usize,
    /// How many rows from the first on stand in the columns as they are.
    written: usize,
    /// What the sums of needs begin with: those of the rows that have left at the front.
    base: [i64; 2],
    /// No row needs less than this.
    least: Resources,
    /// The names of users and queues by their codes.
    users: Codes,
    queues: Codes,
}

/// Texts by the order in which they were met.
#[derive(Debug, Default)]
struct Codes(std::collections::BTreeMap<String, i64>);

impl Codes {
    fn of(&mut self, text: &str) -> i64 {
        if let Some(&code) = self.0.get(text) {
            return code;
        }
        let code = self.0.len() as i64;
        self.0.insert(text.to_owned(), code);
        code
    }
}

/// The rows that a policy chose.
#[derive(Debug)]
pub(super) enum Chosen {
    /// So many from the front.
    First(usize),
    /// These.
    These(Vec<i64>),
}

impl Default for Chosen {
    fn default() -> Self {
        Self::First(0)
    }
}

impl Queue {
    /// For a policy, whose attribute `_arrays` has the columns by name, `window` and `frame`.
    pub(super) fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let arrays = object.call_method0("_arrays")?;
        let column = |name: &&str| PyBuffer::get(&arrays.getattr(*name)?);
        let columns: Vec<PyBuffer<i64>> = COLUMNS.iter().map(column).collect::<PyResult<_>>()?;
        let window: usize = arrays.getattr("window")?.extract()?;
        if window == 0 || columns.iter().any(|column| column.item_count() != 2 * window || column.readonly()) {
            return Err(PyValueError::new_err("window: expected 1 or more rows"));
        }
        Ok(Self {
            window,
            rows: VecDeque::new(),
            rest: BTreeSet::new(),
            columns,
            frame: arrays.getattr("frame")?.unbind(),
            first: 0,
            written: 0,
            base: [0; 2],
            least: NOTHING_WAITS,
            users: Codes::default(),
            queues: Codes::default(),
        })
    }

    /// A task waits.
    pub(super) fn add(&mut self, task: TaskId, view: View<'_>) {
        match self.rows.binary_search_by_key(&task, |row| row.task) {
            Ok(place) => self.set_units(place, view),
            Err(place) if place < self.rows.len() || (self.rest.is_empty() && place < self.window) => {
                self.insert(place, task, view);
                if self.rows.len() > self.window
                    && let Some(last) = self.rows.pop_back()
                {
                    self.rest.insert(last.task);
                }
                self.written = self.written.min(self.rows.len());
            }
            Err(_) => {
                self.rest.insert(task);
            }
        }
    }

    fn insert(&mut self, place: usize, task: TaskId, view: View<'_>) {
        let row = self.row(task, view);
        self.least = self.least.min(row.unit);
        self.rows.insert(place, row);
        self.written = self.written.min(place);
    }

    fn row(&mut self, task: TaskId, view: View<'_>) -> Row {
        let of_view = view.task(task);
        let job = view.job(of_view.job);
        let unit = of_view.unit();
        let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        let cells = [
            of_view.job.index() as i64,
            task.index() as i64,
            job.submit,
            i64::from(view.waiting(task)),
            number(unit.cpu),
            number(unit.memory),
            view.estimate(task),
            self.users.of(job.user),
            self.queues.of(job.queue),
            0,
            0,
        ];
        Row { task, unit, cells }
    }

    fn set_units(&mut self, place: usize, view: View<'_>) {
        if let Some(row) = self.rows.get_mut(place) {
            row.cells[UNITS] = i64::from(view.waiting(row.task));
            self.written = self.written.min(place);
        }
    }

    /// Whether there is room for a row.
    pub(super) fn anything_fits(&self, offer: &Offer<'_, '_>) -> bool {
        !self.rows.is_empty() && offer.view().free().holds(self.least)
    }

    /// The arguments of `decide`: now, the free resources, and the arrays.
    pub(super) fn arguments<'py>(&mut self, py: Python<'py>, view: View<'_>) -> PyResult<Bound<'py, PyTuple>> {
        let (count, room) = (self.rows.len(), 2 * self.window);
        if self.first + count > room {
            (self.first, self.written) = (0, 0);
        }
        self.add_up();
        for (place, column) in self.columns.iter().enumerate() {
            let cells = self.rows.iter().skip(self.written).map(|row| row.cells[place]);
            write(py, column, self.first + self.written, cells)?;
        }
        self.written = count;
        let jobs = self.frame.bind(py).call1((self.first, count, self.base[0], self.base[1]))?;
        let free = view.free();
        (view.now(), (free.cpu, free.memory), jobs).into_pyobject(py)
    }

    /// Computes the sums of needs of the rows that are not written yet.
    fn add_up(&mut self) {
        let mut sums = match self.written.checked_sub(1).and_then(|last| self.rows.get(last)) {
            Some(last) => [last.cells[CUM_CPU], last.cells[CUM_MEMORY]],
            None => self.base,
        };
        for row in self.rows.iter_mut().skip(self.written) {
            for (sum, need) in sums.iter_mut().zip([row.unit.cpu, row.unit.memory]) {
                let need = i64::try_from(need).unwrap_or(i64::MAX);
                *sum = sum.saturating_add(need.saturating_mul(row.cells[UNITS]));
            }
            [row.cells[CUM_CPU], row.cells[CUM_MEMORY]] = sums;
        }
    }

    /// The rows that an answer stands for: `None`, a number of rows from the front, or an array of rows, of which there are
    /// `all`.
    pub(super) fn chosen(answer: &Bound<'_, PyAny>, all: usize) -> PyResult<Chosen> {
        if answer.is_none() {
            return Ok(Chosen::default());
        }
        if let Ok(count) = answer.extract::<usize>() {
            return Ok(Chosen::First(count));
        }
        if let Ok(buffer) = PyBuffer::<i64>::get(answer) {
            return Ok(Chosen::These(buffer.to_vec(answer.py())?));
        }
        // The length that a sequence claims to have may be any. One row more than there are is wrong, whichever it is.
        let rows = answer.try_iter().and_then(|rows| rows.take(all + 1).map(|row| row?.extract()).collect());
        rows.map(Chosen::These).map_err(|_| {
            PyTypeError::new_err("expected None, a number of rows, or an array of rows as the answer of `decide`")
        })
    }

    /// How many rows the policy sees.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Starts rows, as far as there is room, and forgets those of which nothing waits any more. The error is what the policy may not do.
    pub(super) fn start(&mut self, chosen: &Chosen, offer: &mut Offer<'_, '_>) -> Result<(), String> {
        let count = self.rows.len();
        let mut done = Vec::new();
        let mut start = |place: usize, rows: &mut VecDeque<Row>, written: &mut usize| -> Result<(), String> {
            let Some(row) = rows.get_mut(place) else {
                return Err(format!("`decide` answers with row {place}, but there are {count} rows"));
            };
            if offer.view().waiting(row.task) == 0 {
                return Err(format!("`decide` answers twice with row {place}"));
            }
            if offer.start(row.task, u32::MAX).map_err(|violation| violation.to_string())? > 0 {
                row.cells[UNITS] = i64::from(offer.view().waiting(row.task));
                if row.cells[UNITS] == 0 {
                    done.push(place);
                } else {
                    *written = (*written).min(place);
                }
            }
            Ok(())
        };
        match chosen {
            Chosen::First(rows) => (0..*rows).try_for_each(|place| start(place, &mut self.rows, &mut self.written))?,
            Chosen::These(rows) => {
                for &row in rows {
                    let place = usize::try_from(row).map_err(|_| format!("`decide` answers with row {row}"))?;
                    start(place, &mut self.rows, &mut self.written)?;
                }
            }
        }
        if done.is_empty() {
            // What is left is larger than it seemed.
            self.least = self.rows.iter().map(|row| row.unit).fold(NOTHING_WAITS, Resources::min);
        }
        done.sort_unstable();
        for &place in done.iter().rev() {
            self.remove(place);
        }
        self.refill(offer.view());
        Ok(())
    }

    fn remove(&mut self, place: usize) {
        if place == 0 {
            if let Some(row) = self.rows.pop_front() {
                self.base = [row.cells[CUM_CPU], row.cells[CUM_MEMORY]];
            }
            self.first += 1;
            self.written = self.written.saturating_sub(1);
        } else {
            self.rows.remove(place);
            self.written = self.written.min(place);
        }
        if self.rows.is_empty() {
            (self.first, self.written, self.base) = (0, 0, [0; 2]);
        }
    }

    fn refill(&mut self, view: View<'_>) {
        while self.rows.len() < self.window {
            let Some(task) = self.rest.pop_first() else { break };
            self.insert(self.rows.len(), task, view);
        }
    }
}

/// Writes numbers into an array from a place on. Only those that changed are written: a copy of all of them takes 10 µs a call.
#[allow(unsafe_code, reason = "the safe way writes the whole array, which takes as long as ten decisions of FIFO")]
fn write(
    _py: Python<'_>,
    column: &PyBuffer<i64>,
    first: usize,
    numbers: impl ExactSizeIterator<Item = i64>,
) -> PyResult<()> {
    let slice = column.as_slice_ptr().ok_or_else(|| PyTypeError::new_err("the arrays are not contiguous"))?;
    if first + numbers.len() > slice.len() {
        return Err(PyValueError::new_err("the arrays are shorter than twice the window"));
    }
    for (place, number) in numbers.enumerate() {
        // SAFETY: the buffer holds its memory while `column` lives; the place is within it; and the interpreter's lock is held, so that no
        // code of Python reads it now.
        unsafe { slice.cast::<i64>().as_ptr().add(first + place).write(number) };
    }
    Ok(())
}

/// More than any machine has.
const NOTHING_WAITS: Resources = Resources { cpu: u64::MAX, memory: u64::MAX };
