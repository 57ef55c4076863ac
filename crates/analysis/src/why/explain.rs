//! The explanation of one job, or of all jobs of a user, a queue or a run.

use std::collections::BTreeMap;

use resched_tables::model::{Reason, TaskKind};

use resched_tables::words::name;

use super::blame::{Holder, Kind, Ledger, Part, Share};
use super::explanation::{About, BlameRow, Blamed, CsvRow, Explanation, PhaseTime, TimelineRow};
use super::held::{Resource, Why};
use super::phase::Phase;
use super::sentences::{as_logged, of_never_started, sentences};
use super::timeline::{Stretch, stretches};

impl Why {
    /// The row of the job with that id.
    pub fn job_of_id(&self, id: &str) -> Option<usize> {
        self.jobs.iter().position(|job| job.job_id == id)
    }

    /// Explains the job in that row.
    pub fn explain_job(&self, row: usize) -> Explanation {
        let Some(job) = self.jobs.get(row) else { return self.explain(About::All, &[]) };
        let text = |text: &Option<std::sync::Arc<str>>| text.as_deref().map(str::to_owned);
        let about = About::Job {
            job_id: job.job_id.clone(),
            name: text(&job.name),
            user: text(&job.user),
            queue: text(&job.queue),
            submit: job.submit,
            start: self
                .attempts_of(row)
                .iter()
                .filter(|attempt| attempt.kind != TaskKind::Master)
                .map(|attempt| attempt.start)
                .min(),
            finish: job.finish,
            outcome: job.outcome,
        };
        let mut explanation = self.explain(about, &[row]);
        let has_started = job.finish.is_some() || !self.attempts_of(row).is_empty() || self.is_untimed(row);
        if job.submit.is_some() && !has_started {
            explanation.sentences = of_never_started(self.last_wait(row), self.has_reasons, self.system);
        }
        let row = u32::try_from(row).unwrap_or(u32::MAX);
        if let Some(reason) = self.logged_reasons.get(&row).filter(|_| !self.has_reasons) {
            explanation.sentences = as_logged(std::mem::take(&mut explanation.sentences), reason);
        }
        explanation
    }

    /// The last wait of a job that the policy gave a reason for.
    fn last_wait(&self, row: usize) -> Option<(Phase, Reason)> {
        let last = self.passed_over(row).iter().rev().find(|passed_over| passed_over.reason != Reason::None)?;
        Some((Phase::of_reason(last.reason, last.kind, self.in_containers), last.reason))
    }

    /// Explains the jobs of a user; `None` if there are none.
    pub fn explain_user(&self, user: &str) -> Option<Explanation> {
        let rows = self.rows(|row| self.jobs[row].user.as_deref() == Some(user));
        (!rows.is_empty()).then(|| self.explain(About::User(user.to_owned()), &rows))
    }

    /// Explains the jobs of a queue or pool; `None` if there are none.
    pub fn explain_queue(&self, queue: &str) -> Option<Explanation> {
        let rows = self.rows(|row| self.jobs[row].queue.as_deref() == Some(queue));
        (!rows.is_empty()).then(|| self.explain(About::Queue(queue.to_owned()), &rows))
    }

    /// Explains all jobs.
    pub fn explain_all(&self) -> Explanation {
        self.explain(About::All, &self.rows(|_| true))
    }

    fn rows(&self, wanted: impl Fn(usize) -> bool) -> Vec<usize> {
        (0..self.jobs.len()).filter(|&row| self.is_in_window(row) && wanted(row)).collect()
    }

    fn explain(&self, about: About, rows: &[usize]) -> Explanation {
        let (mut ledger, mut changes) = (Ledger::new(self), Vec::new());
        let mut timeline = Vec::new();
        let (mut jobs, mut completion_ms) = (0, 0);
        for &row in rows {
            let Some(completion) = self.completion(row) else { continue };
            jobs += 1;
            completion_ms += completion;
            stretches(self, row, &mut changes, &mut |stretch| {
                ledger.add(&stretch);
                if matches!(about, About::Job { .. }) {
                    timeline.push(TimelineRow::of(&stretch));
                }
            });
        }
        ledger.settle();
        let blame = ledger.blame();
        let share = |ms: i64| if completion_ms > 0 { ms as f64 / completion_ms as f64 } else { 0.0 };
        let phase = |(&Kind { phase, reason, partly }, &ms): (&Kind, &i64)| PhaseTime {
            phase,
            reason,
            while_running: partly,
            ms,
            share: share(ms),
        };
        let mut explanation = Explanation {
            run: self.label.clone(),
            system: self.system,
            about,
            has_reasons: self.has_reasons,
            jobs,
            left_out: rows.len() as u64 - jobs,
            completion_ms,
            phases: ledger.totals.iter().map(phase).collect(),
            users: blamed(&blame, |row| self.jobs.get(row)?.user.as_deref()),
            queues: blamed(&blame, |row| self.jobs.get(row)?.queue.as_deref()),
            blame: self.blame_rows(&blame),
            timeline,
            sentences: Vec::new(),
        };
        explanation.sentences = sentences(&explanation);
        explanation
    }

