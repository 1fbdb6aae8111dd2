// Of page.html: draws what the JSON file (docs/profile.md) says, which lies in the page.
"use strict";
const profile = JSON.parse(document.getElementById("profile").textContent);
const known = profile.ranks.filter(rank => rank.times);
const KINDS = [
  ["compute", "computing"], ["messages", "sends and receives"], ["completion", "Wait, Test and Probe"],
  ["collectives", "collectives"], ["other", "other MPI calls"], ["waiting", "waiting in MPI"],
  ["no_core", "waiting for a core"],
];

// Words and numbers.

function scaled(value, step, units) {
  let unit = 0;
  while (value >= step * 0.9995 && unit + 1 < units.length) { value /= step; ++unit; }
  const digits = value >= 99.95 || (unit === 0 && Number.isInteger(value)) ? 0 : value >= 9.995 ? 1 : 2;
  return value.toFixed(digits) + (units[unit] ? "\u202f" + units[unit] : "");
}
const seconds = value => value === 0 ? "0" : value >= 1 ? scaled(value, 1e9, ["s"]) : scaled(value * 1e9, 1000, ["ns", "\u00b5s", "ms", "s"]);
const bytes = value => scaled(value, 1000, ["B", "kB", "MB", "GB", "TB", "PB"]);
const count = value => scaled(value, 1000, ["", "k", "M", "G", "T"]);
/** On axes, where all numbers are round. */
const round = text => text.replace(/\.0+(?=\u202f|$)/, "").replace(/(\.\d*?)0+(?=\u202f|$)/, "$1");
const times = number => number === 1 ? "once" : `${count(number)} times`;
const percent = (part, whole) => whole > 0 ? (100 * part / whole).toFixed(1) + "\u202f%" : "\u2013";
const plural = (number, word) => `${number} ${word}${number === 1 ? "" : word.endsWith("s") ? "es" : "s"}`;
const sum = (list, value) => list.reduce((all, one) => all + value(one), 0);
const mean = (list, value) => list.length ? sum(list, value) / list.length : 0;
const most = (list, value) => list.reduce((best, one) => best === null || value(one) > value(best) ? one : best, null);
const color = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const by_id = id => document.getElementById(id);

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}
function swatch(name) {
  const made = element("i");
  made.style.background = `var(--${name})`;
  return made;
}
function part_of_bar(name, share) {
  const made = swatch(name);
  made.style.width = 100 * share + "%";
  return made;
}
function show_tip(event, text) {
  const tip = by_id("tip");
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 8)) + "px";
  tip.style.top = (event.clientY + 18 + box.height > innerHeight ? event.clientY - box.height - 12 : event.clientY + 18) + "px";
}
/** Buttons of which one is pressed; `change` is told which. */
function choose(id, value, change) {
  const buttons = [...by_id(id).querySelectorAll("button")];
  const press = chosen => buttons.forEach(button => button.setAttribute("aria-pressed", button.dataset.value === chosen));
  buttons.forEach(button => button.addEventListener("click", () => { press(button.dataset.value); change(button.dataset.value); }));
  press(value);
}
/** The context of a canvas that is `height` high and as sharp as the screen. */
function prepare(canvas, height) {
  const ratio = devicePixelRatio || 1, width = canvas.clientWidth;
  canvas.style.height = height + "px";
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "middle";
  return [context, width];
}
/** Round numbers from 0 to `end`, some `wanted` of them. */
function ticks(end, wanted) {
  if (!(end > 0)) return [0];
  const raw = end / wanted, power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find(factor => factor * power >= raw * 0.999);
  const found = [];
  for (let at = 0; at <= end * 1.0001; at += step) found.push(at);
  return found;
}
function range_name(first, last) { return first === last ? `rank ${first}` : `ranks ${first} to ${last}`; }

// The head.

