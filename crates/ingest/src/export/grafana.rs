//! A dashboard of Grafana that shows what ran beside its replays: its panels ask for the series of the export `openmetrics`.

use resched_tables::Error;
use resched_tables::records::Source;
use serde_json::{Value, json};

use super::openmetrics::Names;
use super::{Output, Target, Write};

/// A dashboard.
pub(super) const TARGET: Target = Target {
    name: "grafana",
    title: "a dashboard of Grafana for the export `openmetrics` (JSON)",
    write: Write::File(write),
};

const TITLES: [&str; 4] = ["Jobs that wait", "Jobs that run", "Processors held", "Memory held"];

/// The dashboard has the names of the system that ran the jobs, and nothing else of the source.
fn write(source: &Source, output: &mut Output<'_>) -> Result<(), Error> {
    let names = Names::of(source.system());
    let panels: Vec<Value> =
        (0..).zip(TITLES.into_iter().zip(names.of)).map(|(place, of)| panel(place, of, names.queue)).collect();
    let variable = |name: &str, query: String| {
        json!({
            "name": name, "type": "query", "query": query, "multi": true, "includeAll": true, "current": {"text": "All", "value": "$__all"},
            "datasource": {"type": "prometheus", "uid": "${source}"}, "refresh": 1,
        })
    };
    let queues = variable(names.queue, format!("label_values({}, {})", names.of[1], names.queue));
    output.json(&json!({
        "title": "resched: what ran, and its replays",
        "uid": "resched", "schemaVersion": 39, "editable": true, "tags": ["resched"],
        "time": {"from": "now-30d", "to": "now"},
        "templating": {"list": [{"name": "source", "type": "datasource", "query": "prometheus"}, queues]},
        "panels": panels,
    }))
}

/// The sum over the queues that the reader has chosen, for what ran and for each policy.
fn panel(place: i64, (title, name): (&str, &str), queue: &str) -> Value {
    let expression = format!("sum by (origin, policy) ({name}{{{queue}=~\"${queue}\"}})");
    json!({
        "id": place + 1, "type": "timeseries", "title": title,
        "datasource": {"type": "prometheus", "uid": "${source}"},
        "gridPos": {"h": 9, "w": 12, "x": 12 * (place % 2), "y": 9 * (place / 2)},
        "targets": [{"refId": "A", "expr": expression, "legendFormat": "{{origin}} {{policy}}"}],
    })
}
