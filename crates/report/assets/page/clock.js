// Times by the clock of the trace, if its times have dates. All times of the page count from the first submission.

const MINUTE = 60e3, DAY = 86400e3;
// A place has its own rules of summer time, which the browser knows.
const local = data.clock?.place
  ? new Intl.DateTimeFormat("en-GB", { timeZone: data.clock.place, hourCycle: "h23", year: "numeric", month: "2-digit", day: "2-digit",
    hour: "2-digit", minute: "2-digit", second: "2-digit" })
  : null;

// By how much the clock is ahead of UTC at a time (ms since the epoch), ms.
function ahead(date) {
  if (!local) return data.clock.ahead * MINUTE;
  const parts = Object.fromEntries(local.formatToParts(date).map(({ type, value }) => [type, Number(value)]));
  const shown = Date.UTC(parts.year, parts.month - 1, parts.day, parts.hour, parts.minute, parts.second);
  return shown - Math.floor(date / 1e3) * 1e3;
}

// What the clock shows at a time since the first submission: ms since 1970 if the clock were one of UTC.
function shownAt(ms) {
  const date = data.clock.zero + ms;
  return date + ahead(date);
}

// Date and time of day, to the second.
function dateAndTime(ms) {
  return new Date(shownAt(ms)).toISOString().slice(0, 19).replace("T", " ");
}

// A time as the clock shows it, with its zone.
function clockTime(ms) {
  return `${dateAndTime(ms)} ${zoneAt(ms)}`;
}

function zoneAt(ms) {
  const minutes = Math.round(ahead(data.clock.zero + ms) / MINUTE);
  if (minutes === 0) return "UTC";
  const two = (number) => String(number).padStart(2, "0");
  return `${minutes < 0 ? "-" : "+"}${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
}

// The ticks of an axis of time by the clock: at round times of the day.
function clockSplits(_, __, low, high, step) {
  const shift = shownAt(low) - low;
  const splits = [];
  for (let at = Math.ceil((low + shift) / step) * step - shift; at <= high && splits.length < 100; at += step) splits.push(at);
  return splits;
}

// The texts of these ticks: the time of day, and the date where it is another than before.
function clockTicks(_, splits) {
  const short = splits.length > 1 && splits[1] - splits[0] < MINUTE;
  let before = "";
  return splits.map((ms) => {
    const [date, time] = dateAndTime(ms).split(" ");
    const day = date === before ? "" : `\n${date}`;
    before = date;
    return (short ? time : time.slice(0, 5)) + day;
  });
}

// The hour of the day in which a job was submitted: by the clock, or else since the zero of the run.
function hourOf(job) {
  const shown = data.clock ? shownAt(jobs.submits[job]) : data.first + jobs.submits[job];
  return Math.floor(((shown % DAY) + DAY) % DAY / 3600e3);
}
