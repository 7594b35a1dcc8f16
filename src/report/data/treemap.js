// The page of `inspect --html`: one treemap of where the bytes are, a table of the level that is shown, and the total by
// architecture. Names come from the wheel: they are shown as text and drawn on the canvas, never used as markup.

const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const root = data.tree;
const view = { at: root, chosen: null, boxes: [], found: "" };
const canvas = byId("map");

function make(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

function bytes(count) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (count >= 999.5 && unit + 1 < units.length) { count /= 1000; unit++; }
  return (unit && count < 99.95 ? count.toFixed(1) : Math.round(count)) + " " + units[unit];
}

const percent = (part, whole) => (whole ? (100 * part / whole).toFixed(part / whole < 0.1 ? 1 : 0) : "0") + " %";
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

function linkParents(node) {
  for (const child of node.children || []) { child.parent = node; linkParents(child); }
}

function pathOf(node) {
  const path = [];
  for (let at = node; at; at = at.parent) path.unshift(at);
  return path;
}

const fullName = (node) => pathOf(node).slice(1).map((one) => one.name).join(" / ") || node.name;

function kindOf(node) {
  if (node.kind === "folder") return "folder";
  if (node.kind === "file") return node.type === "elf" || node.type === "gpu" || node.type === "python" ? node.type : "file";
  if (node.kind === "section") return "section";
  if (node.kind === "arch") return node.type;
  return "rest";
}

// Squarified layout: rows are filled while their worst aspect ratio improves.
function layOut(nodes, x, y, w, h) {
  const result = [];
  let total = nodes.reduce((sum, node) => sum + node.bytes, 0);
  let i = 0;
  while (i < nodes.length && total > 0 && w > 0.5 && h > 0.5) {
    const side = Math.min(w, h), area = w * h;
    let sum = 0, worst = Infinity, end = i;
    while (end < nodes.length) {
      const next = sum + nodes[end].bytes;
      const thick = next / total * area / side;
      const first = nodes[i].bytes / total * area / thick, last = nodes[end].bytes / total * area / thick;
      const ratio = Math.max(thick / first, first / thick, thick / last, last / thick);
      if (end > i && ratio > worst) break;
      worst = ratio; sum = next; end++;
    }
    const thick = sum / total * area / side;
    let along = 0;
    for (; i < end; i++) {
      const length = sum ? nodes[i].bytes / sum * side : 0;
      result.push(w >= h ? { node: nodes[i], x, y: y + along, w: thick, h: length } : { node: nodes[i], x: x + along, y, w: length, h: thick });
      along += length;
    }
    if (w >= h) { x += thick; w -= thick; } else { y += thick; h -= thick; }
    total -= sum;
  }
  return result;
}

function matches(node) {
  return !view.found || fullName(node).toLowerCase().includes(view.found);
}

// Shortens the text until it fits; a text of which less than three characters would remain is not drawn.
function drawText(context, text, x, y, width) {
  let shown = text;
  for (let length = text.length; context.measureText(shown).width > width;) {
    length = Math.min(length - 1, Math.floor(length * width / context.measureText(shown).width));
    if (length < 3) return false;
    shown = text.slice(0, length) + "…";
  }
  context.fillText(shown, x, y);
  return true;
}

function drawBox(context, box, depth, paints) {
  const { node, x, y, w, h } = box;
  if (w < 1 || h < 1) return;
  view.boxes.push({ ...box, depth });
  const kind = kindOf(node), inside = node.children && w > 34 && h > 34;
  context.globalAlpha = inside || matches(node) ? 1 : 0.22;
  context.fillStyle = paints[kind];
  context.fillRect(x, y, w, h);
  context.globalAlpha = 1;
  if (w > 3 && h > 3) {
    context.strokeStyle = paints.line;
    context.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
  }
  const title = node.name + "  " + bytes(node.bytes);
  if (inside) {
    context.fillStyle = kind === "folder" ? paints.text : paints.label;
    context.font = "600 12px system-ui, sans-serif";
    drawText(context, title, x + 6, y + 14, w - 12);
    for (const child of layOut(node.children, x + 3, y + 20, w - 6, h - 23)) drawBox(context, child, depth + 1, paints);
  } else if (w > 30 && h > 16) {
    context.fillStyle = kind === "folder" ? paints.text : paints.label;
    context.font = "12px system-ui, sans-serif";
    if (drawText(context, node.name, x + 5, y + 14, w - 10) && h > 32) drawText(context, bytes(node.bytes), x + 5, y + 28, w - 10);
  }
}

