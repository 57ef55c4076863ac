// The view of the reader in the address of the page, so that a link leads to it: window, measure, policies, filters, order and open job.
// Whatever an address says is only looked up among what the page has.

// The longest search that an address may ask for.
const LONGEST = 200;

// The address of the view.
function viewAddress(table) {
  const view = new URLSearchParams();
  if (!isWhole()) {
    view.set("from", String(Math.round(state.from)));
    view.set("to", String(Math.round(state.to)));
  }
  if (state.measure !== "completion") view.set("measure", state.measure);
  const hidden = state.shown.flatMap((shown, policy) => (shown ? [] : [policy]));
  if (hidden.length) view.set("off", hidden.join("."));
  for (const [name, value] of Object.entries(table.view())) view.set(name, value);
  return `#${view}`;
}

// Takes the view that an address asks for. A part that makes no sense here is left out.
function takeView(table, address) {
  const view = new URLSearchParams(address.replace(/^#/, ""));
  // An address without any pair is that of a heading.
  if (!address.includes("=")) return;
  const number = (name) => (/^-?\d{1,16}$/.test(view.get(name) ?? "") ? Number(view.get(name)) : null);
  const [from, to] = [number("from"), number("to")];
  const measure = view.get("measure") ?? "completion";
  const off = (view.get("off") ?? "").split(".").map(Number);
  const part = { shown: policies.map((_, policy) => !view.get("off") || !off.includes(policy)) };
  if (data.choices.includes(measure) && measures.has(measure)) part.measure = measure;
  choose(part);
  if (from !== null && to !== null && from < to) chooseWindow(from, to);
  else wholeWindow();
  const text = (name) => (view.get(name) ?? "").slice(0, LONGEST);
  table.take({ search: text("search"), user: view.get("user"), queue: view.get("queue"), size: view.get("size"), sort: view.get("sort"), job: view.get("job") });
}

// Keeps the address at the view, and takes the view of an address that the reader enters.
function keepView(table) {
  const link = document.getElementById("view");
  let own = "";
  const write = oncePerFrame(() => {
    const address = viewAddress(table);
    link.href = address;
    if (address === own) return;
    // The first view is that of the address without one.
    const isFirst = own === "" && address === "#";
    own = address;
    if (!isFirst) history.replaceState(null, "", address);
  });
  takeView(table, location.hash);
  addEventListener("hashchange", () => {
    if (location.hash !== own) takeView(table, location.hash);
  });
  listen(write);
  table.changed = write;
}
