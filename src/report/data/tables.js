// Formatting of numbers, creation of elements, and sortable, paged tables. All text from the data is set through textContent; the page never uses innerHTML.

const data = JSON.parse(document.getElementById("data").textContent);
// Records contain "c++", which cannot be part of the name of a style property.
for (const c of data.compiles) if (c.kind === "c++") c.kind = "cxx";
const byId = (id) => document.getElementById(id);

function make(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "class") node.className = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== false && value !== undefined) node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children) if (child !== null && child !== undefined) node.append(child);
  return node;
}

function bytes(count) {
  if (!count) return "0";
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let unit = 0;
  while (count >= 999.5 && unit < units.length - 1) { count /= 1000; unit++; }
  return (count < 9.95 && unit > 0 ? count.toFixed(1) : Math.round(count)) + " " + units[unit];
}

function seconds(count) {
  if (count < 0.0005) return "0 s";
  if (count < 1) return Math.max(1, Math.round(count * 1000)) + " ms";
  if (count < 9.95) return count.toFixed(1) + " s";
  if (count < 120) return Math.round(count) + " s";
  const minutes = Math.round(count / 60);
  if (minutes < 60) return Math.floor(count / 60) + " min " + Math.round(count % 60) % 60 + " s";
  return Math.floor(minutes / 60) + " h " + minutes % 60 + " min";
}

const whole = (count) => count.toLocaleString("en");
const percent = (part, all) => all > 0 ? (100 * part / all).toFixed(part && part < all && part / all < 0.1 ? 1 : 0) + " %" : "–";
const plural = (count, word, words) => whole(count) + " " + (count === 1 ? word : words || word + "s");

// A time on the axis: 0:07, 12:30, 1:02:05; with decimals if the axis is that fine.
function clock(time, digits) {
  const unit = 10 ** (digits || 0);
  let left = Math.round(time * unit) / unit;
  const hours = Math.floor(left / 3600);
  left -= hours * 3600;
  const minutes = Math.floor(left / 60);
  left -= minutes * 60;
  const two = (n) => (n < 10 ? "0" : "") + n;
  return (hours ? hours + ":" + two(minutes) : minutes) + ":" + (left < 9.9999995 ? "0" : "") + left.toFixed(digits || 0);
}

// Keys come from the record, so the tables must not inherit properties of Object.
const lookup = (entries) => Object.assign(Object.create(null), entries);
const k_outcomes = lookup({
  "done": ["done", "done"], "failed": ["failed", "failed"], "out-of-memory": ["oom", "killed: out of memory, retried"],
  "set-back": ["set-back", "preempted: killed and requeued"], "lost": ["lost", "lost: its shim exited"],
});
const k_kinds = lookup({ c: "C", cxx: "C++", cuda: "CUDA", hip: "HIP", fortran: "Fortran", link: "link" });
const k_whys = lookup({
  memory: ["memory", "its memory did not fit beside the running compiles"],
  cores: ["cores", "all cores were busy"],
  jobs: ["jobs", "the job limit was reached"],
  pressure: ["memory pressure", "the machine was short of memory, so no compile was started"],
  alone: ["an exclusive run", "a compile that was killed for memory runs again alone"],
  "": ["its turn", "the time between request and admission"],
});
const outcomeName = (c) => (k_outcomes[c.outcome] || [0, c.outcome || "?"])[1];
const kindName = (kind) => k_kinds[kind] || kind || "other";
const whyName = (why) => (k_whys[why] || [why])[0];

// Columns: {label, get, show, number, text, node, short}. Sorted by column `sort`; `page` rows per page.
function table(columns, rows, { caption, sort, descending, page = 25, filter }) {
  let column = sort || 0, down = Boolean(descending), first = 0, wanted = "";
  const body = make("tbody"), status = make("span", { "aria-live": "polite" });
  const heads = columns.map((c, i) => make("th", { scope: "col", class: c.number ? "number" : "" },
    make("button", { type: "button", onclick: () => { down = column === i ? !down : Boolean(c.number); column = i; first = 0; draw(); } }, c.label)));
  const before = make("button", { type: "button", onclick: () => { first = Math.max(0, first - page); draw(); } }, "Previous");
  const after = make("button", { type: "button", onclick: () => { first += page; draw(); } }, "Next");
  const pages = make("div", { class: "pages" }, before, after, status);
  function draw() {
    const get = columns[column].get;
    const chosen = wanted ? rows.filter((row) => filter(row).toLowerCase().includes(wanted)) : rows.slice();
    const order = (a, b) => { const x = get(a), y = get(b); return x < y ? -1 : x > y ? 1 : 0; };
    chosen.sort((a, b) => down ? order(b, a) : order(a, b));
    if (first >= chosen.length) first = 0;
    heads.forEach((head, i) => head.setAttribute("aria-sort", i !== column ? "none" : down ? "descending" : "ascending"));
    body.replaceChildren(...chosen.slice(first, first + page).map((row) => make("tr", {}, ...columns.map((c) =>
      make("td", { class: c.number ? "number" : c.text ? "text" : c.short ? "short" : "" }, c.node ? c.node(row) : (c.show || c.get)(row))))));
    before.disabled = first === 0;
    after.disabled = first + page >= chosen.length;
    pages.hidden = !filter && chosen.length <= page;
    status.textContent = chosen.length ? `${whole(first + 1)} to ${whole(Math.min(chosen.length, first + page))} of ${whole(chosen.length)}` : "no matches";
  }
  const node = make("div", {}, make("div", { class: "wide" }, make("table", {}, make("caption", { class: "hidden" }, caption), make("thead", {}, make("tr", {}, ...heads)), body)), pages);
  if (filter) {
    node.prepend(make("label", {}, "Filter ", make("input", { type: "search", size: "28", oninput: (e) => { wanted = e.target.value.toLowerCase(); first = 0; draw(); } })));
  }
  draw();
  return node;
}

// Bars with a name on the left and a value on the right: [{name, parts: [[share, colour]], value, title}]
function meters(rows) {
  const grid = make("div", { class: "meters" });
  for (const row of rows) {
    const bar = make("div", { class: "meter", role: "img", "aria-label": row.value });
    for (const [share, colour] of row.parts) {
      const part = make("i");
      part.style.width = Math.max(0, Math.min(100, 100 * share)) + "%";
      part.style.background = colour;
      bar.append(part);
    }
    grid.append(make("div", {}, row.name), bar, make("div", { class: "value" }, row.value));
  }
  return grid;
}
