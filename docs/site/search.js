// Search without a server: the index is a script (site/index.js), because pages opened from a disk may load scripts but not
// read files. It is loaded when the search box is first used. Without JavaScript the box stays hidden.
(() => {
  const root = document.currentScript.dataset.root;
  const menu = document.querySelector(".menu");
  const wide = matchMedia("(min-width: 48rem)");
  const openMenu = () => { menu.open = wide.matches; };
  wide.addEventListener("change", openMenu);
  openMenu();

  const form = document.querySelector(".search");
  const input = form.querySelector("input");
  const list = form.querySelector(".results");
  form.hidden = false;
  let entries = null;
  let chosen = 0;

  const load = () => new Promise((done) => {
    if (entries) return done();
    const script = document.createElement("script");
    script.src = root + "site/index.js";
    script.onload = () => {
      entries = window.wheelsmithIndex.map(([page, heading, address, text]) =>
        ({page, heading, address, text, inTitle: (page + " " + heading).toLowerCase(), inText: text.toLowerCase(),
          name: address.replace(/#.*/, "").replace(/^.*\/|\.html$/g, "")}));
      done();
    };
    document.head.append(script);
  });

  // Every word must occur. The page that is named so comes first, then headings, then texts; the start of a word counts more than
  // its middle, and what changed once counts less than what is.
  const score = (entry, words) => {
    let sum = 0;
    for (const word of words) {
      const title = entry.inTitle.indexOf(word);
      const text = entry.inText.indexOf(word);
      if (title < 0 && text < 0) return 0;
      if (title >= 0) sum += /[a-z0-9]/.test(entry.inTitle[title - 1] || " ") ? 6 : 20;
      if (entry.heading === "" && title >= 0) sum += 5;
      if (entry.name === word) sum += entry.heading === "" ? 60 : 10;
      if (text >= 0) sum += (/[a-z0-9]/.test(entry.inText[text - 1] || " ") ? 1 : 3) + Math.max(0, 2 - text / 400);
    }
    return entry.name === "changelog" ? sum / 4 : sum;
  };

  const element = (tag, text, name) => {
    const made = document.createElement(tag);
    if (text) made.textContent = text;
    if (name) made.className = name;
    return made;
  };

  const excerpt = (entry, words) => {
    const span = element("span");
    const at = Math.max(0, Math.min(...words.map((word) => entry.inText.indexOf(word)).filter((place) => place >= 0), 1e9));
    const start = at === 1e9 ? 0 : Math.max(0, at - 50);
    const text = (start > 0 ? "…" : "") + entry.text.slice(start, start + 160);
    let rest = text;
    while (rest !== "") {
      const lower = rest.toLowerCase();
      let next = -1, found = "";
      for (const word of words) {
        const place = lower.indexOf(word);
        if (place >= 0 && (next < 0 || place < next)) { next = place; found = word; }
      }
      if (next < 0) { span.append(rest); break; }
      span.append(rest.slice(0, next), element("mark", rest.slice(next, next + found.length)));
      rest = rest.slice(next + found.length);
    }
    return span;
  };

  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
    list.replaceChildren();
    list.hidden = words.length === 0;
    if (words.length === 0) return;
    const found = entries.map((entry) => [score(entry, words), entry]).filter(([value]) => value > 0);
    found.sort((a, b) => b[0] - a[0]);
    for (const [, entry] of found.slice(0, 20)) {
      const link = element("a");
      link.href = root + entry.address;
      link.append(element("b", entry.heading ? `${entry.page} › ${entry.heading}` : entry.page), excerpt(entry, words));
      const item = element("li");
      item.append(link);
      list.append(item);
    }
    if (found.length === 0) list.append(element("li", "Nothing found.", "none"));
    choose(0);
  };

  const choose = (place) => {
    const links = [...list.querySelectorAll("a")];
    if (links.length === 0) return;
    chosen = (place + links.length) % links.length;
    links.forEach((link, index) => link.classList.toggle("chosen", index === chosen));
    links[chosen].scrollIntoView({block: "nearest"});
  };

  input.addEventListener("focus", load);
  input.addEventListener("input", () => load().then(show));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    list.querySelectorAll("a")[chosen]?.click();
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") { choose(chosen + 1); event.preventDefault(); }
    if (event.key === "ArrowUp") { choose(chosen - 1); event.preventDefault(); }
    if (event.key === "Escape") { input.value = ""; list.hidden = true; input.blur(); }
  });
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
    if (event.key === "/" && !typing) { input.focus(); event.preventDefault(); }
  });
  document.addEventListener("click", (event) => { if (!form.contains(event.target)) list.hidden = true; });
})();
