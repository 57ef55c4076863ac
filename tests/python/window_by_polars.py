"""Sets windows on the page of a report in Chromium, and compares every number of its tables, sentences and charts with what polars
computes from `jobs.parquet` beside it: CHROMIUM PAGE ZONE.

ZONE is the zone of the report. Fails with what did not hold.
"""

import re
import sys
import unicodedata
from datetime import datetime, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import polars as pl
from playwright.sync_api import sync_playwright

CHROMIUM, PAGE, ZONE = sys.argv[1], Path(sys.argv[2]).resolve(), ZoneInfo(sys.argv[3])
# The first submission, ms since the epoch.
ZERO = int(sys.argv[4])
LENGTHS = {"ms": 1, "s": 1e3, "min": 60e3, "h": 3600e3}
MOST_GROUPS, FLOORS = 24, [10, 5, 2]
UNKNOWN = "\u2013"

COUNTED = pl.read_parquet(PAGE.parent / "jobs.parquet").filter(pl.col("standing") == "counts")
LABELS = COUNTED["run"].unique(maintain_order=True).to_list()
BASELINE = LABELS[0]
FIRST = COUNTED["submit"].min()
SPAN = int(COUNTED["finish"].max() - FIRST)


def visible(name):
    """A name as the page shows it: what would steer a terminal or turn the order of letters is written out."""
    steers = lambda letter: unicodedata.category(letter) == "Cc" or letter in "\u061c\u200e\u200f" or "\u2028" <= letter <= "\u202e" or "\u2066" <= letter <= "\u206f"
    return "".join(f"\\u{ord(letter):04x}" if steers(letter) else letter for letter in name)


