//! When each node and each application master calls next.
//!
//! Heartbeats of nodes that are regular stand in a ring. Those that come early or late, or out of band, and those of masters are in
//! a heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::events::{Classes, Due, Event, NEVER, Position};
use super::ring::Ring;
use crate::hadoop::beats::Beats;
use crate::hadoop::cluster::Cluster;
use crate::ids::{JobId, Ms, NodeId};

/// The planned heartbeats.
pub(super) struct Planned {
    nodes: Nodes,
    /// By job; empty on slots.
    masters: Vec<Ms>,
    /// Entries that no longer agree with `nodes` and `masters` are stale.
    heap: BinaryHeap<Reverse<Position>>,
    /// The classes of heartbeats of nodes and of masters.
    classes: [u8; 2],
}

/// The next heartbeat of each node.
enum Nodes {
    /// Regular ones.
    Ring(Box<Ring>),
    /// Any, by [`NodeId`]; they are in the heap.
    Heap(Vec<Ms>),
}

impl Planned {
    /// Nothing is planned. `one_by_one` keeps regular heartbeats in the heap, too.
    pub(super) fn new(beats: &Beats, cluster: &Cluster, classes: &Classes, masters: usize, one_by_one: bool) -> Self {
        let is_regular = beats.are_regular() && !cluster.config.heartbeat.out_of_band && !one_by_one;
        let nodes = if is_regular {
            Nodes::Ring(Box::new(Ring::new(beats, cluster.interval())))
        } else {
            Nodes::Heap(vec![NEVER; cluster.nodes().len()])
        };
        let classes = [classes.heartbeat, classes.master];
        Self { nodes, masters: vec![NEVER; masters], heap: BinaryHeap::new(), classes }
    }

    /// True if a node calls exactly one interval after each heartbeat.
    #[inline]
    pub(super) fn are_regular(&self) -> bool {
        matches!(self.nodes, Nodes::Ring(_))
    }

    /// When a node calls next; [`NEVER`] while it sleeps.
    #[inline]
    pub(super) fn of_node(&self, node: NodeId) -> Ms {
        match &self.nodes {
            Nodes::Ring(ring) => ring.beat(node),
            Nodes::Heap(next) => next[node.index()],
        }
    }

    /// A node calls at this heartbeat, and not before.
    #[inline]
    pub(super) fn plan_node(&mut self, node: NodeId, at: Ms) {
        match &mut self.nodes {
            Nodes::Ring(ring) => ring.plan(node, at),
            Nodes::Heap(next) => {
                next[node.index()] = at;
                self.heap.push(Reverse((at, self.classes[0], node.0)));
            }
        }
    }

    /// A node does not call.
    pub(super) fn cancel_node(&mut self, node: NodeId) {
        match &mut self.nodes {
            Nodes::Ring(ring) => ring.cancel(node),
            Nodes::Heap(next) => next[node.index()] = NEVER,
        }
    }

    /// The master of a job calls at this heartbeat, if it does not call before.
    pub(super) fn plan_master(&mut self, job: JobId, at: Ms) {
        let next = &mut self.masters[job.index()];
        if at < *next {
            *next = at;
            self.heap.push(Reverse((at, self.classes[1], job.0)));
        }
    }

    /// The master of a job does not call.
    pub(super) fn cancel_master(&mut self, job: JobId) {
        self.masters[job.index()] = NEVER;
    }

    /// The first heartbeat.
    #[inline]
    pub(super) fn first(&mut self) -> Option<Due> {
        let in_heap = self.first_in_heap();
        let Some(in_ring) = self.first_in_ring() else { return in_heap };
        Some(in_heap.filter(|other| other.0 < in_ring.0).unwrap_or(in_ring))
    }

    /// The first heartbeat of a node that calls at regular times.
    #[inline]
    pub(super) fn first_in_ring(&mut self) -> Option<Due> {
        let Nodes::Ring(ring) = &mut self.nodes else { return None };
        let (at, node) = ring.first()?;
        Some(((at, self.classes[0], node.0), Event::NodeHeartbeat(node)))
    }

    /// The first other heartbeat.
    #[inline]
    pub(super) fn first_in_heap(&mut self) -> Option<Due> {
        while let Some(&Reverse(beat)) = self.heap.peek() {
            let (event, planned) = if beat.1 == self.classes[1] {
                let job = JobId(beat.2);
                (Event::MasterHeartbeat(job), self.masters[job.index()])
            } else {
                let node = NodeId(beat.2);
                (Event::NodeHeartbeat(node), self.of_node(node))
            };
            if planned == beat.0 {
                return Some((beat, event));
            }
            self.heap.pop();
        }
        None
    }

    /// Takes the first heartbeat out, which is of this node.
    #[inline]
    pub(super) fn take_node(&mut self, node: NodeId) {
        match &mut self.nodes {
            Nodes::Ring(ring) => ring.take_first(),
            Nodes::Heap(next) => {
                self.heap.pop();
                next[node.index()] = NEVER;
            }
        }
    }

    /// The first heartbeat, which is of a node that calls at regular times, comes to nothing: the node calls again one interval later.
    #[inline]
    pub(super) fn put_off_first(&mut self) {
        if let Nodes::Ring(ring) = &mut self.nodes {
            ring.put_off_first();
        }
    }

    /// Takes the first heartbeat out, which is of the master of this job.
    pub(super) fn take_master(&mut self, job: JobId) {
        self.heap.pop();
        self.masters[job.index()] = NEVER;
    }
}
