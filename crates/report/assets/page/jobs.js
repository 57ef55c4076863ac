// The table of jobs: sorted, searched, filtered, a page at a time. It has the jobs that were submitted in the window.

const ROWS = 50;
const SIZES = ["small", "medium", "large"];

class JobTable {
  constructor(root) {
    this.root = root;
    this.page = 0;
    this.open = new Set();
    this.search = "";
    this.filters = new Map();
    this.order = null;
    this.texts = Array.from({ length: jobs.count }, (_, job) =>
      [jobs.ids[job], jobs.names.text(job), jobs.users.text(job), jobs.queues.text(job)].join("\n").toLowerCase());
    this.columns = this.makeColumns();
    this.build();
    let drawn = "";
    listen(() => {
      const now = [state.measure, state.from, state.to].join();
      if (drawn !== now) this.find();
      drawn = now;
    });
  }

  // The columns: title, key to sort by, whether it is text, and the cells of a job.
  makeColumns() {
    const text = (title, words) => ({ title, text: true, key: (job) => words.text(job).toLowerCase() || null, cell: (job) => words.text(job) });
    const columns = [
      { title: "Job", key: (job) => job, cell: (job) => String(jobs.number(job)) },
      { title: "Id", text: true, key: (job) => jobs.ids[job].toLowerCase(), cell: (job) => jobs.ids[job] },
    ];
    if (jobs.names.any) columns.push(text("Name", jobs.names));
    if (jobs.users.any) columns.push(text("User", jobs.users));
    if (jobs.queues.any) columns.push(text(jobs.Queue, jobs.queues));
    const cpus = data.jobs.by_cpus ? measures.get("cpus")?.runs[data.baseline] : null;
    if (cpus) columns.push({ title: "CPUs", key: (job) => cpus[job], cell: (job) => (cpus[job] === null ? UNKNOWN : count(cpus[job])) });
    else columns.push({ title: "Tasks", key: (job) => jobs.tasks[job], cell: (job) => count(jobs.tasks[job]) });
    const since = timesUpTo(data.span);
    const submitted = data.clock ? dateAndTime : since;
    const title = data.clock ? `Submitted (${zoneAt(0)})` : "Submitted";
    columns.push({ title, key: (job) => jobs.submits[job], cell: (job) => submitted(jobs.submits[job]) });
    return columns;
  }