    /// The completion time of a job, ms.
    pub(super) fn completion(&self, row: usize) -> Option<i64> {
        let (submit, finish) = self.jobs.get(row).and_then(|job| job.submit.zip(job.finish))?;
        (submit <= finish).then(|| finish - submit)
    }

    fn blame_rows(&self, blame: &BTreeMap<Part, Share>) -> Vec<BlameRow> {
        let row = |(&(kind, of, holder), share): (&Part, &Share)| {
            let job = if let Holder::Job(row) = holder { self.jobs.get(row) } else { None };
            let Kind { phase, reason, partly } = kind;
            BlameRow {
                phase,
                reason,
                while_running: partly,
                holder: holder.name(),
                job_id: job.map(|job| job.job_id.clone()),
                user: job.and_then(|job| job.user.as_deref().map(str::to_owned)),
                queue: job.and_then(|job| job.queue.as_deref().map(str::to_owned)),
                ms: share.ms,
                held: share.held as f64 / self.a_second_of(of),
                of: of.map(|resource| self.name(resource).to_owned()),
            }
        };
        let mut rows: Vec<BlameRow> = blame.iter().map(row).collect();
        // Equal ones keep the order of phases and jobs.
        rows.sort_by_key(|row| std::cmp::Reverse(row.ms));
        rows
    }

    /// What a second × slot, core or MB is in the unit of the ledger.
    fn a_second_of(&self, resource: Option<Resource>) -> f64 {
        let unit = match resource {
            Some(Resource::Cpu) => 1_000.0,
            Some(Resource::Memory) if !self.in_containers => f64::from(1 << 20),
            Some(
                Resource::MapSlots
                | Resource::ReduceSlots
                | Resource::Memory
                | Resource::Containers
                | Resource::Named(_),
            )
            | None => 1.0,
        };
        unit * 1_000.0
    }
}

impl TimelineRow {
    fn of(stretch: &Stretch) -> Self {
        let &Stretch { from, to, phase, reason, partly, .. } = stretch;
        Self { from, to, phase, reason, while_running: partly }
    }
}

/// The blame by what `name` calls a job, the most first.
fn blamed<'a>(blame: &BTreeMap<Part, Share>, name: impl Fn(usize) -> Option<&'a str>) -> Vec<Blamed> {
    let mut sums: BTreeMap<(&'static str, Option<&str>), [i64; 2]> = BTreeMap::new();
    for (&(kind, _, holder), share) in blame {
        let key = match holder {
            Holder::Job(row) => (holder.name(), name(row)),
            Holder::Others | Holder::Idle | Holder::Rule => (holder.name(), None),
        };
        sums.entry(key).or_default()[usize::from(kind.partly)] += share.ms;
    }
    let row = |((holder, name), [waited_ms, while_running_ms]): ((&'static str, Option<&str>), [i64; 2])| Blamed {
        name: name.map(str::to_owned),
        holder,
        waited_ms,
        while_running_ms,
    };
    let mut rows: Vec<Blamed> = sums.into_iter().map(row).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.waited_ms + row.while_running_ms));
    rows
}

impl Explanation {
    /// The rows of the explanation as CSV.
    pub fn csv_rows(&self) -> Vec<CsvRow> {
        let about = || match &self.about {
            About::Job { job_id, .. } => job_id.clone(),
            About::User(text) | About::Queue(text) => text.clone(),
            About::All => String::new(),
        };
        let ran = self.phases.iter().filter(|phase| !phase.phase.is_wait()).map(|phase| CsvRow {
            about: about(),
            phase: phase.phase.name(),
            reason: phase.reason.as_str(),
            while_running: phase.while_running,
            holder: "",
            job_id: None,
            user: None,
            queue: None,
            ms: phase.ms,
            held: 0.0,
        });
        let blamed = self.blame.iter().map(|blamed| CsvRow {
            about: about(),
            phase: blamed.phase.name(),
            reason: blamed.reason.as_str(),
            while_running: blamed.while_running,
            holder: blamed.holder,
            job_id: blamed.job_id.clone(),
            user: blamed.user.clone(),
            queue: blamed.queue.clone(),
            ms: blamed.ms,
            held: blamed.held,
        });
        ran.chain(blamed).collect()
    }

    /// What is explained, as a title.
    pub fn title(&self) -> String {
        match &self.about {
            About::Job { job_id, name: None, .. } => format!("job {}", name(job_id)),
            About::Job { job_id, name: Some(given), .. } => format!("job {} ({})", name(job_id), name(given)),
            About::User(user) => format!("the jobs of user {}", name(user)),
            About::Queue(queue) => format!("the jobs of {} {}", self.system.says("queue"), name(queue)),
            About::All => "all jobs".to_owned(),
        }
    }
}
