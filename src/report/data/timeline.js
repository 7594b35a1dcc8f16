// The timeline: slots with their compiles, waiting compiles, and memory, on one time axis. It is redrawn on every change. Of compiles narrower than a pixel, only the first in each pixel and the failed ones are drawn, so that the cost depends on the width of the screen.

const k_gutter = 76, k_axis = 26, k_group = 20, k_gap = 30, k_waiting = 64, k_memory = 170, k_right = 14;

// The step, and the node of the cluster that it ran on.
function recordName(r) {
  const record = data.records[r];
  return (record.name || "build " + (r + 1)) + (record.node ? " on " + record.node : "");
}

class Timeline {
  constructor(canvas, overview, tip, live) {
    Object.assign(this, { canvas, overview, tip, live, colourBy: "kind", search: "", chosen: null, hovered: null });
    const last = data.compiles.reduce((most, c) => Math.max(most, c.start + c.seconds), 0);
    this.end = Math.max(data.seconds, last, 0.01) * 1.005;
    this.from = 0;
    this.to = this.end;
    this.largest = data.compiles.reduce((most, c) => Math.max(most, c.peak), 1);
    this.lanes = [];  // of all records, top to bottom
    data.records.forEach((record, r) => { for (let s = 0; s < record.slots; s++) this.lanes.push({ record: r, slot: s, compiles: [], y: 0 }); });
    const firsts = [];
    data.records.reduce((sum, record, r) => { firsts[r] = sum; return sum + record.slots; }, 0);
    data.compiles.forEach((c, i) => { c.index = i; c.lane = firsts[c.record] + c.slot; this.lanes[c.lane].compiles.push(c); });
    this.placePauses();
    this.row = Math.max(4, Math.min(24, Math.floor(430 / Math.max(1, this.lanes.length))));
    this.waiting = this.countWaiting();
    this.running = this.countRunning();
    listenTo(this);
    this.resize();
  }

  // --- computed once from the data

  // Assigns each compile the intervals in which it was paused.
  placePauses() {
    const byName = new Map();
    for (const c of data.compiles) {
      const key = c.record + " " + c.name;
      if (c.paused > 0) byName.set(key, [...(byName.get(key) || []), c]);
    }
    data.records.forEach((record, r) => {
      for (const pause of record.pauses) {
        const c = (byName.get(r + " " + pause.name) || []).find((one) => pause.at >= one.start - 0.1 && pause.at <= one.start + one.seconds + 0.1);
        if (c) (c.pauses = c.pauses || []).push([pause.at, pause.at + pause.seconds]);
      }
    });
  }

  // Step function over time: the number of waiting compiles by reason.
  countWaiting() {
    const changes = [];
    this.reasons = Object.keys(k_whys).filter((why) => data.compiles.some((c) => c.why === why && c.wait > 0.05));
    for (const c of data.compiles) {
      const reason = this.reasons.indexOf(c.why);
      if (reason < 0 || c.wait <= 0.05) continue;
      changes.push([c.start - c.wait, reason, 1], [c.start, reason, -1]);
    }
    changes.sort((a, b) => a[0] - b[0]);
    const counts = this.reasons.map(() => 0), steps = [];
    this.mostWaiting = 1;
    for (const [at, reason, change] of changes) {
      counts[reason] += change;
      const step = { at, counts: counts.slice() };
      if (steps.length && steps[steps.length - 1].at === at) steps[steps.length - 1] = step; else steps.push(step);
      this.mostWaiting = Math.max(this.mostWaiting, counts.reduce((a, b) => a + b, 0));
    }
    return steps;
  }

  // For the overview: compile seconds in each of 600 intervals.
  countRunning() {
    const bins = new Float64Array(600), width = this.end / bins.length;
    for (const c of data.compiles) {
      const from = Math.max(0, c.start), to = c.start + c.seconds;
      for (let b = Math.max(0, Math.floor(from / width)); b < bins.length && b * width < to; b++) {
        bins[b] += Math.max(0, Math.min(to, (b + 1) * width) - Math.max(from, b * width)) / width;
      }
    }
    return bins;
  }

  // --- size, colours, coordinates

