//! Nodes, pods and `KubeSchedulerConfiguration`, as YAML or JSON.
//!
//! A file may hold several documents, and lists of objects. Objects of other kinds are counted.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_saphyr::{Location, Spanned};

use crate::kube::{
    Effect, Fit, NodeSpec, Operator, PodSpec, Point, Profile, Requirement, Strategy, Taint, Term, Toleration,
};
use crate::objects::amount;

/// The longest file that is read, in bytes.
pub const LONGEST: usize = 1 << 30;
/// The deepest nesting of a file.
pub const DEEPEST: usize = 64;
/// How many pods a node takes if it does not say.
const PODS: u32 = 110;

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {what}")]
pub struct Error {
    /// The name of the file, as the caller gave it.
    pub file: String,
    /// The line, from 1; 0 if the whole file is meant.
    pub line: u64,
    /// The column, from 1; 0 if the whole file is meant.
    pub column: u64,
    /// What was expected and what was found.
    pub what: String,
}

impl Error {
    fn at(file: &str, place: Location, what: String) -> Self {
        Self { file: file.to_owned(), line: place.line(), column: place.column(), what }
    }

    fn parse(file: &str, error: &serde_saphyr::Error) -> Self {
        let place = error.location();
        let what = error.without_snippet().to_string();
        let (line, column) = place.map_or((0, 0), |place| (place.line(), place.column()));
        Self { file: file.to_owned(), line, column, what }
    }
}

/// A pod of a site.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedPod {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The node it runs on, if any.
    pub node: Option<String>,
    /// What it asks for.
    pub spec: PodSpec,
}

/// What a file holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Objects {
    /// Its nodes.
    pub nodes: Vec<NodeSpec>,
    /// Its pods.
    pub pods: Vec<NamedPod>,
    /// How many objects of each other kind it has.
    pub skipped: BTreeMap<String, usize>,
}

/// A `KubeSchedulerConfiguration`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// Its profiles by the name of the scheduler.
    pub profiles: Vec<(String, Profile)>,
    /// What it sets that has no effect here.
    pub without_effect: Vec<String>,
}

/// Reads nodes and pods.
///
/// # Errors
/// The text is no YAML or JSON, or an object is not what its kind says.
pub fn read_objects(text: &str, file: &str) -> Result<Objects, Error> {
    let documents: Vec<Object> = documents(text, file)?;
    let mut objects = Objects::default();
    for document in documents {
        if document.items.is_empty() {
            take(document, &mut objects, file)?;
        } else {
            for item in document.items {
                take(item, &mut objects, file)?;
            }
        }
    }
    Ok(objects)
}

/// Reads a `KubeSchedulerConfiguration`.
///
/// # Errors
/// The text is no YAML or JSON, or a value is not what its key asks for.
pub fn read_configuration(text: &str, file: &str) -> Result<Configuration, Error> {
    let mut configuration = Configuration::default();
    for document in documents::<ConfigText>(text, file)? {
        if document.kind != "KubeSchedulerConfiguration" {
            let what = format!("a document of kind `{}`", document.kind);
            configuration.without_effect.push(what);
            continue;
        }
        let mut base = Profile::default();
        base.percentage = document.percentage_of_nodes_to_score.unwrap_or(0);
        base.first_back_off = document.pod_initial_backoff_seconds.map_or(base.first_back_off, |s| i64::from(s) * 1000);
        base.longest_back_off = document.pod_max_backoff_seconds.map_or(base.longest_back_off, |s| i64::from(s) * 1000);
        if !document.extenders.is_empty() {
            configuration.without_effect.push("extenders".to_owned());
        }
        for profile in document.profiles {
            let name = profile.scheduler_name.clone().unwrap_or_else(|| "default-scheduler".to_owned());
            let read = profile.read(base.clone(), file, &mut configuration.without_effect)?;
            configuration.profiles.push((name, read));
        }
        if configuration.profiles.is_empty() {
            configuration.profiles.push(("default-scheduler".to_owned(), base));
        }
    }
    Ok(configuration)
}