function write_head() {
  document.title = `Profile of ${profile.program}`;
  by_id("program").textContent = profile.program;
  by_id("command").textContent = profile.command;
  const processes = new Set(profile.ranks.map(rank => rank.process)).size;
  const facts = [[profile.ranks.length, profile.ranks.length === 1 ? "rank" : "ranks"], [processes, processes === 1 ? "process" : "processes"],
                 [profile.hosts.length, profile.hosts.length === 1 ? "host" : "hosts"], [seconds(profile.seconds), "from start to end"],
                 [profile.started.replace("T", " ").replace("Z", " UTC"), ""]];
  if (profile.exit_code !== 0) facts.push([profile.exit_code, "was the exit code"]);
  by_id("facts").append(...facts.map(([value, what]) => element("span", {}, element("b", {textContent: value}), " " + what)));
  const notes = [...profile.notes];
  const stuck = profile.ranks.filter(rank => rank.unfinished);
  stuck.slice(0, 8).forEach(rank => notes.push(`rank ${rank.rank} was in ${rank.unfinished.call} for ${seconds(rank.unfinished.seconds)} when the job ended`));
  if (stuck.length > 8) notes.push(`and ${stuck.length - 8} ranks more were in a call`);
  if (known.length < profile.ranks.length) notes.push(`${plural(profile.ranks.length - known.length, "rank")} of ${profile.ranks.length} left no records`);
  by_id("notes").hidden = notes.length === 0;
  by_id("notes").append(...notes.map(text => element("p", {textContent: text})));
}

function write_tiles() {
  const whole = mean(known, rank => rank.seconds), waiting = mean(known, rank => rank.times.waiting);
  const no_core = mean(known, rank => rank.times.no_core);
  const computing = mean(known, rank => rank.times.compute);
  const busiest = most(known, rank => rank.times.compute);
  const {within_process, within_host, between_hosts} = profile.distances;
  const all = [within_process, within_host, between_hosts];
  const total = sum(all, one => one.bytes);
  const tiles = [
    [percent(whole - computing - no_core, whole), `of the time in MPI: ${seconds(whole - computing - no_core)} of ${seconds(whole)}, mean of all ranks`],
    [percent(waiting, whole), `of the time waiting in MPI: ${seconds(waiting)}`],
    ...(no_core > whole / 100 ? [[percent(no_core, whole), `of the time waiting for a core, which others had: ${seconds(no_core)}`]] : []),
    computing > whole / 100 ? [(busiest.times.compute / computing).toFixed(2) + "\u202f\u00d7", `load imbalance: rank ${busiest.rank} computes longest, ${seconds(busiest.times.compute)}`]
      : ["\u2013", "load imbalance: there was hardly any computing"],
    [bytes(total), `in ${count(sum(all, one => one.messages))} messages between ranks` + (profile.hosts.length > 1 ? `, ${percent(between_hosts.bytes, total)} between hosts` : "")],
  ];
  by_id("tiles").append(...tiles.map(([value, what]) =>
    element("div", {className: "tile"}, element("div", {className: "value", textContent: value}), element("div", {className: "what", textContent: what}))));
}

// Time of each rank.

