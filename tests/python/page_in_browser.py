"""Tries out a page of resched in Chromium: CHROMIUM KIND PAGE PICTURES.

KIND is `report` for a page with interactive charts and a table of jobs, or `tables`. Fails with what did not hold. Writes pictures of the
page on a desktop, on a phone, in the dark and on paper to the folder PICTURES.
"""

import csv
import io
import re
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

CHROMIUM, KIND, PAGE, PICTURES = sys.argv[1], sys.argv[2], Path(sys.argv[3]).resolve(), Path(sys.argv[4])
NAME = PAGE.parent.name + "-" + PAGE.stem
# A sheet of A4 across, without its margins, in CSS pixels.
SHEET = 1030
# The most pixels that a page may be high on a phone.
HIGHEST = 20_000

# The words of a table that stand on more than one line though they have a place to break or are short.
BROKEN = """() => {
  const broken = [];
  for (const cell of document.querySelectorAll("th, td:not(.any)")) {
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      for (const found of node.textContent.matchAll(/[A-Za-z0-9.]{2,20}/g)) {
        const range = document.createRange();
        range.setStart(node, found.index);
        range.setEnd(node, found.index + found[0].length);
        const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
        // A name without any place to break has to break somewhere.
        const whole = node.textContent.split(/[\\s-]/).find((word) => word.includes(found[0])) ?? "";
        if (lines.size > 1 && whole.length <= 24) broken.push(found[0]);
      }
    }
  }
  return broken;
}"""

# What cannot be read out: controls without a name, pictures without a text.
UNNAMED = """() => {
  const named = (control) => (control.labels?.length ?? 0) > 0 || control.getAttribute("aria-label") || control.textContent.trim();
  const controls = [...document.querySelectorAll("button, input, select")].filter((control) => !named(control));
  const pictures = [...document.querySelectorAll("figure > svg")]
    .filter((svg) => svg.getAttribute("role") !== "img" || !svg.querySelector(":scope > title")?.textContent);
  const plots = [...document.querySelectorAll(".plot")].filter((plot) => !plot.getAttribute("aria-label"));
  return [...controls, ...pictures, ...plots].map((element) => element.outerHTML.slice(0, 100));
}"""

# Tables that reach beyond the page.
CLIPPED = """(width) => [...document.querySelectorAll("table")].filter((table) => table.getClientRects().length > 0)
  .filter((table) => table.getBoundingClientRect().right > width + 1).map((table) => table.id || table.textContent.trim().slice(0, 40))"""


def check(holds, what):
    """Fails with `what`, unless it holds."""
    if not holds:
        sys.exit(f"{PAGE.name}: {what}")