  build() {
    const heads = [...this.columns.map((column) => element("th", { scope: "col", class: column.text ? "text" : undefined }, column.title)),
      ...policies.map((look) => element("th", { scope: "col" }, look.label))];
    const keys = [...this.columns.map((column) => column.key), ...policies.map((_, policy) => (job) => measure().runs[policy][job])];
    this.sort = addSorting(heads, (column, direction) => {
      this.order = { key: keys[column], column, direction };
      this.find();
    });
    this.width = heads.length;
    this.body = element("tbody");
    this.caption = element("span");
    this.found = element("output", { "aria-live": "polite", id: "jobs-found" });
    this.pages = element("div", { class: "pages" });
    const table = element("table", { id: "all-jobs" }, element("caption", {}, this.caption),
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, element("span", { class: "hidden" }, "Explanation")), ...heads)), this.body);
    this.root.replaceChildren(this.tools(), element("div", { class: "wide", tabindex: 0, role: "group", "aria-label": "Jobs" }, table), this.pages);
  }

  tools() {
    const search = element("input", { type: "search", size: 24, id: "job-search" });
    search.addEventListener("input", () => {
      this.search = search.value.toLowerCase();
      this.find();
    });
    this.searched = search;
    this.chosen = new Map();
    const filter = (label, values, of, name = label.toLowerCase()) => {
      const options = [["", "all"], ...values.map((value, place) => [String(place), value])];
      const act = (chosen) => {
        this.filters.set(label, chosen === "" ? null : (job) => of(job) === Number(chosen));
        this.find();
      };
      const made = choice(label, options, act);
      this.chosen.set(name, { select: made.querySelector("select"), values, act });
      return made;
    };
    const byWords = (label, words, name) => (words.words.length > 1 ? [filter(label, words.words, (job) => words.of[job], name)] : []);
    const form = element("form", { class: "filter", role: "search" }, element("label", {}, "Search ", search),
      ...byWords("User", jobs.users), ...byWords(jobs.Queue, jobs.queues, "queue"), filter("Size", SIZES, (job) => jobs.sizes[job]),
      this.found, button("Save as CSV", () => this.save()));
    form.addEventListener("submit", (event) => event.preventDefault());
    return form;
  }

  // Finds the jobs that fit, in order, and shows their first page.
  find() {
    const [from, to] = windowJobs();
    const filters = [...this.filters.values()].filter((filter) => filter !== null);
    this.list = [];
    for (let job = from; job < to; job++) {
      if ((this.search === "" || this.texts[job].includes(this.search)) && filters.every((fits) => fits(job))) this.list.push(job);
    }
    if (this.order) {
      const { key, direction } = this.order;
      const keyed = this.list.map((job) => [key(job), job]);
      keyed.sort(([one], [other]) => inOrder(one, other, direction));
      this.list = keyed.map(([, job]) => job);
    }
    const place = isWhole() ? "" : `, submitted ${windowInWords()}`;
    this.found.textContent = `${count(this.list.length)} of ${count(jobs.count)} jobs${place}`;
    this.caption.textContent = `${measure().title} of each job under each policy. Click a row to see why.`;
    this.page = 0;
    this.show();
  }

  // The part of the view that is of the table, for the address of the page.
  view() {
    const view = {};
    if (this.search !== "") view.search = this.search;
    for (const [name, { select, values }] of this.chosen) {
      if (select.value !== "") view[name] = values[Number(select.value)];
    }
    if (this.order) view.sort = `${this.order.column}.${this.order.direction === 1 ? "up" : "down"}`;
    const [first] = this.open;
    if (first !== undefined) view.job = jobs.ids[first];
    return view;
  }

  // Takes a view. Values that the table does not have are left out.
  take({ search, sort, job, ...filters }) {
    this.searched.value = search;
    this.search = search.toLowerCase();
    for (const [name, { select, values, act }] of this.chosen) {
      const place = filters[name] === null ? -1 : values.indexOf(filters[name]);
      select.value = place < 0 ? "" : String(place);
      act(select.value);
    }
    const [, column, direction] = /^(\d{1,3})\.(up|down)$/.exec(sort ?? "") ?? [];
    if (column !== undefined && Number(column) < this.width) this.sort(Number(column), direction === "up" ? 1 : -1);
    this.open.clear();
    this.find();
    const place = job === null ? -1 : jobs.ids.indexOf(job);
    if (place >= 0) this.explain(place);
  }

  // Shows the rows of the page.
  show() {
    this.changed?.();
    const last = Math.max(Math.ceil(this.list.length / ROWS) - 1, 0);
    this.page = Math.min(Math.max(this.page, 0), last);
    const rows = this.list.slice(this.page * ROWS, (this.page + 1) * ROWS);
    // The times of a page share a unit, so that its rows can be compared.
    this.times = times(rows.flatMap((job) => policies.map((_, policy) => measure().runs[policy][job])));
    this.body.replaceChildren(...rows.flatMap((job, place) => this.rows(job, place)));
    const turn = (label, page) => button(label, () => { this.page = page; this.show(); }, { disabled: page < 0 || page > last });
    this.pages.replaceChildren(turn("First", this.page > 0 ? 0 : -1), turn("Previous", this.page - 1),
      element("span", {}, `Page ${count(this.page + 1)} of ${count(last + 1)}`),
      turn("Next", this.page + 1), turn("Last", this.page < last ? last : -1));
  }

  // The row of a job, and what explains it if it is open.
  rows(job, place) {
    const open = this.open.has(job);
    const toggle = () => {
      if (!this.open.delete(job)) this.open.add(job);
      this.show();
      this.body.querySelector(`[data-job="${job}"] button`)?.focus({ preventScroll: true });
    };
    const more = button("Why", (event) => { event.stopPropagation(); toggle(); }, { "aria-expanded": String(open), "aria-label": `Why, job ${jobs.number(job)}` });
    const values = this.times.slice(place * policies.length, (place + 1) * policies.length);
    const cells = [...this.columns.map((column) => element("td", { class: column.text ? `text ${column.title.toLowerCase()}` : undefined }, column.cell(job))),
      ...values.map((value) => element("td", {}, value))];
    const row = element("tr", { "data-job": job, class: open ? "open" : undefined }, element("td", {}, more), ...cells);
    // A reader who marks a text does not ask for more.
    row.addEventListener("click", () => { if (getSelection().isCollapsed) toggle(); });
    if (!open) return [row];
    return [row, element("tr", { class: "detail" }, element("td", { colspan: cells.length + 1 }, why(job, (other) => this.explain(other))))];
  }

  // Opens a job wherever it is in the table. A job that the filters leave out stands alone.
  explain(job) {
    this.open.add(job);
    if (!this.list.includes(job)) this.list = [job];
    this.page = Math.floor(this.list.indexOf(job) / ROWS);
    this.show();
    const row = this.body.querySelector(`[data-job="${job}"]`);
    row?.scrollIntoView({ block: "center" });
    row?.querySelector("button")?.focus({ preventScroll: true });
  }

  // Saves the jobs that the filters leave, in ms.
  save() {
    const known = data.measures.flatMap((own) => policies.map((look, policy) => ({ own, policy, head: `${own.name} (${look.label})` })));
    const heads = ["job", "id", "name", "user", "queue", "tasks", "submit", ...known.map(({ head }) => head)];
    const row = (job) => [jobs.number(job), jobs.ids[job], jobs.names.text(job), jobs.users.text(job), jobs.queues.text(job), jobs.tasks[job],
      jobs.submits[job], ...known.map(({ own, policy }) => own.runs[policy][job])];
    save("jobs.csv", [heads, ...this.list.map(row)]);
  }
}