  resize() {
    const ratio = window.devicePixelRatio || 1;
    this.width = this.canvas.clientWidth;
    let y = k_axis, record = -1;
    for (const lane of this.lanes) {
      if (lane.record !== record && data.records.length > 1) y += k_group;
      record = lane.record;
      lane.y = y;
      y += this.row;
    }
    this.slotsEnd = y;
    this.waitTop = this.waiting.length ? y + k_gap : y;
    this.waitEnd = this.waiting.length ? this.waitTop + k_waiting : y;
    this.memoryTop = this.waitEnd + k_gap;
    this.memoryEnd = data.memory.length ? this.memoryTop + k_memory : this.waitEnd;
    this.height = this.memoryEnd + 12;
    this.canvas.style.height = this.height + "px";
    for (const [canvas, height] of [[this.canvas, this.height], [this.overview, 44]]) {
      canvas.width = Math.round(this.width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    this.colours = {};
    this.draw();
  }

  colour(name) {
    return this.colours[name] || (this.colours[name] = getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim() || "#888");
  }

  colourOf(c) {
    switch (this.colourBy) {
      case "outcome": return this.colour((k_outcomes[c.outcome] || ["other"])[0]);
      case "why": return this.colour(c.wait > 0.05 && c.why in k_whys ? "why-" + (c.why || "nothing") : "why-nothing");
      case "cache": return this.colour(c.cache === "hit" ? "hit" : c.cache === "miss" ? "miss" : "other");
      case "peak": {
        const share = Math.sqrt(c.peak / this.largest);
        return `hsl(${Math.round(215 - 205 * share)} ${Math.round(45 + 35 * share)}% ${Math.round(62 - 10 * share)}%)`;
      }
      default: return this.colour(c.kind in k_kinds ? c.kind : "other");
    }
  }

  // White or nearly black, whichever is easier to read on the colour.
  textOn(colour) {
    if (!/^#[0-9a-f]{6}$/i.test(colour)) return "#ffffff";
    const part = (at) => parseInt(colour.slice(at, at + 2), 16) / 255;
    return 0.299 * part(1) + 0.587 * part(3) + 0.114 * part(5) > 0.62 ? "#10151c" : "#ffffff";
  }

  x(time) { return k_gutter + (time - this.from) / (this.to - this.from) * (this.width - k_gutter - k_right); }
  time(x) { return this.from + (x - k_gutter) / (this.width - k_gutter - k_right) * (this.to - this.from); }

  // The first of a sorted list that ends after the time; compiles of a slot never overlap.
  firstAfter(compiles, time) {
    let low = 0, high = compiles.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compiles[middle].start + compiles[middle].seconds < time) low = middle + 1; else high = middle;
    }
    return low;
  }

  // --- drawing

  draw() {
    if (this.asked) return;
    this.asked = requestAnimationFrame(() => { this.asked = 0; this.drawNow(); });
  }

  drawNow() {
    const g = this.canvas.getContext("2d");
    g.fillStyle = this.colour("card");
    g.fillRect(0, 0, this.width, this.height);
    g.font = "11.5px system-ui, 'DejaVu Sans', sans-serif";
    g.textBaseline = "middle";
    this.drawAxis(g);
    this.drawLabels(g);
    g.save();
    g.beginPath();
    g.rect(k_gutter, 0, this.width - k_gutter - k_right, this.height);
    g.clip();
    for (const lane of this.lanes) this.drawLane(g, lane);
    drawWaiting(this, g);
    drawMemory(this, g);
    g.restore();
    drawScales(this, g);
    drawOverview(this);
  }

  drawAxis(g) {
    const span = this.to - this.from, room = Math.max(2, (this.width - k_gutter) / 95);
    const step = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400]
      .find((s) => span / s <= room) || span / room;
    const digits = step < 0.01 ? 3 : step < 0.1 ? 2 : step < 1 ? 1 : 0;
    g.textAlign = "center";
    for (let n = Math.ceil(this.from / step); n * step <= this.to; n++) {
      const x = Math.round(this.x(n * step)) + 0.5;
      g.strokeStyle = this.colour("grid");
      g.beginPath();
      g.moveTo(x, k_axis - 5);
      g.lineTo(x, this.height);
      g.stroke();
      g.fillStyle = this.colour("quiet");
      if (x < this.width - 24) g.fillText(clock(n * step, digits), x, 10);
    }
  }

