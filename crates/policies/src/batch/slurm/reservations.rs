//! Machines that an administrator has reserved.
//!
//! **Source.** Slurm's *Advanced Resource Reservation Guide*, scontrol(1), and runs of a real Slurm: a reservation closes its machines to
//! all jobs that could, by their limits, still run when it begins. Jobs that name it get its machines alone, and only while it lasts. They
//! come before all others, and one that finds no room stops only those of its reservation (`job_scheduler.c` of 22.05).
//!
//! **Decisions.** A job may run beyond the end of its reservation. A job that waits when its reservation has ended, or that names one that
//! the site does not know, is like any other job. Of several reservations of one name, the first that has not ended counts. Machines are
//! reserved as a whole, and what runs on them when a reservation begins runs on.

use std::collections::BTreeMap;

use fixedbitset::FixedBitSet;
use resched_sim::Ms;
use resched_sim::batch::View;

use crate::queues::slurm::SlurmConf;

/// The number of a name.
pub(super) type Name = u32;

/// The reservations.
#[derive(Debug, Default)]
pub(super) struct Reservations {
    all: Vec<Reservation>,
    names: BTreeMap<String, Name>,
}

#[derive(Debug)]
struct Reservation {
    name: Name,
    /// On the simulated clock, ms.
    start: Ms,
    end: Ms,
    machines: FixedBitSet,
}

impl Reservation {
    /// True if a job that runs between two instants meets it.
    fn meets(&self, from: Ms, until: Ms) -> bool {
        from < self.end && until > self.start
    }
}

impl Reservations {
    pub(super) fn new(conf: &SlurmConf, view: View<'_>) -> Self {
        let zero = view.trace_time().saturating_sub(view.now());
        let places: BTreeMap<&str, usize> =
            view.nodes().map(|(node, machine)| (machine.name.as_str(), node.index())).collect();
        let mut made = Self::default();
        for reservation in &conf.reservations {
            let next = made.names.len() as Name;
            let name = *made.names.entry(reservation.name.clone()).or_insert(next);
            let mut machines = FixedBitSet::with_capacity(view.nodes().len());
            if reservation.nodes.is_empty() {
                machines.insert_range(..);
            }
            reservation
                .nodes
                .iter()
                .filter_map(|name| places.get(name.as_str()))
                .for_each(|&place| machines.insert(place));
            let (start, end) = (reservation.start.saturating_sub(zero), reservation.end.saturating_sub(zero));
            made.all.push(Reservation { name, start, end, machines });
        }
        made.all.sort_by_key(|reservation| (reservation.start, reservation.end));
        made
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The number of a name; `None` if no reservation has it.
    pub(super) fn named(&self, name: &str) -> Option<Name> {
        self.names.get(name).copied()
    }

    /// When reservations begin and end: jobs are looked at anew then.
    pub(super) fn changes(&self) -> impl Iterator<Item = Ms> {
        self.all.iter().flat_map(|reservation| [reservation.start, reservation.end])
    }

    /// The reservation that a job has which names this one and starts at an instant.
    fn open_to(&self, name: Option<Name>, from: Ms) -> Option<&Reservation> {
        self.all.iter().find(|reservation| Some(reservation.name) == name && reservation.end > from)
    }

    /// Leaves those of `machines` that a job may have between two instants. Returns when it may have others for the first time after
    /// `from`.
    pub(super) fn leave_open(&self, name: Option<Name>, from: Ms, until: Ms, machines: &mut FixedBitSet) -> Option<Ms> {
        if let Some(reservation) = self.open_to(name, from) {
            if reservation.start > from {
                machines.clear();
                return Some(reservation.start);
            }
            machines.intersect_with(&reservation.machines);
            return None;
        }
        let mut next = None;
        for other in self.all.iter().filter(|other| other.meets(from, until)) {
            machines.difference_with(&other.machines);
            next = Some(next.map_or(other.end, |next: Ms| next.min(other.end)));
        }
        next
    }

    /// True if a reservation closes one of these machines to a job between two instants.
    pub(super) fn close(&self, name: Option<Name>, from: Ms, until: Ms, machines: &FixedBitSet) -> bool {
        let mut open = machines.clone();
        self.leave_open(name, from, until, &mut open);
        open != *machines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(machines: &[usize]) -> FixedBitSet {
        let mut set = FixedBitSet::with_capacity(4);
        machines.iter().for_each(|&machine| set.insert(machine));
        set
    }

    #[test]
    fn a_reservation_is_for_the_jobs_that_name_it() {
        let one = |name, start, end, machines: &[usize]| Reservation { name, start, end, machines: set(machines) };
        let all = vec![one(0, 100, 200, &[0, 1]), one(1, 150, 300, &[1, 2]), one(0, 400, 500, &[3])];
        let reservations = Reservations { all, names: BTreeMap::new() };
        let open = |name, from, until| {
            let mut machines = set(&[0, 1, 2, 3]);
            let next = reservations.leave_open(name, from, until, &mut machines);
            (machines.ones().collect::<Vec<_>>(), next)
        };
        assert_eq!(open(None, 0, 100), (vec![0, 1, 2, 3], None));
        assert_eq!(open(None, 0, 101), (vec![2, 3], Some(200)), "by its limit, the job would still run");
        assert_eq!(open(None, 120, 160), (vec![3], Some(200)));
        assert_eq!(open(None, 200, 250), (vec![0, 3], Some(300)));
        assert_eq!(open(Some(0), 0, 50), (vec![], Some(100)), "its own has not begun");
        assert_eq!(open(Some(0), 100, 900), (vec![0, 1], None));
        assert_eq!(open(Some(0), 200, 250), (vec![], Some(400)), "the next one of its name");
        assert_eq!(open(Some(1), 300, 450), (vec![0, 1, 2], Some(500)), "its own is over");
        assert!(reservations.close(None, 0, 101, &set(&[1])) && !reservations.close(None, 0, 101, &set(&[2])));
    }
}
