//! How DRESS finds the phases of a job and their expected releases (DRESS, Algorithms 1 and 2, Equations 5 and 9;
//! `docs/model/dress.md`).
//!
//! The tasks of a phase start within a short time Δ and, later, end within as short a time, one after the other. So a
//! burst of starts shows a phase. A burst of ends shows that its containers are coming back, which also takes about Δ.
//! The printed algorithms are corrected in three places: starts are counted, not running tasks; windows are checked
//! every tick; trailing tasks move to the next phase once, and leave their old phase.

use std::collections::VecDeque;

use resched_sim::Ms;

use crate::settings::choices;

/// The rules by which phases are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PhaseRules {
    /// How far back one looks for starts and ends (pw), ms.
    pub(crate) window: Ms,
    /// More starts than this in the window begin a phase (ts).
    pub(crate) starts: u32,
    /// More ends than this in the window begin its release (te).
    pub(crate) ends: u32,
    /// What is compared with what it was a window ago.
    pub(crate) counted: Counted,
}

choices! {
    /// What Algorithm 1 compares with what it was a window ago.
    pub(crate) enum Counted {
        /// The starts of the phase so far: ends do not hide starts.
        Starts = "starts",
        /// The running tasks of the job, as printed.
        Running = "running",
    }
}

choices! {
    /// How many containers a phase is expected to release by the next tick.
    pub(crate) enum ReleaseMode {
        /// `p(t+1)`, as printed: all that it has released by then, the containers that are free already among them.
        Literal = "literal",
        /// `p(t+1) − p(t)`: what the ramp says for this tick alone.
        Incremental = "incremental",
        /// What the ramp says for the next tick less what has really ended, and no more than runs.
        Observed = "observed",
    }
}

/// The start of a task, which identifies its end. Starts are numbered within their job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Start(u32);

/// Where a start belongs once its task has ended.
const ENDED: u32 = u32::MAX;

/// The phases of one job.
#[derive(Debug, Default)]
pub(crate) struct Phases {
    phases: Vec<Phase>,
    /// The phase that takes the next start.
    open: usize,
    /// The phase of each start of the job, or [`ENDED`].
    places: Vec<u32>,
    running: u32,
    /// When its first task started (α), ms.
    began: Option<Ms>,
    /// When nothing ran or waited any more (β), ms.
    ended: Option<Ms>,
}

/// Tasks that start together.
#[derive(Debug, Default)]
struct Phase {
    /// The containers that it holds or held (c).
    containers: u32,
    running: u32,
    /// Its first and its latest start, ms.
    starts: Option<(Ms, Ms)>,
    /// Its starts within the window, ms.
    recent_starts: VecDeque<Ms>,
    /// Its ends within the window, ms.
    recent_ends: VecDeque<Ms>,
    /// Its first start (ps_f), ms, once so many have started that it is one.
    first_start: Option<Ms>,
    /// How long its starts took (Δ), ms, once they are over.
    spread: Option<Ms>,
    /// When it began to release containers (γ), ms.
    release: Option<Ms>,
    /// True if its trailing tasks have moved to the next phase.
    trailed: bool,
}

impl Phases {
    /// A task has started.
    pub(crate) fn start(&mut self, at: Ms) -> Start {
        self.began.get_or_insert(at);
        self.ended = None;
        let phase = self.phase(self.open);
        phase.containers += 1;
        phase.running += 1;
        phase.starts = Some((phase.starts.map_or(at, |(first, _)| first), at));
        phase.recent_starts.push_back(at);
        self.running += 1;
        self.places.push(self.open as u32);
        Start(self.places.len() as u32 - 1)
    }

    /// The task of this start has ended.
    pub(crate) fn end(&mut self, start: Start, at: Ms) {
        let Some(place) = self.places.get_mut(start.0 as usize) else { return };
        let place = std::mem::replace(place, ENDED) as usize;
        if let Some(phase) = self.phases.get_mut(place) {
            phase.running -= 1;
            phase.recent_ends.push_back(at);
            self.running -= 1;
        }
    }

