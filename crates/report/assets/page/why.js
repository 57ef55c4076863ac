// Why a job took its time: its parts under each policy, and what else is known.

// A bar for each policy, its parts as long as their times. All bars of a job share one scale.
function partBars(job) {
  const parts = data.why.parts.map((name) => measures.get(name));
  const longest = Math.max(...policies.map((_, policy) => measures.get("completion").runs[policy][job] ?? 0), 1);
  const bars = policies.map((look, policy) => {
    const pieces = parts.map((part) => {
      const value = part.runs[policy][job];
      const piece = element("span", { class: `part part-${part.name}`, title: `${part.title}: ${shownValue(part, value)}` });
      piece.style.width = `${(100 * (value ?? 0)) / longest}%`;
      return piece;
    });
    return element("div", { class: "bar" }, element("span", { class: "name" }, look.label), element("span", { class: "pieces", "aria-hidden": "true" }, ...pieces));
  });
  const legend = parts.map((part) => element("span", { class: "key" }, element("span", { class: `part part-${part.name}`, "aria-hidden": "true" }), part.title));
  return element("div", { class: "bars" }, element("p", { class: "keys" }, ...legend), ...bars);
}

// The numbers of a job: a row for each measure, a column for each policy.
function factTable(job) {
  const rows = ["completion", ...data.why.parts, ...data.why.facts].map((name) => {
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
    return `Under ${look.label} it waited ${one} of ${other}${share} for its first task.`;
  });
}

// What explains a job.
function why(job) {
  const facts = [jobs.names.text(job), jobs.users.any ? `user ${jobs.users.text(job) || UNKNOWN}` : "",
    jobs.queues.any ? `queue ${jobs.queues.text(job) || UNKNOWN}` : "", `${count(jobs.tasks[job])} tasks`,
    `submitted ${time(jobs.submits[job])} after the first`].filter((text) => text !== "");
  return element("div", { class: "why" },
    element("h4", {}, `Job ${jobs.number(job)}: ${jobs.ids[job]}`),
    element("p", {}, `${facts.join(", ")}.`),
    element("ul", {}, ...whySentences(job).map((sentence) => element("li", {}, sentence))),
    partBars(job), ...(data.why.note === "" ? [] : [element("p", { class: "note" }, data.why.note)]), factTable(job));
}