function drawMap() {
  const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  const paints = { label: "#ffffff", text: colour("text"), line: colour("card") };
  for (const name of ["folder", "elf", "gpu", "python", "file", "section", "sass", "ptx", "ltoir", "hip", "rest"]) paints[name] = colour(name);
  view.boxes = [];
  const shown = view.at.children ? view.at.children : [view.at];
  for (const box of layOut(shown, 0, 0, width, height)) drawBox(context, box, 0, paints);
  const chosen = view.boxes.find((box) => box.node === view.chosen);
  if (chosen) {
    context.lineWidth = 3;
    context.strokeStyle = colour("accent");
    context.strokeRect(chosen.x + 1.5, chosen.y + 1.5, Math.max(1, chosen.w - 3), Math.max(1, chosen.h - 3));
  }
}

function facts(node) {
  const result = [["size", bytes(node.bytes) + ", " + percent(node.bytes, root.bytes) + " of all"]];
  if (node.packed) result.push(["compressed", bytes(node.packed) + ", " + percent(node.packed, node.bytes)]);
  result.push(["kind", { folder: "folder", elf: "ELF file", gpu: "device code file", python: "Python file", file: "file", section: "section", rest: "rest" }[kindOf(node)] || "device code, " + node.type]);
  return result;
}

function drawPath() {
  const path = byId("path");
  path.replaceChildren();
  for (const node of pathOf(view.at)) {
    if (node !== root) path.append("›");
    const button = make("button", { type: "button" }, node.name);
    button.addEventListener("click", () => go(node));
    path.append(button);
  }
  byId("up").disabled = view.at === root;
}

function drawList() {
  const list = byId("list"), rows = (view.at.children || []).slice(0, 100);
  const table = make("table", {}, make("thead", {}, make("tr", {}, make("th", {}, "name"), make("th", { class: "number" }, "size"), make("th", { class: "number" }, "compressed"), make("th", { class: "number" }, "share"))));
  const body = make("tbody");
  for (const node of rows) {
    const name = make("td", {});
    if (node.children) {
      const button = make("button", { type: "button" }, node.name);
      button.addEventListener("click", () => go(node));
      name.append(button);
    } else {
      name.append(node.name);
    }
    body.append(make("tr", {}, name, make("td", { class: "number" }, bytes(node.bytes)), make("td", { class: "number" }, node.packed ? bytes(node.packed) : "–"), make("td", { class: "number" }, percent(node.bytes, view.at.bytes))));
  }
  table.append(body);
  const children = [make("h2", {}, "Contents of " + view.at.name), make("div", { class: "wide" }, table)];
  const more = (view.at.children || []).length - rows.length;
  if (more > 0) children.push(make("p", { class: "quiet small" }, "and " + more + " smaller ones"));
  list.replaceChildren(...children);
}

function drawArchs() {
  const sums = new Map();
  const collect = (node) => {
    if (node.kind === "arch") sums.set(node.name, { bytes: (sums.get(node.name) || { bytes: 0 }).bytes + node.bytes, type: node.type });
    for (const child of node.children || []) collect(child);
  };
  collect(view.at);
  const card = byId("archs");
  card.hidden = sums.size === 0;
  if (!sums.size) return;
  const body = make("tbody");
  for (const [name, sum] of [...sums].sort((a, b) => b[1].bytes - a[1].bytes).slice(0, 100))
    body.append(make("tr", {}, make("td", {}, name), make("td", { class: "short" }, sum.type), make("td", { class: "number" }, bytes(sum.bytes)), make("td", { class: "number" }, percent(sum.bytes, view.at.bytes))));
  card.replaceChildren(make("h2", {}, "Device code in " + view.at.name), make("div", { class: "wide" }, make("table", {}, make("thead", {}, make("tr", {}, make("th", {}, "architecture"), make("th", {}, "kind"), make("th", { class: "number" }, "size"), make("th", { class: "number" }, "share"))), body)));
}

