// A grid of one-letter cells. Only the visible part is drawn. The cursor is kept here, so that moving it needs no round
// trip: Python gets a cell to show on a click or when the cursor rests, and one to open on Enter or a second click.

const LINE = 18, BAR = 64, COUNT = 62, GAP = 8, LABEL = 148, REST_MS = 300;
const MONO = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector(".grid");
  const grid = root.__grid ?? (root.__grid = build(root));
  grid.data = data;
  grid.send = (event, { row, column }) => {
    clearTimeout(grid.resting);
    setTriggerValue(event, { row: data.rows[row].id, column });
  };
  measure(grid);
  restore(grid);
  draw(grid);
}

function build(root) {
  const pick = (name) => root.querySelector(name);
  const grid = {
    root, scroller: pick(".scroller"), space: pick(".space"), canvas: pick("canvas"), status: pick(".status"),
    cursor: { row: 0, column: 0 }, selected: null, given: "", hover: null, focused: false, resting: 0,
  };
  grid.scroller.addEventListener("scroll", () => requestAnimationFrame(() => draw(grid)), { passive: true });
  grid.scroller.addEventListener("mousemove", (event) => { grid.hover = at(grid, event); draw(grid); });
  grid.scroller.addEventListener("mouseleave", () => { grid.hover = null; draw(grid); });
  grid.scroller.addEventListener("click", (event) => {
    const cell = at(grid, event);
    if (!cell) return;
    grid.cursor = { row: cell.row, column: Math.max(0, cell.column) };
    if (isSame(cell, grid.selected) || (cell.column < 0 && grid.data.rates)) grid.send("open", cell);
    else select(grid, cell);
  });
  grid.scroller.addEventListener("focus", () => { grid.focused = true; draw(grid); });
  grid.scroller.addEventListener("blur", () => { grid.focused = false; draw(grid); });
  grid.scroller.addEventListener("keydown", (event) => onKey(grid, event));
  new ResizeObserver(() => { measure(grid); draw(grid); }).observe(grid.scroller);
  return grid;
}

const isSame = (one, other) => other !== null && one.row === other.row && one.column === other.column;
const isCell = (grid, row, column) => (grid.data.rows[row].letters[column] ?? " ") !== " ";

function select(grid, cell) {
  grid.selected = cell;
  grid.send("select", cell);
  draw(grid);
}

// The selected cell as Python has it: after a page was opened by its address, the cursor starts there.
function restore(grid) {
  const { selected } = grid.data;
  const given = JSON.stringify([selected, grid.data.rows.map((row) => row.id)]);
  if (given === grid.given) return;
  const isFirst = grid.given === "";
  grid.given = given;
  if (isFirst) takeFocus(grid.scroller);
  const cell = selected && { row: selected[0], column: selected[1] };
  if (cell && isSame(cell, grid.selected)) return;
  grid.selected = cell;
  if (!cell || (!isFirst && grid.focused)) return;
  grid.cursor = { row: cell.row, column: Math.max(0, cell.column) };
  reveal(grid);
}

