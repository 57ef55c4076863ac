// Why a job took its time: its phases under each policy, who made it wait, and what else is known.

// A bar for each policy with the phases of the job in the order of time. All bars of a job share one scale.
function phaseBars(job) {
  const parts = data.why.parts.map((name) => measures.get(name));
  const completions = policies.map((_, policy) => measures.get("completion").runs[policy][job] ?? 0);
  const longest = Math.max(...completions, 1);
  const bars = policies.map((look, policy) => {
    const track = data.why.tracks[policy][job];
    const pieces = Array.from({ length: track.length / 2 }, (_, place) => [track[2 * place], track[2 * place + 1]]);
    const whole = pieces.reduce((sum, [, length]) => sum + length, 0);
    const drawn = pieces.map(([place, length]) => {
      const piece = element("span", { class: `part part-${parts[place].name}`, title: `${parts[place].title}, in all ${shownValue(parts[place], parts[place].runs[policy][job])}` });
      piece.style.width = `${(100 * completions[policy] * length) / whole / longest}%`;
      return piece;
    });
    return element("div", { class: "bar" }, element("span", { class: "name" }, look.label), element("span", { class: "pieces", "aria-hidden": "true" }, ...drawn));
  });
  const some = (part) => policies.some((_, policy) => (part.runs[policy][job] ?? 0) > 0);
  const legend = parts.flatMap((part) => (some(part)
    ? [element("span", { class: "key" }, element("span", { class: `part part-${part.name}`, "aria-hidden": "true" }), part.title)] : []));
  return element("div", { class: "bars" }, element("p", { class: "keys" }, ...legend), ...bars);
}

// The holders that have no name.
const HOLDERS = { others: "others", idle: "free or lost", rule: "a rule" };

// The word of a holder that has no name; undefined if it has one.
function nameless(number) {
  const { holders } = data.why.blame;
  return number < 0 && -number < holders.length ? holders[-number] : undefined;
}

// A holder in words; a job of the page is a button that explains it.
function holder(number, job, by, explain) {
  const { holders, words } = data.why.blame;
  if (nameless(number) !== undefined) return HOLDERS[nameless(number)];
  if (number < 0) return words[-number - holders.length] ?? `an unknown ${by}`;
  const place = number / jobs.every;
  if (place === job) return "the job itself";
  if (!Number.isInteger(place)) return `job ${number + 1}`;
  return button(`job ${number + 1}`, (event) => { event.stopPropagation(); explain(place); }, { class: "link", title: jobs.ids[place] });
}

// Who made a job wait: a row for each policy.
function blameTable(job, explain) {
  const { blame, waits } = data.why;
  const lists = [["job", blame.jobs], ["user", blame.users], [jobs.queue, blame.queues]].filter(([, list]) => list !== null);
  const rows = policies.map((look, policy) => {
    const waited = waits.reduce((sum, name) => sum + (measures.get(name).runs[policy][job] ?? 0), 0);
    const cells = lists.map(([by, list]) => {
      const all = list.who[policy][job].map((number, place) => [number, list.times[policy][job][place]]);
      const rest = all.reduce((left, [, ms]) => left - ms, waited);
      // What no job is to blame for stands with the jobs.
      const shares = all.filter(([number]) => by === "job" || nameless(number) === undefined)
        .map(([number, ms]) => [holder(number, job, by, explain), ms]);
      if (rest > 0) shares.push([HOLDERS.others, rest]);
      const shown = times(shares.map(([, ms]) => ms));
      return element("td", { class: "text holders" }, ...shares.map(([who], place) => element("span", {}, who, ` ${shown[place]}`)));
    });
    return element("tr", {}, element("th", { scope: "row", class: "text" }, look.label), element("td", {}, time(waited)), ...cells);
  });
  const heads = ["Waits", ...lists.map(([by]) => `By ${by}`)].map((text, place) => element("th", { scope: "col", class: place > 0 ? "text" : undefined }, text));
  return element("div", { class: "wide" }, element("table", { class: lists.length > 1 ? undefined : "one-list" },
    element("caption", {}, element("span", {}, "The jobs that made it wait, also while some of its tasks ran: they held the resources it waited for. Each has a part in proportion to what it held. ",
      "Free or lost: the resources were free, or its machine was lost. A rule: the policy or Hadoop held it back, or it was set up, cleaned up, or waited for its own earlier stages.")),
    element("thead", {}, element("tr", {}, element("th", { scope: "col", class: "text" }, "Policy"), ...heads)), element("tbody", {}, ...rows)));
}

// The numbers of a job: a row for each measure, a column for each policy.
function factTable(job) {
  const some = (name) => measures.get(name).runs.some((run) => (run[job] ?? 0) !== 0);
  const rows = ["completion", ...data.why.parts.filter(some), ...data.why.facts].map((name) => {
    const own = measures.get(name);
    const values = policies.map((_, policy) => own.runs[policy][job]);
    const texts = own.unit === "ms" ? times(values) : values.map((value) => shownValue(own, value));
    return element("tr", {}, element("th", { scope: "row", class: "text" }, own.title), ...texts.map((text) => element("td", {}, text)));
  });
  const heads = policies.map((look) => element("th", { scope: "col" }, look.label));
  return element("div", { class: "wide" }, element("table", {},
    element("thead", {}, element("tr", {}, element("th", { scope: "col", class: "text" }, "Number"), ...heads)), element("tbody", {}, ...rows)));
}

// The same in a sentence for each policy.
function whySentences(job) {
  const [completion, waiting] = ["completion", "waiting"].map((name) => measures.get(name));
  return policies.map((look, policy) => {
    const all = completion.runs[policy][job];
    const waited = waiting?.runs[policy][job] ?? null;
    if (all === null || waited === null) return `${look.label}: its times are not known.`;
    const [one, other] = times([waited, all]);
    const share = all > 0 ? ` (${Math.round((100 * waited) / all)} %)` : "";
    const [start, end] = [waited, all].map((since) => jobs.submits[job] + since);
    const when = data.clock ? ` It started at ${clockTime(start)} and ended at ${clockTime(end)}.` : "";
    return `Under ${look.label} it waited ${one} of ${other}${share} for its first task.${when}`;
  });
}

// What explains a job. `explain` opens another one.
function why(job, explain) {
  const facts = [jobs.names.text(job), jobs.users.any ? `user ${jobs.users.text(job) || UNKNOWN}` : "",
    jobs.queues.any ? `${jobs.queue} ${jobs.queues.text(job) || UNKNOWN}` : "", jobs.tasks[job] === 1 ? "1 task" : `${count(jobs.tasks[job])} tasks`,
    data.clock ? `submitted ${clockTime(jobs.submits[job])}` : `submitted ${time(jobs.submits[job])} after the first`].filter((text) => text !== "");
  return element("div", { class: "why" },
    element("h4", {}, `Job ${jobs.number(job)}: ${jobs.ids[job]}`),
    element("p", {}, `${facts.join(", ")}.`),
    element("ul", {}, ...whySentences(job).map((sentence) => element("li", {}, sentence))),
    phaseBars(job), blameTable(job, explain), ...(data.why.note === "" ? [] : [element("p", { class: "note" }, data.why.note)]), factTable(job));
}

