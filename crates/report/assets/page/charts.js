// Interactive charts: lines over time, jobs over time, distributions, and running tasks by job.

const HEIGHT = 230;
// Steps of an axis of time, ms.
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 10e3, 15e3, 30e3, 60e3, 120e3, 300e3, 600e3, 900e3, 1800e3,
  3600e3, 7200e3, 10800e3, 21600e3, 43200e3, 86400e3, 172800e3, 432000e3, 864000e3, 1728000e3, 4320000e3, 8640000e3, 31536000e3];
// Ticks of a logarithmic axis of time, ms.
const DECADES = [1, 10, 100, 1e3, 10e3, 60e3, 600e3, 3600e3, 86400e3, 864000e3, 8640000e3, 86400000e3];
// How far from a mark the pointer may be, pixels.
const NEAR = 12;
const charts = [];

// A colour of the style sheet.
function themed(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// The colour of a policy. What really ran has that of the text, in light and in dark.
function colour(policy) {
  return policies[policy].colour ?? themed("--text");
}

// A tick of an axis of time: as few letters as will do.
function tick(ms) {
  const [name, length] = [["d", 86400e3], ...data.rules.units, ["ms", 1]].find((unit) => ms >= unit[1]) ?? ["", 1];
  return `${+(ms / length).toFixed(2)}${name ? ` ${name}` : ""}`;
}

function axis(more) {
  const [text, line] = [themed("--text"), themed("--line")];
  const lines = { stroke: line, width: 1 };
  return { stroke: text, font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif", grid: lines, ticks: lines, ...more };
}

function timeAxis(more) {
  return axis({ incrs: STEPS, space: 70, values: (_, splits) => splits.map(tick), ...more });
}

// The axis of the time of the run: by the clock, if there is one.
function runAxis() {
  return data.clock ? axis({ incrs: STEPS.filter((step) => step >= 1e3), space: 70, splits: clockSplits, values: clockTicks, size: 50 }) : timeAxis();
}

// A time of the run, as a reader of charts sees it.
function readClock(chart, ms) {
  return data.clock && ms !== null && ms !== undefined ? `${dateAndTime(ms)} (${time(ms)})` : readTime(chart, ms);
}

function logAxis(more) {
  const splits = (chart, number, low, high) => DECADES.filter((ms) => ms >= low && ms <= high);
  return axis({ splits, filter: (_, splits) => splits, values: (_, splits) => splits.map(tick), ...more });
}

// Scale and axis of the chosen measure: logarithmic if its values lie far apart.
function measured(values, side) {
  const sorted = Float64Array.from(values).sort();
  const [largest, positive] = [sorted[sorted.length - 1] ?? 1, sorted.find((value) => value > 0) ?? 1];
  if (largest <= data.rules.widest_spread * quantile(sorted, 0.5)) {
    return { floor: 0, scale: { range: (_, low, high) => [0, (high || 1) * 1.05] }, axis: timeAxis({ ...side }) };
  }
  // A logarithmic axis has no zero: such times are at its end.
  const floor = Math.max(positive / 2, 100);
  return { floor, scale: { distr: 3, range: (_, low, high) => [floor, Math.max(high, 10 * floor) * 1.3] }, axis: logAxis({ ...side }) };
}

// A chart in the page. `draw(width)` returns the options and the data of uPlot; it is called again if the theme or the data change.
class Chart {
  constructor({ name, title, caption, draw, keys, label }) {
    this.draw = draw;
    this.keys = keys;
    this.reader = element("output", { "aria-live": "polite", class: "reader" });
    this.plot = element("div", { class: "plot", tabindex: 0, role: "img", "aria-label": `${title}. ${label ?? caption}` });
    this.heading = element("h3", {}, title);
    this.tools = element("div", { class: "tools" });
    this.figure = element("figure", { class: "interactive", id: `chart-${name}` }, this.heading, this.tools, this.plot, this.reader,
      element("figcaption", {}, caption));
    this.plot.addEventListener("keydown", (event) => this.press(event));
    charts.push(this);
  }

  // Draws the chart anew.
  redraw() {
    this.chart?.destroy();
    const { options, data } = this.draw();
    this.chart = new uPlot({ width: this.width(), height: HEIGHT, ...options }, data, this.plot);
  }

  width() {
    return Math.max(this.plot.clientWidth, 200);
  }

  resize() {
    if (this.chart && this.chart.width !== this.width()) this.chart.setSize({ width: this.width(), height: HEIGHT });
  }

  // Keys move the pointer, and the window if the chart has one.
  press(event) {
    const act = { ...this.keys, ArrowLeft: () => this.step(-1), ArrowRight: () => this.step(1) }[event.shiftKey ? `Shift${event.key}` : event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  // Moves the pointer a fiftieth of the width, and reads out what is there.
  step(direction) {
    const { chart } = this;
    const at = chart.cursor.left >= 0 ? chart.cursor.left : 0;
    const left = Math.min(Math.max(at + (direction * chart.over.clientWidth) / 50, 0), chart.over.clientWidth - 1);
    chart.setCursor({ left, top: chart.over.clientHeight / 2 });
    const values = [...this.plot.querySelectorAll(".u-legend .u-series")].filter((row) => !row.classList.contains("u-off"));
    if (values.length) this.reader.textContent = values.map((row) => row.textContent.replace(/\s+/g, " ")).join("; ");
  }
}

// Redraws all charts in the colours of the theme.
function redrawAll() {
  charts.forEach((chart) => chart.redraw());
}

const TIME_KEYS = {
  "+": () => scaleWindow(0.5),
  "=": () => scaleWindow(0.5),
  "-": () => scaleWindow(2),
  0: wholeWindow,
  Escape: wholeWindow,
  ShiftArrowLeft: () => moveWindow(-0.25),
  ShiftArrowRight: () => moveWindow(0.25),
};

// What all charts over time have in common: one window, one pointer, and a drag that chooses the window.
function overTime(options) {
  const choosing = (chart) => {
    if (chart.select.width < 4) return;
    const [from, to] = [chart.select.left, chart.select.left + chart.select.width].map((left) => chart.posToVal(left, "x"));
    chart.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    chooseWindow(from, to);
  };
  const pointing = (type) => type === "mousemove" || type === "mouseleave";
  return {
    ...options,
    cursor: {
      drag: { x: true, y: false, setScale: false },
      sync: { key: "time", setSeries: false, filters: { pub: pointing } },
      bind: { dblclick: () => () => { wholeWindow(); return null; } },
      ...options.cursor,
    },
    scales: { x: { time: false, range: () => [state.from, state.to] }, ...options.scales },
    hooks: { setSelect: [choosing], ...options.hooks },
  };
}

// The line of a policy.
function line(policy, value) {
  return {
    label: policies[policy].label,
    show: state.shown[policy],
    stroke: colour(policy),
    width: 2,
    dash: policies[policy].dash,
    points: { show: false },
    paths: uPlot.paths.stepped({ align: 1 }),
    value,
  };
}

// A click on a name of a legend shows or hides the policy everywhere.
function toggling(chart, place, changed) {
  if (place > 0 && "show" in changed && state.shown[place - 1] !== changed.show) {
    choose({ shown: state.shown.map((shown, policy) => (policy === place - 1 ? changed.show : shown)) });
  }
}

function followPolicies(chart) {
  state.shown.forEach((show, policy) => {
    if (chart.series[policy + 1].show !== show) chart.setSeries(policy + 1, { show });
  });
}

// The x of a chart after the window has changed.
function followWindow(chart) {
  chart.setScale("x", { min: state.from, max: state.to });
}

function readTime(_, ms) {
  return ms === null || ms === undefined ? UNKNOWN : time(ms);
}

// A quantity of each policy over time.
function timeChart(timeline) {
  const shown = (value) => `${+value.toFixed(2)} ${timeline.unit}`.trim();
  const value = (_, value) => (value === null || value === undefined ? UNKNOWN : shown(value));
  // The last value holds until the last edge.
  const columns = timeline.runs.map((values) => (values.length ? [...values, values[values.length - 1]] : timeline.edges.map(() => null)));
  const chart = new Chart({
    name: timeline.name,
    title: timeline.title,
    caption: timeline.caption,
    keys: TIME_KEYS,
    label: `${timeline.caption} A line for each policy. Arrow keys read values, plus and minus zoom, 0 shows the whole run.`,
    draw: () => ({
      data: [timeline.edges, ...columns],
      options: overTime({
        series: [{ label: "Time", value: readClock }, ...policies.map((_, policy) => line(policy, value))],
        scales: { y: { range: (_, low, high) => [Math.min(0, low ?? 0), high > 0 ? high * 1.05 : 1] } },
        axes: [runAxis(), axis({ size: 60 })],
        hooks: { setSeries: [toggling] },
      }),
    }),
  });
  listen(() => {
    followPolicies(chart.chart);
    followWindow(chart.chart);
  });
  return chart;
}

// The marks of a policy's jobs. One mark for each place on the screen is enough.
function marks(policy, floor) {
  const form = policies[policy].form % MARKS.length;
  return (chart, place, from, to) => {
    const path = new Path2D();
    const seen = new Set();
    const size = (jobs.count > 2000 ? 2.5 : jobs.count > 200 ? 4 : 7) * devicePixelRatio;
    const [xs, ys] = [chart.data[0], chart.data[place]];
    for (let job = from; job <= to; job++) {
      if (ys[job] === null) continue;
      const x = Math.round(chart.valToPos(xs[job], "x", true));
      const y = Math.round(chart.valToPos(Math.max(ys[job], floor), "y", true));
      const key = (x >> 1) * 65536 + (y >> 1);
      if (seen.has(key)) continue;
      seen.add(key);
      MARKS[form](path, x, y, size);
    }
    const filled = FILLED.includes(form);
    return { stroke: filled ? null : path, fill: filled ? path : null, clip: null, flags: 0 };
  };
}

function square(path, x, y, size) {
  path.rect(x - size / 2, y - size / 2, size, size);
}

function cross(path, x, y, size) {
  path.moveTo(x - size / 1.5, y - size / 1.5);
  path.lineTo(x + size / 1.5, y + size / 1.5);
  path.moveTo(x - size / 1.5, y + size / 1.5);
  path.lineTo(x + size / 1.5, y - size / 1.5);
}

function plus(path, x, y, size) {
  path.moveTo(x - size / 1.4, y);
  path.lineTo(x + size / 1.4, y);
  path.moveTo(x, y - size / 1.4);
  path.lineTo(x, y + size / 1.4);
}

// A triangle with its tip up (1) or down (-1).
function triangle(path, x, y, size, up) {
  path.moveTo(x, y - (up * size) / 1.5);
  path.lineTo(x + size / 1.5, y + (up * size) / 2);
  path.lineTo(x - size / 1.5, y + (up * size) / 2);
  path.closePath();
}

function diamond(path, x, y, size) {
  path.moveTo(x, y - size / 1.4);
  path.lineTo(x + size / 1.4, y);
  path.lineTo(x, y + size / 1.4);
  path.lineTo(x - size / 1.4, y);
  path.closePath();
}

// The marks by their form: filled and hollow ones differ, so that policies stay apart without colour.
const MARKS = [square, square, cross, (...at) => triangle(...at, 1), diamond, plus, (...at) => triangle(...at, -1), diamond];
// The forms of marks that are filled.
const FILLED = [0, 3, 7];

// The job whose mark is nearest to the pointer, with its policy; null if none is near.
function nearest(chart, index, floor) {
  const { left, top } = chart.cursor;
  let best = null;
  const look = (job) => {
    const dx = chart.valToPos(jobs.submits[job], "x") - left;
    if (Math.abs(dx) > NEAR) return false;
    policies.forEach((_, policy) => {
      const value = measure().runs[policy][job];
      if (!state.shown[policy] || value === null) return;
      const dy = chart.valToPos(Math.max(value, floor), "y") - top;
      const distance = Math.hypot(dx, dy);
      if (distance <= NEAR && !(best && best.distance <= distance)) best = { job, policy, distance };
    });
    return true;
  };
  for (let job = index; job < jobs.count && look(job); job++);
  for (let job = index - 1; job >= 0 && look(job); job--);
  return best;
}

// The chosen measure of each job, at its submission. A click on a mark explains the job.
function jobChart(explain) {
  let near = null;
  let floor = 0;
  const read = (chart) => {
    made.reader.textContent = near && chart.cursor.left >= 0 ? jobInWords(near.job, near.policy) : "";
  };
  const point = (chart, place, index) => {
    if (place === 0) near = chart.cursor.left >= 0 ? nearest(chart, index, floor) : null;
    return place === 0 ? index : near?.policy === place - 1 ? near.job : null;
  };
  const draw = () => {
    const own = measure();
    const found = measured(own.runs.flat().filter((value) => value !== null), { size: 60 });
    floor = found.floor;
    const series = policies.map((look, policy) => ({
      label: look.label,
      show: state.shown[policy],
      stroke: colour(policy),
      fill: colour(policy),
      width: 1,
      points: { show: false },
      paths: marks(policy, floor),
    }));
    return {
      data: [jobs.submits, ...own.runs],
      options: overTime({
        series: [{}, ...series],
        legend: { show: false },
        cursor: { dataIdx: point, points: { size: 9 } },
        scales: { y: found.scale },
        axes: [runAxis(), found.axis],
        hooks: { setCursor: [read], ready: [(chart) => chart.over.addEventListener("click", () => near && explain(near.job))] },
      }),
    };
  };
  const made = new Chart({
    name: "jobs",
    title: "Each job",
    caption: "The chosen time of each job, at its submission. Click a mark to see why.",
    label: "A mark for each job and policy. The table of jobs below has the same numbers.",
    keys: TIME_KEYS,
    draw,
  });
  let drawn = state.measure;
  listen(() => {
    if (drawn !== state.measure) made.redraw();
    drawn = state.measure;
    followPolicies(made.chart);
    followWindow(made.chart);
  });
  return made;
}

function jobInWords(job, policy) {
  const name = [jobs.ids[job], jobs.names.text(job), jobs.users.text(job)].filter((text) => text !== "").join(", ");
  return `Job ${jobs.number(job)} (${name}) under ${policies[policy].label}: ${shownValue(measure(), measure().runs[policy][job])}`;
}

// A value with its unit.
function shownValue({ unit }, value) {
  if (value === null) return UNKNOWN;
  if (unit === "1e-4") return (value / 1e4).toFixed(2);
  return unit === "ms" ? time(value) : `${count(value)} ${unit}`;
}

// The values at which a distribution is drawn: all of them if they are few, otherwise such at equal distances on the axis.
function places(all, floor) {
  const distinct = new Set();
  for (const value of all) {
    distinct.add(Math.max(value, floor));
    if (distinct.size > 1500) break;
  }
  if (distinct.size <= 1500) return [...distinct].sort((a, b) => a - b);
  const [low, high] = all.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, 0]);
  const [from, to] = floor > 0 ? [Math.log(Math.max(low, floor)), Math.log(high)] : [low, high];
  const place = (_, number) => from + ((to - from) * number) / 1000;
  const even = Array.from({ length: 1001 }, place).map((at) => (floor > 0 ? Math.exp(at) : at));
  even[1000] = high;
  return even;
}

// How many ascending values are at most each place, as a share.
function shares(sorted, at) {
  let seen = 0;
  return at.map((place) => {
    while (seen < sorted.length && sorted[seen] <= place) seen++;
    return sorted.length ? seen / sorted.length : null;
  });
}

// The distribution of the chosen measure over the jobs in the window.
function distributionChart() {
  const draw = () => {
    const values = policies.map((_, policy) => windowValues(policy));
    const all = values.flatMap((own) => Array.from(own));
    const found = measured(all, {});
    const at = places(all, found.floor);
    const percent = (_, share) => (share === null || share === undefined ? UNKNOWN : `${(100 * share).toFixed(1)} %`);
    return {
      data: [at, ...values.map((own) => shares(own, at))],
      options: {
        series: [{ label: "At most", value: readTime }, ...policies.map((_, policy) => line(policy, percent))],
        scales: { x: { time: false, ...(found.floor > 0 ? { distr: 3 } : {}) }, y: { range: [0, 1] } },
        axes: [found.axis, axis({ values: (_, splits) => splits.map((share) => `${Math.round(100 * share)} %`) })],
        cursor: { drag: { x: true, y: false } },
        hooks: { setSeries: [toggling] },
      },
    };
  };
  const made = new Chart({
    name: "distribution",
    title: "Distribution",
    caption: "The share of the jobs in the window whose time is at most this long. A curve above another is better. Drag to zoom, double-click to leave.",
    label: "A curve for each policy. Arrow keys read values.",
    draw,
  });
  let drawn = "";
  listen(() => {
    const now = [state.measure, state.from, state.to].join();
    if (drawn !== now) made.redraw();
    drawn = now;
    followPolicies(made.chart);
  });
  return made;
}

// The layers that are shown, from the top: each with the sum of it and those below.
function stacked(layers) {
  const sums = new Float64Array(layers.edges.length);
  const shown = layers.jobs.map((values, layer) => ({ layer, values })).filter(({ layer }) => !state.hidden.has(layer));
  return shown.map(({ layer, values }) => {
    values.forEach((value, cell) => (sums[cell] += value));
    sums[sums.length - 1] = sums[Math.max(sums.length - 2, 0)];
    return { layer, values, top: Array.from(sums) };
  }).reverse();
}

function layerName(layer) {
  const number = data.timelines.own[layer];
  return number === undefined ? "other jobs" : `job ${number}`;
}

function layerColour(layer) {
  return data.colours[layer] ?? themed("--others");
}

// The running tasks of one policy by job.
function stackChart(stack) {
  const draw = () => {
    const layers = stack.runs[state.stacked];
    const shown = stacked(layers);
    const series = shown.map(({ layer, values }) => ({
      label: layerName(layer),
      fill: layerColour(layer),
      width: 0,
      points: { show: false },
      paths: uPlot.paths.stepped({ align: 1 }),
      value: (_, value, place, index) => (index === null || index === undefined ? UNKNOWN : `${+(values[Math.min(index, values.length - 1)] ?? 0).toFixed(2)} ${stack.unit}`),
    }));
    return {
      data: [layers.edges, ...shown.map(({ top }) => top)],
      options: overTime({
        series: [{ label: "Time", value: readClock }, ...series],
        scales: { y: { range: (_, low, high) => [0, high > 0 ? high * 1.05 : 1] } },
        axes: [runAxis(), axis({ size: 60 })],
        legend: { markers: { fill: (_, place) => layerColour(shown[place - 1]?.layer) } },
      }),
    };
  };
  const made = new Chart({
    name: `${stack.name}-by-job`,
    title: `${stack.title} by job`,
    caption: `The jobs that use the most ${stack.unit === "CPUs" ? "CPU" : "slot"} time have their own colours.`,
    keys: TIME_KEYS,
    draw,
  });
  let drawn = "";
  listen(() => {
    const now = [state.stacked, ...state.hidden].join();
    if (drawn !== now) made.redraw();
    drawn = now;
    followWindow(made.chart);
  });
  return made;
}