function measure(grid) {
  const { rows, heads, cell } = grid.data;
  const columns = rows.reduce((most, row) => Math.max(most, row.letters.length), 1);
  const context = grid.canvas.getContext("2d");
  context.font = `12px ${MONO}`;
  const longest = (cut) => rows.reduce((most, row) => Math.max(most, context.measureText(row.label.slice(cut)).width), 40);
  grid.columns = columns;
  grid.cell = cell;
  grid.size = cell - (cell < 10 ? 1 : 2);
  grid.font = Math.max(8, Math.min(16, Math.round(cell * 0.6)));
  grid.head = heads.length ? 2 * LINE : LINE;
  grid.numbers = heads.flatMap((head) => Array.from({ length: head.width }, (_, index) => index));
  grid.starts = heads.map((head, index) => heads.slice(0, index).reduce((sum, each) => sum + each.width, 0));
  const beside = (grid.data.rates ? BAR + COUNT : Math.max(cell, 12) + GAP) + GAP;
  const room = grid.scroller.clientWidth - beside - columns * cell - GAP;
  // Where there is no room for whole names, what all begin with stands once, above them.
  grid.prefix = longest(0) + GAP > Math.max(LABEL, room) ? commonPrefix(rows) : "";
  grid.labelWidth = Math.min(Math.ceil(longest(grid.prefix.length)) + GAP, Math.max(LABEL, room));
  grid.left = grid.labelWidth + beside;
  grid.space.style.width = `${grid.left + columns * cell + 2}px`;
  grid.space.style.height = `${grid.head + rows.length * cell + 2}px`;
  grid.scroller.style.maxHeight = grid.data.height;
  grid.scroller.style.height = `${grid.head + rows.length * cell + 16}px`;
  grid.cursor.row = Math.min(grid.cursor.row, Math.max(0, rows.length - 1));
  const width = grid.scroller.clientWidth, height = grid.scroller.clientHeight, ratio = window.devicePixelRatio || 1;
  grid.canvas.width = width * ratio;
  grid.canvas.height = height * ratio;
  grid.canvas.style.width = `${width}px`;
  grid.canvas.style.height = `${height}px`;
}

function commonPrefix(rows) {
  let end = rows.length > 1 ? rows[0].label.lastIndexOf("/") + 1 : 0;
  while (end && !rows.every((row) => row.label.startsWith(rows[0].label.slice(0, end)))) {
    end = end > 1 ? rows[0].label.lastIndexOf("/", end - 2) + 1 : 0;
  }
  return rows.length ? rows[0].label.slice(0, end) : "";
}

function at(grid, event) {
  const box = grid.canvas.getBoundingClientRect();
  const x = event.clientX - box.left, y = event.clientY - box.top;
  if (y < grid.head) return null;
  const row = Math.floor((y - grid.head + grid.scroller.scrollTop) / grid.cell);
  if (row < 0 || row >= grid.data.rows.length) return null;
  if (x < grid.left) return { row, column: -1 };
  const column = Math.floor((x - grid.left + grid.scroller.scrollLeft) / grid.cell);
  return isCell(grid, row, column) ? { row, column } : null;
}

function onKey(grid, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { rows } = grid.data, cursor = grid.cursor;
  const page = Math.max(1, Math.floor((grid.scroller.clientHeight - grid.head) / grid.cell) - 1);
  const moves = {
    ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], k: [-1, 0], j: [1, 0],
    PageUp: [-page, 0], PageDown: [page, 0], Home: [0, -1e9], End: [0, 1e9],
  };
  if (event.key === "Enter") {
    if (rows.length) grid.send("open", nearest(grid, cursor));
  } else if (moves[event.key]) {
    const [down, right] = moves[event.key];
    cursor.row = clamp(cursor.row + down, rows.length);
    cursor.column = clamp(cursor.column + right, Math.max(1, rows[cursor.row].letters.length));
    if (right && !isCell(grid, cursor.row, cursor.column)) cursor.column = beyond(grid, cursor, Math.sign(right));
    reveal(grid);
    draw(grid);
    clearTimeout(grid.resting);
    grid.resting = setTimeout(() => {
      const cell = nearest(grid, cursor);
      if (!isSame(cell, grid.selected)) select(grid, cell);
    }, REST_MS);
  } else return;
  event.preventDefault();
  event.stopPropagation();
}

// The next cell in a direction; where there is none, the one before the cursor.
function beyond(grid, { row, column }, step) {
  const { length } = grid.data.rows[row].letters;
  for (let next = column + step; next >= 0 && next < length; next += step) if (isCell(grid, row, next)) return next;
  return nearest(grid, { row, column }).column;
}

