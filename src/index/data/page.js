
"use strict";
const pip = document.getElementById("pip");
if (pip) {
  const address = new URL(pip.dataset.up, location.href);
  address.search = address.hash = "";
  pip.textContent = `pip install --index-url ${address.href} ${pip.dataset.project}`;
  const copy = document.getElementById("copy");
  copy.hidden = false;
  copy.addEventListener("click", () => {
    const said = (text) => { copy.textContent = text; setTimeout(() => { copy.textContent = "Copy"; }, 1500); };
    const mark = () => { getSelection().selectAllChildren(pip); said("Press Ctrl+C"); };
    if (navigator.clipboard) navigator.clipboard.writeText(pip.textContent).then(() => said("Copied"), mark);
    else mark();
  });
}
const filter = document.getElementById("filter");
const projects = document.getElementById("projects");
if (filter && projects) {
  filter.hidden = false;
  filter.addEventListener("input", () => {
    const word = filter.value.trim().toLowerCase();
    for (const row of projects.rows) row.hidden = !row.cells[0].textContent.includes(word);
  });
}
