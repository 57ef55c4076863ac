//! Why a chart has nothing to show.

/// The reason, as a clause.
pub(crate) fn why_empty(chart: &str) -> &'static str {
    match chart {
        "answer" => "no two policies are compared",
        "variants" => "no two replays were tested with other unknown values (`replay --robust`)",
        "seeds" => "no policy has several seeds",
        "ratio" | "pp" | "difference" => "no two replays have jobs that count in both",
        "delta" => "no run has decisions of a policy that reports δ (`replay --policy dress --decisions`)",
        "resources" => "no run is under the cost model `contention`",
        "starvation" | "cdf_starvation" | "starvation_over_time" => "no reduce waited for its turn",
        "locality" | "locality_by_size" | "locality_over_time" => "no map has a known place of input",
        "cdf_maps" => "the runs have no maps",
        "utilisation" | "running_tasks" => "no task of a job that counts has a start and an end",
        "gantt" => "no task of a job that counts has a known machine and times",
        "categories" => "the jobs that count are all of one size, queue and user, or take no time",
        "fairness" | "queue_length" => "no time passes between the jobs that count",
        "slowdown_by_size" => "no slowdown of a job is known",
        "waiting" | "job_times" | "cdf_jobs" | "overview" => "no job that counts takes any time",
        _ => "the runs have no data for it",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::CHARTS;

    #[test]
    fn every_chart_has_a_reason_of_its_own() {
        for chart in CHARTS {
            assert_ne!(why_empty(chart.name), why_empty("none"), "{}", chart.name);
        }
    }
}