// The cell at the cursor or before it: rows have gaps where columns are grouped.
function nearest(grid, { row, column }) {
  let found = Math.min(column, grid.data.rows[row].letters.length - 1);
  while (found > 0 && !isCell(grid, row, found)) found--;
  return { row, column: found };
}

const clamp = (value, count) => Math.max(0, Math.min(count - 1, value));

function reveal(grid) {
  const { scroller, cursor, cell } = grid;
  const top = cursor.row * cell, left = cursor.column * cell;
  const high = scroller.clientHeight - grid.head - cell, wide = scroller.clientWidth - grid.left - cell;
  scroller.scrollTop = Math.max(Math.min(scroller.scrollTop, top), top - high);
  scroller.scrollLeft = Math.max(Math.min(scroller.scrollLeft, left), left - wide);
}

function draw(grid) {
  const { data, canvas, scroller, left, cell } = grid;
  const context = canvas.getContext("2d"), ratio = window.devicePixelRatio || 1;
  const style = getComputedStyle(grid.root);
  const colours = {
    text: style.getPropertyValue("--st-text-color") || "#222", page: style.getPropertyValue("--st-background-color") || "#fff",
    line: style.getPropertyValue("--st-border-color") || "#ccc", accent: style.getPropertyValue("--st-primary-color") || "#00f",
  };
  const width = scroller.clientWidth, height = scroller.clientHeight;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = `12px ${MONO}`;
  context.textBaseline = "middle";
  const firstRow = Math.floor(scroller.scrollTop / cell);
  const lastRow = Math.min(data.rows.length - 1, Math.ceil((scroller.scrollTop + height) / cell));
  const firstColumn = Math.floor(scroller.scrollLeft / cell);
  const lastColumn = Math.min(grid.columns - 1, Math.ceil((scroller.scrollLeft + width) / cell));
  context.save();
  context.beginPath();
  context.rect(left - 2, grid.head, width, height);
  context.clip();
  for (let row = firstRow; row <= lastRow; row++)
    for (let column = firstColumn; column <= Math.min(lastColumn, data.rows[row].letters.length - 1); column++)
      if (isCell(grid, row, column)) drawCell(grid, context, colours, row, column);
  context.restore();
  drawLabels(grid, context, colours, firstRow, lastRow);
  drawHead(grid, context, colours, firstColumn, lastColumn, width);
  grid.status.textContent = describe(grid);
}

function drawCell(grid, context, colours, row, column) {
  const { data, scroller, left, cell, size } = grid;
  const line = data.rows[row], letter = line.letters[column], look = data.palette[letter] ?? data.palette["?"];
  const x = left + column * cell - scroller.scrollLeft, y = grid.head + row * cell - scroller.scrollTop;
  const hasLetter = cell >= 9;
  const isOutside = line.mask && line.mask[column] === "0";
  context.globalAlpha = isOutside ? 0.22 : 1;
  if (letter === ".") {
    context.strokeStyle = colours.line;
    context.lineWidth = 1;
    context.strokeRect(x + 0.5, y + 0.5, size - 1, size - 1);
    context.fillStyle = colours.text;
    context.textAlign = "center";
    if (hasLetter) context.fillText(letter, x + size / 2, y + size / 2);
  } else if (data.recorded) {
    outline(context, look, x, y, size);
    context.fillStyle = colours.text;
    context.textAlign = "center";
    context.font = `bold ${grid.font}px ${MONO}`;
    if (hasLetter) context.fillText(letter, x + size / 2, y + size / 2 + 1);
  } else {
    context.fillStyle = look.colour;
    context.fillRect(x, y, size, size);
    if (look.hatched) hatch(context, x, y, size);
    context.globalAlpha = isOutside ? 0.6 : 1;
    context.fillStyle = isOutside ? colours.text : look.ink;
    context.textAlign = "center";
    context.font = `bold ${grid.font}px ${MONO}`;
    if (hasLetter) context.fillText(letter, x + size / 2, y + size / 2 + 1);
  }
  if (!data.recorded && line.corners && line.corners[column] === "1") corner(context, x + size, y, size / 2.4, look.ink);
  context.globalAlpha = 1;
  const cursor = grid.focused && grid.cursor.row === row && grid.cursor.column === column;
  const hover = grid.hover && grid.hover.row === row && grid.hover.column === column;
  const selected = grid.selected && grid.selected.row === row && grid.selected.column === column;
  if (cursor || selected || hover) {
    context.strokeStyle = cursor || selected ? colours.text : colours.accent;
    context.lineWidth = selected ? 3 : 2;
    context.strokeRect(x, y, size, size);
  }
}