let bars_order = "rank", bars_hit = () => "";
function draw_bars() {
  const canvas = by_id("bars"), ranks = [...known];
  if (bars_order === "compute") ranks.sort((a, b) => b.times.compute - a.times.compute);
  const end = Math.max(...ranks.map(rank => rank.seconds), 0);
  const many = ranks.length > 32;
  by_id("bars-about").textContent = "From MPI_Init to MPI_Finalize" + (many ? "; each column is a rank." : ".");
  const tell = rank => `rank ${rank.rank} on ${profile.hosts[rank.host]}: ${seconds(rank.seconds)}\n` +
    KINDS.filter(([kind]) => rank.times[kind] > 0).map(([kind, name]) => `${name} ${seconds(rank.times[kind])} (${percent(rank.times[kind], rank.seconds)})`).join("\n") +
    (rank.threads > 1 ? `\nmean of ${rank.threads} threads, ${rank.mean_threads.toFixed(1)} at a time` : "");
  if (many) draw_columns(canvas, ranks, end, tell); else draw_rows(canvas, ranks, end, tell);
}
function draw_rows(canvas, ranks, end, tell) {
  const row = ranks.length > 16 ? 17 : 24, gap = ranks.length > 16 ? 3 : 5, top = 24;
  const [context, width] = prepare(canvas, top + Math.max(ranks.length, 1) * row + 2);
  const left = context.measureText(`rank ${profile.ranks.length}`).width + 14, room = width - left - 14;
  draw_time_axis(context, end, at => left + room * at / end, top - 6, top + ranks.length * row, true);
  ranks.forEach((rank, i) => {
    const y = top + i * row;
    context.fillStyle = color("soft");
    context.textAlign = "right";
    context.fillText(`rank ${rank.rank}`, left - 8, y + row / 2);
    let x = left;
    for (const [kind] of KINDS) {
      const part = room * rank.times[kind] / end;
      context.fillStyle = color(kind);
      context.fillRect(x, y + gap / 2, part, row - gap);
      x += part;
    }
  });
  bars_hit = (x, y) => { const rank = ranks[Math.floor((y - top) / row)]; return rank && y >= top ? tell(rank) : ""; };
}
function draw_columns(canvas, ranks, end, tell) {
  const height = 300, top = 8, bottom = 26, plot = height - top - bottom;
  const [context, width] = prepare(canvas, height);
  const marks = ticks(end, 5), left = Math.max(...marks.map(at => context.measureText(seconds(at)).width)) + 14, room = width - left - 2;
  context.strokeStyle = color("line");
  context.fillStyle = color("soft");
  context.textAlign = "right";
  for (const at of marks) {
    const y = top + plot - plot * at / end;
    context.fillText(round(seconds(at)), left - 8, y);
    context.beginPath(); context.moveTo(left, y + 0.5); context.lineTo(width, y + 0.5); context.stroke();
  }
  // Where there are more ranks than columns, a column is the mean of some.
  const columns = Math.min(ranks.length, Math.floor(room)), step = room / columns;
  const colors = KINDS.map(([kind]) => color(kind));
  const first = column => Math.floor(column * ranks.length / columns);
  for (let column = 0; column < columns; ++column) {
    const here = ranks.slice(first(column), Math.max(first(column + 1), first(column) + 1));
    const x = Math.round(left + column * step), next = Math.round(left + (column + 1) * step);
    let y = top + plot;
    KINDS.forEach(([kind], i) => {
      const part = plot * mean(here, rank => rank.times[kind]) / end;
      context.fillStyle = colors[i];
      context.fillRect(x, y - part, next - x - (step > 4 ? 1 : 0), part);
      y -= part;
    });
  }
  context.fillStyle = color("soft");
  context.textAlign = "center";
  if (bars_order === "rank")
    for (const at of ticks(ranks.length - 1, 8))
      if (Number.isInteger(at)) context.fillText(at === 0 ? "rank 0" : at, Math.min(Math.max(left + room * (at + 0.5) / ranks.length, left + 18), width - 16), height - 10);
  bars_hit = x => { const rank = ranks[Math.floor((x - left) / room * ranks.length)]; return x >= left && rank ? tell(rank) : ""; };
}
function draw_time_axis(context, end, place, top, bottom) {
  context.strokeStyle = color("line");
  context.fillStyle = color("soft");
  context.textAlign = "center";
  for (const at of ticks(end, 6)) {
    const x = Math.round(place(at)) + 0.5;
    context.beginPath(); context.moveTo(x, top); context.lineTo(x, bottom); context.stroke();
    context.fillText(round(seconds(at)), x, top - 9);
  }
}
function write_bars_legend() {
  const whole = sum(known, rank => rank.seconds);
  by_id("bars-legend").append(...KINDS.map(([kind, name]) =>
    element("span", {}, swatch(kind), name + " ", element("b", {textContent: percent(sum(known, rank => rank.times[kind]), whole)}))));
}

// Messages between ranks.

