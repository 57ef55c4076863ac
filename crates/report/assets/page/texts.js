// Texts and elements. Nothing from a trace is ever read as HTML: all of it goes through `textContent`.

const UNKNOWN = "\u2013";

// An element with attributes and children. A child that is no element is text.
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.map((child) => (child instanceof Node ? child : String(child))));
  return made;
}

// A button that does something.
function button(label, act, attributes = {}) {
  const made = element("button", { type: "button", ...attributes }, label);
  made.addEventListener("click", act);
  return made;
}

// A choice between options, each a value and its text.
function choice(label, options, act) {
  const select = element("select", {}, ...options.map(([value, text]) => element("option", { value }, text)));
  select.addEventListener("change", () => act(select.value));
  return element("label", {}, `${label} `, select);
}

// The unit of a time: its name, its length in ms, and the time from which on it is used.
function unitFor(ms) {
  return data.rules.units.find(([, , from]) => ms >= from) ?? data.rules.units.at(-1);
}

// Times in ms, all in the unit in which their median is easiest to read, as the tables of the page have them.
function times(all) {
  const sizes = all.filter((ms) => ms !== null && ms !== 0).map(Math.abs).sort((a, b) => a - b);
  const [name, length] = unitFor(quantile(sizes, 0.5));
  const decimals = (amount) => (amount === 0 || amount >= 0.1 ? 1 : amount < 0.01 ? 3 : 2);
  const shown = (amount) => `${amount.toFixed(decimals(Math.abs(amount)))} ${name}`;
  return all.map((ms) => (ms === null ? UNKNOWN : shown(ms / length)));
}

// Times in ms, each in the unit that suits the longest.
function timesUpTo(longest) {
  const [name, length] = unitFor(longest);
  return (ms) => `${(ms / length).toFixed(2)} ${name}`;
}

// A time in ms.
function time(ms) {
  return times([ms])[0];
}

// A whole number with its thousands set apart.
function count(number) {
  return number.toLocaleString("en");
}

// A ratio as a change in per cent.
function change(ratio) {
  if (ratio === null || !isFinite(ratio)) return UNKNOWN;
  const percent = 100 * (ratio - 1);
  return `${percent < 0 ? "\u2212" : "+"}${Math.abs(percent).toFixed(1)} %`;
}

// A quantile of ascending numbers, between neighbours by their distance; 0 for none.
function quantile(sorted, share) {
  if (sorted.length === 0) return 0;
  const at = (sorted.length - 1) * share;
  const low = Math.floor(at);
  const high = Math.min(low + 1, sorted.length - 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (at - low);
}

// A cell of a CSV table. A text that a spreadsheet would take for a formula gets an apostrophe.
function csvCell(value) {
  let text = String(value ?? "");
  if (/^[=+\-@\t\r]/.test(text) && isNaN(Number(text))) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// Saves rows as a CSV file.
function save(name, rows) {
  const text = rows.map((row) => row.map(csvCell).join(",")).join("\n") + "\n";
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  const link = element("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

// Calls a function at most once per frame of the screen.
function oncePerFrame(act) {
  let waits = false;
  return () => {
    if (waits) return;
    waits = true;
    requestAnimationFrame(() => {
      waits = false;
      act();
    });
  };
}

