// With a window, the answer and the tables of the page are computed anew from the jobs that were submitted in it. What cannot be, such as
// tests and charts that are drawn once, is hidden. Without a window, the page stands as it was written.

const TEN_SECONDS = 10e3;
// How the groups of a table are chosen, as for the whole run.
const MOST_GROUPS = 24;
const FLOORS = [10, 5, 2];
const MOST_SLOWED = 10;
// So many jobs take more than a frame of the screen.
const MANY_JOBS = 10_000;

// The jobs in the window under a policy.
class Slice {
  constructor(policy, own) {
    this.policy = policy;
    const [from, to] = windowJobs();
    this.jobs = own ?? Array.from({ length: to - from }, (_, place) => from + place);
    this.found = new Map();
  }

  // Computes something once.
  once(name, compute) {
    if (!this.found.has(name)) this.found.set(name, compute());
    return this.found.get(name);
  }

  // A measure of a job; null if it is unknown. Times of the run are those since the first submission.
  value(name, job) {
    if (name === "submit") return jobs.submits[job];
    if (name === "finish") return this.value("completion", job) === null ? null : jobs.submits[job] + this.value("completion", job);
    return measures.get(name)?.runs[this.policy][job] ?? null;
  }

  // The known values of a measure.
  known(name) {
    return this.once(name, () => this.jobs.map((job) => this.value(name, job)).filter((value) => value !== null));
  }

  mean(name) {
    return mean(this.known(name));
  }

  quantile(name, share) {
    const sorted = this.once(`${name}, sorted`, () => Float64Array.from(this.known(name)).sort());
    return sorted.length ? quantile(sorted, share) : null;
  }

  // The value of a formula of the list of metrics: a number, or a word and its arguments. Null is unknown.
  evaluate(formula) {
    if (!Array.isArray(formula)) return formula;
    const [word, one, other] = formula;
    if (word === "count") return this.jobs.length;
    if (word === "jain") return this.jain(one, other);
    if (word in OPERATORS) {
      const [left, right] = [this.evaluate(one), this.evaluate(other)];
      const found = left === null || right === null ? null : OPERATORS[word](left, right);
      return Number.isFinite(found) ? found : null;
    }
    const found = AGGREGATES[word](this, one, other);
    return found === null || measures.get(one)?.unit !== "1e-4" ? found : found / 1e4;
  }

  // Jain's index of a formula over the jobs of each user, or of another text.
  jain(formula, by) {
    const groups = new Map();
    for (const job of this.jobs) {
      const place = jobs[`${by}s`].of[job] ?? null;
      if (place === null) continue;
      if (groups.has(place)) groups.get(place).push(job);
      else groups.set(place, [job]);
    }
    const all = [...groups.values()].map((own) => new Slice(this.policy, own).evaluate(formula)).filter((value) => value !== null);
    const sum = all.reduce((sum, own) => sum + own, 0);
    return all.length > 1 ? sum ** 2 / (all.length * all.reduce((sum, own) => sum + own ** 2, 0)) : null;
  }
}

const OPERATORS = {
  "+": (one, other) => one + other,
  "-": (one, other) => one - other,
  "*": (one, other) => one * other,
  "/": (one, other) => one / other,
};

// The aggregates of formulas over the jobs of a slice; null without a known value. The page leaves out measures that are 0 for all jobs.
const AGGREGATES = {
  mean: (slice, name) => slice.mean(name),
  quantile: (slice, name, share) => slice.quantile(name, share),
  sum: (slice, name) => reduced(slice.known(name), (sum, value) => sum + value) ?? (measures.has(name) ? null : 0),
  min: (slice, name) => reduced(slice.known(name), (one, other) => Math.min(one, other)),
  max: (slice, name) => reduced(slice.known(name), (one, other) => Math.max(one, other)),
};

function reduced(values, join) {
  return values.length ? values.reduce(join) : null;
}