let matrix_what = "bytes", matrix_hit = () => "";
function draw_matrix() {
  const canvas = by_id("matrix"), ranks = profile.ranks.length;
  const width = canvas.clientWidth, margin = 44, scale = 54;
  const side = Math.max(60, Math.min(width - margin - 2, 520, Math.max(56 * ranks, 200)));
  const [context] = prepare(canvas, side + margin + scale);
  const cells = Math.min(ranks, Math.floor(side)), cell = side / cells;
  const of_rank = rank => Math.floor(rank * cells / ranks);
  const values = new Float64Array(cells * cells), others = new Float64Array(cells * cells);
  for (const rank of known)
    for (const [peer, messages, size] of rank.sent) {
      const at = of_rank(rank.rank) * cells + of_rank(peer);
      values[at] += matrix_what === "bytes" ? size : messages;
      others[at] += matrix_what === "bytes" ? messages : size;
    }
  let least = Infinity, greatest = 0;
  for (const value of values) if (value > 0) { least = Math.min(least, value); greatest = Math.max(greatest, value); }
  const say = matrix_what === "bytes" ? bytes : value => count(value) + " messages";
  by_id("matrix-about").textContent = cells < ranks ? `A dot is ${Math.ceil(ranks / cells)} by ${Math.ceil(ranks / cells)} ranks.` : "";
  const shade = shades(least, greatest);

  context.fillStyle = color("track");
  context.fillRect(margin, margin, side, side);
  for (let from = 0; from < cells; ++from)
    for (let to = 0; to < cells; ++to) {
      const value = values[from * cells + to];
      if (!(value > 0)) continue;
      context.fillStyle = shade(value);
      const gap = cell > 9 ? 1 : 0;
      context.fillRect(margin + to * cell, margin + from * cell, Math.max(cell - gap, 1), Math.max(cell - gap, 1));
    }
  draw_hosts(context, margin, side);
  context.fillStyle = color("soft");
  context.textAlign = "left";
  context.fillText("to rank", margin, 9);
  context.save(); context.translate(9, margin); context.rotate(-Math.PI / 2); context.textAlign = "right"; context.fillText("from rank", 0, 0); context.restore();
  const step = cell >= 16 ? 1 : 0;
  const labels = step ? [...Array(ranks).keys()] : ticks(ranks - 1, 6).filter(Number.isInteger);
  for (const label of labels) {
    const at = margin + side * (label + 0.5) / ranks;
    context.textAlign = "center";
    context.fillText(label, at, margin - 11);
    context.textAlign = "right";
    context.fillText(label, margin - 6, at);
  }
  draw_scale(context, margin, margin + side + 18, side, least, greatest, say, shade);
  matrix_hit = (x, y) => {
    const to = Math.floor((x - margin) / cell), from = Math.floor((y - margin) / cell);
    if (to < 0 || from < 0 || to >= cells || from >= cells) return "";
    const name = cell => range_name(Math.ceil(cell * ranks / cells), Math.ceil((cell + 1) * ranks / cells) - 1);
    const at = from * cells + to;
    const [size, messages] = matrix_what === "bytes" ? [values[at], others[at]] : [others[at], values[at]];
    return `${name(from)} to ${name(to)}\n` + (messages > 0 ? `${count(messages)} messages, ${bytes(size)}` : "no messages");
  };
}
/** Colors from pale to strong, one step for each factor. */
function shades(least, greatest) {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const stops = dark ? [[38, 58, 92], [62, 118, 196], [150, 201, 255]] : [[198, 219, 244], [74, 134, 216], [10, 44, 99]];
  const span = Math.log(greatest / least);
  return value => {
    const at = (span > 0 ? Math.log(value / least) / span : 0.5) * (stops.length - 1);
    const low = Math.min(Math.floor(at), stops.length - 2), part = at - low;
    return `rgb(${stops[low].map((one, i) => Math.round(one + (stops[low + 1][i] - one) * part)).join(",")})`;
  };
}
function draw_hosts(context, margin, side) {
  context.strokeStyle = color("soft");
  profile.ranks.forEach((rank, i) => {
    if (i === 0 || rank.host === profile.ranks[i - 1].host) return;
    const at = Math.round(margin + side * i / profile.ranks.length) + 0.5;
    context.beginPath();
    context.moveTo(at, margin); context.lineTo(at, margin + side);
    context.moveTo(margin, at); context.lineTo(margin + side, at);
    context.stroke();
  });
}
function draw_scale(context, left, top, side, least, greatest, say, shade) {
  context.textAlign = "left";
  context.fillStyle = color("soft");
  if (!(greatest > 0)) return context.fillText("No messages were sent from rank to rank.", left, top);
  if (least === greatest) {
    context.fillStyle = shade(greatest);
    context.fillRect(left, top - 5, 22, 10);
    context.fillStyle = color("soft");
    return context.fillText(say(greatest), left + 30, top);
  }
  const width = Math.min(side, 300);
  for (let x = 0; x < width; ++x) {
    context.fillStyle = shade(least * (greatest / least) ** (x / (width - 1)));
    context.fillRect(left + x, top - 5, 1.5, 10);
  }
  context.fillStyle = color("soft");
  context.fillText(say(least), left, top + 17);
  context.textAlign = "right";
  context.fillText(say(greatest), left + width, top + 17);
  if (side - width < 110) return;
  context.textAlign = "left";
  context.fillText("logarithmic", left + width + 12, top);
}