  drawLabels(g) {
    g.fillStyle = this.colour("quiet");
    let record = -1;
    const every = this.row >= 12 ? 1 : this.row >= 7 ? 4 : 8;
    for (const lane of this.lanes) {
      g.fillStyle = this.colour("quiet");
      if (lane.record !== record && data.records.length > 1) {
        g.textAlign = "left";
        g.fillText((recordName(lane.record)).slice(0, 120), 8, lane.y - k_group / 2 + 1);
      }
      record = lane.record;
      g.textAlign = "right";
      if (lane.slot === 0 || (lane.slot + 1) % every === 0) g.fillText("slot " + (lane.slot + 1), k_gutter - 8, lane.y + this.row / 2);
    }
    g.textAlign = "left";
    if (this.waiting.length) this.heading(g, "Waiting compiles by reason", this.waitTop);
    if (data.memory.length) this.heading(g, "Memory", this.memoryTop);
  }

  heading(g, text, y) {
    g.fillStyle = this.colour("text");
    g.font = "600 12px system-ui, 'DejaVu Sans', sans-serif";
    g.fillText(text, k_gutter, y - 13);
    g.font = "11.5px system-ui, 'DejaVu Sans', sans-serif";
  }

  drawLane(g, lane) {
    const top = lane.y + (this.row > 6 ? 1 : 0.5), height = this.row - (this.row > 6 ? 2 : 1);
    g.fillStyle = this.colour("stripe");
    g.fillRect(k_gutter, top, this.width, height);
    const loud = [];
    let drawn = -1;
    for (let i = this.firstAfter(lane.compiles, this.from); i < lane.compiles.length; i++) {
      const c = lane.compiles[i];
      if (c.start > this.to) break;
      const left = this.x(c.start), right = this.x(c.start + c.seconds);
      const marked = c.outcome !== "done" || c === this.chosen || c === this.hovered;
      if (marked) loud.push([c, left, right]);
      else if (right > drawn) this.drawBar(g, c, Math.max(left, drawn), right, top, height);
      drawn = Math.max(drawn, Math.ceil(right));
    }
    for (const [c, left, right] of loud) this.drawBar(g, c, left, right, top, height);
  }

  drawBar(g, c, left, right, top, height) {
    const gap = right - left > 4 ? 1 : 0, width = Math.max(c.outcome === "done" ? 1 : 3, right - left - gap);
    const fits = !this.search || c.name.toLowerCase().includes(this.search);
    g.globalAlpha = fits ? 1 : 0.13;
    g.fillStyle = this.colourOf(c);
    g.fillRect(left, top, width, height);
    if (c.paused > 0 && width > 3) {
      for (const [from, to] of c.pauses || [[c.start, c.start + c.seconds]]) this.hatch(g, this.x(from), top, Math.max(2, this.x(to) - this.x(from)), height);
    }
    if (c.outcome !== "done") {
      g.strokeStyle = this.colour((k_outcomes[c.outcome] || ["other"])[0]);
      g.lineWidth = 2;
      g.strokeRect(left + 1, top + 1, Math.max(1, width - 2), height - 2);
      if (this.colourBy !== "outcome" && width > 6) this.hatch(g, left, top, width, height);
      g.lineWidth = 1;
    }
    if (c === this.chosen || c === this.hovered) {
      g.strokeStyle = this.colour("text");
      g.lineWidth = 1.5;
      g.strokeRect(left - 0.5, top - 0.5, width + 1, height + 1);
      g.lineWidth = 1;
    }
    if (height >= 12 && right - left > 34) {
      const from = Math.max(left, k_gutter), room = Math.floor((right - from - 9) / 6.3);
      const name = c.name.slice(c.name.lastIndexOf("/") + 1);
      g.fillStyle = this.textOn(this.colourOf(c));
      if (room >= 3) g.fillText(name.length > room ? name.slice(0, room - 1) + "…" : name, from + 5, top + height / 2 + 0.5);
    }
    g.globalAlpha = 1;
  }

  hatch(g, left, top, width, height) {
    g.save();
    g.beginPath();
    g.rect(left, top, width, height);
    g.clip();
    g.strokeStyle = "rgba(255, 255, 255, .55)";
    g.beginPath();
    for (let x = Math.max(left, 0) - height; x < Math.min(left + width, this.width); x += 6) { g.moveTo(x, top + height); g.lineTo(x + height, top); }
    g.stroke();
    g.restore();
  }
}
