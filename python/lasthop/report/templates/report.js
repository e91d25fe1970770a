"use strict";
(() => {
const data = JSON.parse(document.getElementById("report-data").textContent);
const byId = (id) => document.getElementById(id);
const rowOf = (name) => document.querySelector(`figure[data-row="${name}"]`);
const config = { responsive: true, displaylogo: false, doubleClick: false, scrollZoom: false,
  modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "zoomIn2d", "zoomOut2d", "resetScale2d"],
  toImageButtonOptions: { format: "svg", filename: "lasthop" } };

/* ---------- theme: every colour comes from the style sheet ---------- */
const probe = document.body.appendChild(document.createElement("i"));
probe.hidden = true;
const colour = (name) => { probe.style.color = `var(--${name})`; return getComputedStyle(probe).color; };
const faint = (name, share) => colour(name).replace("rgb(", "rgba(").replace(")", `, ${share})`);
const narrow = () => window.innerWidth < 700;

const axis = (title, extra = {}) => ({ title: { text: title, standoff: 8, font: { size: 12 } },
  gridcolor: colour("line"), zeroline: false, linecolor: colour("line"), ticks: "outside",
  tickcolor: colour("line"), ticklen: 4, tickfont: { size: 12 }, automargin: true, ...extra });
const base = (extra = {}) => ({
  paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", showlegend: false, autosize: true,
  font: { family: getComputedStyle(document.body).fontFamily, size: 13, color: colour("soft") },
  margin: { l: 54, r: 8, t: 22, b: 42 }, hovermode: "closest", dragmode: narrow() ? false : "zoom",
  hoverlabel: { bgcolor: colour("card"), bordercolor: colour("line"), font: { color: colour("ink"), size: 12 } },
  modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("grey"), activecolor: colour("ink") }, ...extra });

/* ---------- what is shown ---------- */
const engines = data.engines.length > 1;
const labelOf = (s) => (engines ? `${s.variant} · ${s.engine}` : s.variant);
/* Experiments are never compared with each other: both sides show the same one. */
const parts = data.parts.length > 1;
const withPart = (s) => (parts ? `${data.parts[s.part].tag}: ${labelOf(s)}` : labelOf(s));
const hidden = new Set();
const state = { a: 0, b: -1, range: null };
const partShown = () => data.series[state.a]?.part ?? 0;
const shown = (side) => (state[side] >= 0 ? data.series[state[side]] : null);
/* The whole run: until the last of the shown series ends. */
let full = [0, 1];
function measure() {
  const end = Math.max(0.001, ...["a", "b"].map((side) => shown(side)?.end || 0));
  const whole = !state.range || isWhole();
  full = [-0.01 * end, 1.01 * end];
  if (whole) state.range = [...full];
}

/* ---------- traces of each row: [{key, label, swatch, colour, trace, fit}] ---------- */
const step = { shape: "hv" };
/* Segments as vertical ticks. Those that touch and fall into one column of pixels are drawn as one,
   and none is drawn shorter than two pixels: ticks stay visible at every zoom, and few. */