function drawLegend() {
  const names = { elf: "ELF file", section: "section", sass: "SASS", ptx: "PTX", ltoir: "LTO IR", hip: "HIP code", gpu: "device code file", python: "Python", file: "other file", rest: "rest" };
  const used = new Set();
  const collect = (node) => { used.add(kindOf(node)); for (const child of node.children || []) collect(child); };
  collect(root);
  for (const [kind, name] of Object.entries(names)) {
    if (!used.has(kind)) continue;
    const swatch = make("i", { class: "swatch" });
    swatch.style.setProperty("background", "var(--" + kind + ")");
    byId("legend").append(make("span", {}, swatch, name));
  }
}

function go(node) {
  view.at = node;
  view.chosen = null;
  byId("tip").hidden = true;
  drawPath();
  drawList();
  drawArchs();
  drawMap();
  byId("live").textContent = node.name + ", " + bytes(node.bytes);
}

// The deepest box below a point; zooming goes to the child of the current node that contains it.
function boxAt(event) {
  const box = canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
  let found = null;
  for (const one of view.boxes) {
    if (x >= one.x && x < one.x + one.w && y >= one.y && y < one.y + one.h && (!found || one.depth >= found.depth)) found = one;
  }
  return found;
}

function zoomTo(node) {
  let at = node;
  while (at.parent && at.parent !== view.at) at = at.parent;
  if (at.children) go(at);
}

canvas.addEventListener("click", (event) => { const box = boxAt(event); if (box) zoomTo(box.node); });
canvas.addEventListener("mousemove", (event) => {
  const box = boxAt(event), tip = byId("tip");
  tip.hidden = !box;
  if (!box) return;
  const list = make("dl");
  for (const [name, value] of facts(box.node)) list.append(make("dt", {}, name), make("dd", {}, value));
  tip.replaceChildren(make("b", {}, fullName(box.node)), list);
  const left = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8), top = Math.min(event.clientY + 14, window.innerHeight - tip.offsetHeight - 8);
  tip.style.setProperty("left", Math.max(4, left) + "px");
  tip.style.setProperty("top", Math.max(4, top) + "px");
});
canvas.addEventListener("mouseleave", () => { byId("tip").hidden = true; });
canvas.addEventListener("keydown", (event) => {
  const children = view.at.children || [];
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (step && children.length) {
    const at = children.indexOf(view.chosen);
    view.chosen = children[at < 0 ? 0 : Math.max(0, Math.min(children.length - 1, at + step))];
    byId("live").textContent = view.chosen.name + ", " + bytes(view.chosen.bytes);
    drawMap();
  } else if (event.key === "Enter" && view.chosen && view.chosen.children) {
    go(view.chosen);
  } else if ((event.key === "Backspace" || event.key === "Escape") && view.at.parent) {
    go(view.at.parent);
  } else {
    return;
  }
  event.preventDefault();
});
byId("up").addEventListener("click", () => { if (view.at.parent) go(view.at.parent); });
byId("find").addEventListener("input", () => { view.found = byId("find").value.toLowerCase(); drawMap(); });
byId("theme").addEventListener("click", () => {
  const dark = document.documentElement.dataset.theme !== "dark";
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  drawMap();
});
window.addEventListener("resize", drawMap);

const wantsDark = location.hash === "#dark" || (location.hash !== "#light" && window.matchMedia("(prefers-color-scheme: dark)").matches);
document.documentElement.dataset.theme = wantsDark ? "dark" : "light";
linkParents(root);
byId("title").textContent = root.name;
document.title = root.name + " – sizes";
byId("subtitle").textContent = bytes(root.bytes) + " uncompressed" + (data.file_bytes ? ", " + bytes(data.file_bytes) + " as a file" : "");
drawLegend();
go(root);
document.documentElement.dataset.drawn = "true";