fn documents<'de, T: Deserialize<'de>>(text: &'de str, file: &str) -> Result<Vec<T>, Error> {
    if text.len() > LONGEST {
        let what = format!("expected at most {LONGEST} bytes, found {}; split the file", text.len());
        return Err(Error { file: file.to_owned(), line: 0, column: 0, what });
    }
    // Nodes and scalars are bounded by the length of the text; aliases, which could multiply them, are few.
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: DEEPEST,
            max_events: usize::MAX,
            max_nodes: usize::MAX,
            max_documents: usize::MAX,
            max_total_scalar_bytes: LONGEST,
            max_aliases: 1000,
        },
        with_snippet: false,
    };
    serde_saphyr::from_multiple_with_options(text, options).map_err(|error| Error::parse(file, &error))
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Object {
    kind: String,
    metadata: Metadata,
    spec: Spec,
    status: Status,
    items: Vec<Object>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Metadata {
    name: String,
    namespace: Option<String>,
    labels: BTreeMap<String, String>,
}

/// Of nodes and of pods.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Spec {
    taints: Vec<TaintText>,
    unschedulable: bool,
    node_name: Option<String>,
    node_selector: BTreeMap<String, String>,
    tolerations: Vec<TolerationText>,
    affinity: AffinityText,
    priority: Option<i32>,
    preemption_policy: Option<String>,
    containers: Vec<ContainerText>,
    init_containers: Vec<ContainerText>,
    overhead: Amounts,
}

type Amounts = BTreeMap<String, Spanned<String>>;