const COLUMNS = 900, SHORTEST = 1 / 190;
function ticks(part, range, values) {
  const x = [], y = [], least = values ? (values[1] - values[0]) * SHORTEST : 0;
  const perColumn = COLUMNS / (range[1] - range[0]);
  const push = (t, lo, hi) => {
    const missing = Math.max(0, least - (hi - lo)) / 2;
    x.push(t, t, null); y.push(lo - missing, hi + missing, null);
  };
  let from = -1, column = 0;
  for (let i = 0; i <= part.t.length; i++) {
    const t = part.t[i], inside = i < part.t.length && t >= range[0] && t <= range[1];
    const here = inside ? Math.floor((t - range[0]) * perColumn) : -1;
    if (from >= 0 && (!inside || here !== column || Math.abs(part.lo[i] - part.hi[i - 1]) > 1e-6)) {
      push(part.t[from], part.lo[from], part.hi[i - 1]);
      from = -1;
    }
    if (inside && from < 0) { from = i; column = here; }
  }
  return { x, y };
}
/* One R wherever there is room for it; closer up there is room for all. */
function letters(part) {
  const x = [], y = [], room = (state.range[1] - state.range[0]) / 36;
  part.t.forEach((t, i) => { if (t >= state.range[0] && !(t - x[x.length - 1] < room)) { x.push(t); y.push(part.hi[i]); } });
  return { x, y, mode: "text", text: x.map(() => "R"), textposition: "top center", cliponaxis: false,
    textfont: { color: colour("red"), size: 12, weight: 700 }, hoverinfo: "skip" };
}
const time = "%{x:.4f} s";
/* Slots by their left edge, so that the axis puts its labels between bars, not on them. */
const starts = (a) => a.t.map((t) => +(t - a.bin / 2).toFixed(9));
const layers = {
  sequence(s, values) {
    const q = s.sequence, found = [];
    found.push({ key: "edge", label: "announced window", swatch: "dot", colour: "purple", fit: false,
      trace: { x: q.edge.t, y: q.edge.y, mode: "lines", line: { ...step, color: colour("purple"), width: 1.3, dash: "dot" },
        hovertemplate: `${time}<br>may send up to %{y:.1f} kB<extra></extra>` } });
    found.push({ key: "ack", label: "highest ACK", swatch: "", colour: "green", fit: true,
      trace: { x: q.ack.t, y: q.ack.y, mode: "lines", line: { ...step, color: colour("green"), width: 1.6 },
        hovertemplate: `${time}<br>acknowledged up to %{y:.2f} kB<extra></extra>` } });
    if (q.sent) found.push({ key: "sent", label: "highest byte sent", swatch: "", colour: "blue", fit: true,
      trace: { x: q.sent.t, y: q.sent.y, mode: "lines", line: { ...step, color: colour("blue"), width: 1.8 },
        hovertemplate: `${time}<br>sent up to %{y:.1f} kB<extra></extra>` } });
    if (q.data.t.length) found.push({ key: "data", label: "segment sent", swatch: "tick", colour: "blue", fit: true,
      trace: { ...ticks(q.data, state.range, values), mode: "lines", connectgaps: false, line: { color: colour("blue"), width: 2 },
        hovertemplate: `${time}<br>sent %{y:.2f} kB<extra></extra>` } });
    if (q.again.t.length) found.push({ key: "again", label: "retransmission (R)", swatch: "tick", colour: "red", fit: true,
      trace: { ...ticks(q.again, state.range, values), mode: "lines", connectgaps: false, line: { color: colour("red"), width: 2.6 },
        hovertemplate: `${time}<br>sent again: %{y:.2f} kB<extra></extra>` },
      also: letters(q.again) });
    if (q.drop.t.length) found.push({ key: "drop", label: "lost", swatch: "cross", colour: "ink", fit: true,
      trace: { x: q.drop.t, y: q.drop.y, mode: "markers", text: q.drop.why,
        marker: { symbol: "x-thin", size: 7, line: { width: 1.6, color: colour("ink") } },
        hovertemplate: `${time}<br>%{y:.2f} kB lost: %{text}<extra></extra>` } });
    return found;
  },
  window(s) {
    const w = s.window, line = (name, y, unit, style) => ({ x: w.t, y, mode: "lines", connectgaps: false,
      line: { ...step, ...style }, hovertemplate: `${time}<br>${name} %{y:.2f} kB<extra></extra>` });
    return [
      { key: "flight", label: "in flight", swatch: "area", colour: "grey", fit: true,
        trace: { ...line("in flight", w.flight, "", { color: faint("grey", 0.9), width: 0.8 }), fill: "tozeroy", fillcolor: faint("grey", 0.28) } },
      { key: "rwnd", label: "receiver's window", swatch: "dot", colour: "purple", fit: false,
        trace: line("receiver's window", w.rwnd, "", { color: colour("purple"), width: 1.6, dash: "dot" }) },
      { key: "ssthresh", label: "ssthresh", swatch: "dash", colour: "orange", fit: false,
        trace: line("ssthresh", w.ssthresh, "", { color: colour("orange"), width: 2, dash: "dash" }) },
      { key: "cwnd", label: "cwnd", swatch: "", colour: "blue", fit: true,
        trace: line("cwnd", w.cwnd, "", { color: colour("blue"), width: 2 }) }];
  },
  acks(s) {
    const a = s.acks, bar = (key, label, name, y) => ({ key, label, swatch: "area", colour: name, fit: true, stack: true,
      trace: { type: "bar", x: starts(a), offset: 0, y, width: a.t.map(() => a.bin), marker: { color: colour(name) },
        hovertemplate: `from %{x:.2f} s<br>${label}: %{y:.0f}/s<extra></extra>` } });
    return [bar("full", "at least one segment", "green", a.full), bar("divided", "less than a segment", "sky", a.divided),
      bar("duplicate", "nothing new", "red", a.duplicate)];
  },
  airtime(s) {
    const a = s.airtime;
    return a.layers.map((l) => ({ key: l.name, label: l.name, swatch: "area", colour: airColour(l), shade: airShade(l), order: ORDER.indexOf(l.kind), fit: true, stack: true,
      trace: { type: "bar", x: starts(a), offset: 0, y: l.share.map((v) => 100 * v), width: a.t.map(() => a.bin), marker: { color: airShade(l), line: { width: 0 } },
        hovertemplate: `from %{x:.2f} s<br>${l.name}: %{y:.1f} %<extra></extra>` } }));
  },
};
const ORDER = ["data", "ack", "collision", "error", "idle"];
function airColour(l) {
  if (l.kind === "collision") return "red";
  if (l.kind === "error") return "orange";
  if (l.kind === "idle") return "idle";
  if (l.kind === "ack") return l.station === 0 ? "purple" : "green";
  return l.station === 0 ? "blue" : "sky";
}
/* Stations after the first: the same colour, fainter. */
const airShade = (l) => (l.station > 1 ? faint(airColour(l), [0.7, 0.5, 0.35][Math.min(l.station, 4) - 2]) : colour(airColour(l)));
const yTitle = { sequence: "sequence number (kB)", window: "window (kB)", acks: "ACKs per second", airtime: "share of time (%)" };
const rows = Object.keys(layers).filter((r) => byId(`${r}-a`));

