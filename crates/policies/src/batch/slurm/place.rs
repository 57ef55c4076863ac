//! On which machines a job starts, given on which of them it finds how much room.
//!
//! **Source.** Runs of a real Slurm 22.05.8 (`select/cons_tres`, `CR_CPU`): make runs of consecutive machines with room; take the run with
//! the least room that holds the job, else the largest, and repeat for the rest. Within a run, take the machine with the least room that
//! suffices, else machines in order.
//!
//! **Decision.** A job that asks for a number of machines has the same number of instances on each. If its instances do not divide evenly,
//! it takes the machines with the most room.

use std::ops::Range;

/// Consecutive machines with the same room for instances of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stretch {
    /// The number of the first.
    pub(super) from: usize,
    pub(super) machines: usize,
    /// The room on each.
    pub(super) room: u64,
}

/// Machines with room for instances of a job. Their numbers rise. Equal neighbours are counted, not listed.
pub(super) type Rooms = Vec<Stretch>;

/// Adds machines behind the others.
#[inline]
pub(super) fn add(rooms: &mut Rooms, more: Stretch) {
    match rooms.last_mut().filter(|last| last.from + last.machines == more.from && last.room == more.room) {
        Some(last) => last.machines += more.machines,
        None => rooms.push(more),
    }
}

/// Consecutive machines with the same number of instances of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    /// The number of the first.
    pub(super) from: usize,
    pub(super) machines: usize,
    /// The instances on each.
    pub(super) each: u32,
}

impl Part {
    /// The numbers of the machines.
    pub(super) fn range(&self) -> Range<usize> {
        self.from..self.from + self.machines
    }
}

/// Machines with instances of a job. Their numbers rise.
pub(super) type Places = Vec<Part>;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) instances: u32,
    /// On how many machines they must lie, if that matters.
    pub(super) machines: Option<u32>,
}

impl Asked {
    /// How many instances a machine must have room for, to be any good.
    pub(super) fn least(self) -> u64 {
        match self.machines {
            Some(machines) if self.instances.is_multiple_of(machines.max(1)) => {
                u64::from(self.instances / machines.max(1))
            }
            _ => 1,
        }
    }

    /// True if [`Asked::may_fit`] decides, if all rooms are for at least [`Asked::least`].
    pub(super) fn needs_only_sums(self) -> bool {
        self.machines.is_none_or(|machines| self.instances.is_multiple_of(machines.max(1)))
    }

    /// True if so much room may do.
    pub(super) fn may_fit(self, gain: Gain) -> bool {
        gain.room >= u64::from(self.instances) && gain.machines >= self.machines.unwrap_or(1) as usize
    }
}

/// How much room there is for a job, and on how many machines.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Gain {
    pub(super) room: u64,
    pub(super) machines: usize,
}

impl Gain {
    /// Adds so much room on each of so many machines.
    #[inline]
    pub(super) fn add(&mut self, room: u64, machines: usize) {
        self.room = self.room.saturating_add(room.saturating_mul(machines as u64));
        self.machines += if room > 0 { machines } else { 0 };
    }

    pub(super) fn plus(self, more: Gain) -> Gain {
        Gain { room: self.room.saturating_add(more.room), machines: self.machines + more.machines }
    }
}

/// Chooses machines; `None` if there is not enough room. All rooms are for at least [`Asked::least`].
pub(super) fn choose(asked: Asked, rooms: &Rooms) -> Option<Places> {
    let room = rooms.iter().fold(0_u64, |sum, room| sum.saturating_add(room.room.saturating_mul(room.machines as u64)));
    if !asked.may_fit(Gain { room, machines: rooms.iter().map(|room| room.machines).sum() }) {
        return None;
    }
    let mut parts = match asked.machines {
        None => anywhere(asked.instances, rooms),
        Some(machines) if asked.instances.is_multiple_of(machines.max(1)) => {
            evenly(machines, asked.instances / machines.max(1), rooms)
        }
        Some(machines) => unevenly(machines, asked.instances, rooms),
    }?;
    parts.sort_unstable_by_key(|part| part.from);
    Some(parts)
}

