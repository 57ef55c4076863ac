"""The commands of the command line as functions. ``tools/commands.py`` makes this file; do not edit it."""

from __future__ import annotations

from collections.abc import Iterable

from ._call import Progress
from ._results import (
    PolicyLike,
    Replays,
    Report,
    Result,
    Source,
    StrPath,
    Trace,
    listed,
    made_replays,
    made_report,
    made_result,
    made_trace,
)

__all__ = [
    "anonymise",
    "calibrate",
    "diff",
    "explain",
    "export",
    "forecast",
    "generate",
    "ingest",
    "inspect",
    "policies",
    "replay",
    "report",
    "reproduce",
    "scale",
    "size",
    "sweep",
    "tune",
    "validate",
    "verify",
]


def ingest(
    paths: StrPath | Iterable[StrPath],
    *,
    out: StrPath,
    force: bool = False,
    merge: bool = False,
    format: str = "auto",
    map: StrPath | None = None,
    timezone: str | None = None,
    cluster_name: str | None = None,
    fields: str | None = None,
    explain: bool = False,
    counters: bool = False,
    tasks: StrPath | None = None,
    seed: int = 1,
    threads: int | None = None,
    engine: str = "local",
    scheduler: str | None = None,
    workers: int | None = None,
    python: StrPath = "python3",
    retries: int = 3,
    program: StrPath | None = None,
    progress: bool | Progress = True,
) -> Trace:
    """Turn job histories, event logs, job lists or the Google and Alibaba cluster traces into a trace.

    Parameters
    ----------
    paths : StrPath | Iterable[StrPath]
        Files or folders to read, ``s3://bucket/prefix`` in an object store, or ``-`` for standard
        input with --format. Folders are searched recursively; gzip and zstd are unpacked.
    out : StrPath
        The folder to write the trace to. An earlier trace there is replaced.
    force : bool, default False
        Replace an existing file, or a result that was changed after resched wrote it, and print
        what is replaced. Without this option, the command refuses. All other files stay.
    merge : bool, default False
        Treat all jobs as jobs of one cluster, even if they share no machine or ran under two
        masters at once.
    format : str, default "auto"
        The format of all files. ``auto`` detects it from each file's content.
    map : StrPath
        The map of a table (TOML): which column of a CSV, JSON or Parquet file is which field of a
        job. All files are such tables.
    timezone : str
        The time zone of times without one, such as those of ``sacct``: ``UTC``, an offset such as
        ``+02:00``, or a place such as ``Europe/Berlin``. By default UTC, which then counts as
        assumed.
    cluster_name : str
        The cluster whose jobs to take, if a list by ``sacct`` has those of several in its column
        ``Cluster``.
    fields : str
        The columns of a list by ``sacct`` without a header, in their order, as ``sacct --format``
        takes them: ``JobID,Submit,Start,…``. Those that Open XDMoD asks for are known.
    explain : bool, default False
        Print what each column was read from, what was made up, and what each count means.
        ``--json`` has this anyway.
    counters : bool, default False
        Keep all job and task counters, in the table ``counters``.
    tasks : StrPath
        The rules for making tasks if the source has none (TOML). The trace's manifest lists all
        keys under ``synthesiser``.
    seed : int, default 1
        The random seed for making tasks.
    threads : int
        Number of threads that read tables. Each needs about 100 MB of memory.
    engine : str, default "local"
        Where to read the Google and Alibaba tables.
    scheduler : str
        The address of a scheduler, for example tcp://host:8786. Without it, a cluster is started on
        this machine.
    workers : int
        The number of tasks that run at once in a cluster on this machine.
    python : StrPath, default "python3"
        A Python with the package ``distributed``.
    retries : int, default 3
        How often to repeat a task if its worker is lost.
    program : StrPath
        The path of resched on the workers.
    progress : bool or callable, default True
        Whether to show bars, or what to call with ``(label, done, total)``.

    Returns
    -------
    Trace
        The trace in ``out``.
    """
    return made_trace("ingest", [*listed(paths)], dict(out=out, force=force, merge=merge, format=format, map=map, timezone=timezone, cluster_name=cluster_name, fields=fields, explain=explain, counters=counters, tasks=tasks, seed=seed, threads=threads, engine=engine, scheduler=scheduler, workers=workers, python=python, retries=retries, program=program), progress)


def inspect(
    trace: Source,
    *,
    all_sources: bool = False,
    progress: bool | Progress = True,
) -> Result:
    """Show the content of a trace: counts, time span, records that ingest left out, and oddities.

    Parameters
    ----------
    trace : Source
        The trace folder.
    all_sources : bool, default False
        List all source files, not only the first ones.
    progress : bool or callable, default True
        Whether to show bars, or what to call with ``(label, done, total)``.

    Returns
    -------
    Result
        What the command found; ``str`` of it is what the command prints.
    """
    return made_result("inspect", [trace], dict(all_sources=all_sources), progress)