/* ---------- the range of values that is worth seeing between two times ---------- */
function extent(row, range, sides = ["a", "b"]) {
  let low = Infinity, high = -Infinity, reach = 0;
  for (const side of sides) {
    const s = shown(side);
    if (!s || !s[row]) continue;
    const sums = new Map();
    for (const l of layers[row](s, null)) {
      if (hidden.has(`${row}/${l.key}`)) continue;
      const { x, y } = l.trace;
      for (let i = 0; i < x.length; i++) {
        if (x[i] === null || y[i] === null || x[i] < range[0] || x[i] > range[1]) continue;
        if (l.stack) { const sum = (sums.get(x[i]) || 0) + y[i]; sums.set(x[i], sum); high = Math.max(high, sum); low = 0; }
        else if (l.fit) { low = Math.min(low, y[i]); high = Math.max(high, y[i]); }
        else reach = Math.max(reach, y[i]);
      }
    }
  }
  if (!(high > -Infinity)) return null;
  if (row === "airtime") return [0, 100];
  if (row !== "sequence") low = 0;
  /* A limit far above the curve would press the curve flat: leave it outside. */
  if (reach > high && reach < 1.7 * high) high = reach;
  const pad = 0.06 * (high - low) || 1;
  return [row === "sequence" ? low - pad : 0, high + pad];
}

function bands(s, layer) {
  const shapes = [], annotations = [];
  for (const [from, to, label] of s.handovers) {
    shapes.push({ type: "rect", xref: "x", yref: "paper", x0: from, x1: to, y0: 0, y1: 1, fillcolor: colour("shade"), line: { width: 0 }, layer });
    annotations.push({ x: from, y: 1, xref: "x", yref: "paper", text: label, showarrow: false, xanchor: "left", yanchor: "bottom", font: { size: 11, color: colour("shade-ink") } });
  }
  return { shapes, annotations };
}

/* Room for the longest label, the same in every row so that times stand below each other. */
const leftMargin = () => (["a", "b"].some((side) => shown(side)?.sequence?.ack.y.at(-1) >= 1e5) ? 88 : 70);