def classed(jobs):
    """The jobs with their class of size, by the number of tasks in the first run, and their hour by the clock."""
    tasks = sorted(jobs.filter(pl.col("run") == BASELINE)["tasks_done"].to_list())
    small, large = tasks[(len(tasks) - 1) // 2], tasks[len(tasks) - -(-len(tasks) // 10)]
    hours = [str(datetime.fromtimestamp((ZERO + at - FIRST) / 1e3, timezone.utc).astimezone(ZONE).hour) for at in jobs["submit"]]
    done = pl.col("tasks_done")
    size = pl.when(done <= small).then(pl.lit("small")).when(done >= large).then(pl.lit("large")).otherwise(pl.lit("medium"))
    named = lambda name: pl.col(name).fill_null(UNKNOWN).map_elements(visible, return_dtype=pl.String)
    return jobs.with_columns(size=size, hour=pl.Series(hours), user=named("user"), queue=named("queue"))


def check(holds, what):
    """Fails with `what`, unless it holds."""
    if not holds:
        sys.exit(f"{PAGE.name}: {what}")


def shows(text, value, what):
    """Checks that a text shows a number: a time, a change in per cent, a share, a factor or a plain number."""
    text = text.strip().replace("\u2212", "-").replace(",", "")
    if value is None:
        return check(text == UNKNOWN, f"{what}: expected nothing, found {text!r}")
    found = re.fullmatch(r"([+-]?[0-9]+(?:\.([0-9]+))?)(?: (ms|s|min|h|%|\u00d7))?", text)
    check(found, f"{what}: expected {value}, found {text!r}")
    number, decimals, unit = float(found[1]), len(found[2] or ""), found[3]
    value = value / LENGTHS[unit] if unit in LENGTHS else 100 * value if unit == "%" else value
    # Half of the last digit, and what the page rounds to whole ms.
    check(abs(number - value) <= 0.5 * 10**-decimals + 1e-4 + 1e-9 * abs(value), f"{what}: expected {value}, found {text!r}")


def change(after, before):
    """A ratio as the page shows it: a change, or a factor from 10 on."""
    if not (after and before and after > 0 and before > 0):
        return None
    return after / before - 1 if after / before < 10 else after / before


def overview(own):
    """The main table: the numbers of some jobs of a run by name."""
    makespan = own["finish"].max() - own["submit"].min()
    bounded = own.with_columns(bounded=pl.max_horizontal(pl.lit(1.0), pl.col("completion") / pl.max_horizontal(pl.col("execution"), pl.lit(10_000))))
    users = bounded.filter(pl.col("user") != UNKNOWN).group_by("user").agg(pl.col("bounded").mean())["bounded"]
    maps = own["node_local"].sum() + own["rack_local"].sum() + own["off_rack"].sum()
    share = lambda name: own[name].sum() / maps if maps else None
    return {
        "mean_completion_ms": own["completion"].mean(),
        "median_completion_ms": own["completion"].median(),
        "p95_completion_ms": own["completion"].quantile(0.95, "linear"),
        "mean_waiting_ms": own["waiting"].mean(),
        "p95_waiting_ms": own["waiting"].quantile(0.95, "linear"),
        "mean_starvation_ms": own["starvation"].mean(),
        "makespan_ms": makespan,
        "mean_slowdown": own["slowdown"].mean(),
        "mean_bounded_slowdown": bounded["bounded"].mean(),
        "user_fairness": users.sum() ** 2 / (len(users) * (users**2).sum()) if len(users) > 1 else None,
        "mean_queue_length": own["waiting"].fill_null(own["completion"]).sum() / makespan if makespan else None,
        "jobs_per_hour": own.height / (makespan / 3600e3) if makespan else None,
        "node_local": share("node_local"),
        "rack_local": share("rack_local"),
        "off_rack": share("off_rack"),
        "jobs_counted": own.height,
        "tasks": own["tasks_done"].sum(),
    }


def paired(jobs, label):
    """The completion and waiting times of jobs in the baseline and in a run."""
    base, own = (jobs.filter(pl.col("run") == run) for run in (BASELINE, label))
    return base.join(own, on="job_id", suffix="_after", maintain_order="left")


def cells(row):
    return [cell.inner_text() for cell in row.locator("th, td").all()]


def rows(page, selector):
    """The cells of the rows of a table, read at once."""
    script = "(table) => [...table.tBodies[0].rows].filter((row) => !row.hidden).map((row) => [...row.cells].map((cell) => cell.textContent.trim()))"
    return page.locator(selector).evaluate(script)


def try_overview(page, jobs):
    names = page.locator("table.overview").evaluate("(table) => [...table.tBodies[0].rows].filter((row) => !row.hidden).map((row) => row.dataset.measure)")
    found = dict(zip(names, rows(page, "table.overview"), strict=True))
    numbers = {label: overview(jobs.filter(pl.col("run") == label)) for label in LABELS}
    check({"mean_completion_ms", "p95_completion_ms", "p95_waiting_ms", "makespan_ms", "tasks"} <= set(found), f"the main table has {list(found)}")
    for name, row in found.items():
        for label, text in zip(LABELS, row[1:], strict=True):
            shows(text, numbers[label].get(name), f"{name} of {label}")


def try_comparisons(page, jobs):
    table = rows(page, "#comparisons")
    check(len(table) == 2 * (len(LABELS) - 1), f"{len(table)} rows of comparisons")
    for row in table:
        name = {"Completion time": "completion", "Waiting time": "waiting"}[row[0]]
        pairs = paired(jobs, row[1]).drop_nulls([name, f"{name}_after"])
        before, after = pairs[name], pairs[f"{name}_after"]
        what = f"{row[0]} of {row[1]}"
        shows(row[2], pairs.height, what)
        shows(row[3], change(after.mean(), before.mean()), what)
        for text, share in zip(row[4:7], (0.5, 0.95, 0.99), strict=True):
            shows(text, change(after.quantile(share, "linear"), before.quantile(share, "linear")), what)
        least = pairs.select((pl.max_horizontal(f"{name}_after", pl.lit(1000)) / pl.max_horizontal(name, pl.lit(1000))).mean()).item()
        shows(row[7], change(least, 1) if name == "completion" else None, what)


def group_numbers(jobs, label):
    own = jobs.filter(pl.col("run") == label)
    quantiles = [own[name].quantile(share, "linear") for name in ("completion", "waiting") for share in (0.5, 0.95, 0.99)]
    if label == BASELINE:
        return [own.height, *quantiles, None, None, None, None]
    pairs = paired(jobs, label)
    delta = pairs["completion_after"] - pairs["completion"]
    # A change matters from 5 % and a second on.
    least = pairs.select(pl.max_horizontal(pl.lit(1000), 0.05 * pl.col("completion"))).to_series()
    return [own.height, *quantiles, delta.mean(), delta.mean() / pairs["completion"].mean(), (delta < -least).sum(), (delta > least).sum()]


def ranked(groups, by):
    """The names of the groups that a table shows, in its order: those that lose most first."""
    large = lambda floor: [group for group in groups if group[1] >= floor]
    floor = next((floor for floor in FLOORS if len(large(floor)) >= 2), 1) if len(groups) > MOST_GROUPS else 1
    own = sorted(large(floor), key=lambda group: -group[2])
    own = own if len(own) <= MOST_GROUPS else own[: MOST_GROUPS // 2] + own[-MOST_GROUPS // 2 :]
    if by == "hour":
        own.sort(key=lambda group: int(group[0]))
    return [group[0] for group in (sorted(own) if by == "size" else own)], len(groups) - len(large(floor))


def try_groups(page, jobs, by):
    table = rows(page, f"table[data-by={by}]")
    of_name = {name: own for (name,), own in jobs.group_by(by)}
    losses = {name: max(group_numbers(own, label)[7] for label in LABELS[1:]) for name, own in of_name.items()}
    # Equal losses stand in the order of names, an unknown name last.
    order = sorted(of_name, key=lambda name: (name == UNKNOWN, name))
    groups = [(name, of_name[name].filter(pl.col("run") == BASELINE).height, losses[name]) for name in order]
    names, small = ranked(groups, by)
    found = list(dict.fromkeys(row[0] for row in table))
    check(found == names, f"by {by}: expected {names}, found {found}")
    note = page.locator(f"details:has(table[data-by={by}]) .left-out").text_content()
    check(small == 0 or note.startswith(f"{small} group"), f"by {by}: {small} small groups, found {note!r}")
    for row in table:
        for text, value in zip(row[2:], group_numbers(of_name[row[0]], row[1]), strict=True):
            shows(text, value, f"{row[0]} under {row[1]}")


def try_slowed(page, jobs):
    parts = []
    for label in LABELS[1:]:
        pairs = paired(jobs, label)
        parts.append(pairs.select("job_id", "completion", "completion_after", label=pl.lit(label),
                                  slowed=pl.col("completion_after") / pl.max_horizontal("completion", pl.lit(10_000))))
    worst = pl.concat(parts).filter(pl.col("slowed") > 1).sort("slowed", descending=True, maintain_order=True).head(10)
    table = rows(page, "#slowed")
    check(len(table) == worst.height, f"{len(table)} slowed jobs, expected {worst.height}")
    for row, own in zip(table, worst.iter_rows(named=True), strict=True):
        shows(row[7], own["slowed"], "slowed")
        both = jobs.filter((pl.col("job_id") == row[0]) & (pl.col("run").is_in([BASELINE, row[4]])))
        check(both.height == 2, f"the slowed job {row[0]} is not in the window")
        before, after = (both.filter(pl.col("run") == run)["completion"].item() for run in (BASELINE, row[4]))
        shows(row[5], before, row[0])
        shows(row[6], after, row[0])


def try_sentences(page, jobs):
    numbers = {label: overview(jobs.filter(pl.col("run") == label)) for label in LABELS}
    answer = page.locator("p.answer").inner_text()
    all_jobs = jobs.filter(pl.col("run") == BASELINE).height
    check(answer.startswith(f"{all_jobs:,} job"), f"the answer is {answer!r}, of {all_jobs} jobs")
    best = min(LABELS, key=lambda label: numbers[label]["mean_completion_ms"])
    check(f"{best} has the least mean completion time" in answer, f"{best} is the best, found {answer!r}")
    times = re.findall(r"[0-9.]+ (?:s|min|h)\b", answer)
    for text, label in zip(times, [best] if best == BASELINE else [best, BASELINE], strict=True):
        shows(text, numbers[label]["mean_completion_ms"], answer)
    sentences = page.locator("ul.sentences li").all()
    check(len(sentences) == len(LABELS) - 1, f"{len(sentences)} sentences")
    for sentence, label in zip(sentences, LABELS[1:], strict=True):
        text = sentence.inner_text()
        pairs = paired(jobs, label)
        before, after = pairs["completion"], pairs["completion_after"]
        number = r"([+\u2212]?[0-9.,]+ (?:s|min|h|%|\u00d7)|\u2013)"
        found = re.fullmatch(rf"(.*) takes {number} on average against {number} \(mean {number}, median {number}, p95 {number}\): "
                             rf"([0-9,]+) of ([0-9,]+) jobs complete sooner, ([0-9,]+) later\. Mean waiting {number} to {number}\.", text)
        check(found and found[1] == label, f"the sentence of {label} is {text!r}")
        quantiles = [change(after.quantile(share, "linear"), before.quantile(share, "linear")) for share in (0.5, 0.95)]
        least = pairs.select(pl.max_horizontal(pl.lit(1000), 0.05 * pl.col("completion"))).to_series()
        expected = [after.mean(), before.mean(), change(after.mean(), before.mean()), *quantiles, (before - after > least).sum(), pairs.height,
                    (after - before > least).sum(), pairs["waiting"].mean(), pairs["waiting_after"].mean()]
        for part, value in zip(found.groups()[1:], expected, strict=True):
            shows(part, value, text)


def try_window_table(page, jobs):
    base = jobs.filter(pl.col("run") == BASELINE)["completion"].mean()
    for row, label in zip(rows(page, "#window-table"), LABELS, strict=True):
        own = jobs.filter(pl.col("run") == label)["completion"]
        expected = [own.len(), own.mean(), own.median(), own.quantile(0.95, "linear"), None if label == BASELINE else own.mean() / base - 1]
        for text, value in zip(row[1:], expected, strict=True):
            shows(text, value, f"the window under {label}")


def try_jobs(page, jobs):
    base = jobs.filter(pl.col("run") == BASELINE).sort("submit", maintain_order=True)
    found = page.locator("#jobs-found").inner_text()
    check(found.startswith(f"{base.height:,} of "), f"{base.height} jobs are in the window, found {found!r}")
    heads = [head.strip() for head in page.locator("#all-jobs > thead th").all_inner_texts()]
    ids = {(run, job): ms for run, job, ms in jobs.select("run", "job_id", "completion").iter_rows()}
    submits = dict(base.select("job_id", "submit").iter_rows())
    for row in rows(page, "#all-jobs"):
        job = row[heads.index("Id")]
        submitted = datetime.fromtimestamp((ZERO + submits[job] - FIRST) / 1e3, timezone.utc).astimezone(ZONE)
        check(submitted.strftime("%Y-%m-%d %H:%M:%S") in row, f"{job} was submitted at {submitted}, found {row}")
        for label, text in zip(LABELS, row[-len(LABELS):], strict=True):
            shows(text, ids[(label, job)], f"{job} under {label}")


def readings(page, chart, steps):
    """What a chart reads out at some places."""
    plot = page.locator(f"#chart-{chart} .plot")
    plot.focus()
    for _ in range(steps):
        page.keyboard.press("ArrowRight")
        yield page.locator(f"#chart-{chart} .reader").inner_text()


def try_charts(page, jobs):
    """The distribution is of the jobs in the window; a chart over time shows what waits at each time."""
    for text in readings(page, "distribution", 12):
        at, *values = [part.split(":", 1) if ":" in part else part.rsplit(" ", 2) for part in text.split("; ")]
        ms = re.search(r"([0-9.]+) (s|min|h)", text)
        place, half = float(ms[1]) * LENGTHS[ms[2]], 0.5 * 10 ** -len(ms[1].partition(".")[2]) * LENGTHS[ms[2]] + 1
        for label, share in zip(LABELS, re.findall(r"([0-9.]+) %", text), strict=True):
            own = jobs.filter(pl.col("run") == label)["completion"]
            low, high = ((own <= place + shift).mean() for shift in (-half, half))
            check(low - 6e-4 <= float(share) / 100 <= high + 6e-4, f"{label}: {share} % at {place}, expected {low} to {high}")
    whole = COUNTED.with_columns(since=pl.col("submit") - FIRST)
    for text in readings(page, "waiting_jobs", 12):
        ms = re.search(r"\(([0-9.]+) (s|min|h)\)", text)
        check(ms, f"a chart over time reads {text!r}")
        place, half = float(ms[1]) * LENGTHS[ms[2]], 0.5 * 10 ** -len(ms[1].partition(".")[2]) * LENGTHS[ms[2]] + 1
        for label, number in zip(LABELS, re.findall(r"([0-9.]+) jobs?", text), strict=True):
            own = whole.filter(pl.col("run") == label)
            # A step may lie within what the text leaves open.
            changes = [shift for shift in range(int(-half), int(half) + 1)]
            counts = {((own["since"] <= place + shift) & (place + shift < own["since"] + own["waiting"])).sum() for shift in changes}
            check(float(number) in counts, f"{label}: {number} jobs wait at {place}, expected one of {counts}")


def try_window(page, from_ms, to_ms):
    """Everything on the page in a window. Returns its jobs."""
    since = pl.col("submit") - FIRST
    jobs = classed(COUNTED).filter((since >= from_ms) & (since <= to_ms))
    try_overview(page, jobs)
    try_comparisons(page, jobs)
    for by in page.locator("table[data-by]").evaluate_all("(tables) => tables.map((table) => table.dataset.by)"):
        try_groups(page, jobs, by)
    try_slowed(page, jobs)
    try_sentences(page, jobs)
    try_window_table(page, jobs)
    try_jobs(page, jobs)
    try_charts(page, jobs)
    # What cannot follow is not there.
    check(not any(part.is_visible() for part in page.locator("[data-whole], figure > svg").all()), "something of the whole run is shown")
    check(page.locator("#in-window").is_visible(), "nothing says that there is a window")


def settle(page):
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def opened(browser, address, complaints):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.on("console", lambda message: complaints.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
    page.on("dialog", lambda dialog: (complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.goto(PAGE.as_uri() + address)
    page.wait_for_selector("html.scripted")
    settle(page)
    return page


# Addresses that ask for what is not there, or would do harm if anything took them for more than a text.
HOSTILE = [
    "#from=NaN&to=Infinity",
    "#from=9&to=1",
    "#from=-99999999999999999999&to=1e999",
    "#measure=__proto__&off=0.1.2.99.x&sort=999.up&size=constructor",
    "#search=<img src=x onerror=alert(1)>&user=</script><script>alert(2)</script>&job=<svg onload=alert(3)>",
    "#job=__proto__&queue=%00%ff%E2%80%AE&sort=-1.down",
    "#" + "a=" + "x" * 100_000,
    "#=&=&==%",
]


def main():
    with sync_playwright() as playwright:
        complaints = []
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = opened(browser, "", complaints)
        whole = page.locator("main").inner_text()
        before = {by: rows(page, f"table[data-by={by}]") for by in page.locator("table[data-by]").evaluate_all("(tables) => tables.map((table) => table.dataset.by)")}
        # The groups of the whole run are ranked as those of a window.
        for by in before:
            try_groups(page, classed(COUNTED), by)
        for low, high in [(0.2, 0.7), (0.5, 0.51), (0.0, 0.4), (0.3, 1.0)]:
            from_ms, to_ms = int(SPAN * low), int(SPAN * high)
            page = opened(browser, f"#from={from_ms}&to={to_ms}", complaints)
            try_window(page, from_ms, to_ms)
            # Back to the whole run, the page is as it was written.
            page.locator("#in-window button").click()
            settle(page)
            check(before == {by: rows(page, f"table[data-by={by}]") for by in before}, "the groups of the whole run do not come back")
            check(page.locator("p.answer").inner_text() in whole, "the answer of the whole run does not come back")
        # A link leads to the view that the reader had.
        page.locator("#job-search").fill("job_1_00")
        page.get_by_label("Time of jobs").select_option("waiting")
        page.locator("#all-jobs tbody button").nth(2).click()
        page.get_by_role("button", name="Zoom in").click()
        settle(page)
        settle(page)
        link = page.locator("#view").get_attribute("href")
        check(page.evaluate("location.hash") == link, f"the address is {page.evaluate('location.hash')!r}, the link {link!r}")
        other = opened(browser, link, complaints)
        for part in ["#window", "#jobs-found", "#window-table", "#all-jobs"]:
            one, two = page.locator(part).inner_text(), other.locator(part).inner_text()
            check(one == two, f"{part} behind the link is {two!r}, not {one!r}")
        for address in HOSTILE:
            page = opened(browser, address, complaints)
            check(page.locator("main").inner_text().startswith(whole[:200]), f"{address[:80]}: the page is another")
            check(page.locator("#window").inner_text() == "the whole run", f"{address[:80]}: there is a window")
        check(complaints == [], f"the page complains: {complaints[:5]}")
        browser.close()


main()