/// A run of consecutive machines with room, as a part of the list of rooms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Run {
    room: u64,
    from: usize,
    to: usize,
    machines: usize,
}

/// The runs, those with less room first, and of equals the first.
fn runs(rooms: &Rooms) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut next = None;
    for (place, of_machine) in rooms.iter().enumerate() {
        let room = of_machine.room.saturating_mul(of_machine.machines as u64);
        match runs.last_mut().filter(|_| next == Some(of_machine.from)) {
            Some(run) => {
                (run.to, run.room, run.machines) =
                    (place + 1, run.room.saturating_add(room), run.machines + of_machine.machines);
            }
            None => runs.push(Run { room, from: place, to: place + 1, machines: of_machine.machines }),
        }
        next = Some(of_machine.from + of_machine.machines);
    }
    runs.sort_unstable();
    runs
}

/// Takes the run at this place out of the list, which suffices; else the first of the largest.
fn take_best(runs: &mut Vec<Run>, sufficient: Option<usize>) -> Option<(Run, bool)> {
    if let Some(place) = sufficient {
        return Some((runs.remove(place), true));
    }
    let most = runs.last()?.room;
    let place = runs.partition_point(|run| run.room < most);
    Some((runs.remove(place), false))
}

/// The machine of a run with the least room that is enough, the first of equals.
fn tightest(rooms: &[Stretch], enough: u64) -> Option<usize> {
    let fitting = rooms.iter().filter(|room| room.room >= enough);
    fitting.min_by_key(|stretch| (stretch.room, stretch.from)).map(|stretch| stretch.from)
}

fn anywhere(instances: u32, rooms: &Rooms) -> Option<Places> {
    let mut runs = runs(rooms);
    let mut left = instances;
    let mut parts = Places::new();
    while left > 0 {
        // They are in the order of their room.
        let place = runs.partition_point(|run| run.room < u64::from(left));
        let place = (place < runs.len()).then_some(place);
        let (run, suffices) = take_best(&mut runs, place)?;
        let of_run = rooms.get(run.from..run.to)?;
        if let Some(machine) = tightest(of_run, left.into()).filter(|_| suffices) {
            parts.push(Part { from: machine, machines: 1, each: left });
            break;
        }
        of_run.iter().for_each(|stretch| left = fill(*stretch, left, &mut parts));
    }
    Some(parts)
}

/// Fills consecutive machines in order. Returns how many instances are left.
fn fill(Stretch { from, machines, room }: Stretch, left: u32, parts: &mut Places) -> u32 {
    let full = (u64::from(left) / room.max(1)).min(machines as u64) as usize;
    // What a full machine takes is no more than all that is left.
    let taken = room.saturating_mul(full as u64) as u32;
    parts.extend((full > 0).then_some(Part { from, machines: full, each: room as u32 }));
    let left = left - taken;
    if left == 0 || full == machines {
        return left;
    }
    parts.push(Part { from: from + full, machines: 1, each: left });
    0
}

/// So many machines with so many instances each.
fn evenly(machines: u32, each: u32, rooms: &Rooms) -> Option<Places> {
    let mut runs = runs(rooms);
    let mut left = machines as usize;
    let mut parts = Places::new();
    while left > 0 {
        let place = runs.iter().position(|run| run.machines >= left);
        let (run, suffices) = take_best(&mut runs, place)?;
        let of_run = rooms.get(run.from..run.to)?;
        if let Some(machine) = tightest(of_run, each.into()).filter(|_| suffices && left == 1) {
            parts.push(Part { from: machine, machines: 1, each });
            break;
        }
        for stretch in of_run {
            let taken = stretch.machines.min(left);
            parts.extend((taken > 0).then_some(Part { from: stretch.from, machines: taken, each }));
            left -= taken;
        }
    }
    Some(parts)
}

