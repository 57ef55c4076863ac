//! How many reduces an application master asks for while maps still wait (`docs/model/containers.md`).

/// The largest share of a job's memory that reduces get before its maps are done.
const MOST_RAMP_UP: f64 = 0.5;
/// The largest share of a job's memory that is taken back from reduces at once.
const MOST_PREEMPTED: f64 = 0.5;

/// The facts by which an application master decides. Pairs hold a value for maps and one for reduces.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Standing {
    /// All maps of the job, and those that are done.
    pub(crate) maps: u32,
    pub(crate) done: u32,
    /// Outstanding requests.
    pub(crate) asked: [u32; 2],
    /// Containers that it has.
    pub(crate) assigned: [u32; 2],
    /// Reduces among them that have been ordered to stop.
    pub(crate) stopping: u32,
    /// Reduces that wait and are not asked for.
    pub(crate) held_back: u32,
    /// Memory of a container, MB.
    pub(crate) memory: [u32; 2],
    /// Memory that the resource manager says it could still get, MB.
    pub(crate) headroom: u32,
    /// True if its maps have waited so long for a container that none can be free, whatever the headroom says.
    pub(crate) hanging: bool,
}

/// Its decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decision {
    /// Reduces to be asked for, in all.
    pub(crate) asked: u32,
    /// Running reduces to stop, so that a map can run.
    pub(crate) stop: u32,
}

impl Standing {
    /// Hadoop's `preemptReducesIfNeeded`, or else `scheduleReduces`; slow-start is over.
    pub(crate) fn decide(&self) -> Decision {
        let [map, reduce] = self.memory.map(i64::from);
        let [maps_asked, reduces_asked] = self.asked.map(i64::from);
        let [maps, reduces] = self.assigned.map(i64::from);
        let limit = i64::from(self.headroom) + maps * map + reduces * reduce;
        let stoppable = (reduces - i64::from(self.stopping)).max(0);
        if maps_asked > 0 && (self.hanging || limit - stoppable * reduce < map) {
            // The reduces have taken all, and no map can run.
            let most = map.max((MOST_PREEMPTED * limit as f64) as i64);
            let needed = ((maps_asked * map).min(most) as u64).div_ceil(reduce as u64) as i64;
            let stop = (needed - i64::from(self.stopping)).clamp(0, stoppable);
            return Decision { asked: 0, stop: stop as u32 };
        }
        let held_back = i64::from(self.held_back);
        let more = if held_back == 0 || maps_asked == 0 {
            held_back
        } else {
            let room = reduce_limit(limit, self.share_done(), (maps_asked + maps) * map);
            ((room - (reduces_asked + reduces) * reduce) / reduce).clamp(-reduces_asked, held_back)
        };
        Decision { asked: (reduces_asked + more) as u32, stop: 0 }
    }

    fn share_done(&self) -> f64 {
        if self.maps == 0 { 1.0 } else { f64::from(self.done) / f64::from(self.maps) }
    }
}

/// Memory that the reduces may have: a share that grows with the finished maps, and what the maps leave of theirs.
fn reduce_limit(limit: i64, share_done: f64, for_maps: i64) -> i64 {
    let ideal = (share_done.min(MOST_RAMP_UP) * limit as f64) as i64;
    ideal + (limit - ideal - for_maps).max(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Standing {
        // 40,960 MB in all, of which 20 maps have 20,480.
        Standing {
            maps: 100,
            done: 30,
            asked: [10, 0],
            assigned: [20, 0],
            held_back: 50,
            memory: [1024, 1024],
            headroom: 20_480,
            ..Standing::default()
        }
    }

    #[test]
    fn ramp_up_by_the_share_of_finished_maps() {
        assert_eq!(example().decide(), Decision { asked: 12, stop: 0 });
        assert_eq!(Standing { held_back: 7, ..example() }.decide().asked, 7, "no more than there are");
        assert_eq!(Standing { done: 90, ..example() }.decide().asked, 20, "half of the memory at most");
        assert_eq!(Standing { asked: [0, 3], ..example() }.decide().asked, 53, "no map waits: all reduces");
    }

    #[test]
    fn maps_that_need_less_leave_the_rest_to_reduces() {
        // 12,288 ideal; the maps need 15 of the other 28 GB.
        assert_eq!(Standing { asked: [5, 0], assigned: [10, 0], headroom: 30_720, ..example() }.decide().asked, 25);
    }

    #[test]
    fn requests_beyond_the_limit_are_withdrawn() {
        assert_eq!(Standing { asked: [10, 30], ..example() }.decide().asked, 12);
        assert_eq!(Standing { asked: [10, 2], assigned: [20, 15], headroom: 0, ..example() }.decide().asked, 0);
    }

    #[test]
    fn reduces_that_fill_the_cluster_make_room_for_maps() {
        let full = Standing { asked: [3, 4], assigned: [0, 40], held_back: 0, headroom: 0, ..example() };
        assert_eq!(full.decide(), Decision { asked: 0, stop: 3 }, "no more than the waiting maps need");
        assert_eq!(Standing { asked: [30, 4], ..full }.decide().stop, 20, "half of the memory at most");
        assert_eq!(Standing { stopping: 3, ..full }.decide().stop, 0, "three are on their way out");
        assert_eq!(Standing { assigned: [1, 39], ..full }.decide().stop, 0, "a map runs");
        let reported_of_room = Standing { headroom: 8_192, ..full };
        assert_eq!(reported_of_room.decide(), Decision { asked: 4, stop: 0 });
        assert_eq!(Standing { hanging: true, ..reported_of_room }.decide(), Decision { asked: 0, stop: 3 });
        assert_eq!(
            Standing { hanging: true, stopping: 2, ..reported_of_room }.decide().stop,
            1,
            "two are on their way out"
        );
    }
}