def replay(
    trace: Source,
    *,
    policy: PolicyLike | Iterable[PolicyLike],
    cluster: StrPath | None = None,
    site_conf: StrPath | None = None,
    nodes: int | None = None,
    slots: str | None = None,
    cores: str | float | None = None,
    memory: str | float | None = None,
    assume: bool = False,
    unfinished: str = "drop",
    window: str | None = None,
    timezone: str = "UTC",
    validation: StrPath | None = None,
    seed: int = 1,
    from_: str | float | None = None,
    to: str | float | None = None,
    out: StrPath | None = None,
    force: bool = False,
    threads: int | None = None,
    decisions: bool = False,
    baseline: str | None = None,
    resume: bool = False,
    check: bool = False,
    metric: str | Iterable[str] | None = None,
    by: str | Iterable[str] | None = None,
    robust: str = "quick",
    seeds: int | None = None,
    progress: bool | Progress = True,
) -> Replays:
    """Replay a trace under one or more policies.

    Parameters
    ----------
    trace : Source
        A trace, or a workload file (TOML).
    policy : PolicyLike | Iterable[PolicyLike]
        A policy: ``name`` or ``name:key=value,…``. Repeat the option to compare policies.
        ``key=1|2|3`` stands for three policies. ``name+speculator`` adds backups of slow tasks. On
        a production trace, ``fifo`` means ``batch-fifo``, and so on.
    cluster : StrPath
        The cluster file (TOML); ``resched calibrate`` writes one.
    site_conf : StrPath
        A folder with the configuration of your site: Hadoop's (mapred-site.xml, fair-scheduler.xml,
        …), Spark's (spark-defaults.conf, fairscheduler.xml) or Slurm's (slurm.conf, qos.txt, …).
        Its settings replace the defaults. --policy, --cluster and the options below take precedence
        over them.
    nodes : int
        The number of machines. The machines of the trace or of the cluster file are cut or cloned
        to this number.
    slots : str
        The map slots and reduce slots of every Hadoop machine, for example 2+2. They replace those
        of the trace.
    cores : str | float
        The cores of a machine under the policies for production traces. With --nodes, they apply to
        all machines; otherwise, to machines without a size in the trace. If the trace gives sizes
        as shares, like Google's, the largest machine has 1000.
    memory : str | float
        The memory of such a machine: bytes, or a number with a unit such as 64GiB or 64GB. If the
        trace gives sizes as shares, the largest machine has 1TB.
    assume : bool, default False
        Use defaults for missing slots and machine sizes. Without it, missing values are an error.
    unfinished : str, default "drop"
        How to treat work that is unfinished when the trace ends: ``drop`` lets it hold its place
        until then and leaves its jobs out of all metrics. ``cap`` counts it as done after its
        observed time. ``estimate`` draws the rest from the Kaplan–Meier estimate of its class.
    window : str
        Count only jobs that were submitted in this part of the trace, such as +1h..+5h or
        22:00..06:00 (last night). Each end is a time of day, a time after the first submission such
        as +1h, a date such as 2011-05-01T22:00+02:00, or ms of the trace's clock. The time and the
        zone of a date may be left out. If you leave an end out, it is that of the trace.
    timezone : str, default "UTC"
        The time zone of the times shown, and of your times without one: UTC, +02:00, Europe/Berlin.
    validation : StrPath
        The model error of this trace, as ``resched validate --json`` prints it. Every answer then
        shows this error.
    seed : int, default 1
        The seed of all random draws.
    from_ : str | float
        Count only jobs that were submitted at this time or later. Write it as for --window.
    to : str | float
        Count only jobs that were submitted before this time. Write it as for --window.
    out : StrPath
        The folder to write the runs to. Each policy gets a folder in it. Without a folder, the runs
        are kept as long as the result lives.
    force : bool, default False
        Replace an existing file, or a result that was changed after resched wrote it, and print
        what is replaced. Without this option, the command refuses. All other files stay.
    threads : int
        The largest number of replays that run at once.
    decisions : bool, default False
        Also write the decisions of policies over time (only some report them, such as ``dress`` its
        δ), and why they passed over jobs. ``explain`` reads these reasons.
    baseline : str
        The label of the policy that the others are compared with.
    resume : bool, default False
        Keep earlier runs of the same trace, cluster, site, policy and seed.
    check : bool, default False
        Check each replay against rules that always hold, such as that no node is overfull. A broken
        rule ends the command with status 1.
    metric : str | Iterable[str]
        A further metric: a name or an expression such as ``p95(completion) where queue = 'adhoc'``.
        Repeat the option for more.
    by : str | Iterable[str]
        Also show percentiles by user, account, queue, width, limit, hour and so on, the change of
        each group against the baseline, and the jobs that were slowed most. Repeat the option for
        more.
    robust : str, default "quick"
        How to test whether a policy stays faster or slower if unknown values vary, such as the cost
        of distance. ``full`` replays all jobs in every variant; ``quick`` uses a part of a large
        trace; ``off`` skips the test.
    seeds : int
        With how many seeds to replay the comparison, to show how far draws move it: the terminal
        has the interval over them. The runs that are kept have the first seed.
    progress : bool or callable, default True
        Whether to show bars, or what to call with ``(label, done, total)``.

    Returns
    -------
    Replays
        The runs, one for each policy.
    """
    return made_replays("replay", [trace], dict(policy=policy, cluster=cluster, site_conf=site_conf, nodes=nodes, slots=slots, cores=cores, memory=memory, assume=assume, unfinished=unfinished, window=window, timezone=timezone, validation=validation, seed=seed, from_=from_, to=to, out=out, force=force, threads=threads, decisions=decisions, baseline=baseline, resume=resume, check=check, metric=metric, by=by, robust=robust, seeds=seeds), progress)