/// The machines with the most room, each with one instance at least.
fn unevenly(machines: u32, instances: u32, rooms: &Rooms) -> Option<Places> {
    let mut roomiest = rooms.clone();
    roomiest.sort_by_key(|stretch| (std::cmp::Reverse(stretch.room), stretch.from));
    let each = roomiest
        .iter()
        .flat_map(|stretch| (stretch.from..stretch.from + stretch.machines).map(|machine| (machine, stretch.room)));
    let mut others = roomiest.iter().map(|stretch| stretch.machines).sum::<usize>().min(machines as usize) as u64;
    let mut left = u64::from(instances);
    let mut parts = Places::new();
    for (from, room) in each.take(machines as usize) {
        others -= 1;
        let taken = room.min(left.checked_sub(others)?);
        parts.push(Part { from, machines: 1, each: taken as u32 });
        left -= taken;
    }
    (left == 0 && parts.iter().all(|part| part.each > 0)).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(instances: u32, machines: Option<u32>, rooms: &[(usize, u64)]) -> Option<Vec<(usize, u32)>> {
        let one = |&(from, room): &(usize, u64)| Stretch { from, machines: 1, room };
        let found = choose(Asked { instances, machines }, &rooms.iter().map(one).collect());
        let mut counted = Rooms::new();
        rooms.iter().for_each(|room| add(&mut counted, one(room)));
        let listed = |parts: Places| {
            parts.iter().flat_map(|part| part.range().map(|machine| (machine, part.each))).collect::<Vec<_>>()
        };
        let listed = [found, choose(Asked { instances, machines }, &counted)].map(|found| found.map(listed));
        let [found, of_counted] = listed;
        assert_eq!(of_counted, found, "as if all were listed");
        found
    }

    /// As a real Slurm does.
    #[test]
    fn the_smallest_run_that_holds_the_job_is_taken_and_in_it_the_tightest_machine() {
        let rooms = [(0, 16), (1, 3), (3, 5), (4, 4), (6, 9)];
        assert_eq!(
            on(4, None, &rooms),
            Some(vec![(4, 4)]),
            "of the runs with 19, 9 and 9, and in it the machine with 4"
        );
        assert_eq!(on(8, None, &rooms), Some(vec![(3, 5), (4, 3)]), "no machine of it holds 8: in order");
        assert_eq!(on(17, None, &rooms), Some(vec![(0, 16), (1, 1)]));
        assert_eq!(
            on(20, None, &rooms),
            Some(vec![(0, 16), (1, 3), (4, 1)]),
            "the rest goes where one instance fits best"
        );
        assert_eq!(on(38, None, &rooms), None);
    }

    #[test]
    fn if_no_run_holds_the_job_the_largest_is_filled_first() {
        let rooms = [(0, 2), (2, 6), (4, 3)];
        assert_eq!(
            on(8, None, &rooms),
            Some(vec![(0, 2), (2, 6)]),
            "six of the largest, two of the smallest that holds the rest"
        );
        assert_eq!(on(9, None, &rooms), Some(vec![(2, 6), (4, 3)]));
        assert_eq!(on(11, None, &rooms), Some(vec![(0, 2), (2, 6), (4, 3)]));
    }

    #[test]
    fn a_number_of_machines_has_the_same_on_each() {
        let rooms = [(0, 4), (1, 2), (3, 2), (4, 2), (5, 9)];
        assert_eq!(on(1, Some(1), &rooms), Some(vec![(1, 1)]));
        assert_eq!(on(4, Some(2), &rooms), Some(vec![(0, 2), (1, 2)]));
        assert_eq!(on(6, Some(3), &rooms), Some(vec![(3, 2), (4, 2), (5, 2)]));
        assert_eq!(on(8, Some(4), &rooms), Some(vec![(1, 2), (3, 2), (4, 2), (5, 2)]));
        assert_eq!(on(6, Some(6), &rooms), None);
    }

    #[test]
    fn instances_that_do_not_divide_go_where_there_is_most_room() {
        let rooms = [(0, 4), (1, 2), (3, 9)];
        assert_eq!(on(5, Some(2), &rooms), Some(vec![(0, 1), (3, 4)]));
        assert_eq!(on(11, Some(3), &rooms), Some(vec![(0, 1), (1, 1), (3, 9)]));
        assert_eq!(on(15, Some(2), &rooms), None);
        assert_eq!(on(1, Some(2), &rooms), None);
    }
}
