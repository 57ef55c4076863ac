// The data of the page, and what the reader has chosen. Charts and tables listen to it, so that all show the same.

const data = await unpacked(document.getElementById("data").textContent);
const policies = data.policies;
const measures = new Map(data.measures.map((measure) => [measure.name, measure]));
const jobs = decoded(data.jobs);
data.rests.forEach(fillRest);
data.same.forEach(([name, other]) => (measures.get(name).runs = measures.get(other).runs));

// The data that base64 and gzip have packed. A browser that cannot unpack them shows the page as it is without scripts.
async function unpacked(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  // A loop takes a tenth of the time of `Uint8Array.from`.
  for (let place = 0; place < letters.length; place++) bytes[place] = letters.charCodeAt(place);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

// Fills in a measure that is what others leave of the completion time.
function fillRest({ name, less }) {
  const others = less.map((other) => measures.get(other).runs);
  measures.get(name).runs = measures.get("completion").runs.map((run, policy) =>
    run.map((whole, job) => others.reduce((left, other) => left - other[policy][job], whole)));
}

// The jobs with their times of submission in ms since the first.
function decoded(packed) {
  const submits = new Float64Array(packed.submits.length);
  packed.submits.reduce((sum, since, job) => (submits[job] = sum + since), 0);
  const words = ({ words, of }) => ({ words, of, text: (job) => words[of[job]] ?? "", any: words.length > 0 });
  const own = { names: words(packed.names), users: words(packed.users), queues: words(packed.queues) };
  const capital = packed.queue[0].toUpperCase() + packed.queue.slice(1);
  return { ...packed, ...own, Queue: capital, submits, count: submits.length, number: (job) => job * packed.every + 1 };
}

const state = {
  // Which policies are shown.
  shown: policies.map(() => true),
  // The window, ms since the first submission.
  from: 0,
  to: data.span,
  measure: "completion",
  // The policy whose running tasks are shown by job, and the jobs among them that are not.
  stacked: data.baseline,
  hidden: new Set(),
};
const listeners = [];
const tellAll = oncePerFrame(() => listeners.forEach((listener) => listener()));

// Calls `act` whenever the reader has chosen something else.
function listen(act) {
  listeners.push(act);
}

// Takes a choice of the reader.
function choose(part) {
  Object.assign(state, part);
  tellAll();
}

// Sets the window. One that is too narrow to show anything is left alone.
function chooseWindow(from, to) {
  const least = Math.max(data.span / 1e5, 1);
  const [low, high] = [Math.max(0, Math.min(from, to)), Math.min(data.span, Math.max(from, to))];
  if (high - low >= least) choose({ from: low, to: high });
}

// Makes the window so many times as wide, about its middle or the given time.
function scaleWindow(factor, about = (state.from + state.to) / 2) {
  chooseWindow(about - (about - state.from) * factor, about + (state.to - about) * factor);
}

// Moves the window by a share of its width.
function moveWindow(share) {
  const width = state.to - state.from;
  const from = Math.min(Math.max(0, state.from + share * width), data.span - width);
  chooseWindow(from, from + width);
}

function wholeWindow() {
  chooseWindow(0, data.span);
}

function isWhole() {
  return state.from <= 0 && state.to >= data.span;
}

// The jobs that were submitted in the window: from the first to before the second.
function windowJobs() {
  return [before((submit) => submit < state.from), before((submit) => submit <= state.to)];
}

// How many jobs come before the first for which the condition does not hold.
function before(holds) {
  let [low, high] = [0, jobs.count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(jobs.submits[middle])) low = middle + 1;
    else high = middle;
  }
  return low;
}

// The chosen measure.
function measure() {
  return measures.get(state.measure);
}

// The known values of the chosen measure under a policy, of the jobs in the window, ascending.
function windowValues(policy) {
  const [from, to] = windowJobs();
  const known = measure().runs[policy].slice(from, to).filter((value) => value !== null);
  return Float64Array.from(known).sort();
}

function mean(values) {
  return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
}

// The window in words.
function windowInWords() {
  if (isWhole()) return "the whole run";
  const [from, to] = times([state.from, state.to]);
  const since = `${from} to ${to} after the first submission`;
  if (!data.clock) return since;
  const [one, other] = [zoneAt(state.from), zoneAt(state.to)];
  return `${dateAndTime(state.from)}${one === other ? "" : ` ${one}`} to ${dateAndTime(state.to)} ${other}, ${since}`;
}

