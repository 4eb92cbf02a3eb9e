// A table whose rows open with a click anywhere or Enter, and whose headers sort in Python. Text is set as text.

const PAGE = 15, DRAG = 5;

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const scroller = parentElement.querySelector(".scroller");
  const table = scroller.__table ?? (scroller.__table = { scroller, cursor: -1, given: "" });
  table.data = data;
  scroller.style.maxHeight = data.height;
  const given = JSON.stringify(data);
  if (given === table.given) return;
  const isFirst = table.given === "";
  table.given = given;
  table.cursor = data.selected ?? (isFirst ? 0 : Math.min(table.cursor, data.rows.length - 1));
  if (isFirst) takeFocus(scroller);
  scroller.replaceChildren(drawn(table, (name) => setTriggerValue("sort", name)));
  scroller.onkeydown = (event) => onKey(table, event);
  if (table.cursor >= 0) mark(table, table.cursor);
  else scroller.scrollTop = 0;
}

function drawn(table, sort) {
  const { data } = table, element = document.createElement("table");
  element.setAttribute("role", "grid"); // its rows can be selected
  const head = element.createTHead().insertRow();
  for (const column of data.columns) head.append(header(column, sort));
  const body = element.createTBody();
  data.rows.forEach((row, index) => body.append(line(table, row, index)));
  return element;
}

function header(column, sort) {
  const cell = document.createElement("th");
  cell.className = column.look;
  cell.scope = "col";
  if (column.title) cell.title = column.title;
  if (!column.sortable) {
    cell.textContent = column.label;
    return cell;
  }
  const arrow = { up: " ▲", down: " ▼", "": column.label ? "" : "↕" }[column.sorted];
  const button = part("button", "sort", column.label + arrow);
  if (!column.label) button.setAttribute("aria-label", column.title);
  if (column.sorted) cell.setAttribute("aria-sort", column.sorted === "up" ? "ascending" : "descending");
  button.addEventListener("click", () => sort(column.name));
  cell.append(button);
  return cell;
}

function line(table, row, index) {
  const { data } = table, element = document.createElement("tr");
  row.cells.forEach((value, place) => {
    const cell = element.insertCell();
    cell.className = data.columns[place].look;
    cell.append(...content(value, data.palette, place === data.linked ? row.href : null));
    if (typeof value === "string" && value.length > 16 && !cell.className) {
      const name = cell.querySelector("a") ?? part("span", "", "");
      cell.replaceChildren(named(name, value));
    }
    if (typeof value === "string" && value.length > 24) cell.title = value;
  });
  if (!row.href) return element;
  element.className = "opens";
  let pressed = null;
  element.addEventListener("mousedown", (event) => { pressed = [event.clientX, event.clientY]; });
  element.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    // A text that was marked with the mouse is to be copied.
    if (pressed && Math.hypot(event.clientX - pressed[0], event.clientY - pressed[1]) > DRAG) return;
    mark(table, index);
    window.__rollscopeTab.open(row.href);
  });
  return element;
}

// A cell is a text; {letter, text, recorded, unverified} for a verdict; {parts} for a text with its match; {counts} by verdict.
function content(value, palette, href) {
  if (value === null) return [];
  if (typeof value === "string") return [href ? anchor(value, href) : value];
  if (value.parts) {
    const [before, hit, after] = value.parts;
    return [before, part("mark", "", hit), after];
  }
  if (value.counts) return value.counts.flatMap(([letter, count]) => [chip(letter, palette), `${count} `]);
  const letter = chip(value.letter, palette, value.recorded, value.unverified);
  return value.text ? [letter, ` ${value.text}`] : [letter];
}

function anchor(text, href) {
  const element = part("a", "", text);
  element.href = href;
  element.tabIndex = -1;
  return element;
}

function mark(table, index) {
  const rows = table.scroller.querySelectorAll("tbody tr");
  rows[table.cursor]?.removeAttribute("aria-selected");
  table.cursor = index;
  rows[index]?.setAttribute("aria-selected", "true");
  rows[index]?.scrollIntoView({ block: "nearest" });
}

function onKey(table, event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("button")) return;
  const last = table.data.rows.length - 1, from = table.cursor;
  const target = {
    ArrowDown: from + 1, j: from + 1, ArrowUp: from - 1, k: from - 1,
    PageDown: from + PAGE, PageUp: from - PAGE, Home: 0, End: last,
  }[event.key];
  if (event.key === "Enter") {
    const href = table.data.rows[from]?.href;
    if (href) window.__rollscopeTab.open(href);
  } else if (target !== undefined) {
    mark(table, Math.max(0, Math.min(last, target)));
  } else return;
  event.preventDefault();
  event.stopPropagation();
}