// A verdict that the file recorded, which was not graded here. Where there is no room for a letter, it is half as strong.
function outline(context, look, x, y, size) {
  const alpha = context.globalAlpha, width = size < 9 ? 1 : 2;
  context.fillStyle = look.colour;
  context.globalAlpha = alpha * (size < 9 ? 0.5 : 0.12);
  context.fillRect(x, y, size, size);
  context.globalAlpha = alpha;
  context.strokeStyle = look.colour;
  context.lineWidth = width;
  context.strokeRect(x + width / 2, y + width / 2, size - width, size - width);
}

// The mark of a rollout that is not verified: a triangle in the upper right corner, in the letter's ink.
function corner(context, right, top, size, ink) {
  context.fillStyle = ink;
  context.beginPath();
  context.moveTo(right - size, top);
  context.lineTo(right, top);
  context.lineTo(right, top + size);
  context.fill();
}

function hatch(context, x, y, size) {
  context.save();
  context.beginPath();
  context.rect(x, y, size, size);
  context.clip();
  context.strokeStyle = "#0005";
  context.lineWidth = 1.5;
  for (let offset = -size; offset < size; offset += 5) {
    context.beginPath();
    context.moveTo(x + offset, y + size);
    context.lineTo(x + offset + size, y);
    context.stroke();
  }
  context.restore();
}

function drawLabels(grid, context, colours, firstRow, lastRow) {
  const { data, scroller, labelWidth, left, cell } = grid;
  const every = Math.ceil(13 / cell), below = ((every - 1) * cell) / 2; // names are taller than small cells
  context.save();
  context.font = `12px ${MONO}`;
  context.textAlign = "left";
  context.fillStyle = colours.text;
  if (grid.prefix) context.fillText(shortened(context, grid.prefix, left - GAP), 2, grid.head - LINE / 2);
  context.beginPath();
  context.rect(0, grid.head, left - 2, scroller.clientHeight);
  context.clip();
  context.font = `12px ${MONO}`;
  context.textAlign = "left";
  for (let row = firstRow; row <= lastRow; row++) {
    const line = data.rows[row], y = grid.head + row * cell - scroller.scrollTop, middle = y + cell / 2;
    const isNamed = row % every === 0;
    context.fillStyle = grid.hover && grid.hover.row === row && grid.hover.column < 0 ? colours.accent : colours.text;
    if (isNamed) context.fillText(shortened(context, line.label.slice(grid.prefix.length), labelWidth - GAP), 2, middle + below);
    if (data.rates) {
      const high = Math.max(2, Math.min(8, cell - 3));
      context.fillStyle = colours.line;
      context.fillRect(labelWidth, middle - high / 2 - 1, BAR - 10, high);
      context.fillStyle = data.palette.P.colour;
      context.fillRect(labelWidth, middle - high / 2 - 1, (BAR - 10) * line.share, high);
      context.fillStyle = colours.text;
      context.textAlign = "right";
      if (isNamed) context.fillText(line.count, labelWidth + BAR + COUNT - GAP, middle + below);
      context.textAlign = "left";
    } else {
      const look = data.palette[line.verdict] ?? data.palette["?"];
      const wide = Math.max(grid.size, 10);
      context.fillStyle = look.colour;
      context.fillRect(labelWidth, y, wide, grid.size);
      context.fillStyle = look.ink;
      context.textAlign = "center";
      if (isNamed && cell >= 9) context.fillText(line.verdict, labelWidth + wide / 2, middle);
      if (line.corner) corner(context, labelWidth + wide, y, grid.size / 2.4, look.ink);
      if (isSame({ row, column: -1 }, grid.selected)) {
        context.strokeStyle = colours.text;
        context.lineWidth = 3;
        context.strokeRect(labelWidth, y, wide, grid.size);
      }
      context.textAlign = "left";
    }
  }
  context.restore();
}