def report(
    runs: Source | Iterable[Source],
    *,
    out: StrPath,
    force: bool = False,
    format: str = "png,svg,html,notebook,tables",
    only: str | None = None,
    width: int = 480,
    font_size: int = 16,
    title: str | None = None,
    baseline: str | None = None,
    validation: StrPath | None = None,
    matters: str | float = "5%",
    metric: str | Iterable[str] | None = None,
    window: str | None = None,
    timezone: str = "UTC",
    from_: str | float | None = None,
    to: str | float | None = None,
    most_memory: str | float = "3GB",
    progress: bool | Progress = True,
) -> Report:
    """Compare runs side by side: charts as PNG and SVG, one HTML page and a notebook.

    Parameters
    ----------
    runs : Source | Iterable[Source]
        Runs or folders of runs (for example the ``--out`` folder of ``replay``). Add the trace that
        they replay to see the model error.
    out : StrPath
        The folder to write the report to. An earlier report there is replaced.
    force : bool, default False
        Replace an existing file, or a result that was changed after resched wrote it, and print
        what is replaced. Without this option, the command refuses. All other files stay.
    format : str, default "png,svg,html,notebook,tables"
        The formats to write, separated by commas: png, svg, pdf, html, notebook, tables.
    only : str
        Draw only these charts, separated by commas, such as ``gantt,ratio``.
    width : int, default 480
        The width of the charts in pixels. 480 pixels are a column of 85 mm in print.
    font_size : int, default 16
        The size of the text in the charts, in pixels. 16 pixels are 8 points in print.
    title : str
        A title above each chart.
    baseline : str
        The label of the policy that the others are compared with.
    validation : StrPath
        The output of ``resched validate --json`` for the trace. It names the scheduler whose replay
        is compared with the observed run.
    matters : str | float, default "5%"
        The relative difference above which a difference matters in practice.
    metric : str | Iterable[str]
        A further metric: a name or an expression such as ``p95(completion) where queue = 'adhoc'``.
        Repeat the option for more.
    window : str
        Count only jobs that were submitted in this part of the trace, such as +1h..+5h or
        22:00..06:00 (last night). Each end is a time of day, a time after the first submission such
        as +1h, a date such as 2011-05-01T22:00+02:00, or ms of the trace's clock. The time and the
        zone of a date may be left out. If you leave an end out, it is that of the trace.
    timezone : str, default "UTC"
        The time zone of the times shown, and of your times without one: UTC, +02:00, Europe/Berlin.
    from_ : str | float
        Count only jobs that were submitted at this time or later. Write it as for --window.
    to : str | float
        Count only jobs that were submitted before this time. Write it as for --window.
    most_memory : str | float, default "3GB"
        The largest amount of memory for the tables of the runs, estimated from their rows.
    progress : bool or callable, default True
        Whether to show bars, or what to call with ``(label, done, total)``.

    Returns
    -------
    Report
        The files of the report.
    """
    return made_report("report", [*listed(runs)], dict(out=out, force=force, format=format, only=only, width=width, font_size=font_size, title=title, baseline=baseline, validation=validation, matters=matters, metric=metric, window=window, timezone=timezone, from_=from_, to=to, most_memory=most_memory), progress)


def explain(
    run: Source,
    *,
    job: str | None = None,
    user: str | None = None,
    queue: str | None = None,
    top: int | None = None,
    window: str | None = None,
    timezone: str = "UTC",
    from_: str | float | None = None,
    to: str | float | None = None,
    progress: bool | Progress = True,
) -> Result:
    """Explain why jobs waited: their time by phase, and the jobs that held the slots or machines.

    Parameters
    ----------
    run : Source
        A run, or a trace (what really ran).
    job : str
        Explain this job.
    user : str
        Explain the jobs of this user.
    queue : str
        Explain the jobs of this queue or pool.
    top : int
        Show the N jobs that waited longest and the N that delayed others most.
    window : str
        Count only jobs that were submitted in this part of the trace, such as +1h..+5h or
        22:00..06:00 (last night). Each end is a time of day, a time after the first submission such
        as +1h, a date such as 2011-05-01T22:00+02:00, or ms of the trace's clock. The time and the
        zone of a date may be left out. If you leave an end out, it is that of the trace.
    timezone : str, default "UTC"
        The time zone of the times shown, and of your times without one: UTC, +02:00, Europe/Berlin.
    from_ : str | float
        Count only jobs that were submitted at this time or later. Write it as for --window.
    to : str | float
        Count only jobs that were submitted before this time. Write it as for --window.
    progress : bool or callable, default True
        Whether to show bars, or what to call with ``(label, done, total)``.

    Returns
    -------
    Result
        What the command found; ``str`` of it is what the command prints.
    """
    return made_result("explain", [run], dict(job=job, user=user, queue=queue, top=top, window=window, timezone=timezone, from_=from_, to=to), progress)