    /// Looks for starts and ends of phases. `waits` says whether the job has tasks that do not run yet.
    pub(crate) fn tick(&mut self, now: Ms, waits: bool, rules: &PhaseRules) {
        for phase in &mut self.phases {
            phase.forget(now - rules.window);
        }
        self.find_start(rules);
        for place in 0..self.phases.len() {
            self.find_release(place, rules);
        }
        if self.running == 0 && !waits && self.ended.is_none() {
            self.ended = Some(now);
        }
    }

    /// Whether, until a task starts or ends, all later ticks would find nothing, and nothing is expected to be released. To be
    /// asked after a tick.
    pub(crate) fn are_quiet(&self, rules: &PhaseRules) -> bool {
        let begins = |phase: &Phase| phase.first_start.is_some() || phase.recent_starts.len() > rules.starts as usize;
        let releases = |phase: &Phase| phase.release.is_some() || phase.recent_ends.len() > rules.ends as usize;
        !self.phases.get(self.open).is_some_and(begins) && !self.phases.iter().any(releases)
    }

    /// How many containers the job is expected to release within the tick after `now` (f, Equation 5).
    pub(crate) fn releases(&self, now: Ms, tick: Ms, mode: ReleaseMode) -> f64 {
        match (self.began, self.ended) {
            (Some(_), None) => self.phases.iter().map(|phase| phase.releases(now, tick, mode)).sum(),
            _ => 0.0,
        }
    }

    /// The phase at a place, made if it is the next one.
    fn phase(&mut self, place: usize) -> &mut Phase {
        if place >= self.phases.len() {
            self.phases.resize_with(place + 1, Phase::default);
        }
        &mut self.phases[place]
    }

    /// Algorithm 1: a phase starts with a burst of starts, and is closed to further ones when a window holds none.
    fn find_start(&mut self, rules: &PhaseRules) {
        let ended: usize = match rules.counted {
            Counted::Starts => 0,
            Counted::Running => self.phases.iter().map(|phase| phase.recent_ends.len()).sum(),
        };
        let Some(phase) = self.phases.get_mut(self.open) else { return };
        let more = phase.recent_starts.len() as i64 - ended as i64;
        let Some((first, latest)) = phase.starts else { return };
        match phase.first_start {
            None if more > i64::from(rules.starts) => phase.first_start = Some(first),
            Some(first) if more == 0 => {
                phase.spread = Some(latest - first);
                self.open += 1;
            }
            _ => {}
        }
    }

    /// Algorithm 2: a phase begins to release with a burst of ends; what still runs when a window holds none is trailing.
    fn find_release(&mut self, place: usize, rules: &PhaseRules) {
        let phase = &mut self.phases[place];
        let ends = phase.recent_ends.len();
        if phase.release.is_none() {
            if ends > rules.ends as usize {
                phase.release = phase.recent_ends.front().copied();
            }
        } else if ends == 0 && phase.running > 0 && !phase.trailed {
            phase.trailed = true;
            let trailing = std::mem::take(&mut phase.running);
            phase.containers -= trailing;
            let next = self.phase(place + 1);
            next.running += trailing;
            next.containers += trailing;
            for of_start in self.places.iter_mut().filter(|of_start| **of_start == place as u32) {
                *of_start += 1;
            }
        }
    }
}

impl Phase {
    /// Leaves out what is not later than `until`.
    fn forget(&mut self, until: Ms) {
        for recent in [&mut self.recent_starts, &mut self.recent_ends] {
            while recent.front().is_some_and(|&at| at <= until) {
                recent.pop_front();
            }
        }
    }

    /// How many of its containers are to be free at an instant, if they come back evenly over Δ from γ on. Nothing is known
    /// before both are.
    fn released(&self, at: Ms) -> f64 {
        match (self.release, self.spread) {
            (Some(release), Some(spread)) if at >= release => {
                let ramp = if at - release < spread { (at - release) as f64 / spread as f64 } else { 1.0 };
                ramp * f64::from(self.containers)
            }
            _ => 0.0,
        }
    }

