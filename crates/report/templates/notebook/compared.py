from math import exp, log

# The jobs that a metric is over.
JOBS = {"completion": counted, "waiting": started}


def of_policy(label, metric):
    """The mean and three quantiles of a metric in each run of a policy."""
    return [
        [values.mean()] + [values.quantile(p, "linear") for p in (0.5, 0.95, 0.99)]
        for values in (JOBS[metric].filter(pl.col("run") == run)[metric].drop_nulls() for run in POLICIES[label])
    ]


def ratios(policy, metric):
    """Each of them against the baseline: the geometric mean over seeds."""
    base, own = of_policy(BASELINE, metric), of_policy(policy, metric)
    if len(base) == 1:
        base = base * len(own)
    pairs = zip(base, own * len(base) if len(own) == 1 else own)
    logs = [[log(b / a) if a and b else None for a, b in zip(*pair)] for pair in pairs]
    return [None if None in values else exp(sum(values) / len(values)) for values in zip(*logs)]


# The 95 % intervals of the ratios of means, as the report has them; it says what they are over.
INTERVALS = {(own["policy"], own["metric"]): (own["ratio_of_means"] or {}).get("interval") for own in report["comparisons"]}
RATIOS = {f"ratio_of_{name}": pl.Float64 for name in ("means", "p50", "p95", "p99")}
compared = pl.DataFrame(
    [
        [policy, metric, *ratios(policy, metric), *(INTERVALS.get((policy, metric)) or [None, None])]
        for metric in ("completion", "waiting")
        for policy in POLICIES
        if BASELINE is not None and policy != BASELINE
    ],
    schema={"policy": pl.String, "metric": pl.String, **RATIOS, "means_from": pl.Float64, "means_to": pl.Float64},
    orient="row",
)
readable(compared)