def diff(
    baseline: Source,
    run: Source,
    *,
    matters: str | float = "5%",
    window: str | None = None,
    timezone: str = "UTC",
    from_: str | float | None = None,
    to: str | float | None = None,
    progress: bool | Progress = True,
) -> Result:
    """Show which jobs, users, queues and sizes gain or lose from one run to another, and in which phase.

    Parameters
    ----------
    baseline : Source
        The run to compare with: a run, a trace (what really ran), or a folder with a run for each
        seed.
    run : Source
        The run, or a folder with a run for each seed.
    matters : str | float, default "5%"
        The relative change above which a job counts as slower or faster. The change must also be
        longer than a second.
    window : str
        Count only jobs that were submitted in this part of the trace, such as +1h..+5h or
        22:00..06:00 (last night). Each end is a time of day, a time after the first submission such
        as +1h, a date such as 2011-05-01T22:00+02:00, or ms of the trace's clock. The time and the
        zone of a date may be left out. If you leave an end out, it is that of the trace.
    timezone : str, default "UTC"
        The time zone of the times shown, and of your times without one: UTC, +02:00, Europe/Berlin.
    from_ : str | float
        Count only jobs that were submitted at this time or later. Write it as for --window.
    to : str | float
        Count only jobs that were submitted before this time. Write it as for --window.
    progress : bool or callable, default True
        Whether to show bars, or what to call with ``(label, done, total)``.

    Returns
    -------
    Result
        What the command found; ``str`` of it is what the command prints.
    """
    return made_result("diff", [baseline, run], dict(matters=matters, window=window, timezone=timezone, from_=from_, to=to), progress)


def validate(
    trace: Source,
    *,
    policy: PolicyLike | Iterable[PolicyLike] | None = None,
    cluster: StrPath | None = None,
    site_conf: StrPath | None = None,
    nodes: int | None = None,
    slots: str | None = None,
    cores: str | float | None = None,
    memory: str | float | None = None,
    assume: bool = False,
    unfinished: str = "drop",
    window: str | None = None,
    timezone: str = "UTC",
    validation: StrPath | None = None,
    seed: int = 1,
    against: Source | Iterable[Source] | None = None,
    skip: str | Iterable[str] | None = None,
    seeds: int = 1,
    threads: int | None = None,
    progress: bool | Progress = True,
) -> Result:
    """Replay a trace under the scheduler that ran it, and report the error.

    Parameters
    ----------
    trace : Source
        A trace with observed attempts.
    policy : PolicyLike | Iterable[PolicyLike]
        The policy that ran it, written as for ``replay``. Repeat the option to see which policy
        explains the trace best.
    cluster : StrPath
        The cluster file (TOML); ``resched calibrate`` writes one.
    site_conf : StrPath
        A folder with the configuration of your site: Hadoop's (mapred-site.xml, fair-scheduler.xml,
        …), Spark's (spark-defaults.conf, fairscheduler.xml) or Slurm's (slurm.conf, qos.txt, …).
        Its settings replace the defaults. --policy, --cluster and the options below take precedence
        over them.
    nodes : int
        The number of machines. The machines of the trace or of the cluster file are cut or cloned
        to this number.
    slots : str
        The map slots and reduce slots of every Hadoop machine, for example 2+2. They replace those
        of the trace.
    cores : str | float
        The cores of a machine under the policies for production traces. With --nodes, they apply to
        all machines; otherwise, to machines without a size in the trace. If the trace gives sizes
        as shares, like Google's, the largest machine has 1000.
    memory : str | float
        The memory of such a machine: bytes, or a number with a unit such as 64GiB or 64GB. If the
        trace gives sizes as shares, the largest machine has 1TB.
    assume : bool, default False
        Use defaults for missing slots and machine sizes. Without it, missing values are an error.
    unfinished : str, default "drop"
        How to treat work that is unfinished when the trace ends: ``drop`` lets it hold its place
        until then and leaves its jobs out of all metrics. ``cap`` counts it as done after its
        observed time. ``estimate`` draws the rest from the Kaplan–Meier estimate of its class.
    window : str
        Count only jobs that were submitted in this part of the trace, such as +1h..+5h or
        22:00..06:00 (last night). Each end is a time of day, a time after the first submission such
        as +1h, a date such as 2011-05-01T22:00+02:00, or ms of the trace's clock. The time and the
        zone of a date may be left out. If you leave an end out, it is that of the trace.
    timezone : str, default "UTC"
        The time zone of the times shown, and of your times without one: UTC, +02:00, Europe/Berlin.
    validation : StrPath
        The model error of this trace, as ``resched validate --json`` prints it. Every answer then
        shows this error.
    seed : int, default 1
        The seed of all random draws.
    against : Source | Iterable[Source]
        Compare with another run of the same jobs: an observed trace, for example under other
        settings, or a run of ``replay``. Jobs are matched by id, or else by name. Given twice, it
        also shows how far the two runs differ. For two observed runs, this is their noise.
    skip : str | Iterable[str]
        Leave out jobs with this id or name. A ``*`` at the end matches any ending. Repeat the
        option for more.
    seeds : int, default 1
        The number of replays of each policy, each with the next seed. Errors are means over the
        replays.
    threads : int
        The largest number of replays that run at once.
    progress : bool or callable, default True
        Whether to show bars, or what to call with ``(label, done, total)``.

    Returns
    -------
    Result
        What the command found; ``str`` of it is what the command prints.
    """
    return made_result("validate", [trace], dict(policy=policy, cluster=cluster, site_conf=site_conf, nodes=nodes, slots=slots, cores=cores, memory=memory, assume=assume, unfinished=unfinished, window=window, timezone=timezone, validation=validation, seed=seed, against=against, skip=skip, seeds=seeds, threads=threads), progress)


