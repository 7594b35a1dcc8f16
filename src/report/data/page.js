// The sections of the page.

const sum = data.summary;
let timeline = null;

function card(id, title, ...children) {
  const section = byId(id);
  section.append(make("h2", {}, title), ...children.filter(Boolean));
  section.hidden = false;
}

function drawHead() {
  byId("title").textContent = data.title || "Build report";
  document.title = (data.title || "Build") + " – Wheelsmith report";
  const verdict = byId("verdict");
  verdict.hidden = !data.verdict;
  verdict.textContent = data.verdict === "failed" ? "failed" : "good";
  verdict.classList.add(data.verdict === "failed" ? "bad" : "good");
  const facts = [];
  if (data.started) facts.push(new Date(data.started * 1000).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" }));
  if (data.steps.length) facts.push(plural(data.steps.length, "step"));
  const cores = Math.max(0, ...data.records.map((r) => r.cores));
  if (cores) facts.push(plural(cores, "core"));
  if (sum.limit) facts.push(bytes(sum.limit) + " of memory");
  const jobs = Math.max(0, ...data.records.map((r) => r.jobs));
  if (jobs) facts.push("at most " + plural(jobs, "job"));
  byId("subtitle").textContent = facts.join(" · ");
}

function drawFailures() {
  for (const step of data.steps.filter((s) => s.outcome === "failed")) {
    const node = make("div", { class: "card failure" }, make("h2", {}, step.id + " failed" + (step.phase ? " in " + step.phase : "")));
    if (step.optional) node.append(make("p", { class: "quiet" }, "Optional: the steps that use it were built without it."));
    const cause = step.diagnosis;
    if (cause) {
      node.append(make("p", {}, cause.what));
      if (cause.fixes && cause.fixes.length) node.append(make("h3", {}, "Fix"), make("ol", {}, ...cause.fixes.map((fix) => make("li", {}, fix))));
      if (cause.why && cause.why.length) node.append(make("h3", {}, "From the log"), make("pre", {}, cause.why.map((quote) => quote.line + ": " + quote.text).join("\n")));
      if (cause.sure) node.append(make("p", { class: "quiet small" }, "Confidence: " + cause.sure + "."));
    }
    if (step.cause && !(cause && cause.what === step.cause)) node.append(make("p", { class: cause ? "quiet" : "" }, step.cause));
    if (step.failure && step.failure.command) node.append(make("h3", {}, "First failed command"), make("pre", {}, step.failure.command));
    if (step.failure && step.failure.output) node.append(make("h3", {}, "Output"), make("pre", {}, step.failure.output));
    const places = [["log", step.log], ["rerun with", step.repeat_script]].filter(([, value]) => value);
    if (places.length) node.append(make("dl", { class: "facts small" }, ...places.flatMap(([name, value]) => [make("dt", {}, name), make("dd", { class: "mono" }, value)])));
    byId("failures").append(node);
  }
}

function tile(label, value, more, tone) {
  byId("tiles").append(make("div", { class: "tile" }, make("span", { class: "label" }, label), make("b", { class: tone || "" }, value), make("span", {}, more || "")));
}

function drawTiles() {
  if (data.records.length) {
    tile("Time", seconds(data.seconds), seconds(sum.compile_seconds) + " of compiling, " + (data.seconds > 0 ? (sum.compile_seconds / data.seconds).toFixed(1) : "0") + " compiles at a time");
    tile("Compiles", whole(sum.compiles), sum.failed ? plural(sum.failed, "failed", "failed") : "none failed", sum.failed ? "bad" : "");
    tile("Peak memory", bytes(sum.most_used), sum.limit ? "of " + bytes(sum.limit) : "of all compiles together");
    tile("Largest compile", bytes(sum.largest), sum.largest_name.slice(-60));
    const memory = sum.waits.filter((w) => ["memory", "pressure", "alone"].includes(w.why)).reduce((all, w) => all + w.seconds, 0);
    tile("Waited for memory", seconds(memory), "sum over all compiles");
    const retries = sum.tried_again + sum.set_back;
    // A compile that was started early may be paused as planned.
    const paused = data.compiles.filter((c) => c.paused > 0 && !c.early).length;
    tile("Retries and pauses", whole(retries + paused), retries + paused ? [[sum.tried_again, "out of memory, retried"], [sum.set_back, "preempted"], [paused, "paused"]].filter(([n]) => n).map(([n, w]) => n + " " + w).join(", ") : "none", retries ? "warn" : "");
  }
  const cache = cacheCounts();
  if (cache) tile("Cache hits", percent(cache.hits, cache.hits + cache.misses), whole(cache.hits) + " of " + whole(cache.hits + cache.misses));
  if (cache) tile("Saved by the cache", seconds(sum.saved.seconds), "of CPU time" + ("amount" in sum.saved ? ": " + money(sum.saved) : ""));
  const steps = ["built", "cached", "failed", "skipped"].map((outcome) => [outcome, data.steps.filter((s) => s.outcome === outcome).length]).filter(([, n]) => n);
  if (data.steps.length) tile("Steps", whole(data.steps.length), steps.map(([outcome, n]) => whole(n) + " " + outcome).join(", "), data.verdict === "failed" ? "bad" : "");
}

function drawLegend() {
  const present = (get) => [...new Set(data.compiles.map(get))];
  const items = {
    kind: () => Object.keys(k_kinds).filter((kind) => present((c) => c.kind).includes(kind)).map((kind) => [kind, k_kinds[kind]]),
    outcome: () => present((c) => c.outcome).map((name) => k_outcomes[name] || ["other", name]),
    why: () => [...timeline.reasons.map((why) => ["why-" + (why || "nothing"), "waited for " + whyName(why)]), ["why-nothing", "did not wait"]],
    cache: () => [["hit", "from the cache"], ["miss", "compiled"], ["other", "unknown"]],
    peak: () => [],
  }[timeline.colourBy]();
  const legend = byId("legend");
  const add = (colour, text, thin) => {
    const swatch = make("i", { class: "swatch" + (thin ? " thin" : "") });
    swatch.style.background = colour.startsWith("hsl") ? colour : timeline.colour(colour);
    legend.append(make("span", {}, swatch, text));
  };
  legend.replaceChildren();
  for (const [colour, text] of items) add(colour, text);
  if (timeline.colourBy === "peak") for (const share of [0.05, 0.25, 0.5, 1]) add(timeline.colourOf({ peak: timeline.largest * share }), bytes(timeline.largest * share));
  if (timeline.colourBy !== "outcome") for (const name of ["failed", "out-of-memory", "set-back", "lost"]) if (present((c) => c.outcome).includes(name)) add(k_outcomes[name][0], k_outcomes[name][1] + " (framed)");
  if (data.compiles.some((c) => c.paused > 0)) legend.append(make("span", {}, make("b", {}, "////"), "paused"));
  if (timeline.colourBy !== "why") for (const why of timeline.reasons) add("why-" + (why || "nothing"), "waiting for " + whyName(why), true);
  if (data.memory.length) for (const [colour, text] of [["used", "memory used"], ["reserved", "reserved"], ["free", "available"], ["limit", "limit"]]) add(colour, text, true);
}

function drawTimeline() {
  if (!data.compiles.length) return;
  byId("timeline-card").hidden = false;
  if (!data.compiles.some((c) => c.cache)) byId("colour").querySelector("[value=cache]").remove();
  timeline = new Timeline(byId("timeline"), byId("overview"), byId("tip"), byId("live"));
  timeline.canvas.setAttribute("aria-label", `Timeline of ${plural(data.compiles.length, "compile")} on ${plural(timeline.lanes.length, "slot")}; the same data is in a table at the end of the page`);
  byId("colour").addEventListener("change", (event) => { timeline.colourBy = event.target.value; timeline.draw(); drawLegend(); });
  byId("find").addEventListener("input", (event) => { timeline.search = event.target.value.toLowerCase(); timeline.draw(); });
  byId("zoom-in").addEventListener("click", () => zoom(timeline, 1 / 1.6));
  byId("zoom-out").addEventListener("click", () => zoom(timeline, 1.6));
  byId("fit").addEventListener("click", () => setView(timeline, 0, timeline.end));
  new ResizeObserver(() => { if (timeline.canvas.clientWidth !== timeline.width) timeline.resize(); }).observe(timeline.canvas);
  drawLegend();
}

function drawWaits() {
  if (!data.records.length) return;
  const waits = sum.waits.slice().sort((a, b) => b.seconds - a.seconds), all = waits.reduce((total, w) => total + w.seconds, 0);
  if (all < 0.05) return card("waits", "Waiting time by reason", make("p", { class: "quiet" }, "No compile waited."));
  card("waits", "Waiting time by reason",
    make("p", { class: "quiet" }, seconds(all) + " in total, summed over all compiles. Build systems get more jobs than there are cores, so waiting for cores is normal. Waiting for memory is the time that more memory would save."),
    meters(waits.map((w) => ({
      name: make("span", { title: (k_whys[w.why] || ["", ""])[1] }, whyName(w.why) + " ", make("span", { class: "quiet small" }, (k_whys[w.why] || ["", ""])[1])),
      parts: [[w.seconds / all, `var(--why-${w.why in k_whys ? w.why || "nothing" : "nothing"})`]], value: seconds(w.seconds) + ", " + plural(w.compiles, "compile"),
    }))));
}

const nameButton = (c) => make("button", { type: "button", title: "Show on the timeline", onclick: () => { show(timeline, c); timeline.canvas.scrollIntoView({ block: "center" }); } }, c.name || "?");
const k_columns = {
  name: { label: "Unit", get: (c) => c.name, node: nameButton, text: true },
  kind: { label: "Kind", get: (c) => kindName(c.kind), short: true },
  seconds: { label: "Time", get: (c) => c.seconds, show: (c) => seconds(c.seconds), number: true },
  peak: { label: "Peak", get: (c) => c.peak, show: (c) => bytes(c.peak), number: true },
  reserved: { label: "Reserved", get: (c) => c.reserved, show: (c) => bytes(c.reserved), number: true },
  start: { label: "Start", get: (c) => c.start, show: (c) => clock(c.start, 1), number: true },
  slot: { label: "Slot", get: (c) => c.lane, show: (c) => String(c.slot + 1), number: true },
  wait: { label: "Wait", get: (c) => c.wait, show: (c) => c.wait > 0.05 ? seconds(c.wait) : "", number: true },
  why: { label: "Reason", get: (c) => c.wait > 0.05 ? whyName(c.why) : "", short: true },
  outcome: { label: "Outcome", get: outcomeName },
  output: { label: "Output", get: (c) => c.output, text: true },
};

function drawUnits() {
  if (!data.compiles.length) return;
  const k = k_columns, columns = [k.name, k.kind, k.seconds, k.peak, k.wait];
  for (const [title, sort] of [["Slowest units", 2], ["Largest units", 3]])
    byId("units").append(make("section", { class: "card" }, make("h2", {}, title), table(columns, data.compiles, { caption: title, sort, descending: true, page: 10 })));
}

function drawEvents() {
  if (!data.records.length) return;
  const rows = [];
  for (const c of data.compiles) {
    const again = c.again ? data.compiles.find((o) => o.output === c.output && o.name === c.name && o.try === c.try + 1) : null;
    if (c.outcome !== "done") rows.push({ at: c.start + c.seconds, what: outcomeName(c), c, more: bytes(c.peak) + " of " + bytes(c.reserved) + " reserved" + (again ? "; then " + outcomeName(again) + " with " + bytes(again.reserved) : "") + (c.exit > 0 ? "; exit status " + c.exit : "") });
    if (c.paused > 0 && !c.pauses) rows.push({ at: c.start, what: "paused", c, more: seconds(c.paused) + " of " + seconds(c.seconds) });
  }
  for (const record of data.records) {
    for (const m of record.unreached) rows.push({ at: m.at, what: "compiler outside the governor", name: m.name, more: "ran without admission; its memory was not planned for" });
    for (const m of record.ungoverned) rows.push({ at: m.at, what: "ran without a governor", name: m.name, more: m.why });
    for (const m of record.pauses) rows.push({ at: m.at, what: "paused" + (m.why ? " for lack of " + m.why : ""), name: m.name, more: m.seconds ? seconds(m.seconds) : "" });
  }
  const skipped = data.records.reduce((all, r) => all + r.skipped_lines, 0);
  const note = skipped ? make("p", { class: "quiet" }, plural(skipped, "line") + " of the record could not be read and " + (skipped === 1 ? "was" : "were") + " skipped.") : null;
  if (!rows.length) return card("events", "Retries, pauses and failures", make("p", { class: "quiet" }, data.compiles.length ? "None: every compile succeeded at its first attempt." : "Nothing was compiled."), note);
  card("events", "Retries, pauses and failures", note, table([
    { label: "At", get: (r) => r.at, show: (r) => clock(Math.max(0, r.at), 1), number: true },
    { label: "What", get: (r) => r.what },
    { label: "Unit", get: (r) => r.c ? r.c.name : r.name, node: (r) => r.c ? nameButton(r.c) : r.name, text: true },
    { label: "Details", get: (r) => r.more, text: true },
  ], rows, { caption: "Retries, pauses and failures", page: 15 }));
}

const k_origins = lookup({ compiled: "compiled", cache: "compile cache", "remote-cache": "remote cache", parts: "some parts from the cache", tree: "an earlier attempt" });
const originName = (c) => k_origins[c.origin] || "";

function money(saved) {
  const text = saved.amount < 0.1 ? Number(saved.amount.toPrecision(2)).toString() : saved.amount.toFixed(2);
  return text + (saved.currency ? " " + saved.currency : "");
}

function cacheCounts() {
  const all = data.records.map((r) => r.cache).filter(Boolean);
  if (!all.length) return null;
  return all.reduce((a, b) => Object.fromEntries(Object.keys(b).map((key) => [key, (a[key] || 0) + b[key]])), {});
}

function drawCache() {
  const c = cacheCounts();
  if (!c) return;
  const all = c.hits + c.misses + c.uncacheable;
  card("cache", "Compile cache", meters([{ name: "hits and misses", parts: [[c.hits / (all || 1), "var(--hit)"], [c.misses / (all || 1), "var(--miss)"]], value: percent(c.hits, c.hits + c.misses) + " hits" }]),
    make("p", { class: "quiet" }, `${plural(c.hits, "hit")}${c.remote_hits ? ` (${whole(c.remote_hits)} from remote storage)` : ""}, ${plural(c.misses, "miss", "misses")}, ${whole(c.uncacheable)} uncacheable${c.errors ? ", " + plural(c.errors, "error") : ""}. The compiles that were not repeated took ${seconds(sum.saved.seconds)} of CPU time${"amount" in sum.saved ? ", which costs " + money(sum.saved) : ""}.`));
}

function drawOrigins() {
  const rows = [...data.compiles.filter((c) => !c.part && c.origin), ...data.in_parts, ...data.kept];
  if (!rows.some((c) => c.origin && c.origin !== "compiled")) return;
  const counts = Object.entries(sum.origins).filter(([, count]) => count);
  const all = counts.reduce((total, [, count]) => total + count, 0) || 1;
  card("origins", "Where objects came from", meters(counts.map(([origin, count]) => ({ name: k_origins[origin] || origin, parts: [[count / all, "var(--" + (origin === "compiled" ? "miss" : "hit") + ")"]], value: plural(count, "unit") }))), table([
    { label: "Unit", get: (c) => c.name, text: true },
    { label: "Origin", get: originName },
    { label: "CPU time", get: (c) => c.cpu || 0, show: (c) => c.cpu ? seconds(c.cpu) : "", number: true },
    { label: "Saved", get: (c) => c.saved || 0, show: (c) => c.saved ? seconds(c.saved) : "", number: true },
    { label: "Output", get: (c) => c.output, text: true },
  ], rows, { caption: "Where objects came from", page: 15, filter: (c) => c.name + " " + c.output + " " + originName(c) }));
}

function drawWheels() {
  if (!data.wheels.length) return;
  const parts = [];
  for (const wheel of data.wheels) {
    parts.push(make("h3", {}, wheel.path.slice(wheel.path.lastIndexOf("/") + 1)));
    if (wheel.error) { parts.push(make("p", { class: "bad" }, wheel.error)); continue; }
    const device = wheel.archs.reduce((all, a) => all + a.bytes, 0), total = Math.max(wheel.unpacked_size, device, 1);
    parts.push(make("p", { class: "quiet" }, `${bytes(wheel.size)} wheel file, ${bytes(wheel.unpacked_size)} installed, ${plural(wheel.file_count, "file")}` + (device ? `; ${percent(device, total)} is device code` : "; no device code")));
    if (device) parts.push(meters([...wheel.archs.map((a) => ({ name: a.arch + (a.arch.includes(a.kind) ? "" : " " + a.kind), parts: [[a.bytes / total, "var(--cuda)"]], value: bytes(a.bytes) })),
      { name: "everything else", parts: [[(total - device) / total, "var(--other)"]], value: bytes(total - device) }]));
  }
  card("wheels", "Wheels by architecture", ...parts);
}

function drawSteps() {
  if (!data.steps.length) return;
  card("steps", "Steps", table([
    { label: "Step", get: (s) => s.id, text: true },
    { label: "Outcome", get: (s) => s.outcome, node: (s) => make("span", { class: { built: "good", failed: "bad", skipped: "warn" }[s.outcome] || "" }, s.outcome) },
    { label: "Time", get: (s) => s.seconds, show: (s) => seconds(s.seconds), number: true },
    { label: "Tests", get: (s) => s.tests.map((t) => t.id + " " + t.outcome).join(", ") },
    { label: "Findings", get: (s) => s.findings.length, show: (s) => whole(s.findings.length), number: true },
    { label: "Reason", get: (s) => s.cause || s.reason, text: true },
  ], data.steps, { caption: "Steps" }));
  const rank = { error: 0, warning: 1, note: 2 }, findings = data.steps.flatMap((s) => s.findings.map((f) => ({ ...f, step: s.id })));
  if (!findings.length) return card("findings", "Check findings", make("p", { class: "quiet" }, "None."));
  card("findings", "Check findings", table([
    { label: "Severity", get: (f) => (f.severity in rank ? rank[f.severity] : 3), node: (f) => make("span", { class: { error: "bad", warning: "warn" }[f.severity] || "quiet" }, f.severity) },
    { label: "Finding", get: (f) => f.id },
    { label: "Subject", get: (f) => f.subject },
    { label: "What", get: (f) => f.what, text: true },
    { label: "Fix", get: (f) => f.fix, text: true },
    { label: "Step", get: (f) => f.step },
  ], findings, { caption: "Check findings", page: 15 }));
}

function drawAll() {
  if (!data.compiles.length) return;
  const k = k_columns;
  card("all", "All compiles", table([k.start, k.name, k.kind, k.slot, k.seconds, k.wait, k.why, k.peak, k.reserved, k.outcome, k.output], data.compiles,
    { caption: "All compiles", page: 25, filter: (c) => c.name + " " + c.output + " " + kindName(c.kind) + " " + outcomeName(c) }));
}

function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  if (timeline) { timeline.colours = {}; timeline.draw(); drawLegend(); }
}

const darkness = window.matchMedia("(prefers-color-scheme: dark)");
const wanted = location.hash.slice(1);
setTheme(wanted === "dark" || (wanted !== "light" && darkness.matches));
darkness.addEventListener("change", (event) => setTheme(event.matches));
byId("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme !== "dark"));
for (const draw of [drawHead, drawFailures, drawTiles, drawTimeline, drawWaits, drawUnits, drawEvents, drawCache, drawOrigins, drawWheels, drawSteps, drawAll]) draw();
document.documentElement.dataset.drawn = "true";
