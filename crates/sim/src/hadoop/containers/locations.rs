//! For how many maps of a job each place is asked for: what its master wants there, and what the resource manager knows.

/// The places (hosts, or racks) that the maps of a job name.
///
/// A place stays once it was named, though no map waits for it any more: a master sends the requests that have come to
/// zero, too, and the resource manager keeps them (Hadoop's `RMContainerRequestor.decResourceRequest` and
/// `AppSchedulingInfo.updateResourceRequests`).
#[derive(Debug, Default)]
pub(crate) struct Locations {
    places: Vec<u32>,
    /// How many maps the master waits for at each place.
    wanted: Vec<u32>,
    /// What the resource manager holds of that.
    known: Vec<u32>,
    all_known: u64,
    /// The round of requests in which each place was named last; a round ends when nothing is asked for any more.
    named_in: Vec<u32>,
    round: u32,
    /// How many were named in this round.
    named_now: u32,
}

impl Locations {
    /// Of all maps of a job, one entry a map and place, in any order. Nothing is asked for yet.
    pub(crate) fn named(mut places: Vec<u32>) -> Self {
        places.sort_unstable();
        places.dedup();
        let none = vec![0; places.len()];
        Self { places, wanted: none.clone(), known: none.clone(), all_known: 0, named_in: none, round: 1, named_now: 0 }
    }

    /// Asks anew, for the maps that wait now, one entry a map and place. Only what has changed is sent.
    pub(crate) fn ask(&mut self, waiting: impl Iterator<Item = u32>) {
        let mut wanted = vec![0; self.places.len()];
        for place in waiting {
            if let Some(at) = self.find(place) {
                wanted[at] += 1;
            }
        }
        for (at, wanted) in wanted.into_iter().enumerate() {
            if wanted != self.wanted[at] {
                self.wanted[at] = wanted;
                self.report(at, wanted);
                if self.named_in[at] != self.round {
                    self.named_in[at] = self.round;
                    self.named_now += 1;
                }
            }
        }
    }

    /// Withdraws all.
    pub(crate) fn withdraw(&mut self) {
        self.wanted.fill(0);
        self.known.fill(0);
        self.all_known = 0;
        self.end_round();
    }

    /// The resource manager has given a container for this place.
    pub(crate) fn granted(&mut self, place: u32) {
        if let Some(at) = self.find(place) {
            self.report(at, self.known[at].saturating_sub(1));
        }
    }

    /// The master has given a container to a map that named this place, and says how many still wait for it.
    pub(crate) fn withdraw_one(&mut self, place: u32) {
        if let Some(at) = self.find(place) {
            // One whose output was lost may run before its master has asked for it.
            self.wanted[at] = self.wanted[at].saturating_sub(1);
            self.report(at, self.wanted[at]);
        }
    }

    /// True if the resource manager knows of requests for this place.
    pub(crate) fn asks_for(&self, place: u32) -> bool {
        self.find(place).is_some_and(|at| self.known[at] > 0)
    }

    /// How many places were ever named.
    pub(crate) fn count(&self) -> u32 {
        self.places.len() as u32
    }

    /// How many were named since anything was asked for again.
    pub(crate) fn count_now(&self) -> u32 {
        self.named_now
    }

    /// Nothing is asked for any more: the resource manager of Hadoop 3.x forgets all places.
    pub(crate) fn end_round(&mut self) {
        self.round += 1;
        self.named_now = 0;
    }

    /// Every place that was named, and for how many maps it is asked, as far as the resource manager knows.
    pub(crate) fn known(&self) -> impl Iterator<Item = (u32, u32)> {
        self.places.iter().copied().zip(self.known.iter().copied())
    }

    /// The sum of the requests for all places.
    pub(crate) fn requests(&self) -> u64 {
        self.all_known
    }

    fn find(&self, place: u32) -> Option<usize> {
        self.places.binary_search(&place).ok()
    }

    fn report(&mut self, at: usize, count: u32) {
        let before = std::mem::replace(&mut self.known[at], count);
        self.all_known = self.all_known + u64::from(count) - u64::from(before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c2_a_place_counts_for_ever_but_is_asked_for_as_long_as_a_map_waits() {
        let mut hosts = Locations::named(vec![7, 3, 7]);
        hosts.ask([7, 3, 7].into_iter());
        assert_eq!((hosts.count(), hosts.requests()), (2, 3));
        hosts.withdraw_one(3);
        assert!(!hosts.asks_for(3) && hosts.asks_for(7));
        hosts.withdraw_one(7);
        hosts.withdraw_one(7);
        assert_eq!((hosts.count(), hosts.requests(), hosts.asks_for(7)), (2, 0, false));
    }

    #[test]
    fn places_are_forgotten_when_nothing_is_asked_for() {
        let mut hosts = Locations::named(vec![3, 7, 9]);
        hosts.ask([3, 7, 9].into_iter());
        assert_eq!((hosts.count(), hosts.count_now()), (3, 3));
        [3, 7, 9].into_iter().for_each(|place| hosts.withdraw_one(place));
        assert_eq!(hosts.count_now(), 3, "they stay as long as anything else is asked for");
        hosts.end_round();
        hosts.ask([7].into_iter());
        assert_eq!((hosts.count(), hosts.count_now()), (3, 1));
    }

    #[test]
    fn the_resource_manager_learns_of_other_places_when_the_master_says_so() {
        // A map with its input on 3 and 7 gets a container on 3.
        let mut hosts = Locations::named(vec![3, 7]);
        hosts.ask([3, 7].into_iter());
        hosts.granted(3);
        assert!(!hosts.asks_for(3) && hosts.asks_for(7));
        hosts.withdraw_one(3);
        hosts.withdraw_one(7);
        assert_eq!(hosts.requests(), 0);
    }
}