def forecast(
    trace: str,
    *,
    policy: PolicyLike,
    history: Source | None = None,
    at: str | float | None = None,
    job: str | Iterable[str] | None = None,
    by: str | float | None = None,
    what_if: str | None = None,
    groups: bool = False,
    backtest: int | None = None,
    beside: PolicyLike | Iterable[PolicyLike] | None = None,
    draws: int = 100,
    last_jobs: int = 1000,
    out: StrPath | None = None,
    force: bool = False,
    cluster: StrPath | None = None,
    site_conf: StrPath | None = None,
    seed: int = 1,
    timezone: str = "UTC",
    threads: int | None = None,
    progress: bool | Progress = True,
) -> Result:
    """Forecast when waiting jobs start, with how sure that is, and test such forecasts on the log.

    Parameters
    ----------
    trace : str
        A trace of jobs that request processors or machines, such as one of Slurm's. With --history,
        the jobs that run and wait now: the output of ``squeue --json``, of ``squeue -o`` with the
        names of its columns, or of ``sacct -a -X -P -s R,PD``.
    policy : PolicyLike
        The policy that schedules the cluster, written as for ``replay``.
    history : Source
        The trace of the past, if the first argument is the list of jobs that run and wait now.
    at : str | float
        Forecast from the state at this time, with what was known then: ms of the trace's clock, a
        time after the first submission such as +30d, or a date such as 2026-03-01T08:00. With
        --history, when the list of jobs was made, if it does not say it.
    job : str | Iterable[str]
        The id of a waiting job. Repeat the option for more.
    by : str | float
        Also print the chance that a job starts by this time.
    what_if : str
        Also forecast the jobs with another time limit, such as limit=2h.
    groups : bool, default False
        Also forecast a job of each queue and size that is submitted at that time: a table for your
        users.
    backtest : int
        Test forecasts at so many past moments, each from what was known then. With --at, moments
        before that time; they also correct the forecast.
    beside : PolicyLike | Iterable[PolicyLike]
        In the back-test, also try this policy at the same moments: the log may fit it better.
        Repeat the option for more.
    draws : int, default 100
        How many futures are drawn at each moment.
    last_jobs : int, default 1000
        Of how many of the last jobs like it the law of a job's run time is made. Fewer follow a
        change faster, and are less sure.
    out : StrPath
        The folder for the table of the back-test, backtest.parquet.
    force : bool, default False
        Replace an existing file, or a result that was changed after resched wrote it, and print
        what is replaced. Without this option, the command refuses. All other files stay.
    cluster : StrPath
        The cluster file (TOML).
    site_conf : StrPath
        A folder with the configuration of your site, such as slurm.conf. Its settings replace the
        defaults. --policy and --cluster take precedence over them.
    seed : int, default 1
        The seed of all random draws.
    timezone : str, default "UTC"
        The time zone of the times shown, and of your times without one: UTC, +02:00, Europe/Berlin.
    threads : int
        The largest number of replays that run at once.
    progress : bool or callable, default True
        Whether to show bars, or what to call with ``(label, done, total)``.

    Returns
    -------
    Result
        What the command found; ``str`` of it is what the command prints.
    """
    return made_result("forecast", [trace], dict(policy=policy, history=history, at=at, job=job, by=by, what_if=what_if, groups=groups, backtest=backtest, beside=beside, draws=draws, last_jobs=last_jobs, out=out, force=force, cluster=cluster, site_conf=site_conf, seed=seed, timezone=timezone, threads=threads), progress)


def calibrate(
    trace: Source,
    *,
    out: StrPath,
    force: bool = False,
    site_conf: StrPath | None = None,
    progress: bool | Progress = True,
) -> Result:
    """Fit slots, heartbeats, locality factors and rates from the attempts of a trace, and write them as a cluster file.

    Parameters
    ----------
    trace : Source
        A trace with observed attempts, or a run of ``replay``.
    out : StrPath
        The cluster file (TOML) to write, for ``replay --cluster``. An earlier, unchanged result of
        ``calibrate`` is replaced.
    force : bool, default False
        Replace an existing file, or a result that was changed after resched wrote it, and print
        what is replaced. Without this option, the command refuses. All other files stay.
    site_conf : StrPath
        A folder with the configuration of your site. Its settings of the cluster are used as they
        are, and not fitted.
    progress : bool or callable, default True
        Whether to show bars, or what to call with ``(label, done, total)``.

    Returns
    -------
    Result
        What the command found; ``str`` of it is what the command prints.
    """
    return made_result("calibrate", [trace], dict(out=out, force=force, site_conf=site_conf), progress)


