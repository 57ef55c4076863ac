//! What a master asks for (`docs/model/containers.md`).

use super::{Cluster, Kill, MAP, REDUCE};

impl Cluster<'_> {
    /// A master asks for its maps and for as many reduces as the ramp allows. Returns how many of its reduces it kills so that a map can
    /// run. `asked_maps` are those that it asked for until now.
    pub(super) fn ask(&mut self, job: usize, asked_maps: i64, headroom: i64) -> usize {
        let (reduces, stop) = self.wanted_reduces(job, asked_maps, headroom);
        let now = self.now;
        let app = &mut self.apps[job];
        // Where the rules are silent, as the engine: maps hang from the last grant on, or from when they were first asked for.
        if asked_maps == 0 {
            app.map_served = now;
        }
        app.asked_for_maps = true;
        app.asked[REDUCE] = reduces;
        stop
    }

    /// Reduces to be asked for in all, and reduces to be killed.
    fn wanted_reduces(&self, job: usize, asked_maps: i64, headroom: i64) -> (i64, usize) {
        let app = &self.apps[job];
        let spec = &self.world.jobs[job];
        let threshold = (self.world.config.jobs.slowstart * spec.maps.len() as f64).ceil() as usize;
        if app.done[MAP] < threshold {
            return (0, 0);
        }
        let live = |priority: usize| {
            self.containers
                .iter()
                .filter(move |container| container.app == job && container.priority == priority && !container.over)
        };
        let [map, reduce] = [MAP, REDUCE].map(|priority| self.size(priority).memory);
        let [maps, reduces] = [MAP, REDUCE].map(|priority| live(priority).count() as i64);
        let stopping = live(REDUCE).filter(|container| container.kill != Kill::No).count() as i64;
        let waiting = app.waiting[MAP].len() as i64;
        let asked = self.asked(job, REDUCE);
        let held_back = app.waiting[REDUCE].len() as i64 - asked;
        let limit = headroom + maps * map + reduces * reduce;
        // The deadlock breaker: with all its reduces there is no room for a map, or no map has been served for too long.
        let hanging = asked_maps > 0 && self.now - app.map_served >= self.world.config.containers.hanging_maps;
        let others = (reduces - stopping).max(0);
        if waiting > 0 && (hanging || limit - others * reduce < map) {
            let most = map.max((0.5 * limit as f64) as i64);
            let needed = (waiting * map).min(most);
            let count = (needed + reduce - 1) / reduce;
            return (0, (count - stopping).clamp(0, others) as usize);
        }
        if waiting == 0 || held_back == 0 {
            return (asked + held_back, 0);
        }
        let share = if spec.maps.is_empty() { 1.0 } else { app.done[MAP] as f64 / spec.maps.len() as f64 };
        let ideal_reduces = (share.min(0.5) * limit as f64) as i64;
        let ideal_maps = limit - ideal_reduces;
        let for_maps = (waiting + maps) * map;
        let most = ideal_reduces + (ideal_maps - for_maps).max(0);
        let ramp = (most - (asked + reduces) * reduce) / reduce;
        (asked + ramp.clamp(-asked, held_back), 0)
    }
}
