// The panels around the slots: waiting compiles and memory below, the overview of the whole build above.

function drawWaiting(t, g) {
  if (!t.waiting.length) return;
  const top = t.waitTop, bottom = t.waitEnd, y = (count) => bottom - count / t.mostWaiting * (bottom - top);
  g.fillStyle = t.colour("stripe");
  g.fillRect(k_gutter, top, t.width, bottom - top);
  // Stacked areas, drawn from the sum of all reasons down to the first reason; each covers the lower part of the previous one.
  for (let upto = t.reasons.length; upto >= 1; upto--) {
    const count = (step) => { let sum = 0; for (let r = 0; r < upto; r++) sum += step.counts[r]; return sum; };
    g.fillStyle = t.colour("why-" + (t.reasons[upto - 1] || "nothing"));
    g.beginPath();
    g.moveTo(k_gutter, bottom);
    let level = 0, peak = 0, pixel = -1;
    for (const step of t.waiting) {
      const x = t.x(step.at), now = count(step);
      // Several changes within a pixel are drawn as their maximum.
      if (Math.floor(x) === pixel) { peak = Math.max(peak, now); level = now; continue; }
      if (pixel >= 0) { g.lineTo(pixel, y(peak)); g.lineTo(pixel + 1, y(level)); }
      g.lineTo(x, y(level));
      g.lineTo(x, y(now));
      level = peak = now;
      pixel = x < k_gutter ? -1 : Math.floor(x);
    }
    g.lineTo(t.x(t.end), y(level));
    g.lineTo(t.x(t.end), bottom);
    g.fill();
  }
}

function memoryCeiling() {
  let most = 1, used = 1;
  for (const s of data.memory) { most = Math.max(most, s.limit, s.reserved, s.used); used = Math.max(used, s.reserved, s.used, s.available); }
  return Math.max(used, Math.min(most, used * 3)) * 1.06;
}

function drawMemory(t, g) {
  const samples = data.memory;
  if (!samples.length) return;
  const top = t.memoryTop, bottom = t.memoryEnd, most = memoryCeiling();
  const y = (value) => bottom - Math.min(value, most) / most * (bottom - top);
  g.fillStyle = t.colour("stripe");
  g.fillRect(k_gutter, top, t.width, bottom - top);
  // Within a pixel, draws the maximum (for free memory: the minimum).
  const path = (get, pick) => {
    const points = [];
    for (const s of samples) {
      const x = Math.round(t.x(s.at)), last = points[points.length - 1];
      if (last && last[0] === x) last[1] = pick(last[1], get(s)); else points.push([x, get(s)]);
    }
    return points;
  };
  const line = (points, colour, width, dash) => {
    g.strokeStyle = t.colour(colour);
    g.lineWidth = width;
    g.setLineDash(dash);
    g.beginPath();
    points.forEach(([x, value], i) => i ? g.lineTo(x, y(value)) : g.moveTo(x, y(value)));
    g.stroke();
    g.setLineDash([]);
    g.lineWidth = 1;
  };
  const area = (points, colour, alpha) => {
    g.fillStyle = t.colour(colour);
    g.globalAlpha = alpha;
    g.beginPath();
    g.moveTo(points[0][0], bottom);
    for (const [x, value] of points) g.lineTo(x, y(value));
    g.lineTo(points[points.length - 1][0], bottom);
    g.fill();
    g.globalAlpha = 1;
  };
  const reserved = path((s) => s.reserved, Math.max), used = path((s) => s.used, Math.max);
  area(reserved, "reserved", 0.16);
  area(used, "used", 0.45);
  line(used, "used", 1.5, []);
  line(reserved, "reserved", 1.5, []);
  line(path((s) => s.available, Math.min), "free", 1.5, []);
  if (samples.some((s) => s.limit && s.limit <= most)) line(path((s) => s.limit, Math.max), "limit", 1.5, [6, 4]);
}

function drawScales(t, g) {
  const scale = (most, top, bottom, show, least) => {
    const rough = most / 4, power = 10 ** Math.floor(Math.log10(rough));
    const step = Math.max(least, [1, 2, 2.5, 5, 10].map((f) => f * power).find((s) => s >= rough * 0.999) || rough);
    g.textAlign = "right";
    for (let value = 0; value <= most * 1.0001; value += step) {
      const y = Math.round(bottom - value / most * (bottom - top)) - 0.5;
      g.strokeStyle = t.colour("line");
      g.globalAlpha = 0.6;
      g.beginPath();
      g.moveTo(k_gutter, y);
      g.lineTo(t.width - k_right, y);
      g.stroke();
      g.globalAlpha = 1;
      g.fillStyle = t.colour("quiet");
      g.fillText(show(value), k_gutter - 8, y);
    }
  };
  if (t.waiting.length) scale(t.mostWaiting, t.waitTop, t.waitEnd, whole, 1);
  if (data.memory.length) scale(memoryCeiling(), t.memoryTop, t.memoryEnd, bytes, 1);
}

// Converts between times and positions in the overview.
const overviewX = (t, time) => k_gutter + time / t.end * (t.width - k_gutter - k_right);
const overviewTime = (t, x) => Math.max(0, Math.min(t.end, (x - k_gutter) / (t.width - k_gutter - k_right) * t.end));

function drawOverview(t) {
  const g = t.overview.getContext("2d"), most = t.running.reduce((a, b) => Math.max(a, b), 1);
  g.fillStyle = t.colour("card");
  g.fillRect(0, 0, t.width, 44);
  g.fillStyle = t.colour("stripe");
  g.fillRect(k_gutter, 0, t.width - k_gutter - k_right, 44);
  g.fillStyle = t.colour("done");
  g.beginPath();
  g.moveTo(k_gutter, 44);
  t.running.forEach((value, i) => g.lineTo(overviewX(t, (i + 0.5) / t.running.length * t.end), 44 - 40 * value / most));
  g.lineTo(t.width - k_right, 44);
  g.fill();
  g.font = "11.5px system-ui, 'DejaVu Sans', sans-serif";
  g.fillStyle = t.colour("quiet");
  g.textAlign = "right";
  g.textBaseline = "middle";
  g.fillText("whole build", k_gutter - 8, 22);
  const left = overviewX(t, t.from), right = overviewX(t, t.to);
  g.fillStyle = t.colour("card");
  g.globalAlpha = 0.65;
  g.fillRect(k_gutter, 0, left - k_gutter, 44);
  g.fillRect(right, 0, t.width - k_right - right, 44);
  g.globalAlpha = 1;
  g.strokeStyle = t.colour("accent");
  g.lineWidth = 1.5;
  g.strokeRect(left + 0.75, 0.75, Math.max(2, right - left - 1.5), 42.5);
  g.lineWidth = 1;
}