def reproduce(
    experiments: str | Iterable[str] | None = None,
    *,
    out: StrPath | None = None,
    force: bool = False,
    seeds: int = 15,
    threads: int | None = None,
    list: bool = False,
    progress: bool | Progress = True,
) -> Result:
    """Replay the papers' experiments and print the paper's number beside the replay's.

    Parameters
    ----------
    experiments : str | Iterable[str]
        The experiments to replay.
    out : StrPath
        The folder to write REPRODUCTION.md, index.html and the figures to. An earlier reproduction
        there is replaced.
    force : bool, default False
        Replace an existing file, or a result that was changed after resched wrote it, and print
        what is replaced. Without this option, the command refuses. All other files stay.
    seeds : int, default 15
        The number of seeds. Each case is replayed once with each seed. Cases that also draw their
        jobs use three times as many.
    threads : int
        The largest number of replays that run at once.
    list : bool, default False
        Only list the experiments.
    progress : bool or callable, default True
        Whether to show bars, or what to call with ``(label, done, total)``.

    Returns
    -------
    Result
        What the command found; ``str`` of it is what the command prints.
    """
    return made_result("reproduce", [*listed(experiments)], dict(out=out, force=force, seeds=seeds, threads=threads, list=list), progress)


def sweep(
    file: StrPath,
    *,
    out: StrPath | None = None,
    force: bool = False,
    site_conf: StrPath | None = None,
    most_cells: int | None = None,
    results: str | None = None,
    engine: str = "local",
    threads: int | None = None,
    check: bool = False,
    dry_run: bool = False,
    precision: str | float | None = None,
    robust: str | None = None,
    most_seeds: int = 200,
    scheduler: str | None = None,
    workers: int | None = None,
    python: StrPath = "python3",
    retries: int = 3,
    chunk: int | None = None,
    submit: bool = False,
    program: StrPath | None = None,
    progress: bool | Progress = True,
) -> Result:
    """Replay policies × parameters × worlds × seeds, and report which differences are real.

    Parameters
    ----------
    file : StrPath
        The sweep file (TOML).
    out : StrPath
        The folder of the sweep. Cells that are done there are not replayed again.
    force : bool, default False
        Replace an existing file, or a result that was changed after resched wrote it, and print
        what is replaced. Without this option, the command refuses. All other files stay.
    site_conf : StrPath
        A folder with the configuration of your site, in place of the ``site`` that the file names.
    most_cells : int
        The largest number of cells that the sweep may have.
    results : str
        The place for the results of cells, instead of the sweep's folder. It is a folder that all
        workers see, or an object store (s3://bucket/prefix). Credentials come from the environment.
    engine : str, default "local"
        Where to replay the cells.
    threads : int
        The largest number of replays that run at once.
    check : bool, default False
        Check each replay against rules that always hold, such as that no node is overfull. A broken
        rule ends the command with status 1. Cells that are done are not replayed, so they are not
        checked.
    dry_run : bool, default False
        Only print the cells and an estimate of the time.
    precision : str | float
        Add seeds until the 95 % interval of each setting's mean extends at most this share from the
        mean, for example 2%.
    robust : str
        How to test whether each setting stays better or worse than the baseline if unknown values
        vary.
    most_seeds : int, default 200
        The largest number of seeds that --precision may use.
    scheduler : str
        The address of a scheduler, for example tcp://host:8786. Without it, a cluster is started on
        this machine.
    workers : int
        The number of tasks that run at once in a cluster on this machine.
    python : StrPath, default "python3"
        A Python with the package ``distributed``.
    retries : int, default 3
        How often to repeat a task if its worker is lost.
    chunk : int
        The number of cells in one task.
    submit : bool, default False
        Submit the batch script of Slurm with sbatch.
    program : StrPath
        The path of resched on the workers.
    progress : bool or callable, default True
        Whether to show bars, or what to call with ``(label, done, total)``.

    Returns
    -------
    Result
        What the command found; ``str`` of it is what the command prints.
    """
    return made_result("sweep", [file], dict(out=out, force=force, site_conf=site_conf, most_cells=most_cells, results=results, engine=engine, threads=threads, check=check, dry_run=dry_run, precision=precision, robust=robust, most_seeds=most_seeds, scheduler=scheduler, workers=workers, python=python, retries=retries, chunk=chunk, submit=submit, program=program), progress)


def tune(
    file: StrPath,
    *,
    out: StrPath,
    force: bool = False,
    site_conf: StrPath | None = None,
    most_cells: int | None = None,
    threads: int | None = None,
    progress: bool | Progress = True,
) -> Result:
    """Search for the parameters that minimise an objective, by successive halving over seeds.

    Parameters
    ----------
    file : StrPath
        A sweep file (TOML) with a table [tune]: objective, bounds, candidates.
    out : StrPath
        The folder of the search. Cells that are done there are not replayed again.
    force : bool, default False
        Replace an existing file, or a result that was changed after resched wrote it, and print
        what is replaced. Without this option, the command refuses. All other files stay.
    site_conf : StrPath
        A folder with the configuration of your site, in place of the ``site`` that the file names.
    most_cells : int
        The largest number of cells that the sweep may have.
    threads : int
        The largest number of replays that run at once.
    progress : bool or callable, default True
        Whether to show bars, or what to call with ``(label, done, total)``.

    Returns
    -------
    Result
        What the command found; ``str`` of it is what the command prints.
    """
    return made_result("tune", [file], dict(out=out, force=force, site_conf=site_conf, most_cells=most_cells, threads=threads), progress)


