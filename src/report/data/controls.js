// Navigation in the timeline by mouse, touch and keyboard, and the tooltip of a compile.

function setView(t, from, to) {
  const span = Math.max(Math.min(t.end, to - from), Math.min(t.end, 0.02));
  t.from = Math.max(0, Math.min(t.end - span, from));
  t.to = t.from + span;
  t.draw();
}

function zoom(t, factor, around) {
  const middle = around === undefined ? (t.from + t.to) / 2 : around;
  setView(t, middle - (middle - t.from) * factor, middle - (middle - t.from) * factor + (t.to - t.from) * factor);
}

// Scrolls and zooms so that the compile is visible and large enough.
function show(t, c) {
  const span = t.to - t.from;
  t.chosen = c;
  if (c.start < t.from || c.start + c.seconds > t.to || c.seconds < span / 400) {
    const wanted = Math.min(span, Math.max(c.seconds * 8, 2));
    setView(t, c.start + c.seconds / 2 - wanted / 2, c.start + c.seconds / 2 + wanted / 2);
  }
  t.draw();
}

function factsOf(c) {
  const facts = [
    ["kind", kindName(c.kind) + (c.threads > 1 ? ", " + c.threads + " threads" : "")],
    ["time", clock(c.start, 1) + " + " + seconds(c.seconds)],
    ["memory", bytes(c.peak) + " of " + bytes(c.reserved) + " reserved"],
  ];
  if (c.wait > 0.05) facts.push(["waited", seconds(c.wait) + " for " + whyName(c.why)]);
  if (c.early) facts.push(["started", "early, before there was room for its peak"]);
  if (c.paused > 0) facts.push(["paused", seconds(c.paused)]);
  if (c.try > 0) facts.push(["attempt", String(c.try + 1)]);
  if (c.cache) facts.push(["cache", c.cache]);
  facts.push(["outcome", outcomeName(c) + (c.exit > 0 ? " (exit status " + c.exit + ")" : "")]);
  if (c.output) facts.push(["output", c.output]);
  return facts;
}

function fillTip(t, title, facts, x, y) {
  t.tip.replaceChildren(make("b", {}, title), make("dl", {}, ...facts.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)])));
  t.tip.hidden = false;
  const box = t.tip.getBoundingClientRect();
  t.tip.style.left = Math.max(6, x + 16 + box.width > innerWidth - 6 ? x - 16 - box.width : x + 16) + "px";
  t.tip.style.top = Math.max(6, Math.min(innerHeight - box.height - 6, y + 16)) + "px";
}

function laneAt(t, y) { return t.lanes.find((lane) => y >= lane.y && y < lane.y + t.row); }

function compileAt(t, x, y) {
  const lane = laneAt(t, y), near = 3 * (t.to - t.from) / t.width;
  if (!lane || x < k_gutter) return null;
  const i = t.firstAfter(lane.compiles, t.time(x) - near);
  const c = lane.compiles[i], next = lane.compiles[i + 1];
  if (next && next.start <= t.time(x)) return next;
  return c && c.start <= t.time(x) + near ? c : null;
}

function sampleAt(time) {
  let low = 0, high = data.memory.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (data.memory[middle].at <= time) low = middle; else high = middle - 1;
  }
  return data.memory[low];
}

function point(t, event) {
  const box = t.canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
  const c = compileAt(t, x, y);
  if (c !== t.hovered) { t.hovered = c; t.draw(); }
  if (c) {
    fillTip(t, c.name || "?", factsOf(c), event.clientX, event.clientY);
  } else if (x >= k_gutter && y >= t.memoryTop && data.memory.length) {
    const s = sampleAt(t.time(x));
    fillTip(t, clock(s.at, 1), [["used", bytes(s.used)], ["reserved", bytes(s.reserved)], ["available", bytes(s.available)],
      ...(s.limit ? [["limit", bytes(s.limit)]] : []), ["running", whole(s.running)], ["waiting", whole(s.waiting)]], event.clientX, event.clientY);
  } else if (x >= k_gutter && t.waiting.length && y >= t.waitTop && y < t.waitEnd) {
    const time = t.time(x), step = t.waiting.filter((one) => one.at <= time).pop();
    fillTip(t, clock(time, 1), t.reasons.map((why, r) => ["for " + whyName(why), whole(step ? step.counts[r] : 0)]), event.clientX, event.clientY);
  } else {
    t.tip.hidden = true;
  }
}