// All jobs in the window under a policy, and what else was found of the window: tables ask for the same again and again.
const ofWindow = { window: "", found: new Map() };

function once(name, compute) {
  const now = `${state.from} ${state.to}`;
  if (ofWindow.window !== now) Object.assign(ofWindow, { window: now, found: new Map() });
  if (!ofWindow.found.has(name)) ofWindow.found.set(name, compute());
  return ofWindow.found.get(name);
}

function sliceOf(policy) {
  return once(`slice ${policy}`, () => new Slice(policy));
}

// How the values of a row of the main table read.
const FORMS = {
  time: (values) => times(values),
  share: (values) => values.map((value) => (value === null ? UNKNOWN : `${(100 * value).toFixed(1)} %`)),
  count: (values) => values.map((value) => count(Math.round(value ?? 0))),
  decimals: (values, decimals) => values.map((value) => (value === null ? UNKNOWN : value.toFixed(decimals))),
};
// The rows of the main table that can be computed for a window.
const ROWS_OF_WINDOW = new Map(data.rows.map((row) => [row.name, row]));

// A part of the page that can be written anew. `write` returns its children in a window.
class Following {
  constructor(root, write) {
    this.root = root;
    this.whole = [...root.childNodes];
    this.write = write;
  }

  follow() {
    this.root.replaceChildren(...(isWhole() ? this.whole : this.write()));
  }
}

// The values of two policies of the jobs that have both.
function both(name, one, other) {
  // Jobs that failed have waited, too, and are not in the page.
  if (name === "waiting" && !data.waits) return [[], []];
  const pairs = sliceOf(one).jobs.map((job) => [one, other].map((policy) => measures.get(name)?.runs[policy][job] ?? null));
  const known = pairs.filter(([before, after]) => before !== null && after !== null);
  return [0, 1].map((place) => known.map((pair) => pair[place]));
}

// The ratio of two numbers; null if there is none.
function ratio(after, before) {
  return after > 0 && before > 0 ? after / before : null;
}

// A ratio as a change, or as a factor if it is large.
function changeOrFactor(value) {
  return value !== null && value >= 10 ? `${value.toFixed(1)} \u00d7` : change(value);
}

// Changes of times, with their signs.
function signedTimes(all) {
  return times(all).map((text, place) => (all[place] > 0 ? `+${text}` : text.replace("-", "\u2212")));
}

function cell(text, attributes = {}) {
  return element("td", attributes, text);
}

// The answer: which policy is faster in the window, by how much, and who loses.
function answerInWindow() {
  const slices = policies.map((_, policy) => sliceOf(policy));
  const all = slices[data.baseline].jobs.length;
  const begin = `${all === 1 ? "1 job was" : `${count(all)} jobs were`} submitted in the window.`;
  if (all === 0) return [begin];
  if (!data.answerable && policies.length > 1) return [`${begin} The data cannot answer which of these policies is better.`];
  const means = slices.map((own) => own.mean("completion"));
  const [first, ...others] = [data.baseline, ...data.compared].sort((one, other) => means[one] - means[other]);
  const base = policies[data.baseline].label;
  if (others.length === 0) {
    const own = slices[data.baseline];
    const [middle, median, p95] = times([means[data.baseline], own.quantile("completion", 0.5), own.quantile("completion", 0.95)]);
    if (all === 1) return [`${begin} Under ${base}, it completes in ${middle}.`];
    return [`${begin} Under ${base}, they complete in ${middle} on average (median ${median}, p95 ${p95}).`];
  }
  const [own, before] = times([means[first], means[data.baseline]]);
  if (others.every((other) => means[other] === means[first])) return [`${begin} The mean completion time is ${own} under every policy.`];
  if (first === data.baseline) return [`${begin} ${base} has the least mean completion time: ${own}.`];
  return [`${begin} ${policies[first].label} has the least mean completion time: ${own} against ${before} under ${base}.`];
}

