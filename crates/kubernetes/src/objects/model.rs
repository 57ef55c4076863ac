//! From a site's objects to the model of Kueue: names become numbers.

use std::collections::{BTreeMap, BTreeSet};

use super::quotas::ResourceGroup;
use super::site::Site;
use crate::kueue::{Cohort, Flavor, FlavorId, Group, Model, Queue, QueueId, Quota, ResourceId, Settings};

impl Site {
    /// The model of Kueue. Queues and flavours keep their order, resources and cohorts come in the order of their names.
    ///
    /// `also` names resources that workloads ask for and no queue covers.
    pub fn model<'a>(&'a self, also: impl IntoIterator<Item = &'a str>) -> Model {
        let names = Names::new(self, also);
        let configuration = self.configuration.clone().unwrap_or_default();
        Model {
            resources: names.resources.keys().map(|&name| name.to_owned()).collect(),
            flavors: self.flavors.iter().map(flavor).collect(),
            queues: self.queues.iter().map(|queue| names.queue(queue)).collect(),
            cohorts: names.cohorts.keys().map(|name| names.cohort(self, name)).collect(),
            settings: Settings {
                fair_sharing: configuration.fair_sharing,
                ignore_undeclared: configuration.ignore_undeclared,
                ..Settings::default()
            },
        }
    }

    /// The ClusterQueue behind a LocalQueue, by its position.
    pub fn queue(&self, namespace: &str, local: &str) -> Option<QueueId> {
        let local = self.local_queues.iter().find(|queue| queue.namespace == namespace && queue.name == local)?;
        let at = self.queues.iter().position(|queue| queue.name == local.queue)?;
        Some(QueueId(at as u32))
    }

    /// True if a ClusterQueue takes workloads of a namespace.
    pub fn takes(&self, queue: QueueId, namespace: &str) -> bool {
        let labels = self.namespaces.iter().find(|object| object.name == namespace);
        let labels = labels.map_or(&[][..], |object| &object.labels);
        let selector = self.queues.get(queue.0 as usize).and_then(|queue| queue.namespaces.as_ref());
        selector.is_some_and(|selector| selector.selects(namespace, labels))
    }
}

fn flavor(object: &super::ResourceFlavor) -> Flavor {
    Flavor {
        name: object.name.clone(),
        labels: object.labels.clone(),
        taints: object.taints.clone(),
        tolerations: object.tolerations.clone(),
    }
}

/// The numbers of names.
struct Names<'a> {
    resources: BTreeMap<&'a str, ResourceId>,
    flavors: BTreeMap<&'a str, FlavorId>,
    cohorts: BTreeMap<&'a str, u32>,
}

impl<'a> Names<'a> {
    fn new(site: &'a Site, also: impl IntoIterator<Item = &'a str>) -> Self {
        let groups = site.queues.iter().flat_map(|queue| &queue.groups);
        let groups = groups.chain(site.cohorts.iter().flat_map(|cohort| &cohort.groups));
        let resources = groups.flat_map(|group| &group.resources).map(String::as_str);
        let resources: BTreeSet<&str> = resources.chain(also).collect();
        let cohorts = site.cohorts.iter().flat_map(|cohort| std::iter::once(&cohort.name).chain(&cohort.parent));
        let cohorts = cohorts.chain(site.queues.iter().filter_map(|queue| queue.cohort.as_ref()));
        let cohorts: BTreeSet<&str> = cohorts.map(String::as_str).collect();
        Self {
            resources: resources.into_iter().zip(0..).map(|(name, id)| (name, ResourceId(id))).collect(),
            flavors: site.flavors.iter().zip(0..).map(|(flavor, id)| (flavor.name.as_str(), FlavorId(id))).collect(),
            cohorts: cohorts.into_iter().zip(0..).collect(),
        }
    }

    fn resource(&self, name: &str) -> ResourceId {
        self.resources.get(name).copied().unwrap_or(ResourceId(0))
    }

    /// The names of flavours are checked when the site is read.
    fn flavor(&self, name: &str) -> FlavorId {
        self.flavors.get(name).copied().unwrap_or(FlavorId(0))
    }

    fn quotas(&self, groups: &[ResourceGroup]) -> Vec<Quota> {
        let mut quotas = Vec::new();
        for flavor in groups.iter().flat_map(|group| &group.flavors) {
            quotas.extend(flavor.resources.iter().map(|quota| Quota {
                flavor: self.flavor(&flavor.name),
                resource: self.resource(&quota.name),
                nominal: quota.nominal,
                borrowing: quota.borrowing,
                lending: quota.lending,
            }));
        }
        quotas
    }

    fn queue(&self, object: &super::ClusterQueue) -> Queue {
        let group = |group: &ResourceGroup| Group {
            resources: group.resources.iter().map(|name| self.resource(name)).collect(),
            flavors: group.flavors.iter().map(|flavor| self.flavor(&flavor.name)).collect(),
        };
        Queue {
            name: object.name.clone(),
            cohort: object.cohort.as_deref().and_then(|name| self.cohorts.get(name).copied()),
            strict: object.strict,
            preemption: object.preemption,
            fungibility: object.fungibility,
            weight: object.weight,
            groups: object.groups.iter().map(group).collect(),
            quotas: self.quotas(&object.groups),
        }
    }

    fn cohort(&self, site: &Site, name: &str) -> Cohort {
        let Some(object) = site.cohorts.iter().find(|cohort| cohort.name == name) else { return Cohort::new(name) };
        Cohort {
            name: name.to_owned(),
            parent: object.parent.as_deref().and_then(|name| self.cohorts.get(name).copied()),
            weight: object.weight,
            quotas: self.quotas(&object.groups),
        }
    }
}
