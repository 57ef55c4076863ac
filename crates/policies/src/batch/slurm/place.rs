//! On which machines a job starts, given on which of them it finds how much room.
//!
//! **Source.** Runs of a real Slurm 22.05.8 (`select/cons_tres`, `CR_CPU`): make runs of consecutive machines with room; take the run with
//! the least room that holds the job, else the largest, and repeat for the rest. Within a run, take the machine with the least room that
//! suffices, else machines in order.
//!
//! **Decision.** A job that asks for a number of machines has the same number of instances on each. If its instances do not divide evenly,
//! it takes the machines with the most room.

/// Machines with room for instances of a job: their numbers, which rise, and the room.
pub(super) type Rooms = Vec<(usize, u64)>;

/// Machines with instances of a job.
pub(super) type Places = Vec<(usize, u32)>;

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

    /// Whether so much room on so many machines may do.
    pub(super) fn may_fit(self, room: u64, machines: usize) -> bool {
        room >= u64::from(self.instances) && machines >= self.machines.unwrap_or(1) as usize
    }
}

/// Chooses machines; `None` if there is not enough room. All rooms are for at least [`Asked::least`].
pub(super) fn choose(asked: Asked, rooms: &Rooms) -> Option<Places> {
    let all: u64 = rooms.iter().fold(0, |sum, &(_, room)| sum.saturating_add(room));
    if !asked.may_fit(all, rooms.len()) {
        return None;
    }
    let mut places = match asked.machines {
        None => anywhere(asked.instances, rooms),
        Some(machines) if asked.instances.is_multiple_of(machines.max(1)) => {
            evenly(machines, asked.instances / machines.max(1), rooms)
        }
        Some(machines) => unevenly(machines, asked.instances, rooms),
    }?;
    places.sort_unstable();
    Some(places)
}

/// A run of consecutive machines with room, as a part of the list of rooms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Run {
    room: u64,
    from: usize,
    to: usize,
}

/// The runs, those with less room first, and of equals the first.
fn runs(rooms: &Rooms) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut last = None;
    for (place, &(machine, room)) in rooms.iter().enumerate() {
        match runs.last_mut().filter(|_| last.is_some_and(|last| last + 1 == machine)) {
            Some(run) => (run.to, run.room) = (place + 1, run.room.saturating_add(room)),
            None => runs.push(Run { room, from: place, to: place + 1 }),
        }
        last = Some(machine);
    }
    runs.sort_unstable();
    runs
}

/// Takes the first run that suffices out of the list, else the first of the largest.
fn take_best(runs: &mut Vec<Run>, suffices: impl Fn(&Run) -> bool) -> Option<(Run, bool)> {
    if let Some(place) = runs.iter().position(suffices) {
        return Some((runs.remove(place), true));
    }
    let most = runs.last()?.room;
    let place = runs.partition_point(|run| run.room < most);
    Some((runs.remove(place), false))
}

/// The machine of a run with the least room that is enough, the first of equals.
fn tightest(rooms: &[(usize, u64)], enough: u64) -> Option<usize> {
    let fitting = rooms.iter().filter(|&&(_, room)| room >= enough);
    fitting.min_by_key(|&&(machine, room)| (room, machine)).map(|&(machine, _)| machine)
}

fn anywhere(instances: u32, rooms: &Rooms) -> Option<Places> {
    let mut runs = runs(rooms);
    let mut left = instances;
    let mut places = Vec::new();
    while left > 0 {
        let (run, suffices) = take_best(&mut runs, |run| run.room >= u64::from(left))?;
        let own = rooms.get(run.from..run.to)?;
        if let Some(machine) = tightest(own, left.into()).filter(|_| suffices) {
            places.push((machine, left));
            break;
        }
        for &(machine, room) in own {
            let taken = u64::from(left).min(room) as u32;
            places.extend((taken > 0).then_some((machine, taken)));
            left -= taken;
        }
    }
    Some(places)
}

/// So many machines with so many instances each.
fn evenly(machines: u32, each: u32, rooms: &Rooms) -> Option<Places> {
    let mut runs = runs(rooms);
    let mut left = machines as usize;
    let mut places = Vec::new();
    while left > 0 {
        let (run, suffices) = take_best(&mut runs, |run| run.to - run.from >= left)?;
        let own = rooms.get(run.from..run.to)?;
        if let Some(machine) = tightest(own, each.into()).filter(|_| suffices && left == 1) {
            places.push((machine, each));
            break;
        }
        let taken = own.len().min(left);
        places.extend(own.iter().take(taken).map(|&(machine, _)| (machine, each)));
        left -= taken;
    }
    Some(places)
}

/// The machines with the most room, each with one instance at least.
fn unevenly(machines: u32, instances: u32, rooms: &Rooms) -> Option<Places> {
    let mut roomiest = rooms.clone();
    roomiest.sort_by_key(|&(machine, room)| (std::cmp::Reverse(room), machine));
    roomiest.truncate(machines as usize);
    let mut left = u64::from(instances);
    let mut places = Vec::new();
    for (place, &(machine, room)) in roomiest.iter().enumerate() {
        let others = (roomiest.len() - place - 1) as u64;
        let taken = room.min(left.checked_sub(others)?);
        places.push((machine, taken as u32));
        left -= taken;
    }
    (left == 0 && places.iter().all(|&(_, taken)| taken > 0)).then_some(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(instances: u32, machines: Option<u32>, rooms: &[(usize, u64)]) -> Option<Places> {
        choose(Asked { instances, machines }, &rooms.to_vec())
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