#[derive(Deserialize, Default)]
#[serde(default)]
struct Status {
    allocatable: Amounts,
    capacity: Amounts,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct TaintText {
    key: String,
    value: Option<String>,
    effect: Option<Spanned<String>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct TolerationText {
    key: Option<String>,
    operator: Option<Spanned<String>>,
    value: Option<String>,
    effect: Option<Spanned<String>>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct AffinityText {
    node_affinity: NodeAffinityText,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct NodeAffinityText {
    required_during_scheduling_ignored_during_execution: TermsText,
    preferred_during_scheduling_ignored_during_execution: Vec<PreferredText>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct TermsText {
    node_selector_terms: Vec<TermText>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct PreferredText {
    weight: i32,
    preference: TermText,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct TermText {
    match_expressions: Vec<RequirementText>,
    match_fields: Vec<RequirementText>,
}

#[derive(Deserialize)]
struct RequirementText {
    key: String,
    operator: Spanned<String>,
    #[serde(default)]
    values: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct ContainerText {
    resources: ResourcesText,
    restart_policy: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ResourcesText {
    requests: Amounts,
    limits: Amounts,
}

fn take(object: Object, objects: &mut Objects, file: &str) -> Result<(), Error> {
    match object.kind.as_str() {
        "Node" => objects.nodes.push(node(object, file)?),
        "Pod" => objects.pods.push(NamedPod {
            namespace: object.metadata.namespace.unwrap_or_else(|| "default".to_owned()),
            name: object.metadata.name,
            node: object.spec.node_name.clone(),
            spec: pod(object.spec, file)?,
        }),
        _ => *objects.skipped.entry(object.kind).or_insert(0) += 1,
    }
    Ok(())
}

fn node(object: Object, file: &str) -> Result<NodeSpec, Error> {
    let source = if object.status.allocatable.is_empty() { object.status.capacity } else { object.status.allocatable };
    let mut allocatable = amounts(&source, file)?;
    let pods = allocatable.remove("pods").map_or(Ok(PODS), u32::try_from).unwrap_or(u32::MAX);
    let mut taints = object
        .spec
        .taints
        .into_iter()
        .map(|taint| {
            let effect = taint.effect.as_ref().map(|text| effect(text, file)).transpose()?;
            let value = taint.value.unwrap_or_default();
            Ok(Taint { key: taint.key, value, effect: effect.unwrap_or(Effect::NoSchedule) })
        })
        .collect::<Result<Vec<_>, Error>>()?;
    let cordon = "node.kubernetes.io/unschedulable";
    if object.spec.unschedulable && !taints.iter().any(|taint| taint.key == cordon) {
        taints.push(Taint { key: cordon.to_owned(), value: String::new(), effect: Effect::NoSchedule });
    }
    let (name, labels) = (object.metadata.name, object.metadata.labels);
    Ok(NodeSpec { name, labels, taints, allocatable: allocatable.into_iter().collect(), pods })
}

fn pod(spec: Spec, file: &str) -> Result<PodSpec, Error> {
    let mut pod = PodSpec {
        priority: spec.priority.unwrap_or(0),
        never_preempts: spec.preemption_policy.as_deref() == Some("Never"),
        selector: spec.node_selector.into_iter().collect(),
        ..PodSpec::default()
    };
    request(&mut pod, &spec.containers, &spec.init_containers, &spec.overhead, file)?;
    for text in spec.tolerations {
        pod.tolerations.push(toleration(text, file)?);
    }
    let affinity = spec.affinity.node_affinity;
    for text in affinity.required_during_scheduling_ignored_during_execution.node_selector_terms {
        pod.required.push(term(text, file)?);
    }
    for text in affinity.preferred_during_scheduling_ignored_during_execution {
        pod.preferred.push((text.weight, term(text.preference, file)?));
    }
    Ok(pod)
}

/// What a pod asks for: the larger of its containers together and each init container with the sidecars before it, and the overhead.
fn request(
    pod: &mut PodSpec,
    containers: &[ContainerText],
    first: &[ContainerText],
    overhead: &Amounts,
    file: &str,
) -> Result<(), Error> {
    let mut sum = BTreeMap::new();
    let (mut sidecars, mut peak) = (BTreeMap::new(), BTreeMap::new());
    for container in first {
        let asked = asked(container, file)?;
        if container.restart_policy.as_deref() == Some("Always") {
            add(&mut sidecars, &asked);
            raise(&mut peak, &sidecars);
        } else {
            let mut with = sidecars.clone();
            add(&mut with, &asked);
            raise(&mut peak, &with);
        }
    }
    for container in containers {
        let asked = asked(container, file)?;
        pod.without_cpu += u32::from(!asked.contains_key("cpu"));
        pod.without_memory += u32::from(!asked.contains_key("memory"));
        add(&mut sum, &asked);
    }
    add(&mut sum, &sidecars);
    raise(&mut sum, &peak);
    add(&mut sum, &amounts(overhead, file)?);
    pod.requests = sum.into_iter().collect();
    Ok(())
}

/// What is not requested is what is limited.
fn asked(container: &ContainerText, file: &str) -> Result<BTreeMap<String, i64>, Error> {
    let mut asked = amounts(&container.resources.limits, file)?;
    asked.extend(amounts(&container.resources.requests, file)?);
    Ok(asked)
}

fn add(sum: &mut BTreeMap<String, i64>, more: &BTreeMap<String, i64>) {
    for (name, amount) in more {
        let sum = sum.entry(name.clone()).or_insert(0);
        *sum = sum.saturating_add(*amount);
    }
}

fn raise(peak: &mut BTreeMap<String, i64>, to: &BTreeMap<String, i64>) {
    for (name, amount) in to {
        let peak = peak.entry(name.clone()).or_insert(0);
        *peak = (*peak).max(*amount);
    }
}

fn amounts(texts: &Amounts, file: &str) -> Result<BTreeMap<String, i64>, Error> {
    let mut amounts = BTreeMap::new();
    for (name, text) in texts {
        let wrong = |found: String| {
            let what = format!("expected an amount of at least 0, such as `100m`, `4` or `2Gi`, found {found}");
            Error::at(file, text.referenced, what)
        };
        amounts.insert(name.clone(), amount(name, &text.value).map_err(wrong)?);
    }
    Ok(amounts)
}

fn effect(text: &Spanned<String>, file: &str) -> Result<Effect, Error> {
    match text.value.as_str() {
        "NoSchedule" => Ok(Effect::NoSchedule),
        "PreferNoSchedule" => Ok(Effect::PreferNoSchedule),
        "NoExecute" => Ok(Effect::NoExecute),
        other => {
            let what = format!("expected NoSchedule, PreferNoSchedule or NoExecute, found `{other}`");
            Err(Error::at(file, text.referenced, what))
        }
    }
}

fn toleration(text: TolerationText, file: &str) -> Result<Toleration, Error> {
    let any_value = match text.operator.as_ref().map(|operator| operator.value.as_str()) {
        None | Some("" | "Equal") => false,
        Some("Exists") => true,
        Some(other) => {
            let place = text.operator.as_ref().map_or(Location::UNKNOWN, |operator| operator.referenced);
            return Err(Error::at(file, place, format!("expected Equal or Exists, found `{other}`")));
        }
    };
    let named = text.effect.as_ref().filter(|effect| !effect.value.is_empty());
    let effect = named.map(|text| effect(text, file)).transpose()?;
    let (key, value) = (text.key.unwrap_or_default(), text.value.unwrap_or_default());
    Ok(Toleration { key, value, any_value, effect })
}

fn term(text: TermText, file: &str) -> Result<Term, Error> {
    let labels = text.match_expressions.into_iter().map(|text| (text, false));
    let fields = text.match_fields.into_iter().map(|text| (text, true));
    labels.chain(fields).map(|(text, of_name)| requirement(text, of_name, file)).collect()
}

fn requirement(text: RequirementText, of_name: bool, file: &str) -> Result<Requirement, Error> {
    let operator = match text.operator.value.as_str() {
        "In" => Operator::In,
        "NotIn" => Operator::NotIn,
        "Exists" => Operator::Exists,
        "DoesNotExist" => Operator::DoesNotExist,
        "Gt" => Operator::Gt,
        "Lt" => Operator::Lt,
        other => {
            let what = format!("expected In, NotIn, Exists, DoesNotExist, Gt or Lt, found `{other}`");
            return Err(Error::at(file, text.operator.referenced, what));
        }
    };
    Ok(Requirement { key: text.key, of_name, operator, values: text.values })
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct ConfigText {
    kind: String,
    percentage_of_nodes_to_score: Option<u32>,
    pod_initial_backoff_seconds: Option<u32>,
    pod_max_backoff_seconds: Option<u32>,
    extenders: Vec<serde::de::IgnoredAny>,
    profiles: Vec<ProfileText>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct ProfileText {
    scheduler_name: Option<String>,
    percentage_of_nodes_to_score: Option<u32>,
    plugins: PluginsText,
    plugin_config: Vec<PluginConfigText>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct PluginsText {
    multi_point: PluginSetText,
    score: PluginSetText,
    post_filter: PluginSetText,
    filter: PluginSetText,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct PluginSetText {
    enabled: Vec<PluginText>,
    disabled: Vec<PluginText>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct PluginText {
    name: String,
    weight: Option<i32>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct PluginConfigText {
    name: String,
    args: ArgsText,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct ArgsText {
    scoring_strategy: Option<StrategyText>,
    resources: Vec<WeightText>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct StrategyText {
    #[serde(rename = "type")]
    kind: Option<Spanned<String>>,
    resources: Vec<WeightText>,
    requested_to_capacity_ratio: Option<Spanned<ShapeText>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct WeightText {
    name: String,
    weight: Option<i32>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ShapeText {
    shape: Vec<PointText>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct PointText {
    utilization: i32,
    score: i32,
}

impl ProfileText {
    fn read(self, base: Profile, file: &str, without_effect: &mut Vec<String>) -> Result<Profile, Error> {
        let mut profile = base;
        if let Some(percentage) = self.percentage_of_nodes_to_score {
            profile.percentage = percentage;
        }
        for set in [&self.plugins.multi_point, &self.plugins.score] {
            set.apply(&mut profile, without_effect);
        }
        let off = |set: &PluginSetText| {
            set.disabled.iter().any(|plugin| plugin.name == "DefaultPreemption" || plugin.name == "*")
        };
        profile.preemption = !off(&self.plugins.post_filter) && !off(&self.plugins.multi_point);
        for plugin in self.plugins.filter.disabled.iter().chain(&self.plugins.filter.enabled) {
            without_effect.push(format!("plugins.filter: {}", plugin.name));
        }
        for config in self.plugin_config {
            match config.name.as_str() {
                "NodeResourcesFit" => {
                    if let Some(strategy) = config.args.scoring_strategy {
                        profile.fit = strategy.read(file)?;
                    }
                }
                "NodeResourcesBalancedAllocation" if !config.args.resources.is_empty() => {
                    profile.balanced = config.args.resources.into_iter().map(|resource| resource.name).collect();
                }
                other => without_effect.push(format!("pluginConfig: {other}")),
            }
        }
        Ok(profile)
    }
}

impl PluginSetText {
    fn apply(&self, profile: &mut Profile, without_effect: &mut Vec<String>) {
        let weights = &mut profile.weights;
        let on = self.enabled.iter().map(|plugin| (plugin, i64::from(plugin.weight.unwrap_or(1).max(1))));
        let off = self.disabled.iter().map(|plugin| (plugin, 0));
        for (plugin, weight) in off.chain(on) {
            match plugin.name.as_str() {
                "NodeResourcesFit" => weights.fit = weight,
                "NodeResourcesBalancedAllocation" => weights.balanced = weight,
                "TaintToleration" => weights.taints = weight,
                "NodeAffinity" => weights.affinity = weight,
                "*" => (weights.fit, weights.balanced, weights.taints, weights.affinity) = (0, 0, 0, 0),
                other => without_effect.push(format!("plugins: {other}")),
            }
        }
    }
}

impl StrategyText {
    fn read(self, file: &str) -> Result<Fit, Error> {
        let strategy = match self.kind.as_ref().map(|kind| kind.value.as_str()) {
            None | Some("" | "LeastAllocated") => Strategy::LeastAllocated,
            Some("MostAllocated") => Strategy::MostAllocated,
            Some("RequestedToCapacityRatio") => {
                Strategy::RequestedToCapacityRatio(line(self.requested_to_capacity_ratio, file)?)
            }
            Some(other) => {
                let place = self.kind.as_ref().map_or(Location::UNKNOWN, |kind| kind.referenced);
                let what =
                    format!("expected LeastAllocated, MostAllocated or RequestedToCapacityRatio, found `{other}`");
                return Err(Error::at(file, place, what));
            }
        };
        let weight = |resource: WeightText| (resource.name, i64::from(resource.weight.unwrap_or(1).max(1)));
        let mut resources: Vec<(String, i64)> = self.resources.into_iter().map(weight).collect();
        if resources.is_empty() {
            resources = Profile::default().fit.resources;
        }
        Ok(Fit { strategy, resources })
    }
}

/// The line of the ratio: at least one point, utilisation rising from 0 to 100, scores from 0 to 10.
fn line(text: Option<Spanned<ShapeText>>, file: &str) -> Result<Vec<Point>, Error> {
    let Some(text) = text else {
        let what = "expected requestedToCapacityRatio.shape with at least one point".to_owned();
        return Err(Error { file: file.to_owned(), line: 0, column: 0, what });
    };
    let point = |point: &PointText| Point { utilization: i64::from(point.utilization), score: i64::from(point.score) };
    let points: Vec<Point> = text.value.shape.iter().map(point).collect();
    let within = points.iter().all(|point| (0..=100).contains(&point.utilization) && (0..=10).contains(&point.score));
    let rising = points.windows(2).all(|pair| pair[0].utilization < pair[1].utilization);
    if points.is_empty() || !within || !rising {
        let what = "expected points with utilization rising within 0 to 100 and score within 0 to 10".to_owned();
        return Err(Error::at(file, text.referenced, what));
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::{read_configuration, read_objects};
    use crate::kube::{Effect, Strategy, Weights};

    #[test]
    fn a_node_is_read_with_its_amounts() {
        let text = "
kind: List
items:
- kind: Node
  metadata: {name: n1, labels: {zone: a}}
  spec:
    unschedulable: true
    taints: [{key: gpu, effect: PreferNoSchedule}]
  status:
    allocatable: {cpu: 3500m, memory: 2Gi, pods: 20, nvidia.com/gpu: '4'}
- kind: Service
";
        let objects = read_objects(text, "nodes.yaml").expect("it is valid");
        let node = &objects.nodes[0];
        let amounts: Vec<(&str, i64)> =
            node.allocatable.iter().map(|(name, amount)| (name.as_str(), *amount)).collect();
        assert_eq!(amounts, [("cpu", 3500), ("memory", 2 << 30), ("nvidia.com/gpu", 4)]);
        assert_eq!((node.pods, node.taints.len(), node.taints[0].effect), (20, 2, Effect::PreferNoSchedule));
        assert_eq!(objects.skipped["Service"], 1);
    }

    #[test]
    fn a_pod_asks_for_its_containers_or_its_largest_first_one() {
        let text = "
kind: Pod
metadata: {name: p, namespace: team}
spec:
  priority: 7
  initContainers:
  - {resources: {requests: {cpu: 100m}}, restartPolicy: Always}
  - {resources: {requests: {cpu: '2'}}}
  containers:
  - {resources: {requests: {cpu: 500m, memory: 1Gi}}}
  - {resources: {limits: {nvidia.com/gpu: 1}}}
  overhead: {cpu: 10m}
";
        // By hand: containers 500m + sidecar 100m; the second init container 2000m + 100m beside the sidecar; overhead 10m.
        let pod = &read_objects(text, "pods.yaml").expect("it is valid").pods[0];
        let asked: Vec<(&str, i64)> = pod.spec.requests.iter().map(|(name, amount)| (name.as_str(), *amount)).collect();
        assert_eq!(asked, [("cpu", 2110), ("memory", 1 << 30), ("nvidia.com/gpu", 1)]);
        assert_eq!((pod.spec.without_cpu, pod.spec.without_memory, pod.spec.priority), (1, 1, 7));
    }

    #[test]
    fn an_error_names_its_place() {
        let text = "kind: Node\nmetadata: {name: n}\nstatus:\n  allocatable:\n    cpu: 3 cores\n";
        let error = read_objects(text, "nodes.yaml").expect_err("`3 cores` is no amount");
        assert_eq!((error.line, error.column), (5, 10), "{error}");
        let error = read_objects("kind: Node\nstatus:\n  allocatable: {cpu: -1}\n", "n.yaml").expect_err("below 0");
        assert_eq!(error.line, 3, "{error}");
    }

    #[test]
    fn hostile_text_is_refused() {
        let deep = format!("kind: {}", "[".repeat(1_000));
        assert!(read_objects(&deep, "deep.yaml").is_err());
        let mut laughs = "a0: &a0 [x]\n".to_owned();
        for level in 1..40 {
            laughs += &format!("a{level}: &a{level} [{}]\n", vec![format!("*a{}", level - 1); 10].join(", "));
        }
        assert!(read_objects(&laughs, "laughs.yaml").is_err() || laughs.len() < 10_000);
    }

    #[test]
    fn a_configuration_changes_scores() {
        let text = "
kind: KubeSchedulerConfiguration
podMaxBackoffSeconds: 20
profiles:
- plugins:
    score:
      disabled: [{name: NodeResourcesBalancedAllocation}]
      enabled: [{name: TaintToleration, weight: 5}, {name: Coscheduling}]
  pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: RequestedToCapacityRatio
        resources: [{name: nvidia.com/gpu, weight: 4}]
        requestedToCapacityRatio: {shape: [{utilization: 0, score: 0}, {utilization: 100, score: 10}]}
";
        let configuration = read_configuration(text, "scheduler.yaml").expect("it is valid");
        let (name, profile) = &configuration.profiles[0];
        assert_eq!((name.as_str(), profile.longest_back_off), ("default-scheduler", 20_000));
        assert_eq!(profile.weights, Weights { fit: 1, balanced: 0, taints: 5, affinity: 2 });
        assert!(matches!(&profile.fit.strategy, Strategy::RequestedToCapacityRatio(line) if line.len() == 2));
        assert_eq!(configuration.without_effect, ["plugins: Coscheduling"]);
        let wrong = text.replace("utilization: 100", "utilization: 0");
        assert!(read_configuration(&wrong, "scheduler.yaml").is_err());
    }
}
