//! Scores of `fgd`, remembered by the state of a node: nodes in the same state have the same score for a pod.

use std::collections::HashMap;

use super::demand::MOST_DEVICES;
use super::fragments::{self, Typical};

/// What fragmentation depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct State {
    pub(super) cpu: i64,
    pub(super) model: Option<u64>,
    pub(super) devices: u8,
    /// In rising order.
    pub(super) left: [u16; MOST_DEVICES],
}

/// What a pod asks for, as far as its score depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Asked {
    pub(super) cpu: i64,
    pub(super) count: usize,
    pub(super) milli: u16,
}

/// Beyond this many states all are forgotten.
const MOST_STATES: usize = 1 << 18;
const UNKNOWN: u8 = u8::MAX;

/// The states that were met, and scores by pod and state.
#[derive(Clone, Debug, Default)]
pub(super) struct States {
    numbers: HashMap<State, u32>,
    states: Vec<State>,
    fragments: Vec<f64>,
    asked: Vec<Asked>,
    scores: Vec<Vec<u8>>,
}

impl States {
    /// The number of what a pod asks for.
    pub(super) fn asked(&mut self, asked: Asked) -> usize {
        let place = self.asked.iter().position(|known| *known == asked).unwrap_or(self.asked.len());
        if place == self.asked.len() {
            self.asked.push(asked);
            self.scores.push(Vec::new());
        }
        place
    }

    /// True if so many states are known that the caller shall forget their numbers.
    pub(super) fn forget(&mut self) -> bool {
        let full = self.states.len() >= MOST_STATES;
        if full {
            self.numbers.clear();
            self.states.clear();
            self.fragments.clear();
            self.scores.iter_mut().for_each(Vec::clear);
        }
        full
    }

    pub(super) fn number(&mut self, state: State, typical: &Typical) -> u32 {
        if let Some(&number) = self.numbers.get(&state) {
            return number;
        }
        let number = u32::try_from(self.states.len()).unwrap_or(u32::MAX);
        self.numbers.insert(state, number);
        self.fragments.push(typical.fragments(state.cpu, &state.left[..usize::from(state.devices)], state.model));
        self.states.push(state);
        number
    }

    /// The score of a state for a pod that fits there.
    pub(super) fn score(&mut self, asked: usize, number: u32, typical: &Typical) -> i64 {
        let place = usize::try_from(number).unwrap_or(usize::MAX);
        let scores = &mut self.scores[asked];
        if scores.len() <= place {
            scores.resize(self.states.len(), UNKNOWN);
        }
        if scores[place] == UNKNOWN {
            let state = &self.states[place];
            let before = self.fragments[place];
            let (score, _) = best(
                state.cpu,
                state.model,
                &state.left[..usize::from(state.devices)],
                self.asked[asked],
                before,
                typical,
            );
            scores[place] = u8::try_from(score).unwrap_or(0);
        }
        i64::from(scores[place])
    }
}

/// The best score of a node for a pod that fits there, and for a part of a device the place of the device in `left`.
pub(super) fn best(
    cpu: i64,
    model: Option<u64>,
    left: &[u16],
    asked: Asked,
    before: f64,
    typical: &Typical,
) -> (i64, usize) {
    let mut after = [0_u16; MOST_DEVICES];
    let after = &mut after[..left.len()];
    after.copy_from_slice(left);
    let cpu = cpu - asked.cpu;
    if asked.count == 1 && asked.milli < 1000 {
        let mut best: Option<(i64, usize)> = None;
        for (device, &free) in left.iter().enumerate() {
            // Devices with as much left have the same score, and the first one wins.
            if free < asked.milli || left[..device].contains(&free) {
                continue;
            }
            after[device] = free - asked.milli;
            let score = fragments::score(before, typical.fragments(cpu, after, model));
            after[device] = free;
            if best.is_none_or(|(known, _)| score > known) {
                best = Some((score, device));
            }
        }
        return best.unwrap_or((0, 0));
    }
    let mut wanted = asked.count;
    for free in after.iter_mut().filter(|free| **free >= asked.milli) {
        if wanted == 0 {
            break;
        }
        *free -= asked.milli;
        wanted -= 1;
    }
    (fragments::score(before, typical.fragments(cpu, after, model)), 0)
}
