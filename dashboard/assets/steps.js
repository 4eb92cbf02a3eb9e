// The steps of a replay. Everything is here at once: moving through them needs no round trip.
// A node is the index of a step, or a loop's iterations, folded until they are wanted.

const FRAMES = 600; // for so long the code may take to be drawn

export default function (component) {
  const { data, parentElement } = component;
  const root = parentElement.querySelector(".why");
  const pick = (name) => root.querySelector(name);
  const view = root.__view ?? (root.__view = {
    root, list: pick(".list"), names: pick(".names"), where: pick(".where"), slider: pick("input"), key: null,
  });
  if (view.key !== data.key) begin(view, data, pick);
  else mark(view.steps[view.at].line, false, FRAMES);
  return unmark;
}

function begin(view, data, pick) {
  Object.assign(view, { key: data.key, steps: data.steps, at: data.steps.length - 1, open: new Set() });
  view.holders = holders(data.nodes);
  view.nodes = data.nodes;
  view.top = Math.min(...data.steps.map((step) => step.depth));
  view.slider.max = data.steps.length - 1;
  view.slider.oninput = () => select(view, Number(view.slider.value), true);
  pick(".back").onclick = () => select(view, view.at - 1, true);
  pick(".on").onclick = () => select(view, view.at + 1, true);
  view.list.onkeydown = (event) => onKey(view, event);
  view.list.onclick = (event) => onClick(view, event);
  view.list.replaceChildren();
  select(view, view.at, false);
}

// For each step, the folds that it is in, the outermost first.
function holders(nodes, above = [], found = []) {
  for (const node of nodes) {
    if (node.nodes) holders(node.nodes, [...above, node], found);
    else found[node] = above;
  }
  return found;
}

function select(view, index, byHand) {
  view.at = Math.max(0, Math.min(view.steps.length - 1, index));
  const closed = view.holders[view.at].filter((fold) => !view.open.has(fold));
  closed.forEach((fold) => view.open.add(fold));
  if (closed.length || !view.list.childElementCount) draw(view);
  const step = view.steps[view.at];
  view.slider.value = view.at;
  view.where.textContent = `step ${step.number.toLocaleString("en")} · line ${step.line} · ${step.call}`;
  view.list.querySelector("[aria-selected]")?.removeAttribute("aria-selected");
  const row = view.list.querySelector(`[data-step="${view.at}"]`);
  row.setAttribute("aria-selected", "true");
  into(row, view.list);
  drawNames(view);
  mark(step.line, byHand, FRAMES);
}

function firstOf(node) {
  return node.nodes ? firstOf(node.nodes[0]) : node;
}

function draw(view) {
  const rows = [];
  const add = (nodes, inside) => {
    for (const node of nodes) {
      const index = firstOf(node);
      const gap = index > 0 ? view.steps[index].number - view.steps[index - 1].number - 1 : 0;
      if (gap > 0 && !inside) rows.push(part("div", "gap", `${gap.toLocaleString("en")} steps not kept`));
      if (!node.nodes) {
        rows.push(stepRow(view, node, inside));
        continue;
      }
      const isOpen = view.open.has(node);
      rows.push(foldRow(node, isOpen, inside));
      if (isOpen) add(node.nodes, inside + 1);
    }
  };
  add(view.nodes, 0);
  view.list.replaceChildren(...rows);
}

function stepRow(view, index, inside) {
  const step = view.steps[index];
  const row = part("div", "row", "");
  row.dataset.step = index;
  row.setAttribute("role", "option");
  const code = part("code", "", step.code);
  code.style.paddingLeft = `${Math.min(step.depth - view.top, 12) * 10 + inside * 4}px`;
  const about = part("span", "about", "");
  if (step.said) about.append(part("span", "said", step.said));
  if (step.branch) about.append(part("span", "branch", `→ ${step.branch}`));
  for (const [name, value] of step.changed) about.append(part("b", "", `${name} = ${value}`));
  for (const [name, value] of step.items) about.append(part("span", "", `${name} = ${value}`));
  row.append(part("span", "no", String(step.line)), code, about);
  row.title = [...about.children].map((each) => each.textContent).join("\n");
  return row;
}