// How far, and how much at a time.

function write_distances() {
  const parts = [["process", "in one process", profile.distances.within_process], ["host", "between processes of a host", profile.distances.within_host],
                 ["hosts", "between hosts", profile.distances.between_hosts]];
  for (const what of ["messages", "bytes"]) {
    const whole = sum(parts, ([, , traffic]) => traffic[what]);
    by_id("far").append(element("span", {textContent: what}),
      element("div", {className: "bar"}, ...parts.map(([name, , traffic]) => part_of_bar(name, whole > 0 ? traffic[what] / whole : 0))));
  }
  by_id("far-legend").append(...parts.map(([name, text, traffic]) =>
    element("span", {}, swatch(name), text + " ", element("b", {textContent: `${count(traffic.messages)} / ${bytes(traffic.bytes)}`}))));
}

/** Beside the matrix, as much as is left there. */
function height_of_sizes() {
  const matrix = by_id("matrix").closest("section").parentElement, own = by_id("sizes").closest("section");
  if (own.getBoundingClientRect().left < matrix.getBoundingClientRect().right) return 210;
  by_id("sizes").style.height = "0";
  const needed = own.getBoundingClientRect().top - matrix.getBoundingClientRect().top + own.firstElementChild.offsetHeight + 52;
  return Math.max(190, Math.min(by_id("matrix").closest("section").firstElementChild.offsetHeight + by_id("matrix").offsetHeight + 52 - needed, 460));
}

