//! The fields of a line, in their order (`lsb.acct(5)` of version 10.1).
//!
//! | place | fields |
//! |---|---|
//! | 0 to 10 | type, version, event time, job, user id, options, processors, submission, begin, deadline, start |
//! | 11 to 21 | user, queue, resources, dependency, pre-execution, host, folder, input, output, errors, job file |
//! | then | number of asked hosts, and these; number of execution hosts, and these |
//! | then | state, host factor, job name, command, 19 numbers of use |
//! | then | mail user, project, exit status, most processors, shell, time event, index, memory and swap, two spool files |
//! | since 6 | reservation, service class, exceptions, additional information, reason of the termination |
//! | since 7 | warning action and time, share account, licence project, application, post-execution, estimate, group, requeue values |
//! | since 7.0.6 | options, resize command, time of the last resize, reservation, description |
//! | since 9 | numbers and keys of extensions; use by hosts; options, limit of the run time, memory; effective resources |
//! | since 10.1 | clusters, times of provisioning, run time, networks, affinity, energy, slots; the time in which it could not start |

use super::words::{Word, Words};

/// The most hosts that are asked for, and that run a job.
const MOST: usize = 1 << 20;

/// A line of a job that ended.
#[derive(Debug)]
pub(super) struct Fields<'a> {
    pub(super) finished: Finished<'a>,
    pub(super) later: Later<'a>,
    hosts: Vec<&'a str>,
}

/// The fields that all versions have.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Finished<'a> {
    pub(super) job: u64,
    /// The place in an array; 0: no array.
    pub(super) index: u64,
    pub(super) options: i64,
    pub(super) processors: i64,
    /// Times, ms.
    pub(super) submit: i64,
    pub(super) begin: Option<i64>,
    pub(super) start: Option<i64>,
    pub(super) end: i64,
    pub(super) user: &'a str,
    pub(super) queue: &'a str,
    resources: &'a str,
    pub(super) depends: &'a str,
    pub(super) status: i64,
    pub(super) name: &'a str,
    pub(super) project: &'a str,
    pub(super) cpu_ms: Option<i64>,
    pub(super) used_memory: Option<i64>,
    pub(super) reservation: &'a str,
    pub(super) service_class: &'a str,
    /// Why it was ended.
    pub(super) reason: i64,
}

/// The fields of newer versions.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Later<'a> {
    /// The limit of the run time, ms.
    pub(super) limit: Option<i64>,
    resources: &'a str,
    /// For how long it could not start, ms.
    pub(super) ineligible: Option<i64>,
}

impl<'a> Fields<'a> {
    /// The fields of a line, or which of them cannot be read.
    pub(super) fn of(words: &'a Words<'_>) -> Result<Self, &'static str> {
        let mut reader = Reader { words: &words.all, at: 2 };
        let mut finished = Finished { end: reader.time("event time")?.unwrap_or_default(), ..Finished::default() };
        finished.job = reader.number("jobId")?;
        reader.pass(1);
        finished.options = reader.signed("options")?;
        finished.processors = reader.signed("numProcessors")?;
        finished.submit = reader.time("submitTime")?.ok_or("submitTime")?;
        finished.begin = reader.time("beginTime")?;
        reader.pass(1);
        finished.start = reader.time("startTime")?;
        finished.user = reader.text("userName")?;
        finished.queue = reader.text("queue")?;
        finished.resources = reader.text("resReq")?;
        finished.depends = reader.text("dependCond")?;
        reader.pass(7);
        reader.hosts("numAskedHosts")?;
        let hosts = reader.hosts("numExHosts")?;
        finished.status = reader.signed("jStatus")?;
        reader.pass(1);
        finished.name = reader.text("jobName")?;
        reader.pass(1);
        let [user, system] = [reader.float("ru_utime")?, reader.float("ru_stime")?];
        finished.cpu_ms = user.zip(system).and_then(|(user, system)| super::super::swf::milliseconds(user + system));
        reader.pass(18);
        finished.project = reader.text("projectName")?;
        reader.pass(4);
        finished.index = reader.number("idx").unwrap_or(0);
        finished.used_memory = reader.signed("maxRMem").ok().filter(|&kb| kb > 0).and_then(|kb| kb.checked_mul(1_024));
        reader.pass(3);
        finished.reservation = reader.text("rsvId").unwrap_or_default();
        finished.service_class = reader.text("sla").unwrap_or_default();
        reader.pass(2);
        finished.reason = reader.signed("exitInfo").unwrap_or(0);
        reader.pass(14);
        Ok(Self { finished, later: later(&mut reader).unwrap_or_default(), hosts })
    }

    /// The hosts that it ran on, as the line names them.
    pub(super) fn hosts(&self) -> &[&'a str] {
        &self.hosts
    }

    /// What it asked for: with the requests of its queue and of its application, if the version writes them.
    pub(super) fn resources(&self) -> &'a str {
        if self.later.resources.is_empty() { self.finished.resources } else { self.later.resources }
    }
}

