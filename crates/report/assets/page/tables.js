// Tables that stand in the page: sorted by a click on a heading, searched and filtered. Without scripts all rows are there.

// What a cell sorts by: the first number with its unit, or the text.
function sortKey(text) {
  const found = /^([<>~]?\s*[+\-\u2212]?[\d.,]+)\s*(ms|s|min|h|d)?(?=$|[\s%,;\[])/.exec(text.trim());
  if (!found) return text.trim() === UNKNOWN ? null : text.trim().toLowerCase();
  const number = Number(found[1].replace(/[<>~\s,]/g, "").replace("\u2212", "-"));
  const lengths = { ms: 1, s: 1e3, min: 60e3, h: 3600e3, d: 86400e3 };
  return number * (lengths[found[2]] ?? 1);
}

// The order of two keys: numbers, then texts; unknown ones last, whichever way the table is sorted.
function inOrder(one, other, direction) {
  if (one === null || other === null) return (one === null) - (other === null);
  if (typeof one !== typeof other) return typeof one === "number" ? -1 : 1;
  if (typeof one === "number") return direction * (one - other);
  return direction * one.localeCompare(other, "en", { numeric: true });
}

function sortBy(table, column, direction) {
  for (const body of table.tBodies) {
    const rows = [...body.rows].filter((row) => row.cells.length > column);
    const keyed = rows.map((row) => [sortKey(row.cells[column].textContent), row]);
    keyed.sort(([one], [other]) => inOrder(one, other, direction));
    body.append(...keyed.map(([, row]) => row));
  }
}

// Makes the headings of a table buttons. `sort(column, direction)` sorts it; 1 is ascending.
// Returns what does the same as a click.
function addSorting(heads, sort) {
  const act = (column, direction) => {
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    heads[column].setAttribute("aria-sort", direction === 1 ? "ascending" : "descending");
    sort(column, direction);
  };
  heads.forEach((head, column) => {
    if (head.textContent.trim() === "") return;
    const label = head.textContent;
    const click = () => act(column, head.getAttribute("aria-sort") === "ascending" ? -1 : 1);
    head.replaceChildren(button(label, click, { class: "sort", title: `Sort by ${label}` }));
  });
  return act;
}

// The filters of a table: a box to search in, and a choice for each column that `data-filters` names.
function addFilters(table) {
  const rows = [...table.tBodies].flatMap((body) => [...body.rows]).filter((row) => row.cells.length > 1);
  const heads = [...table.tHead.rows[0].cells].map((head) => head.textContent.trim());
  const chosen = new Map();
  const search = element("input", { type: "search", size: 24 });
  const shown = element("output", { "aria-live": "polite" });
  const show = () => {
    const words = search.value.toLowerCase();
    let n = 0;
    for (const row of rows) {
      const fits = [...chosen].every(([of, value]) => value === "" || of(row) === value);
      row.hidden = !(fits && row.textContent.toLowerCase().includes(words));
      n += row.hidden ? 0 : 1;
    }
    // A group without rows would be a heading of nothing.
    for (const body of table.tBodies) body.hidden = [...body.rows].every((row) => row.hidden || row.cells.length === 1);
    shown.textContent = `${count(n)} of ${count(rows.length)} rows`;
  };
  const filter = (label, of) => {
    const values = [...new Set(rows.map(of))].filter((value) => value !== "").sort();
    const options = [["", "all"], ...values.map((value) => [value, value])];
    return choice(label, options, (value) => { chosen.set(of, value); show(); });
  };
  const filters = (table.dataset.filters ?? "").split(",").filter((name) => heads.includes(name)).map((name) => {
    const column = heads.indexOf(name);
    return filter(name, (row) => row.cells[column].textContent.trim());
  });
  if (table.dataset.groups) filters.unshift(filter(table.dataset.groups, (row) => row.parentElement.dataset.group ?? ""));
  search.addEventListener("input", show);
  const form = element("form", { class: "filter", role: "search" }, element("label", {}, "Search ", search), ...filters, shown);
  form.addEventListener("submit", (event) => event.preventDefault());
  table.parentElement.before(form);
  show();
}

for (const table of document.querySelectorAll("table.searchable")) addFilters(table);
for (const table of document.querySelectorAll("table.sortable")) {
  addSorting([...table.tHead.rows[0].cells], (column, direction) => sortBy(table, column, direction));
}

// What is folded is open where no script could open it again.
for (const details of document.querySelectorAll("details.folded")) details.open = false;

// Paper has no clicks: everything is open there.
const opened = [];
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details:not([open])")) {
    details.open = true;
    opened.push(details);
  }
});
addEventListener("afterprint", () => opened.splice(0).forEach((details) => (details.open = false)));

