// Puts the interactive parts into the page of a report.

// A box for each layer, and a choice of the policy.
function stackTools() {
  const boxes = [...data.timelines.own, undefined].map((_, layer) => {
    const box = element("input", { type: "checkbox", checked: true });
    box.addEventListener("change", () => {
      const hidden = new Set(state.hidden);
      if (box.checked) hidden.delete(layer);
      else hidden.add(layer);
      choose({ hidden });
    });
    const swatch = element("span", { class: "box", "aria-hidden": "true" });
    swatch.style.background = layerColour(layer);
    return element("label", { class: "policy" }, box, swatch, layerName(layer));
  });
  const options = policies.map((look, policy) => [String(policy), look.label]);
  const policy = choice("Policy", options, (chosen) => choose({ stacked: Number(chosen) }));
  policy.querySelector("select").value = String(state.stacked);
  return element("fieldset", { class: "layers" }, element("legend", {}, "Running tasks by job"), policy, ...boxes);
}

function build() {
  const root = document.getElementById("interactive");
  const table = new JobTable(document.getElementById("job-table"));
  const overTime = data.timelines.lines.map(timeChart);
  const ofJobs = [jobChart((job) => table.explain(job)), distributionChart()];
  const stacks = data.timelines.stacks.map(stackChart);
  const group = (...made) => element("div", { class: "charts" }, ...made.map((chart) => chart.figure));
  followTheWindow();
  root.append(
    element("div", { class: "choices", role: "group", "aria-label": "What charts and tables show" }, policyBoxes(), windowTools(), measureTool()),
    element("p", { class: "note" }, "Drag across a chart over time to choose a window: all charts and tables follow. Double-click to see the whole run. ",
      "With the keyboard: arrows read values, + and - zoom, Shift with an arrow moves, 0 shows all. ",
      element("a", { id: "view", href: "#" }, "Link to this view"), "."),
    group(...overTime, ...ofJobs, { figure: windowTable() }));
  if (stacks.length) root.append(stackTools(), group(...stacks));
  document.documentElement.classList.add("scripted");
  root.hidden = false;
  redrawAll();
  listeners.forEach((listener) => listener());
  keepView(table);
  const resized = oncePerFrame(() => charts.forEach((chart) => chart.resize()));
  new ResizeObserver(resized).observe(root);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
}

// Without a job that counts there is nothing to choose.
if (jobs.count > 0 && data.span > 0) build();