function drawHead(grid, context, colours, firstColumn, lastColumn, width) {
  const { data, scroller, left, cell, head } = grid;
  context.save();
  context.beginPath();
  context.rect(left - 2, 0, width, scroller.clientHeight);
  context.clip();
  const middle = head - LINE / 2;
  data.heads.forEach(({ label, width: columns }, index) => {
    const x = left + grid.starts[index] * cell - scroller.scrollLeft, room = columns * cell - 6;
    context.fillStyle = colours.line;
    if (index) context.fillRect(x - 1.5, 0, 1, scroller.clientHeight);
    context.fillStyle = colours.text;
    context.font = `12px ${MONO}`;
    context.textAlign = "left";
    context.fillText(shortened(context, label, room), Math.max(x, Math.min(left, x + room - 60)) + 2, LINE / 2);
  });
  context.font = `10px ${MONO}`;
  context.textAlign = "center";
  const room = (String(grid.columns + data.base).length * 6 + 4) / cell;
  const every = [1, 2, 5, 10, 20].find((step) => step >= room) ?? 50;
  for (let column = firstColumn; column <= lastColumn; column++) {
    const x = left + column * cell - scroller.scrollLeft + cell / 2 - 1;
    const isMarked = data.marks && data.marks[column] === "0", number = numberOf(grid, column);
    context.fillStyle = isMarked ? data.palette.W.colour : colours.text;
    if (isMarked) context.fillText("!", x, middle);
    else if (number % every === 0 || number === data.base) context.fillText(number, x, middle);
  }
  context.restore();
}

const numberOf = (grid, column) => (grid.numbers[column] ?? column) + grid.data.base;

function shortened(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  const kept = text.includes(CUT) ? ends(text)[1].length : 0;
  const cut = (left) => {
    const tail = Math.min(kept || Math.floor(left / 2), left - 1);
    return `${text.slice(0, left - tail)}…${text.slice(text.length - tail)}`;
  };
  let left = text.length - 1;
  while (left > 1 && context.measureText(cut(left)).width > width) left -= 1;
  return cut(left);
}

function describe(grid) {
  const cell = grid.hover ?? (grid.focused ? grid.cursor : null), { data } = grid;
  grid.canvas.title = "";
  if (!cell || !data.rows[cell.row]) return data.hint;
  const line = data.rows[cell.row];
  if (cell.column < 0) return `${line.label} · ${data.rowHint}`;
  const letter = line.letters[cell.column];
  const look = data.palette[letter] ?? data.palette["?"], word = letter ? look.word : "nothing";
  const isUnverified = !data.recorded && (line.corners ? line.corners[cell.column] === "1" : line.corner);
  grid.canvas.title = letter ? (isUnverified ? look.unverified : look.about) : "";
  const mark = data.marks && data.marks[cell.column] === "0" ? " · no rollout passes this test case" : "";
  const outside = line.mask && line.mask[cell.column] === "0" ? " · outside the filter" : "";
  const about = line.cells ? line.cells[cell.column] : line.about;
  const said = about ? ` · ${about}` : "";
  return `${line.label} · ${data.noun} ${numberOf(grid, cell.column)} · ${word}${said}${mark}${outside}`;
}