function foldRow(fold, isOpen, inside) {
  const name = fold.first === fold.last ? `line ${fold.first}` : `lines ${fold.first}–${fold.last}`;
  const row = part("div", "row fold", "");
  row.__fold = fold;
  row.setAttribute("role", "option");
  row.setAttribute("aria-expanded", String(isOpen));
  const text = part("span", "times", `${isOpen ? "▾" : "▸"} ${name} × ${fold.times.toLocaleString("en")}`);
  text.style.paddingLeft = `${inside * 8}px`;
  row.append(text);
  return row;
}

// What the line read, and all variables of the step's call after the step, those that it changed in bold.
function drawNames(view) {
  const here = view.steps[view.at], values = new Map();
  for (let index = 0; index <= view.at; index++) {
    const step = view.steps[index];
    if (step.frame !== here.frame) continue;
    for (const [name, value] of [...step.whole, ...step.changed]) values.set(name, value);
  }
  const changed = new Set(here.changed.map(([name]) => name));
  const table = part("table", "", "");
  const add = (name, value, look) => {
    const row = part("tr", look, "");
    row.append(part("td", "", name), part("td", "", value));
    table.append(row);
  };
  for (const [name, value] of here.items) add(name, value, "read");
  for (const [name, value] of values) add(name, value, changed.has(name) ? "changed" : "");
  const said = here.said ? [part("div", "said", here.said)] : [];
  const empty = table.childElementCount || here.said ? [] : [part("div", "none", "no variables yet")];
  view.names.replaceChildren(table, ...said, ...empty);
  const bold = table.querySelector(".changed");
  view.names.scrollTop = bold && !here.items.length ? Math.max(0, bold.offsetTop - 40) : 0;
}

function onClick(view, event) {
  const row = event.target.closest(".row");
  if (!row) return;
  if (row.__fold) toggle(view, row.__fold);
  else select(view, Number(row.dataset.step), true);
}

function toggle(view, fold) {
  const { scrollTop } = view.list;
  if (view.open.has(fold)) view.open.delete(fold);
  else view.open.add(fold);
  if (!view.open.has(fold) && view.holders[view.at].includes(fold)) {
    // The selected step is hidden now: what comes before the loop is selected, or after it.
    const inner = view.holders.flatMap((above, index) => (above.includes(fold) ? [index] : []));
    view.at = inner[0] > 0 ? inner[0] - 1 : Math.min(view.steps.length - 1, inner[inner.length - 1] + 1);
  }
  draw(view);
  select(view, view.at, false);
  view.list.scrollTop = scrollTop;
}

function onKey(view, event) {
  const move = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, Home: -1e9, End: 1e9, PageDown: 10, PageUp: -10 }[event.key];
  if (!move) return;
  event.preventDefault();
  event.stopPropagation();
  select(view, view.at + move, true);
}

function into(row, list) {
  const top = row.offsetTop - list.offsetTop;
  if (top < list.scrollTop) list.scrollTop = top - 24;
  else if (top + row.offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = top - list.clientHeight + row.offsetHeight + 24;
}

// Marks the line in the code view, which may not be drawn yet; scrolls its box, never the page. Of those that wait for
// the code, as while it is edited, the last one counts.
let last = 0;
function mark(line, scrolls, tries, number = ++last) {
  if (number !== last) return;
  const element = document.getElementById(`L${line}`), box = element?.closest(".rs-code");
  if (!box) {
    if (tries) requestAnimationFrame(() => mark(line, scrolls, tries - 1, number));
    return;
  }
  unmark();
  element.classList.add("at");
  if (!scrolls) return;
  const offset = element.getBoundingClientRect().top - box.getBoundingClientRect().top;
  if (offset < 0 || offset > box.clientHeight - 20) box.scrollTop += offset - box.clientHeight / 2;
}

function unmark() {
  for (const old of document.querySelectorAll(".rs-code .ln.at")) old.classList.remove("at");
}