// A sentence for each policy that is compared.
function sentencesInWindow() {
  if (!data.answerable) return [];
  return data.compared.flatMap((policy) => {
    const [before, after] = both("completion", data.baseline, policy);
    if (before.length === 0) return [];
    const [waitBefore, waitAfter] = both("waiting", data.baseline, policy);
    const [one, other] = times([mean(before), mean(after)]);
    const sorted = [before, after].map((own) => Float64Array.from(own).sort());
    const of = (share) => changeOrFactor(ratio(quantile(sorted[1], share), quantile(sorted[0], share)));
    const sooner = after.filter((ms, place) => way(before[place], ms) < 0).length;
    const later = after.filter((ms, place) => way(before[place], ms) > 0).length;
    const waits = waitBefore.length ? ` Mean waiting ${times([mean(waitBefore), mean(waitAfter)]).join(" to ")}.` : "";
    // Without a test there is no colour that says better or worse.
    return [element("li", {}, element("strong", {}, policies[policy].label),
      ` takes ${other} on average against ${one} (mean ${changeOrFactor(ratio(mean(after), mean(before)))}, median ${of(0.5)}, p95 ${of(0.95)}): `
      + `${count(sooner)} of ${count(before.length)} jobs complete sooner, ${count(later)} later.${waits}`)];
  });
}

// The cells of a row of the main table, for the policies of its part.
function overviewCells(row, first) {
  const { form, decimals, formula } = ROWS_OF_WINDOW.get(row.dataset.measure) ?? { form: "decimals", decimals: 0, formula: null };
  const values = policies.map((_, policy) => sliceOf(policy).evaluate(formula));
  return [row.cells[0], ...FORMS[form](values, decimals).slice(first, first + row.cells.length - 1).map((text) => cell(text))];
}

// The cells of a row of comparisons: ratios without intervals, which are of the whole run.
function comparisonCells(row) {
  const policy = Number(row.dataset.policy);
  const [before, after] = both(row.dataset.metric, data.baseline, policy);
  const sorted = [before, after].map((own) => Float64Array.from(own).sort());
  const of = (share) => (before.length ? ratio(quantile(sorted[1], share), quantile(sorted[0], share)) : null);
  const least = (ms) => Math.max(ms, 1000);
  const ofJobs = row.dataset.metric === "completion" ? mean(after.map((ms, place) => least(ms) / least(before[place]))) : null;
  const ratios = [ratio(mean(after), mean(before)), of(0.5), of(0.95), of(0.99), ofJobs];
  return [row.cells[0], row.cells[1], cell(String(before.length)), ...ratios.map((own) => cell(changeOrFactor(own))), cell(UNKNOWN, { class: "text" })];
}

// Which groups a table shows: as for the whole run, those that lose most first and those that gain most last.
function ranked(groups, by) {
  const large = (floor) => groups.filter((group) => group.jobs >= floor).length;
  const floor = groups.length > MOST_GROUPS ? FLOORS.find((floor) => large(floor) >= 2) ?? 1 : 1;
  const own = groups.filter((group) => group.jobs >= floor);
  const known = own.some((group) => group.loss !== null);
  own.sort((one, other) => (known ? (other.loss ?? -Infinity) - (one.loss ?? -Infinity) || 0 : other.jobs - one.jobs));
  const between = Math.max(own.length - MOST_GROUPS, 0);
  if (between > 0) own.splice(known ? MOST_GROUPS / 2 : MOST_GROUPS, between);
  if (by === "size" || by === "hour" || WAYS.get(by)?.ordered) own.sort((one, other) => one.place - other.place);
  const few = groups.length - groups.filter((group) => group.jobs >= floor).length;
  const notes = [];
  if (few > 0) notes.push(few === 1 ? `1 group has fewer than ${floor} jobs` : `${count(few)} groups have fewer than ${floor} jobs`);
  if (between > 0) notes.push(between === 1 ? "1 group is not shown" : `${count(between)} groups are not shown`);
  return [own, notes.join("; ")];
}

