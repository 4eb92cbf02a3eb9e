// A list of rows of which one is selected. A click or Enter goes to Python; arrows move. Text is set as text.

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const list = parentElement.querySelector(".list");
  const hadFocus = list.contains(parentElement.activeElement ?? document.activeElement);
  list.style.maxHeight = data.height;
  list.setAttribute("aria-label", data.label);
  const table = document.createElement("table");
  table.setAttribute("role", "grid");
  const body = document.createElement("tbody");
  body.append(...data.rows.map(({ cells }, index) => row(cells, index, data, () => setTriggerValue("pick", index))));
  table.append(widths(data.columns), head(data.columns), body);
  list.replaceChildren(table);
  const current = body.querySelector("[aria-selected=true]");
  if (current && list.dataset.shown !== data.shown) {
    list.scrollTop = Math.max(0, current.offsetTop - list.clientHeight / 2);
    list.dataset.shown = data.shown;
  }
  if (hadFocus && current) current.focus({ preventScroll: true });
  list.onkeydown = (event) => {
    const down = { ArrowDown: true, ArrowUp: false }[event.key];
    const from = event.target.closest("tbody tr");
    if (down === undefined || !from) return;
    const next = down ? from.nextElementSibling : from.previousElementSibling;
    if (next) next.focus();
    event.preventDefault();
  };
}

function widths(columns) {
  const group = document.createElement("colgroup");
  for (const column of columns) {
    const element = document.createElement("col");
    if (column.width) element.style.width = column.width;
    group.append(element);
  }
  return group;
}

function head(columns) {
  const line = document.createElement("tr");
  for (const column of columns) {
    const cell = document.createElement("th");
    cell.textContent = column.name;
    cell.title = column.help;
    if (column.look === "number") cell.style.textAlign = "right";
    line.append(cell);
  }
  const element = document.createElement("thead");
  element.append(line);
  return element;
}

function row(cells, index, data, pick) {
  const line = document.createElement("tr");
  line.tabIndex = 0;
  line.setAttribute("aria-selected", String(index === data.selected));
  cells.forEach((text, place) => {
    const cell = document.createElement("td");
    cell.className = data.columns[place].look;
    cell.textContent = text;
    cell.title = text;
    line.append(cell);
  });
  line.addEventListener("click", pick);
  line.addEventListener("keydown", (event) => {
    if (event.key === "Enter") pick();
  });
  return line;
}
