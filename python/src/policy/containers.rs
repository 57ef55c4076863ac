//! What a policy in Python sees and does under YARN.
//!
//! Resources are pairs of virtual cores and memory in MB; others, such as GPUs, are left out.

use pyo3::prelude::*;
use resched_sim::hadoop::{Container, Reservation, Resources, View};

use super::hadoop::HadoopOffer;
use super::words::{am_name, ask_name, container_name, kind_name, reach_name};

/// A container whose state has changed.
#[pyclass(module = "resched._native", frozen, get_all)]
pub(crate) struct ContainerChanged {
    job: usize,
    /// The task that runs in it; `None` for the application master.
    task: Option<usize>,
    /// The kind of that task.
    kind: Option<&'static str>,
    node: usize,
    /// Its virtual cores and memory, MB.
    size: (u64, u64),
    /// Its new state: `running` or `completed`.
    state: &'static str,
}

impl ContainerChanged {
    pub(super) fn of(container: &Container) -> Self {
        Self {
            job: container.job.index(),
            task: container.task.map(|task| task.index()),
            kind: container.kind.map(kind_name),
            node: container.node.index(),
            size: pair(container.size),
            state: container_name(container.state),
        }
    }
}

fn pair(resources: Resources) -> (u64, u64) {
    (resources.cpu, resources.memory)
}

#[pymethods]
impl HadoopOffer {
    /// The resources of all nodes that the master has not given up.
    #[getter]
    fn total(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        self.on_yarn(py)?;
        self.read(|view| pair(view.yarn().total()))
    }

    /// The free resources of all nodes together.
    #[getter]
    fn free_in_all(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        self.on_yarn(py)?;
        self.read(|view| pair(view.yarn().free_in_all()))
    }

    /// The sizes of the smallest and the largest container.
    #[getter]
    fn container_sizes(&self, py: Python<'_>) -> PyResult<((u64, u64), (u64, u64))> {
        self.on_yarn(py)?;
        self.read(|view| (pair(view.yarn().smallest()), pair(view.yarn().largest())))
    }

    /// The size of the container for a request: `am`, `failed-map`, `reduce` or `map`.
    fn demand(&self, py: Python<'_>, ask: &str) -> PyResult<(u64, u64)> {
        let ask = super::words::ask(ask)?;
        self.on_yarn(py)?;
        self.read(|view| pair(view.yarn().demand(ask)))
    }

    /// How many such requests of all jobs are outstanding.
    fn all_asked(&self, py: Python<'_>, ask: &str) -> PyResult<u64> {
        let ask = super::words::ask(ask)?;
        self.on_yarn(py)?;
        self.read(|view| view.yarn().asked(ask))
    }

    /// How many such requests of a job are outstanding.
    fn asked(&self, py: Python<'_>, job: usize, ask: &str) -> PyResult<u32> {
        let (job, ask) = (self.job(py, job)?, super::words::ask(ask)?);
        self.on_yarn(py)?;
        self.read(|view| view.yarn().app(job).asked(ask))
    }

    /// How many nodes are kept for such requests of a job.
    fn reserved(&self, py: Python<'_>, job: usize, ask: &str) -> PyResult<u32> {
        let (job, ask) = (self.job(py, job)?, super::words::ask(ask)?);
        self.on_yarn(py)?;
        self.read(|view| view.yarn().app(job).reserved(ask))
    }

    /// The state of the application master of a job: `waiting` for its container, `allocated`, `running` or `finished`.
    fn master(&self, py: Python<'_>, job: usize) -> PyResult<&'static str> {
        let job = self.job(py, job)?;
        self.on_yarn(py)?;
        self.read(|view| am_name(view.yarn().app(job).am()))
    }

    /// The resources of the containers of a job, with its application master's.
    fn held(&self, py: Python<'_>, job: usize) -> PyResult<(u64, u64)> {
        let job = self.job(py, job)?;
        self.on_yarn(py)?;
        self.read(|view| pair(view.yarn().app(job).held()))
    }

    /// How many hosts and racks the requests for maps of a job have ever named.
    fn locations(&self, py: Python<'_>, job: usize) -> PyResult<u32> {
        let job = self.job(py, job)?;
        self.on_yarn(py)?;
        self.read(|view| view.yarn().app(job).locations())
    }

    /// The sum of the outstanding requests of a job for maps on hosts and in racks.
    fn placed_requests(&self, py: Python<'_>, job: usize) -> PyResult<u64> {
        let job = self.job(py, job)?;
        self.on_yarn(py)?;
        self.read(|view| view.yarn().app(job).placed_requests())
    }

    /// Whether a node has room for the smallest container.
    fn has_room(&self, py: Python<'_>, node: usize) -> PyResult<bool> {
        let node = self.node(py, node)?;
        self.on_yarn(py)?;
        self.read(|view| view.yarn().has_room(node))
    }

    /// The job and the request for which a node is kept; `None`: it is not.
    fn reservation(&self, py: Python<'_>, node: usize) -> PyResult<Option<(usize, &'static str)>> {
        let node = self.node(py, node)?;
        self.on_yarn(py)?;
        self.read(|view: View<'_>| {
            let kept: Option<Reservation> = view.yarn().reservation(node);
            kept.map(|kept| {
                self.introduce(kept.job, view);
                (kept.job.index(), ask_name(kept.ask))
            })
        })
    }

    // What only an offer can.

    /// How near to its data the node could serve such a request of a job: `node`, `rack` or `any`; `None` if it cannot.
    fn nearest(&self, py: Python<'_>, job: usize, ask: &str) -> PyResult<Option<&'static str>> {
        let (job, ask) = (self.job(py, job)?, super::words::ask(ask)?);
        self.on_yarn(py)?;
        self.offered(|offer| offer.yarn().nearest(job, ask).map(reach_name))
    }

    /// Whether a container for a request fits on the node.
    fn fits(&self, py: Python<'_>, ask: &str) -> PyResult<bool> {
        let ask = super::words::ask(ask)?;
        self.on_yarn(py)?;
        self.offered(|offer| offer.yarn().fits(ask))
    }

    /// Whether a master of this job runs. A backup needs one.
    fn has_master(&self, py: Python<'_>, job: usize) -> PyResult<bool> {
        let job = self.job(py, job)?;
        self.offered(|offer| offer.yarn().has_master(job))
    }

    /// Serves a request of a job with a container on the node.
    #[pyo3(signature = (job, ask, reach = "any"))]
    fn grant(&self, py: Python<'_>, job: usize, ask: &str, reach: &str) -> PyResult<()> {
        let (job, ask, reach) = (self.job(py, job)?, super::words::ask(ask)?, super::words::reach(reach)?);
        self.on_yarn(py)?;
        self.allowed(py, |offer| offer.grant(job, ask, reach))
    }

    /// Keeps the node for a request of a job that does not fit now, until `unreserve` or the end of the job.
    fn reserve(&self, py: Python<'_>, job: usize, ask: &str) -> PyResult<()> {
        let (job, ask) = (self.job(py, job)?, super::words::ask(ask)?);
        self.on_yarn(py)?;
        self.allowed(py, |offer| offer.yarn_mut().reserve(job, ask))
    }

    /// Keeps the node no longer.
    fn unreserve(&self, py: Python<'_>) -> PyResult<()> {
        self.on_yarn(py)?;
        self.allowed(py, |offer| {
            offer.yarn_mut().unreserve();
            Ok(())
        })
    }
}