let sizes_what = "messages", sizes_hit = () => "";
function draw_sizes() {
  const list = new Map();
  for (const rank of known)
    for (const [size, messages, all] of rank[sizes_what === "messages" ? "message_sizes" : "collective_sizes"]) {
      const [before, bytes_before] = list.get(size) || [0, 0];
      list.set(size, [before + messages, bytes_before + all]);
    }
  by_id("sizes-about").textContent = sizes_what === "messages" ? "Of what one rank sends another." : "Of what a rank gives to a collective.";
  const height = height_of_sizes(), top = 20, bottom = 40;
  const [context, width] = prepare(by_id("sizes"), height);
  context.fillStyle = color("soft");
  if (list.size === 0) { context.fillText("There were none.", 0, top); sizes_hit = () => ""; return; }
  // Classes are powers of two, 0 by itself.
  const number = size => size === 0 ? 0 : Math.log2(size) + 1, size_of = number => number === 0 ? 0 : 2 ** (number - 1);
  const first = Math.max(0, Math.min(...[...list.keys()].map(number)) - 2), last = Math.max(...[...list.keys()].map(number), first + 9);
  const greatest = Math.max(...[...list.values()].map(([messages]) => messages));
  const marks = ticks(greatest, 3), left = Math.max(...marks.map(at => context.measureText(count(at)).width)) + 12;
  const room = width - left - 4, step = room / (last - first + 1), plot = height - top - bottom;
  context.strokeStyle = color("line");
  context.textAlign = "right";
  for (const at of marks) {
    const y = Math.round(top + plot - plot * at / greatest) + 0.5;
    context.fillText(round(count(at)), left - 8, y);
    context.beginPath(); context.moveTo(left, y); context.lineTo(width, y); context.stroke();
  }
  context.textAlign = "center";
  const every = Math.ceil(46 / step);
  for (let i = first; i <= last; ++i) {
    const x = left + (i - first) * step, found = list.get(size_of(i));
    if (found) {
      const part = Math.max(plot * found[0] / greatest, 1.5);
      context.fillStyle = color(sizes_what === "messages" ? "messages" : "collectives");
      context.fillRect(x + 1, top + plot - part, Math.max(step - 2, 1), part);
    }
    context.fillStyle = color("soft");
    if ((i - first) % every === 0) context.fillText(power(size_of(i)), x + step / 2, height - bottom + 13);
  }
  context.fillText("bytes, by powers of two", left + room / 2, height - 9);
  sizes_hit = x => {
    const i = first + Math.floor((x - left) / step), found = list.get(size_of(i));
    if (x < left || i > last) return "";
    const name = i === 0 ? "0 bytes" : i === 1 ? "1 byte" : `${size_of(i)} to ${2 * size_of(i) - 1} bytes`;
    return name + "\n" + (found ? `${times(found[0])}, ${bytes(found[1])} in all` : "none");
  };
}
function power(size) {
  let unit = 0;
  while (size >= 1024 && unit < 5) { size /= 1024; ++unit; }
  return size + ["", "Ki", "Mi", "Gi", "Ti", "Pi"][unit];
}

// Calls.

const COLUMNS = [
  ["function", "name", text => text], ["calls", "calls", count], ["time", "seconds", seconds], ["of all time", "share", null], ["waiting", "waiting", seconds], ["no core", "no_core", seconds],
  ["each", "each", seconds], ["bytes", "bytes", bytes],
];
let calls_by = "seconds", calls_down = true;
function write_calls() {
  const whole = sum(known, rank => rank.seconds * rank.mean_threads);
  const rows = Object.entries(profile.calls).map(([name, call]) =>
    ({name, kind: profile.kinds[name], ...call, share: call.seconds / whole, each: call.seconds / call.calls}));
  rows.sort((a, b) => (calls_down ? -1 : 1) * (calls_by === "name" ? -a.name.localeCompare(b.name) : a[calls_by] - b[calls_by]));
  const longest = Math.max(...rows.map(row => row.seconds), 1e-12);
  by_id("calls").tHead.replaceChildren(element("tr", {}, ...COLUMNS.map(([title, key]) => {
    const button = element("button", {textContent: title});
    button.addEventListener("click", () => { calls_down = calls_by === key ? !calls_down : true; calls_by = key; write_calls(); });
    const head = element("th", {scope: "col"}, button);
    if (key === calls_by) head.setAttribute("aria-sort", calls_down ? "descending" : "ascending");
    return head;
  })));
  by_id("calls").tBodies[0].replaceChildren(...rows.map(row => element("tr", {}, ...COLUMNS.map(([, key, say]) => {
    if (key === "name") return element("td", {className: "name"}, swatch(row.kind), row.name);
    if (key !== "share") return element("td", {textContent: row[key] === 0 ? "" : say(row[key])});
    const bar = element("div", {className: "bar"}, part_of_bar(row.kind, (row.seconds - row.waiting - row.no_core) / longest), part_of_bar("waiting", row.waiting / longest),
      part_of_bar("no_core", row.no_core / longest));
    return element("td", {className: "share"}, element("div", {}, element("span", {textContent: percent(row.seconds, whole)}), bar));
  }))));
}