def size(
    trace: Source,
    *,
    policy: PolicyLike,
    metric: str,
    below: str | float | None = None,
    above: str | float | None = None,
    vary: str = "nodes",
    partition: str | None = None,
    from_: int = 1,
    to: int | None = None,
    seeds: int = 3,
    out: StrPath | None = None,
    force: bool = False,
    robust: str = "quick",
    cluster: StrPath | None = None,
    site_conf: StrPath | None = None,
    nodes: int | None = None,
    slots: str | None = None,
    cores: str | float | None = None,
    memory: str | float | None = None,
    assume: bool = False,
    unfinished: str = "drop",
    window: str | None = None,
    timezone: str = "UTC",
    validation: StrPath | None = None,
    seed: int = 1,
    threads: int | None = None,
    progress: bool | Progress = True,
) -> Result:
    """Find the smallest cluster that keeps a metric within a bound.

    Parameters
    ----------
    trace : Source
        A trace, or a workload file (TOML).
    policy : PolicyLike
        The policy, written as for ``replay``.
    metric : str
        The metric: a name such as mean_waiting, or an expression such as "p95(completion) where
        queue = 'adhoc'".
    below : str | float
        The upper bound of the metric, for example 30s, 5min or 0.9.
    above : str | float
        The lower bound of the metric, for example 90%.
    vary : str, default "nodes"
        What to vary.
    partition : str
        Vary the nodes of this partition alone, under the policy ``slurm``. The other partitions
        keep their nodes. It needs --site-conf with the nodes and partitions of the cluster.
    from_ : int, default 1
        The smallest size to try.
    to : int
        The largest size to try.
    seeds : int, default 3
        The number of replays at each size, each with the next seed. The metric is the mean over
        them.
    out : StrPath
        The folder for the curve, the tables and the page. It also keeps finished replays, so that
        you can resume an interrupted search.
    force : bool, default False
        Replace an existing file, or a result that was changed after resched wrote it, and print
        what is replaced. Without this option, the command refuses. All other files stay.
    robust : str, default "quick"
        How to test whether the answer holds if unknown values vary, such as the cost of distance.
        ``full`` tries every variant; ``quick`` tries at most as many as the search made replays;
        ``off`` skips the test.
    cluster : StrPath
        The cluster file (TOML); ``resched calibrate`` writes one.
    site_conf : StrPath
        A folder with the configuration of your site: Hadoop's (mapred-site.xml, fair-scheduler.xml,
        …), Spark's (spark-defaults.conf, fairscheduler.xml) or Slurm's (slurm.conf, qos.txt, …).
        Its settings replace the defaults. --policy, --cluster and the options below take precedence
        over them.
    nodes : int
        The number of machines. The machines of the trace or of the cluster file are cut or cloned
        to this number.
    slots : str
        The map slots and reduce slots of every Hadoop machine, for example 2+2. They replace those
        of the trace.
    cores : str | float
        The cores of a machine under the policies for production traces. With --nodes, they apply to
        all machines; otherwise, to machines without a size in the trace. If the trace gives sizes
        as shares, like Google's, the largest machine has 1000.
    memory : str | float
        The memory of such a machine: bytes, or a number with a unit such as 64GiB or 64GB. If the
        trace gives sizes as shares, the largest machine has 1TB.
    assume : bool, default False
        Use defaults for missing slots and machine sizes. Without it, missing values are an error.
    unfinished : str, default "drop"
        How to treat work that is unfinished when the trace ends: ``drop`` lets it hold its place
        until then and leaves its jobs out of all metrics. ``cap`` counts it as done after its
        observed time. ``estimate`` draws the rest from the Kaplan–Meier estimate of its class.
    window : str
        Count only jobs that were submitted in this part of the trace, such as +1h..+5h or
        22:00..06:00 (last night). Each end is a time of day, a time after the first submission such
        as +1h, a date such as 2011-05-01T22:00+02:00, or ms of the trace's clock. The time and the
        zone of a date may be left out. If you leave an end out, it is that of the trace.
    timezone : str, default "UTC"
        The time zone of the times shown, and of your times without one: UTC, +02:00, Europe/Berlin.
    validation : StrPath
        The model error of this trace, as ``resched validate --json`` prints it. Every answer then
        shows this error.
    seed : int, default 1
        The seed of all random draws.
    threads : int
        The largest number of replays that run at once.
    progress : bool or callable, default True
        Whether to show bars, or what to call with ``(label, done, total)``.

    Returns
    -------
    Result
        What the command found; ``str`` of it is what the command prints.
    """
    return made_result("size", [trace], dict(policy=policy, metric=metric, below=below, above=above, vary=vary, partition=partition, from_=from_, to=to, seeds=seeds, out=out, force=force, robust=robust, cluster=cluster, site_conf=site_conf, nodes=nodes, slots=slots, cores=cores, memory=memory, assume=assume, unfinished=unfinished, window=window, timezone=timezone, validation=validation, seed=seed, threads=threads), progress)


def generate(
    workload: StrPath,
    *,
    out: StrPath,
    force: bool = False,
    seed: int = 1,
    most_tasks: int = 20000000,
    progress: bool | Progress = True,
) -> Trace:
    """Generate a synthetic trace from a workload file.

    Parameters
    ----------
    workload : StrPath
        The workload file (TOML). ``traces/`` has those of the papers.
    out : StrPath
        The folder to write the trace to. An earlier trace there is replaced.
    force : bool, default False
        Replace an existing file, or a result that was changed after resched wrote it, and print
        what is replaced. Without this option, the command refuses. All other files stay.
    seed : int, default 1
        The seed of all random draws.
    most_tasks : int, default 20000000
        The largest number of tasks that the workload may have.
    progress : bool or callable, default True
        Whether to show bars, or what to call with ``(label, done, total)``.

    Returns
    -------
    Trace
        The trace in ``out``.
    """
    return made_trace("generate", [workload], dict(out=out, force=force, seed=seed, most_tasks=most_tasks), progress)