// The name of the group of a job, and a key that orders groups of one kind.
const GROUPS = {
  user: (job) => [jobs.users.text(job) || UNKNOWN, 0],
  queue: (job) => [jobs.queues.text(job) || UNKNOWN, 0],
  size: (job) => [SIZES[jobs.sizes[job]], [2, 1, 0][jobs.sizes[job]]],
  hour: (job) => [String(hourOf(job)), hourOf(job)],
};

// Ways to group jobs whose groups are in the data, by their words.
const WAYS = new Map(data.jobs.ways.map((way) => [way.by, way]));

function groupIn(way, job) {
  const place = way.of[job];
  return [way.names[place], way.ordered ? place : 0];
}

// 1 if a job completes later than in the baseline, -1 if sooner, 0 if the change is too small to matter.
function way(before, after) {
  const least = Math.max(1000, before * data.rules.matters);
  return after - before > least ? 1 : before - after > least ? -1 : 0;
}

// The rows of a table of groups, and what it leaves out.
function groupRows(by) {
  const found = new Map();
  const groupOf = GROUPS[by] ?? ((job) => groupIn(WAYS.get(by), job));
  for (const job of sliceOf(data.baseline).jobs) {
    const [name, place] = groupOf(job);
    if (!found.has(name)) found.set(name, { name, place, own: [], jobs: 0, loss: null });
    found.get(name).own.push(job);
  }
  const groups = [...found.values()].sort((one, other) => one.place - other.place || inCodePoints(one.name, other.name));
  for (const group of groups) {
    group.jobs = group.own.length;
    group.rows = policies.map((_, policy) => groupNumbers(group.own, policy));
    group.loss = group.rows.reduce((most, { loss }) => (loss === null || (most !== null && most > loss) ? most : loss), null);
  }
  const [shown, note] = ranked(groups, by);
  const rows = shown.flatMap((group) => group.rows.map((own, policy) => ({ ...own, name: group.name, label: policies[policy].label, jobs: group.jobs })));
  // Percentiles of one time share a unit.
  const half = QUANTILES.length / 2;
  const columns = [0, half].flatMap((first) => {
    const texts = times(QUANTILES.slice(0, half).flatMap((_, place) => rows.map((row) => row.quantiles[first + place])));
    return Array.from({ length: half }, (_, place) => texts.slice(place * rows.length, (place + 1) * rows.length));
  });
  columns.push(signedTimes(rows.map((row) => row.loss)));
  return [rows.map((row, place) => element("tr", {}, cell(row.name, { class: "text" }), cell(row.label, { class: "text" }), cell(count(row.jobs)),
    ...columns.map((column) => cell(column[place])), ...row.others.map((text) => cell(text)))), note];
}

// Names in the order in which the page was written; an unknown one is last.
function inCodePoints(one, other) {
  if (one === UNKNOWN || other === UNKNOWN) return (one === UNKNOWN) - (other === UNKNOWN);
  return one < other ? -1 : one > other ? 1 : 0;
}

// The quantiles of a table of groups.
const QUANTILES = ["completion", "waiting"].flatMap((name) => [0.5, 0.95, 0.99].map((share) => [name, share]));

// Some jobs under a policy: quantiles, the mean change against the baseline, and the last cells.
function groupNumbers(own, policy) {
  const slice = new Slice(policy, own);
  const quantiles = QUANTILES.map(([name, share]) => slice.quantile(name, share));
  if (policy === data.baseline) return { quantiles, loss: null, others: [UNKNOWN, UNKNOWN, UNKNOWN] };
  const base = new Slice(data.baseline, own);
  const pairs = own.map((job) => [base.value("completion", job), slice.value("completion", job)]).filter(([before, after]) => before !== null && after !== null);
  const loss = mean(pairs.map(([before, after]) => after - before));
  const before = mean(pairs.map(([before]) => before));
  const share = before > 0 ? loss / before : null;
  const sooner = pairs.filter(([before, after]) => way(before, after) < 0).length;
  const later = pairs.filter(([before, after]) => way(before, after) > 0).length;
  const percent = share === null ? UNKNOWN : change(1 + share);
  return { quantiles, loss, others: [percent, count(sooner), count(later)] };
}