/* ---------- drawing ---------- */
let following = false;
function drawRow(row, kept = null) {
  const together = extent(row, state.range) || [0, 1];
  for (const side of ["a", "b"]) {
    const s = shown(side), target = byId(`${row}-${side}`);
    if (!s) { Plotly.purge(target); continue; }
    const traces = [];
    /* Closer up, two runs are at different places: each keeps its own scale. */
    const own = kept?.target === target ? kept.values : (row === "sequence" && !isWhole() && extent(row, state.range, [side])) || together;
    for (const l of s[row] ? layers[row](s, own) : []) {
      if (hidden.has(`${row}/${l.key}`)) continue;
      traces.push({ type: "scatter", name: l.label, ...l.trace });
      if (l.also) traces.push({ type: "scatter", ...l.also });
    }
    const x = axis("time (s)", { range: [...state.range], showspikes: true, spikethickness: 1, spikedash: "dot", spikecolor: colour("grey"), spikemode: "across" });
    const y = axis(yTitle[row], { range: own, automargin: false, tickformat: ",.3~f", fixedrange: row === "acks" || row === "airtime" });
    const note = s[row] ? [] : [{ text: "not recorded", x: 0.5, y: 0.5, xref: "paper", yref: "paper", showarrow: false }];
    const marks = bands(s, row === "acks" || row === "airtime" ? "above" : "below");
    Plotly.react(target, traces, base({ xaxis: x, yaxis: y, barmode: "stack", bargap: 0, margin: { l: leftMargin(), r: 8, t: 22, b: 42 }, shapes: marks.shapes, annotations: [...marks.annotations, ...note] }), config);
    if (!target.dataset.linked) {
      target.dataset.linked = "yes";
      target.on("plotly_relayout", (event) => follow(target, event));
      target.on("plotly_doubleclick", () => setRange(full));
    }
  }
  drawLegend(row, ["a", "b"].flatMap((side) => (shown(side)?.[row] ? layers[row](shown(side), null) : [])), () => drawRow(row));
}
function drawLegend(row, items, redraw) {
  const legend = rowOf(row).querySelector(".legend");
  legend.replaceChildren();
  const seen = new Set();
  for (const l of [...items].sort((p, q) => (p.order || 0) - (q.order || 0))) {
    if (seen.has(l.key)) continue;
    seen.add(l.key);
    const button = document.createElement("button"), swatch = document.createElement("span");
    button.type = "button";
    swatch.className = `swatch ${l.swatch}`;
    swatch.style.color = swatch.style.borderTopColor = `var(--${l.colour})`;
    if (l.swatch === "cross") swatch.textContent = "×";
    if (l.swatch === "area" || l.swatch === "tick") swatch.style.background = l.shade || `var(--${l.colour})`;
    button.append(swatch, l.label);
    button.setAttribute("aria-pressed", String(!hidden.has(`${row}/${l.key}`)));
    button.addEventListener("click", () => {
      const id = `${row}/${l.key}`;
      if (!hidden.delete(id)) hidden.add(id);
      redraw();
      [...rowOf(row).querySelectorAll(".legend button")].find((b) => b.textContent === button.textContent)?.focus();
    });
    legend.append(button);
  }
}

/* ---------- one time axis for all ---------- */
function follow(source, event) {
  if (following) return;
  if (event["xaxis.autorange"]) setRange(full);
  else if ("xaxis.range[0]" in event) setRange([event["xaxis.range[0]"], event["xaxis.range[1]"]], source, "yaxis.range[0]" in event);
  else if (Array.isArray(event["xaxis.range"])) setRange(event["xaxis.range"], source);
}
function setRange(range, source = null, keepY = false) {
  const beyond = 0.5 * (full[1] - full[0]);
  state.range = [Math.max(range[0], full[0] - beyond), Math.min(range[1], full[1] + beyond)];
  if (state.range[1] - state.range[0] < 1e-6) state.range[1] = state.range[0] + 1e-6;
  following = true;
  const jobs = [];
  for (const row of rows) {
    if (row === "sequence") { /* its ticks depend on what is seen */
      drawRow(row, keepY ? { target: source, values: [...source.layout.yaxis.range] } : null);
      continue;
    }
    const y = extent(row, state.range);
    for (const side of ["a", "b"]) {
      const target = byId(`${row}-${side}`);
      if (!shown(side) || !target.data) continue;
      const update = { "xaxis.range": [...state.range] };
      if (y && !(target === source && keepY)) update["yaxis.range"] = y;
      jobs.push(Plotly.relayout(target, update));
    }
  }
  sayRange();
  return Promise.all(jobs).finally(() => { following = false; });
}
const isWhole = () => state.range[0] <= full[0] && state.range[1] >= full[1];
function sayRange() {
  byId("range").textContent = isWhole() ? "" : `${Math.max(0, state.range[0]).toFixed(3)} – ${state.range[1].toFixed(3)} s`;
}
function zoom(kind) {
  const [from, to] = state.range, width = to - from, middle = (from + to) / 2;
  const next = { in: [middle - width / 4, middle + width / 4], out: [middle - width, middle + width], reset: full,
    left: [from - width / 3, to - width / 3], right: [from + width / 3, to + width / 3] }[kind];
  if (kind === "out" && 2 * width >= full[1] - full[0]) return setRange(full);
  return setRange(next);
}

