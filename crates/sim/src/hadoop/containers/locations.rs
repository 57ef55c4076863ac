//! In how many places the maps of a job are asked for, kept up to date one map at a time.

/// The places (hosts, or racks) that the requests of a job name, and how many maps each of them is named for.
#[derive(Debug, Default)]
pub(crate) struct Locations {
    places: Vec<u32>,
    maps: Vec<u32>,
    named: u32,
}

impl Locations {
    /// From the places of all maps that are asked for, one entry a map and place, in any order.
    pub(crate) fn of(mut places: Vec<u32>) -> Self {
        places.sort_unstable();
        let maps: Vec<u32> = places.chunk_by(|a, b| a == b).map(|same| same.len() as u32).collect();
        places.dedup();
        Self { named: places.len() as u32, places, maps }
    }

    /// A map is no longer asked for at this place, if it was: one whose output was lost may run before its master has asked for it.
    pub(crate) fn remove(&mut self, place: u32) {
        if let Ok(at) = self.places.binary_search(&place)
            && self.maps[at] > 0
        {
            self.maps[at] -= 1;
            self.named -= u32::from(self.maps[at] == 0);
        }
    }

    /// How many places are named for some map.
    pub(crate) fn count(&self) -> u32 {
        self.named
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_counts_as_long_as_a_map_names_it() {
        let mut hosts = Locations::of(vec![7, 3, 7]);
        let mut counts = vec![hosts.count()];
        for place in [7, 3, 7, 7] {
            hosts.remove(place);
            counts.push(hosts.count());
        }
        assert_eq!(counts, [2, 2, 1, 0, 0]);
    }
}