class Trial:
    """The page in a window of its own. Everything that it asks for or complains about is kept."""

    def __init__(self, browser, width=1280, height=900, **more):
        self.context = browser.new_context(viewport={"width": width, "height": height}, accept_downloads=True, **more)
        self.page = self.context.new_page()
        self.complaints = []
        self.page.on("console", lambda message: self.complaints.append(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: (self.complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        self.page.on("request", lambda request: self.asked(request.url))
        self.page.goto(PAGE.as_uri())
        if KIND == "report" and more.get("java_script_enabled", True):
            self.page.wait_for_selector("html.scripted")

    def asked(self, address):
        if address != PAGE.as_uri() and not address.startswith(("data:,", "blob:")):
            self.complaints.append(f"request: {address}")

    def __enter__(self):
        return self.page

    def __exit__(self, *_):
        check(self.complaints == [], f"the page complains: {self.complaints}")
        self.context.close()


def settle(page):
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def found(page):
    """How many jobs the table has."""
    return int(page.locator("#jobs-found").inner_text().split(" ")[0].replace(",", ""))


def column(page, heading):
    """The texts of a column of the table of jobs."""
    heads = [head.strip() for head in page.locator("#all-jobs > thead th").all_inner_texts()]
    rows = page.locator("#all-jobs tr[data-job]").all()
    return [row.locator("td").nth(heads.index(heading)).inner_text() for row in rows]


def ms(text):
    """A time as the page shows it, in ms."""
    number, unit = text.split(" ")
    return float(number) * {"ms": 1, "s": 1e3, "min": 60e3, "h": 3600e3}[unit]


def try_charts(page):
    """Hover, zoom, brush, and what a keyboard does."""
    jobs = found(page)
    chart = page.locator("#chart-waiting_jobs")
    chart.scroll_into_view_if_needed()
    box = chart.locator(".u-over").bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, middle)
    settle(page)
    value = chart.locator(".u-legend .u-value").nth(1).inner_text()
    check("job" in value, f"hover reads {value!r}")
    check(page.locator("#chart-running_maps .u-legend .u-value").nth(1).inner_text().endswith("tasks"), "charts do not share the pointer")
    page.mouse.move(box["x"] + box["width"] * 0.25, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, middle, steps=5)
    page.mouse.up()
    settle(page)
    window = page.locator("#window").inner_text()
    check("after the first submission" in window, f"after a drag the window is {window!r}")
    few = found(page)
    check(0 < few < jobs, f"the table has {few} of {jobs} jobs in the window")
    counted = int(page.locator("#window-table tbody td").first.inner_text().replace(",", ""))
    check(counted == few, f"the numbers are over {counted} jobs, the table has {few}")
    page.get_by_role("button", name="Zoom in").click()
    settle(page)
    check(found(page) < few, "zoom changes nothing")
    page.locator("#chart-waiting_jobs .u-over").dblclick()
    settle(page)
    check(found(page) == jobs, "a double click does not show the whole run")
    plot = chart.locator(".plot")
    plot.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    check("Time" in chart.locator(".reader").inner_text(), "an arrow reads nothing")
    page.keyboard.press("+")
    settle(page)
    check(page.locator("#window").inner_text() != "the whole run", "+ does not zoom")
    page.keyboard.press("0")
    settle(page)
    check(page.locator("#window").inner_text() == "the whole run", "0 does not show the whole run")


def try_choices(page):
    """Policies, jobs and measures that are switched on and off."""
    box = page.locator(".policies input").nth(1)
    box.uncheck()
    settle(page)
    off = page.locator("#chart-waiting_jobs .u-legend .u-off").count()
    check(off == 1, f"one policy is off, the legend shows {off}")
    box.check()
    page.locator("#chart-running_maps .u-legend .u-series th").nth(2).click()
    settle(page)
    check(not box.is_checked(), "a click on a legend does not switch the policy off")
    box.check()
    layers = page.locator("#chart-running_maps-by-job .u-legend .u-series").count()
    page.locator(".layers input").first.uncheck()
    settle(page)
    check(page.locator("#chart-running_maps-by-job .u-legend .u-series").count() == layers - 1, "a job cannot be switched off")
    before = page.locator("#window-table").inner_text()
    page.get_by_label("Time of jobs").select_option("waiting")
    settle(page)
    check(page.locator("#window-table").inner_text() != before, "the measure changes nothing")
    page.get_by_label("Time of jobs").select_option("completion")
    settle(page)


def try_jobs(page):
    """Sorting, searching, filtering, turning pages, explaining and saving."""
    jobs = found(page)
    policy = page.locator("#all-jobs > thead th").last
    for direction, sign in [("ascending", 1), ("descending", -1)]:
        policy.locator("button").click()
        settle(page)
        check(policy.get_attribute("aria-sort") == direction, f"the heading does not say {direction}")
        times = [sign * ms(text) for text in column(page, policy.inner_text().strip())]
        # Rows have units of their own, so neighbours may be rounded past each other.
        check(all(other >= one - 0.05 * abs(one) for one, other in zip(times, times[1:])), f"{direction}: {times}")
    page.locator(".pages button", has_text="Next").click()
    check("Page 2 of" in page.locator(".pages").inner_text(), "the second page does not come")
    page.locator("#job-search").fill("job_1_0005")
    settle(page)
    check(found(page) == 1, f"the search finds {found(page)} jobs")
    page.locator("#job-search").fill("")
    page.locator("#job-table form").get_by_label("User").select_option("ann")
    settle(page)
    check(0 < found(page) < jobs and set(column(page, "User")) == {"ann"}, "the filter of users lets others pass")
    page.locator("#job-table form").get_by_label("User").select_option("all")
    more = page.locator("#all-jobs tbody button").first
    more.click()
    detail = page.locator("#all-jobs tr.detail")
    check(more.get_attribute("aria-expanded") == "true" and detail.count() == 1, "nothing explains the job")
    text = detail.inner_text()
    check("waited" in text and "Execution time" in text, f"the explanation is {text!r}")
    check("The jobs that made it wait" in text, f"nobody is to blame in {text!r}")
    check(detail.locator(".pieces .part").first.bounding_box()["height"] > 5, "the parts of the job cannot be seen")
    page.locator("#all-jobs tr[data-job]").nth(3).locator("td").nth(2).click()
    check(page.locator("#all-jobs tr.detail").count() == 2, "a click on a row explains nothing")
    link = page.locator("#all-jobs tr.detail button.link").first
    to_blame = link.inner_text()
    link.click()
    opened = page.evaluate("document.activeElement.getAttribute('aria-label')")
    check(opened == f"Why, {to_blame}", f"a click on {to_blame}, which is to blame, leads to {opened}")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as CSV").click()
    rows = list(csv.reader(io.StringIO(Path(download.value.path()).read_text())))
    check(len(rows) == jobs + 1, f"{len(rows)} rows are saved")
    cells = [cell for row in rows[1:] for cell in row]
    check(any(cell.startswith("'=cmd") for cell in cells), "a formula is saved as one")
    check(not any(cell.startswith("=") for cell in cells), "a formula is saved")


def try_marks(page):
    """A click on the mark of a job explains it."""
    chart = page.locator("#chart-jobs")
    chart.scroll_into_view_if_needed()
    box = chart.locator(".u-over").bounding_box()
    steps = [(x, y) for x in (0.02, 0.1, 0.3) for y in range(40)]
    for x, y in steps:
        page.mouse.move(box["x"] + box["width"] * x, box["y"] + box["height"] * y / 40)
        if chart.locator(".reader").inner_text():
            break
    check("Job" in chart.locator(".reader").inner_text(), "no job can be hovered over")
    opened = page.locator("#all-jobs tr.detail").count()
    page.mouse.down()
    page.mouse.up()
    settle(page)
    check(page.locator("#all-jobs tr.detail").count() != opened, "a click on a mark explains nothing")


def try_tables(page):
    """Every table that can be sorted and searched is."""
    table = page.locator("table.searchable").first
    head = table.locator("thead th").first
    head.locator("button").click()
    check(head.get_attribute("aria-sort") == "ascending", "a heading does not sort")
    search = page.locator("form.filter input[type=search]").first
    rows = page.locator("form.filter output").first
    before = rows.inner_text()
    search.fill("no such text anywhere")
    check(rows.inner_text().startswith("0 of"), f"the search finds {rows.inner_text()}")
    search.fill("")
    check(rows.inner_text() == before, "the rows do not come back")


def try_everywhere(page, width):
    """What holds for all pages, wherever they are shown."""
    check(page.evaluate("document.documentElement.scrollWidth") <= width, "the page is wider than its window")
    broken = page.evaluate(BROKEN)
    check(broken == [], f"words are broken: {broken[:10]}")
    unnamed = page.evaluate(UNNAMED)
    check(unnamed == [], f"without a name: {unnamed[:5]}")
    literal = re.findall(r"\*[a-z]+\*|`[^`\n]+`", page.evaluate("document.body.innerText"))
    check(literal == [], f"marks are shown: {literal[:5]}")


def main():
    with sync_playwright() as playwright:
        # Tests run as root in containers, where Chromium has no sandbox.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        with Trial(browser) as page:
            try_everywhere(page, 1280)
            page.screenshot(path=PICTURES / f"{NAME}-desktop.png", full_page=True)
            if KIND == "report":
                try_charts(page)
                try_choices(page)
                try_marks(page)
        with Trial(browser) as page:
            if KIND == "report":
                try_jobs(page)
            else:
                try_tables(page)
        with Trial(browser, 390, 800) as page:
            try_everywhere(page, 390)
            height = page.evaluate("document.documentElement.scrollHeight")
            check(height <= HIGHEST, f"the page is {height} pixels high on a phone")
            page.screenshot(path=PICTURES / f"{NAME}-phone.png", full_page=True)
        with Trial(browser, color_scheme="dark") as page:
            back = page.evaluate("getComputedStyle(document.body).backgroundColor")
            check(max(int(part) for part in re.findall(r"\d+", back)) < 64, f"the dark page is {back}")
            page.screenshot(path=PICTURES / f"{NAME}-dark.png", full_page=True)
        with Trial(browser, SHEET) as page:
            page.emulate_media(media="print")
            # As printing does: what is folded away is opened.
            page.evaluate("dispatchEvent(new Event('beforeprint'))")
            clipped = page.evaluate(CLIPPED, SHEET)
            check(clipped == [], f"tables reach beyond the sheet: {clipped}")
            charts = page.locator("figure > svg")
            check(all(chart.is_visible() for chart in charts.all()), "a chart is not printed")
            page.pdf(path=PICTURES / f"{NAME}.pdf", prefer_css_page_size=True)
        with Trial(browser, java_script_enabled=False) as page:
            check(all(chart.is_visible() for chart in page.locator("figure > svg").all()), "without scripts a chart is missing")
            check(KIND != "report" or page.locator("#first-jobs tbody tr").count() > 1, "without scripts there are no jobs")
        browser.close()


main()