/* ---------- airtime of whole runs ---------- */
const KINDS = [["data", "data", "blue"], ["ack", "ACKs", "green"], ["collision", "collisions", "red"], ["error", "failed frames", "orange"], ["idle", "idle", "idle"]];
function drawAirtimeTotal() {
  const target = byId("airtime-total");
  if (!target) return;
  const found = data.series.filter((s) => s.medium && s.part === partShown());
  if (!found.length) { Plotly.purge(target); target.style.height = "0"; return; }
  const names = found.map(labelOf), positions = found.map((_, i) => found.length - 1 - i);
  const items = KINDS.filter(([kind]) => found.some((s) => s.medium[kind] > 0)).map(([kind, label, name]) => ({
    key: kind, label, swatch: "area", colour: name,
    trace: { type: "bar", orientation: "h", y: positions, width: 0.52, marker: { color: colour(name) }, customdata: names,
      x: found.map((s) => 100 * s.medium[kind]),
      hovertemplate: `%{customdata}<br>${label}: %{x:.1f} %<extra></extra>` } }));
  const visible = items.filter((l) => !hidden.has(`airtime-total/${l.key}`));
  target.style.height = `${70 + 58 * found.length}px`;
  Plotly.react(target, visible.map((l) => l.trace), base({ barmode: "stack", margin: { l: 8, r: 8, t: 8, b: 42 },
    xaxis: axis("share of time (%)", { range: [0, 100.5], fixedrange: true }),
    yaxis: { visible: false, range: [-0.5, found.length - 0.25], fixedrange: true }, annotations: rowLabels(names, positions, 0.28) }), config);
  drawLegend("airtime-total", items, drawAirtimeTotal);
}
const rowLabels = (names, positions, lift) => names.map((text, i) => ({ text: `<b>${escapeText(text)}</b>`, x: 0, xref: "paper", y: positions[i] + lift,
  xanchor: "left", yanchor: "bottom", showarrow: false, font: { size: 12.5, color: colour("ink") } }));
const escapeText = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

/* ---------- all runs ---------- */
const PALETTE = ["blue", "orange", "green", "purple", "red", "sky", "grey", "ink"];
const SYMBOLS = ["circle", "square", "diamond", "triangle-up", "cross", "x"];
const variants = [...new Set(data.distributions.flatMap((d) => d.rows.map((r) => r.variant)))];
const lookOf = (row) => { const i = variants.indexOf(row.variant);
  return { color: colour(PALETTE[i % PALETTE.length]), symbol: SYMBOLS[engines ? data.engines.indexOf(row.engine) : Math.floor(i / PALETTE.length) % SYMBOLS.length] }; };