// The jobs that a policy slowed most.
function slowedRows() {
  const of = (policy) => sliceOf(policy).jobs.map((job) => {
    const [before, after] = [data.baseline, policy].map((place) => measures.get("completion").runs[place][job]);
    return { job, policy, before, after, slowed: before === null || after === null ? 0 : after / Math.max(before, TEN_SECONDS) };
  });
  const all = policies.flatMap((_, policy) => (policy === data.baseline && policies.length > 1 ? [] : of(policy)));
  const slowed = all.filter((own) => own.slowed > 1).sort((one, other) => other.slowed - one.slowed).slice(0, MOST_SLOWED);
  const shown = times(slowed.flatMap(({ before, after }) => [before, after]));
  return slowed.map(({ job, policy, slowed }, place) => {
    const texts = [jobs.ids[job], jobs.names.text(job), jobs.users.text(job), jobs.queues.text(job), policies[policy].label];
    return element("tr", {}, ...texts.map((text) => cell(text, { class: "text" })), ...shown.slice(2 * place, 2 * place + 2).map((text) => cell(text)),
      cell(`${slowed.toFixed(1)} \u00d7`));
  });
}

// Finds the parts of the page that follow the window.
function following() {
  const parts = [new Following(document.querySelector("p.answer"), answerInWindow)];
  const sentences = document.querySelector("ul.sentences");
  if (sentences) parts.push(new Following(sentences, sentencesInWindow));
  let first = 0;
  for (const table of document.querySelectorAll("table.overview")) {
    const begin = first;
    for (const row of table.tBodies[0].rows) {
      if (row.dataset.measure) parts.push(new Following(row, () => overviewCells(row, begin)));
    }
    first += table.tHead.rows[0].cells.length - 1;
  }
  for (const row of document.querySelectorAll("#comparisons tbody tr")) parts.push(new Following(row, () => comparisonCells(row)));
  for (const table of document.querySelectorAll("table[data-by]")) {
    const note = table.closest("details").querySelector(".left-out");
    const found = () => once(`groups by ${table.dataset.by}`, () => groupRows(table.dataset.by));
    parts.push(new Following(table.tBodies[0], () => found()[0]), new Following(note, () => [found()[1]]));
  }
  const slowed = document.querySelector("#slowed tbody");
  if (slowed) parts.push(new Following(slowed, slowedRows));
  return parts;
}

// Lets the page follow the window, and says at its top that there is one.
function followTheWindow() {
  const parts = following();
  const whole = [...document.querySelectorAll("[data-whole]")];
  const words = element("strong");
  const banner = element("p", { id: "in-window", class: "banner", role: "status", hidden: true }, "The page covers the jobs that were submitted in a window: ",
    words, ". Grades, intervals and tests cover the whole run, and charts that are drawn only once are hidden. ", button("Whole run", wholeWindow));
  document.querySelector("p.answer").before(banner);
  let [drawn, waits] = ["", 0];
  listen(() => {
    const now = `${state.from} ${state.to}`;
    if (drawn === now) return;
    // Nothing has to be written anew as long as there has been no window.
    const untouched = drawn === "" && isWhole();
    drawn = now;
    clearTimeout(waits);
    banner.hidden = isWhole();
    document.documentElement.classList.toggle("in-window", !isWhole());
    words.textContent = windowInWords();
    whole.forEach((part) => (part.hidden = !isWhole()));
    const follow = () => parts.forEach((part) => part.follow());
    // With many jobs, the tables follow once the window rests.
    if (!untouched && jobs.count > MANY_JOBS && !isWhole()) waits = setTimeout(follow, 150);
    else if (!untouched) follow();
  });
}
