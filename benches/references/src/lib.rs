//! One model on a hand-written loop and on simcore: tasks of one slot each, first come, first served.
//!
//! `benches/references.rs` measures the two beside our engine, and the command `models` (`src/main.rs`) measures them on the jobs of an SWF
//! file, beside whole commands.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::rc::Rc;

use serde::Serialize;
use simcore::{Event, EventHandler, Simulation, SimulationContext, cast};

/// A time, ms.
pub type Ms = i64;

/// The end of the last task, by a heap of slots: no simulator can do less. `tasks` are submissions, in order, and run times.
pub fn by_hand(tasks: &[(Ms, Ms)], slots: u32) -> Ms {
    let mut free: BinaryHeap<Reverse<Ms>> = (0..slots).map(|_| Reverse(0)).collect();
    for &(submit, run) in tasks {
        if let Some(mut slot) = free.peek_mut() {
            slot.0 = slot.0.max(submit) + run;
        }
    }
    free.into_iter().map(|Reverse(end)| end).max().unwrap_or(0)
}

/// The end of the last task, by simcore, the event kernel of DSLab, with a handler for arrivals and ends; each arrival emits the next.
pub fn by_simcore(tasks: Rc<[(Ms, Ms)]>, slots: u32) -> Ms {
    let mut simulation = Simulation::new(1);
    let context = simulation.create_context("slots");
    context.emit_self(Arrives {}, tasks.first().map_or(0.0, |&(submit, _)| submit as f64));
    let slots = Slots { context, tasks, next: 0, free: slots, waiting: VecDeque::new() };
    simulation.add_handler("slots", Rc::new(RefCell::new(slots)));
    simulation.step_until_no_events();
    simulation.time().round() as Ms
}

#[derive(Clone, Serialize)]
struct Arrives {}

#[derive(Clone, Serialize)]
struct Ends {}

/// The slots and their queue, as a handler of events.
struct Slots {
    context: SimulationContext,
    tasks: Rc<[(Ms, Ms)]>,
    next: usize,
    free: u32,
    waiting: VecDeque<usize>,
}

impl Slots {
    fn start(&mut self) {
        while let Some(task) = self.waiting.front().copied().filter(|_| self.free > 0) {
            self.waiting.pop_front();
            self.free -= 1;
            self.context.emit_self(Ends {}, self.tasks[task].1 as f64);
        }
    }
}

impl EventHandler for Slots {
    fn on(&mut self, event: Event) {
        cast!(match event.data {
            Arrives {} => {
                self.waiting.push_back(self.next);
                self.next += 1;
                if let Some((submit, _)) = self.tasks.get(self.next) {
                    self.context.emit_self(Arrives {}, *submit as f64 - self.context.time());
                }
            }
            Ends {} => {
                self.free += 1;
            }
        });
        self.start();
    }
}