/* The golden ratio spreads neighbours evenly and the same way every time. */
const jitter = (i) => (((i * 0.6180339887) % 1) - 0.5) * 0.3;
function drawSpread() {
  const target = byId("spread-plot");
  if (!target) return;
  const chosen = data.distributions[Number(byId("pick-metric").value)], form = byId("pick-form").value;
  if (form === "ecdf") drawCurves(target, chosen); else drawStrips(target, chosen);
}
function drawStrips(target, chosen) {
  const found = chosen.rows, n = found.length, traces = [];
  found.forEach((row, i) => {
    const look = lookOf(row), y = n - 1 - i;
    traces.push({ type: "scatter", mode: "markers", x: row.values, y: row.values.map((_, k) => y + jitter(k)), cliponaxis: false,
      marker: { color: look.color, symbol: look.symbol, size: 7, opacity: 0.42, line: { width: 0 } }, hovertemplate: `${escapeText(labelOf(row))}<br>%{x:.5~g}<extra></extra>` });
    const bar = row.low === null ? {} : { error_x: { type: "data", symmetric: false, array: [row.high - row.mean], arrayminus: [row.mean - row.low], color: colour("ink"), thickness: 2, width: 7 } };
    traces.push({ type: "scatter", mode: "markers", x: [row.mean], y: [y], ...bar,
      marker: { color: colour("ink"), symbol: "diamond", size: 9, line: { color: colour("paper"), width: 1.5 } },
      hovertemplate: `${escapeText(labelOf(row))}<br>mean %{x:.5~g}<extra></extra>` });
  });
  target.style.height = `${80 + 66 * n}px`;
  byId("spread-caption").textContent = "Each dot is one run (its seed); dots are moved up and down a little so that equal ones show. The diamond is the mean and the black bar its 95 % confidence interval.";
  Plotly.react(target, traces, base({ margin: { l: 10, r: 14, t: 10, b: 44 }, xaxis: axis(chosen.label, { rangemode: "normal" }),
    yaxis: { visible: false, range: [-0.5, n - 0.2], fixedrange: true }, annotations: rowLabels(found.map(labelOf), found.map((_, i) => n - 1 - i), 0.2) }), config);
}
function drawCurves(target, chosen) {
  const traces = chosen.rows.map((row) => {
    const x = [...row.values].sort((p, q) => p - q), look = lookOf(row);
    return { type: "scatter", mode: "lines+markers", name: labelOf(row), x, y: x.map((_, i) => (i + 1) / x.length),
      line: { shape: "hv", color: look.color, width: 1.8, dash: engines && row.engine !== data.engines[0] ? "dash" : "solid" },
      marker: { size: 5, color: look.color, symbol: look.symbol }, hovertemplate: `${escapeText(labelOf(row))}<br>%{y:.0%} of runs at or below %{x:.5~g}<extra></extra>` };
  });
  target.style.height = `${370 + (narrow() ? 24 : 8) * traces.length}px`;
  byId("spread-caption").textContent = "For every value, the share of runs at or below it. A curve further to the left has smaller values; a steep one varies little.";
  Plotly.react(target, traces, base({ showlegend: true, legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: { size: 12 } },
    margin: { l: 54, r: 14, t: 10, b: 44 }, xaxis: axis(chosen.label), yaxis: axis("share of runs", { range: [0, 1.03], tickformat: ".0%" }) }), config);
}

/* ---------- published against ours ---------- */
function drawPublished() {
  const target = byId("published-plot"), points = data.published.filter((p) => p.published > 0 && p.ours > 0);
  if (!target) return;
  if (!points.length) { rowOf("agreement").hidden = true; return; }
  const values = points.flatMap((p) => [p.published, p.ours]), low = Math.min(...values) / 1.4, high = Math.max(...values) * 1.4;
  const line = (f, style) => ({ type: "scatter", mode: "lines", x: [low, high], y: [low * f, high * f], hoverinfo: "skip", line: style });
  const none = { width: 0, color: "rgba(0,0,0,0)" };
  const looks = { good: ["green", "circle"], bad: ["red", "x"], neutral: ["blue", "diamond"] };
  const clouds = Object.entries(looks).map(([kind, [name, symbol]]) => {
    const own = points.filter((p) => p.kind === kind);
    return { type: "scatter", mode: "markers", x: own.map((p) => p.published), y: own.map((p) => p.ours), text: own.map((p) => escapeText(p.label)),
      error_y: { type: "data", symmetric: false, thickness: 1, width: 0, color: faint(name, 0.55), array: own.map((p) => (p.high ?? p.ours) - p.ours), arrayminus: own.map((p) => p.ours - (p.low ?? p.ours)) },
      marker: { color: colour(name), symbol, size: 8, opacity: 0.85 }, hovertemplate: "%{text}<br>published %{x:.4~g}, ours %{y:.4~g}<extra></extra>" };
  });
  const wide = high / low > 20;
  const steps = high / low > 300 ? [1] : [1, 2, 5], ticks = [];
  for (let k = Math.floor(Math.log10(low)); k <= Math.log10(high); k++) for (const s of steps) ticks.push(+`${s}e${k}`);
  const both = (title) => axis(title, wide ? { type: "log", range: [Math.log10(low), Math.log10(high)], tickvals: ticks, ticktext: ticks.map((v) => v.toLocaleString("en", { maximumFractionDigits: 9 })) } : { range: [low, high] });
  target.style.height = narrow() ? "330px" : "480px";
  Plotly.react(target, [line(1 / 1.15, none), { ...line(1.15, none), fill: "tonexty", fillcolor: faint("grey", 0.18) }, line(1, { color: colour("grey"), width: 1.2 }), ...clouds],
    base({ xaxis: both("published"), yaxis: both("ours") }), config);
}

