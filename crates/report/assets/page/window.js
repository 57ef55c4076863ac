// What the reader chooses for all charts and tables: policies, window and measure. And the numbers of the window.

// A box for each policy, with its line.
function policyBoxes() {
  const boxes = policies.map((look, policy) => {
    const box = element("input", { type: "checkbox", checked: true });
    box.addEventListener("change", () => choose({ shown: state.shown.map((shown, other) => (other === policy ? box.checked : shown)) }));
    listen(() => (box.checked = state.shown[policy]));
    const swatch = element("span", { class: "swatch", "aria-hidden": "true" });
    swatch.style.background = lineOf(look);
    return element("label", { class: "policy" }, box, swatch, look.label);
  });
  return element("fieldset", { class: "policies" }, element("legend", {}, "Policies"), ...boxes);
}

// The background that looks as the line of a policy.
function lineOf(look) {
  const colour = look.colour ?? "currentColor";
  let at = 0;
  const stops = look.dash.map((length, place) => `${place % 2 ? "transparent" : colour} ${at}px ${(at += length)}px`);
  return stops.length === 0 ? colour : `repeating-linear-gradient(to right, ${stops.join(", ")})`;
}

// Two sliders for the ends of the window, and buttons for all who cannot drag.
function windowTools() {
  const slider = (label, end, act) => {
    const input = element("input", { type: "range", min: 0, max: 1000, step: 1, "aria-label": label });
    input.addEventListener("input", () => act((Number(input.value) / 1000) * data.span));
    listen(() => {
      input.value = String(Math.round((state[end] / data.span) * 1000));
      input.setAttribute("aria-valuetext", data.clock ? clockTime(state[end]) : time(state[end]));
    });
    return input;
  };
  const words = element("output", { id: "window", "aria-live": "polite" });
  const whole = button("Whole run", wholeWindow);
  listen(() => {
    words.textContent = windowInWords();
    whole.disabled = isWhole();
  });
  return element("fieldset", { class: "window" },
    element("legend", {}, "Window"),
    element("div", { class: "sliders" }, slider("Start of the window", "from", (ms) => chooseWindow(ms, state.to)),
      slider("End of the window", "to", (ms) => chooseWindow(state.from, ms))),
    element("div", { class: "buttons" }, button("Zoom in", () => scaleWindow(0.5)), button("Zoom out", () => scaleWindow(2)),
      button("Earlier", () => moveWindow(-0.5)), button("Later", () => moveWindow(0.5)), whole),
    words);
}

// Only times that a reader would compare, not their explanations.
function measureTool() {
  const names = data.choices.filter((name) => measures.has(name));
  const options = names.map((name) => [name, measures.get(name).title]);
  const made = choice("Time of jobs", options, (name) => choose({ measure: name }));
  listen(() => (made.querySelector("select").value = state.measure));
  return element("div", { class: "measure" }, made);
}

// The numbers of the jobs in the window under each policy.
function windowTable() {
  const heads = ["Policy", "Jobs", "Mean", "Median", "p95", "Mean against the baseline"];
  const body = element("tbody");
  const caption = element("span");
  const table = element("table", { id: "window-table" }, element("caption", {}, caption),
    element("thead", {}, element("tr", {}, ...heads.map((head, place) => element("th", { scope: "col", class: place ? undefined : "text" }, head)))), body);
  const show = () => {
    const values = policies.map((_, policy) => windowValues(policy));
    const numbers = values.map((own) => (own.length ? [mean(own), quantile(own, 0.5), quantile(own, 0.95)] : [null, null, null]));
    const texts = times(numbers.flat());
    const base = numbers[data.baseline][0];
    caption.textContent = `${measure().title} of the jobs that were submitted in the window: ${windowInWords()}.`;
    body.replaceChildren(...policies.map((look, policy) => {
      const own = numbers[policy][0];
      const against = policy === data.baseline || look.observed || own === null || !base ? UNKNOWN : change(own / base);
      const cells = [count(values[policy].length), ...texts.slice(3 * policy, 3 * policy + 3), against];
      return element("tr", { class: state.shown[policy] ? undefined : "off" }, element("th", { scope: "row", class: "text" }, look.label),
        ...cells.map((cell) => element("td", {}, cell)));
    }));
  };
  listen(show);
  const sampled = jobs.every > 1 ? [element("p", { class: "note" }, `The page has one in ${jobs.every} of ${count(jobs.all)} jobs; jobs.parquet has all.`)] : [];
  const inside = element("div", { class: "wide", tabindex: 0, role: "group", "aria-label": "Numbers of the window" }, table);
  return element("div", { class: "numbers" }, element("h3", {}, "Jobs in the window"), inside, ...sampled);
}