// Waits.

function write_waits() {
  const all = known.flatMap(rank => rank.waits.map(wait => ({rank: rank.rank, ...wait})));
  all.sort((a, b) => b.seconds - a.seconds);
  const waiting = sum(known, rank => rank.times.waiting * rank.mean_threads), told = sum(all, wait => wait.seconds);
  const line = (share, ...words) => element("li", {}, element("div", {}, ...words), element("div", {className: "bar"}, part_of_bar("waiting", share)));
  by_id("waits").append(...all.slice(0, 10).map(wait => line(wait.seconds / all[0].seconds,
    `rank ${wait.rank} waited `, element("b", {textContent: seconds(wait.seconds)}), ` for rank ${wait.for} in ${wait.in} `,
    element("span", {textContent: wait.times === 1 ? "once" : `${count(wait.times)} \u00d7 ${seconds(wait.seconds / wait.times)}`}))));
  const causes = new Map();
  for (const wait of all) {
    const cause = causes.get(wait.for) || {rank: wait.for, seconds: 0, waiters: new Set(), calls: new Map()};
    causes.set(wait.for, cause);
    cause.seconds += wait.seconds;
    cause.waiters.add(wait.rank);
    cause.calls.set(wait.in, (cause.calls.get(wait.in) || 0) + wait.seconds);
  }
  const worst = [...causes.values()].sort((a, b) => b.seconds - a.seconds).slice(0, 10);
  by_id("causes").append(...worst.map(cause => {
    const [call, part] = most([...cause.calls], ([, time]) => time);
    return line(cause.seconds / worst[0].seconds, `rank ${cause.rank} kept ${plural(cause.waiters.size, "rank")} waiting `,
      element("b", {textContent: seconds(cause.seconds)}), " ", element("span", {textContent: `${percent(part, cause.seconds)} in ${call}`}));
  }));
  const rest = all.length === 0 ? (waiting > 0 ? "No wait could be put down to one rank." : "Nobody waited.")
    : `${percent(told, waiting)} of all waiting (${seconds(waiting)}) is put down to a rank; the rest has several causes, or nobody knows.`;
  by_id("waits").after(element("p", {className: "none", textContent: rest}));
}

function write_footer() {
  by_id("footer").append(...[
    "Time is measured in every rank from the return of MPI_Init to the return of MPI_Finalize, without what lies between MPI_Pcontrol(0) and MPI_Pcontrol(1). " +
    "Waiting is the part of a call in which the rank could not go on. Waiting for a core is the time, in calls and between them, in which it could, " +
    "but its core ran other ranks, threads or processes. Computing is the rest of what is no call of MPI.",
    "A rank waits in a receive for the sender, in a send for the receiver, and in a collective of one host for the rank that came last. " +
    "Messages are those of sends, counted where they are sent; what collectives send inside is not among them. " +
    "The bytes of a call are what it sends or gives to others, and of blocking receives what came in.",
    `Written by Clump ${profile.clump}.`,
  ].map(text => element("p", {textContent: text})));
}

function draw() { draw_bars(); draw_matrix(); draw_sizes(); }

write_head();
write_tiles();
write_bars_legend();
write_distances();
write_calls();
write_waits();
write_footer();
choose("bars-order", bars_order, value => { bars_order = value; draw_bars(); });
choose("matrix-what", matrix_what, value => { matrix_what = value; draw_matrix(); });
choose("sizes-what", sizes_what, value => { sizes_what = value; draw_sizes(); });
for (const [id, hit] of [["bars", (x, y) => bars_hit(x, y)], ["matrix", (x, y) => matrix_hit(x, y)], ["sizes", (x, y) => sizes_hit(x, y)]]) {
  by_id(id).addEventListener("mousemove", event => show_tip(event, hit(event.offsetX, event.offsetY)));
  by_id(id).addEventListener("mouseleave", event => show_tip(event, ""));
}
addEventListener("resize", draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
draw();