/* ---------- controls ---------- */
/* Options are [value, text, part]; those of one experiment stand together under its tag. */
function fill(select, options, value) {
  select.replaceChildren();
  const groups = new Map();
  for (const [v, text, part] of options) {
    const option = new Option(text, v, false, String(v) === String(value));
    if (!parts || part === undefined) { select.append(option); continue; }
    if (!groups.has(part)) {
      groups.set(part, document.createElement("optgroup"));
      groups.get(part).label = data.parts[part].tag;
      select.append(groups.get(part));
    }
    groups.get(part).append(option);
  }
}
/* What to show beside a run: the best of its experiment, or else any other. */
function besideOf(index) {
  const s = data.series[index], { best } = data.parts[s.part];
  const rivals = data.series.map((_, i) => i).filter((i) => i !== index && data.series[i].part === s.part);
  return rivals.find((i) => data.series[i].variant === best && data.series[i].engine === s.engine) ?? rivals[0] ?? -1;
}
function fillBeside() {
  const own = data.series.map((s, i) => [i, labelOf(s)]).filter(([i]) => data.series[i].part === partShown());
  fill(byId("pick-b"), [[-1, "nothing"], ...own], state.b);
}
function heads() {
  for (const side of ["a", "b"]) {
    const s = shown(side);
    for (const head of document.querySelectorAll(`[data-head="${side}"]`)) {
      const detail = document.createElement("span");
      if (s) detail.textContent = ` ${s.engine === "sim" ? "seed" : "run"} ${s.seed}${s.flows > 1 ? `, flow ${s.flow} of ${s.flows}` : ""}`;
      head.replaceChildren(s ? withPart(s) : "", detail);
    }
  }
  byId("time")?.classList.toggle("single", state.b < 0);
}
function drawTime() { if (rows.length) { measure(); heads(); rows.forEach(drawRow); sayRange(); } }
function drawAll() { drawTime(); drawAirtimeTotal(); drawSpread(); drawPublished(); }

if (byId("pick-a")) {
  const first = Math.max(0, data.series.findIndex((s) => s.part === 0 && s.variant === data.parts[0].baseline));
  const twin = (s, engine) => data.series.findIndex((o) => o.part === s.part && o.variant === s.variant && o.engine === engine);
  const other = besideOf(first);
  state.a = first; state.b = other;
  if (engines && other >= 0) { /* two engines: the same variant on both */
    const pair = [twin(data.series[other], data.engines[0]), twin(data.series[other], data.engines[1])];
    if (pair[0] >= 0 && pair[1] >= 0) [state.a, state.b] = pair;
  }
  fill(byId("pick-a"), data.series.map((s, i) => [i, labelOf(s), s.part]), state.a);
  fillBeside();
  byId("pick-a").addEventListener("change", (e) => {
    const before = partShown();
    state.a = Number(e.target.value);
    if (partShown() !== before) { state.b = besideOf(state.a); state.range = null; fillBeside(); drawAirtimeTotal(); }
    drawTime();
  });
  byId("pick-b").addEventListener("change", (e) => { state.b = Number(e.target.value); drawTime(); });
  for (const button of document.querySelectorAll("[data-zoom]")) button.addEventListener("click", () => zoom(button.dataset.zoom));
}
if (byId("pick-metric")) {
  fill(byId("pick-metric"), data.distributions.map((d, i) => [i, d.label, d.part]), 0);
  byId("pick-metric").addEventListener("change", drawSpread);
  byId("pick-form").addEventListener("change", drawSpread);
}
const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)");
byId("theme").addEventListener("click", () => {
  const now = root.dataset.theme || (dark.matches ? "dark" : "light");
  root.dataset.theme = now === "dark" ? "light" : "dark";
  drawAll();
});
dark.addEventListener("change", drawAll);
let was = narrow(), themeBefore;
addEventListener("resize", () => { if (narrow() !== was) { was = narrow(); drawAll(); } });
addEventListener("beforeprint", () => { themeBefore = root.dataset.theme; root.dataset.theme = "light"; drawAll();
  document.querySelectorAll("details").forEach((d) => { d.open = true; }); });
addEventListener("afterprint", () => { if (themeBefore) root.dataset.theme = themeBefore; else delete root.dataset.theme; drawAll(); });
drawAll();
root.dataset.drawn = "yes";
})();