// Selects a compile by keyboard: marks it and announces it to screen readers.
function choose(t, c) {
  if (!c) return;
  show(t, c);
  const facts = factsOf(c), box = t.canvas.getBoundingClientRect();
  t.live.textContent = (c.name || "?") + ", slot " + (c.slot + 1) + ": " + facts.map(([name, value]) => name + " " + value).join(", ");
  fillTip(t, c.name || "?", facts, box.left + Math.max(k_gutter, Math.min(t.width, t.x(c.start + c.seconds / 2))), box.top + t.lanes[c.lane].y + t.row);
}

function press(t, event) {
  const c = t.chosen, span = t.to - t.from;
  const first = () => data.compiles.find((one) => one.start + one.seconds >= t.from) || data.compiles[0];
  const beside = (step) => { const list = t.lanes[c.lane].compiles; return list[list.indexOf(c) + step]; };
  const across = (step) => {
    const lane = t.lanes[c.lane + step];
    return lane && lane.compiles[Math.min(lane.compiles.length - 1, t.firstAfter(lane.compiles, c.start))];
  };
  const keys = {
    ArrowLeft: () => event.shiftKey ? setView(t, t.from - span / 5, t.to - span / 5) : choose(t, c ? beside(-1) : first()),
    ArrowRight: () => event.shiftKey ? setView(t, t.from + span / 5, t.to + span / 5) : choose(t, c ? beside(1) : first()),
    ArrowUp: () => choose(t, c ? across(-1) : first()),
    ArrowDown: () => choose(t, c ? across(1) : first()),
    "+": () => zoom(t, 1 / 1.6, c ? c.start : undefined), "=": () => zoom(t, 1 / 1.6), "-": () => zoom(t, 1.6),
    "0": () => setView(t, 0, t.end), Home: () => setView(t, 0, t.end),
    Escape: () => { t.chosen = null; t.tip.hidden = true; t.draw(); },
  };
  if (!(event.key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  keys[event.key]();
}

function listenTo(t) {
  let drag = null;
  t.canvas.addEventListener("pointerdown", (event) => {
    drag = { x: event.clientX, from: t.from, to: t.to, moved: false };
    t.canvas.setPointerCapture(event.pointerId);
  });
  t.canvas.addEventListener("pointermove", (event) => {
    if (!drag) return point(t, event);
    const shift = (drag.x - event.clientX) / (t.width - k_gutter - k_right) * (drag.to - drag.from);
    drag.moved = drag.moved || Math.abs(drag.x - event.clientX) > 3;
    if (!drag.moved) return undefined;
    t.canvas.classList.add("drag");
    t.tip.hidden = true;
    return setView(t, drag.from + shift, drag.to + shift);
  });
  t.canvas.addEventListener("pointerup", () => {
    if (drag && !drag.moved) { t.chosen = t.hovered; t.draw(); }
    drag = null;
    t.canvas.classList.remove("drag");
  });
  t.canvas.addEventListener("pointercancel", () => { drag = null; });
  t.canvas.addEventListener("pointerleave", () => { t.hovered = null; t.tip.hidden = true; t.draw(); });
  t.canvas.addEventListener("blur", () => { t.tip.hidden = true; });
  t.canvas.addEventListener("dblclick", (event) => zoom(t, 1 / 2.5, t.time(event.offsetX)));
  t.canvas.addEventListener("keydown", (event) => press(t, event));
  t.canvas.addEventListener("wheel", (event) => {
    const sideways = event.shiftKey ? event.deltaY || event.deltaX : Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : 0;
    if (!event.ctrlKey && !event.metaKey && !sideways) return;
    event.preventDefault();
    if (event.ctrlKey || event.metaKey) return zoom(t, Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.006), t.time(event.offsetX));
    const shift = sideways / t.width * (t.to - t.from);
    setView(t, t.from + shift, t.to + shift);
  }, { passive: false });
  let begun = null;
  t.overview.addEventListener("pointerdown", (event) => { begun = event.offsetX; t.overview.setPointerCapture(event.pointerId); });
  t.overview.addEventListener("pointermove", (event) => {
    if (begun !== null && Math.abs(event.offsetX - begun) > 3)
      setView(t, overviewTime(t, Math.min(begun, event.offsetX)), overviewTime(t, Math.max(begun, event.offsetX)));
  });
  t.overview.addEventListener("pointerup", (event) => {
    const span = t.to - t.from, middle = overviewTime(t, event.offsetX);
    if (begun !== null && Math.abs(event.offsetX - begun) <= 3) setView(t, middle - span / 2, middle + span / 2);
    begun = null;
  });
}