    /// Equation 9: as [`Phase::released`], but nothing once the ramp is over.
    fn printed(&self, at: Ms) -> f64 {
        match (self.release, self.spread) {
            (Some(release), Some(spread)) if at > release + spread => 0.0,
            _ => self.released(at),
        }
    }

    fn releases(&self, now: Ms, tick: Ms, mode: ReleaseMode) -> f64 {
        match mode {
            ReleaseMode::Literal => self.printed(now + tick),
            ReleaseMode::Incremental => self.released(now + tick) - self.released(now),
            ReleaseMode::Observed => {
                let ended = f64::from(self.containers - self.running);
                (self.released(now + tick) - ended).clamp(0.0, f64::from(self.running))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: PhaseRules = PhaseRules { window: 10_000, starts: 5, ends: 5, counted: Counted::Starts };
    const SECOND: Ms = 1_000;

    /// A phase that is known to release 16 containers over 8 s from 100 s on, of which some have ended.
    fn releasing(ended: u32) -> Phase {
        Phase {
            containers: 16,
            running: 16 - ended,
            release: Some(100 * SECOND),
            spread: Some(8 * SECOND),
            ..Phase::default()
        }
    }

    #[test]
    fn the_ramp_of_a_phase() {
        let phase = releasing(5);
        let printed = |second: Ms| phase.printed(second * SECOND);
        assert_eq!([100, 102, 103, 108, 109].map(printed), [0.0, 4.0, 6.0, 16.0, 0.0]);
        let releases = |mode| phase.releases(102 * SECOND, SECOND, mode);
        assert_eq!(releases(ReleaseMode::Literal), 6.0);
        assert_eq!(releases(ReleaseMode::Incremental), 2.0);
        assert_eq!(releases(ReleaseMode::Observed), 1.0);
    }

    #[test]
    fn past_its_ramp_a_phase_is_expected_to_release_all_that_runs() {
        let phase = releasing(5);
        assert_eq!(phase.releases(120 * SECOND, SECOND, ReleaseMode::Observed), 11.0);
        assert_eq!(phase.releases(120 * SECOND, SECOND, ReleaseMode::Incremental), 0.0);
        assert_eq!(phase.releases(120 * SECOND, SECOND, ReleaseMode::Literal), 0.0);
    }

    #[test]
    fn tasks_that_started_at_once_are_expected_at_once() {
        let phase = Phase { spread: Some(0), ..releasing(0) };
        assert_eq!([99, 100, 101].map(|second| phase.printed(second * SECOND)), [0.0, 16.0, 0.0]);
    }

    /// One job, ticked every second.
    #[derive(Default)]
    struct Job {
        phases: Phases,
        starts: Vec<(Ms, Start)>,
    }

    impl Job {
        /// Ticks at each of these seconds; tasks that start at `starts` run for so many seconds.
        fn run(&mut self, seconds: std::ops::RangeInclusive<Ms>, starts: &[Ms], length: Ms, rules: &PhaseRules) {
            for second in seconds {
                let now = second * SECOND;
                for _ in starts.iter().filter(|&&start| start == second) {
                    self.starts.push((second + length, self.phases.start(now)));
                }
                for (_, start) in self.starts.extract_if(.., |(end, _)| *end == second) {
                    self.phases.end(start, now);
                }
                self.phases.tick(now, false, rules);
            }
        }
    }

    const SEVEN: [Ms; 7] = [1, 2, 3, 4, 5, 6, 7];

    #[test]
    fn phases_are_quiet_until_enough_tasks_start_or_end() {
        let mut job = Job::default();
        job.run(0..=5, &SEVEN, 20, &RULES);
        assert!(job.phases.are_quiet(&RULES), "five starts are no phase");
        job.run(6..=16, &SEVEN, 20, &RULES);
        assert!(!job.phases.are_quiet(&RULES), "the phase has yet to close");
        job.run(17..=25, &SEVEN, 20, &RULES);
        assert!(job.phases.are_quiet(&RULES), "it is closed, and has released too little");
        job.run(26..=26, &SEVEN, 20, &RULES);
        assert!(!job.phases.are_quiet(&RULES), "it releases");
    }

    #[test]
    fn a_phase_is_found_by_its_starts_and_its_release_by_its_ends() {
        let mut job = Job::default();
        job.run(0..=5, &SEVEN, 20, &RULES);
        assert_eq!(job.phases.phases[0].first_start, None);
        job.run(6..=6, &SEVEN, 20, &RULES);
        assert_eq!(job.phases.phases[0].first_start, Some(SECOND));
        job.run(7..=16, &SEVEN, 20, &RULES);
        assert_eq!(job.phases.phases[0].spread, None);
        job.run(17..=17, &SEVEN, 20, &RULES);
        assert_eq!((job.phases.phases[0].spread, job.phases.open), (Some(6 * SECOND), 1));
        job.run(18..=25, &SEVEN, 20, &RULES);
        assert_eq!(job.phases.phases[0].release, None);
        job.run(26..=26, &SEVEN, 20, &RULES);
        assert_eq!(job.phases.phases[0].release, Some(21 * SECOND));
        let releases = |mode| job.phases.releases(26 * SECOND, SECOND, mode);
        assert_eq!((releases(ReleaseMode::Literal), releases(ReleaseMode::Observed)), (7.0, 1.0));
        job.run(27..=27, &SEVEN, 20, &RULES);
        assert_eq!(job.phases.ended, Some(27 * SECOND));
        assert_eq!(job.phases.releases(27 * SECOND, SECOND, ReleaseMode::Literal), 0.0);
    }

    #[test]
    fn a_heading_task_begins_no_release() {
        let mut job = Job::default();
        job.run(1..=1, &[1], 1, &RULES);
        job.run(2..=30, &[2, 3, 4, 5, 6, 7], 20, &RULES);
        // The first task ends at 2, the others from 22 on: the earliest end of all would be 2.
        assert_eq!(job.phases.phases[0].release, Some(22 * SECOND));
    }

    #[test]
    fn trailing_tasks_move_to_the_next_phase_once() {
        let mut job = Job::default();
        job.run(1..=1, &[1; 7], 20, &RULES);
        job.run(2..=2, &[2, 2], 60, &RULES);
        job.run(3..=30, &[], 0, &RULES);
        let counts = |job: &Job| -> Vec<(u32, u32)> {
            job.phases.phases.iter().map(|phase| (phase.containers, phase.running)).collect()
        };
        assert_eq!(counts(&job), [(9, 2)], "seven ended at 21, within the window");
        job.run(31..=40, &[], 0, &RULES);
        assert_eq!(counts(&job), [(7, 0), (2, 2)]);
        job.run(41..=62, &[], 0, &RULES);
        assert_eq!(counts(&job), [(7, 0), (2, 0)]);
        assert_eq!(job.phases.ended, Some(62 * SECOND));
    }

    #[test]
    fn short_tasks_hide_a_phase_from_the_count_of_running_tasks() {
        let found = |counted| {
            let mut job = Job::default();
            job.run(1..=7, &SEVEN, 2, &PhaseRules { counted, ..RULES });
            job.phases.phases[0].first_start
        };
        assert_eq!((found(Counted::Starts), found(Counted::Running)), (Some(SECOND), None));
    }

    #[test]
    fn later_starts_belong_to_the_next_phase() {
        let mut job = Job::default();
        job.run(1..=30, &[1, 1, 1, 1, 1, 1, 25, 25], 100, &RULES);
        let counts: Vec<u32> = job.phases.phases.iter().map(|phase| phase.containers).collect();
        assert_eq!(counts, [6, 2]);
    }
}