def export(
    source: Source,
    *,
    format: str,
    out: StrPath,
    force: bool = False,
    progress: bool | Progress = True,
) -> Result:
    """Write a trace or a run in another tool's format: Rumen, SWF, Batsim's list of jobs, OpenDC, or metrics for Prometheus.

    Parameters
    ----------
    source : Source
        The folder of the trace or the run.
    format : str
        The format to write. ``rumen`` has jobs, ``rumen-topology`` machines, and ``batsim-jobs`` is
        the CSV that evalys reads. ``opendc`` is a folder with tasks and fragments in Parquet.
        ``openmetrics`` has waiting and running jobs over time, and ``grafana`` is a dashboard for
        these.
    out : StrPath
        The file or folder to write. A file is gzipped if its name ends in ``.gz``.
    force : bool, default False
        Replace an existing file, or a result that was changed after resched wrote it, and print
        what is replaced. Without this option, the command refuses. All other files stay.
    progress : bool or callable, default True
        Whether to show bars, or what to call with ``(label, done, total)``.

    Returns
    -------
    Result
        What the command found; ``str`` of it is what the command prints.
    """
    return made_result("export", [source], dict(format=format, out=out, force=force), progress)


def anonymise(
    trace: Source,
    *,
    out: StrPath,
    force: bool = False,
    key: StrPath | None = None,
    progress: bool | Progress = True,
) -> Trace:
    """Replace the names in a trace by keyed hashes, so that you can share it.

    Parameters
    ----------
    trace : Source
        The trace folder.
    out : StrPath
        The folder to write the new trace to. An earlier trace there is replaced.
    force : bool, default False
        Replace an existing file, or a result that was changed after resched wrote it, and print
        what is replaced. Without this option, the command refuses. All other files stay.
    key : StrPath
        A file with your own key, at least 16 bytes. Without it, a new key is written to
        ``<TRACE>.key``, which only its owner can read. Keep the key secret, and never ship it with
        the trace.
    progress : bool or callable, default True
        Whether to show bars, or what to call with ``(label, done, total)``.

    Returns
    -------
    Trace
        The trace in ``out``.
    """
    return made_trace("anonymise", [trace], dict(out=out, force=force, key=key), progress)


def scale(
    trace: Source,
    *,
    out: StrPath,
    force: bool = False,
    jobs: str | float = 1,
    time: str | float = 1,
    nodes: str | float = 1,
    from_: str | float | None = None,
    to: str | float | None = None,
    seed: int = 1,
    progress: bool | Progress = True,
) -> Trace:
    """Make a trace smaller or denser, or cut a time window out of it.

    Parameters
    ----------
    trace : Source
        The trace folder.
    out : StrPath
        The folder to write the new trace to. An earlier trace there is replaced.
    force : bool, default False
        Replace an existing file, or a result that was changed after resched wrote it, and print
        what is replaced. Without this option, the command refuses. All other files stay.
    jobs : str | float, default 1
        The share of the jobs to keep, for example 0.1.
    time : str | float, default 1
        The factor for the gaps between submissions: 2 makes them twice as long, 0.5 half as long.
    nodes : str | float, default 1
        The share of the machines to keep, rack by rack.
    from_ : str | float
        The start of the window: milliseconds, a date (2009-04-21T17:46:02Z), or a time after the
        first submission (+2h).
    to : str | float
        The end of the window, which is not part of it; written like --from.
    seed : int, default 1
        The seed of the random sample.
    progress : bool or callable, default True
        Whether to show bars, or what to call with ``(label, done, total)``.

    Returns
    -------
    Trace
        The trace in ``out``.
    """
    return made_trace("scale", [trace], dict(out=out, force=force, jobs=jobs, time=time, nodes=nodes, from_=from_, to=to, seed=seed), progress)


def policies(
    name: str | None = None,
    *,
    progress: bool | Progress = True,
) -> Result:
    """List every policy and speculator, or show the parameters and the source of one.

    Parameters
    ----------
    name : str
        Show only this policy or speculator. Values in ``name:key=value,…`` are checked.
    progress : bool or callable, default True
        Whether to show bars, or what to call with ``(label, done, total)``.

    Returns
    -------
    Result
        What the command found; ``str`` of it is what the command prints.
    """
    return made_result("policies", [name], dict(), progress)


def verify(
    paths: StrPath | Iterable[StrPath],
    *,
    progress: bool | Progress = True,
) -> Result:
    """Check every file of traces, runs, sweeps and reports against the hashes that were taken when they were written.

    Parameters
    ----------
    paths : StrPath | Iterable[StrPath]
        Folders of traces, runs, sweeps, searches, reports or reproductions, or folders of these.
    progress : bool or callable, default True
        Whether to show bars, or what to call with ``(label, done, total)``.

    Returns
    -------
    Result
        What the command found; ``str`` of it is what the command prints.
    """
    return made_result("verify", [*listed(paths)], dict(), progress)