/// The fields behind the description of the job; `None` if a field is another than this version writes.
fn later<'a>(reader: &mut Reader<'a, '_>) -> Option<Later<'a>> {
    let extensions = reader.number("submitEXT").ok()?;
    reader.pass(usize::try_from(extensions).ok()?.checked_mul(2)?);
    let by_host = reader.number("numHostRusage").ok()?;
    for _ in 0..by_host.min(MOST as u64) {
        reader.text("hostname").ok()?;
        reader.pass(4);
    }
    // Options and the limit, and since 9.1.3 the average memory.
    let numbers = reader.bare_words();
    let limit = match numbers.as_slice() {
        [_, limit] | [_, limit, _] => {
            Some(*limit).filter(|&limit| limit > 0).and_then(|limit| limit.checked_mul(1_000))
        }
        _ => return None,
    };
    let resources = reader.text("effectiveResReq").unwrap_or_default();
    let ineligible = reader.ineligible();
    Some(Later { limit, resources, ineligible })
}

/// Passes over the words of a line.
struct Reader<'a, 'w> {
    words: &'a [Word<'w>],
    at: usize,
}

impl<'a> Reader<'a, '_> {
    fn next(&mut self) -> Option<&'a Word<'a>> {
        let word = self.words.get(self.at);
        self.pass(1);
        word
    }

    fn pass(&mut self, words: usize) {
        self.at = self.at.saturating_add(words);
    }

    fn bare(&mut self, field: &'static str) -> Result<&'a str, &'static str> {
        match self.next() {
            Some(Word::Bare(word)) => Ok(word),
            _ => Err(field),
        }
    }

    fn text(&mut self, field: &'static str) -> Result<&'a str, &'static str> {
        match self.next() {
            Some(Word::Text(text)) => Ok(text),
            _ => Err(field),
        }
    }

    fn number(&mut self, field: &'static str) -> Result<u64, &'static str> {
        self.bare(field)?.parse().map_err(|_| field)
    }

    fn signed(&mut self, field: &'static str) -> Result<i64, &'static str> {
        self.bare(field)?.parse().map_err(|_| field)
    }

    /// A number that is not negative; −1 is none.
    fn float(&mut self, field: &'static str) -> Result<Option<f64>, &'static str> {
        let number: f64 = self.bare(field)?.parse().map_err(|_| field)?;
        Ok(Some(number).filter(|number| number.is_finite() && *number >= 0.0))
    }

    /// Seconds since the epoch, as ms; 0 is none.
    fn time(&mut self, field: &'static str) -> Result<Option<i64>, &'static str> {
        let seconds = self.signed(field)?;
        Ok(seconds.checked_mul(1_000).filter(|&time| time > 0))
    }

    /// A number of hosts, and these.
    fn hosts(&mut self, field: &'static str) -> Result<Vec<&'a str>, &'static str> {
        let number = usize::try_from(self.number(field)?).ok().filter(|&number| number <= MOST).ok_or(field)?;
        if self.words.len().saturating_sub(self.at) < number {
            return Err(field);
        }
        (0..number).map(|_| self.text(field)).collect()
    }

    /// The numbers up to the next text.
    fn bare_words(&mut self) -> Vec<i64> {
        let mut numbers = Vec::new();
        while let Some(Word::Bare(word)) = self.words.get(self.at) {
            numbers.extend(word.parse::<i64>());
            self.at += 1;
        }
        numbers
    }

    /// The time in which the job could not start, ms: it stands behind the list of allocated slots.
    fn ineligible(&mut self) -> Option<i64> {
        // Clusters and times of forwarding and provisioning, folder of the output, run time, folder.
        self.pass(11);
        let networks = self.number("num_network").ok()?;
        self.pass(usize::try_from(networks).ok()?.checked_mul(2)?);
        self.text("affinity").ok()?;
        self.pass(5);
        self.hosts("numAllocSlots").ok()?;
        self.signed("ineligiblePendTime").ok()?.checked_mul(1_000)
    }
}
