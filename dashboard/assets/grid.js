// A grid of one-letter cells. Only the visible part is drawn. The cursor is kept here, so that moving it needs no round
// trip: Python gets a cell on a click or Enter.

const CELL = 20, HEAD = 18, BAR = 64, COUNT = 62, GAP = 8, CORNER = 6;

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector(".grid");
  const grid = root.__grid ?? (root.__grid = build(root));
  grid.data = data;
  grid.send = (row, column) => setTriggerValue("open", { row: data.rows[row].id, column });
  measure(grid);
  draw(grid);
}

function build(root) {
  const pick = (name) => root.querySelector(name);
  const grid = {
    root, scroller: pick(".scroller"), space: pick(".space"), canvas: pick("canvas"), status: pick(".status"),
    cursor: { row: 0, column: 0 }, hover: null, focused: false,
  };
  grid.scroller.addEventListener("scroll", () => requestAnimationFrame(() => draw(grid)), { passive: true });
  grid.scroller.addEventListener("mousemove", (event) => { grid.hover = at(grid, event); draw(grid); });
  grid.scroller.addEventListener("mouseleave", () => { grid.hover = null; draw(grid); });
  grid.scroller.addEventListener("click", (event) => {
    const cell = at(grid, event);
    if (cell) { grid.cursor = { row: cell.row, column: Math.max(0, cell.column) }; grid.send(cell.row, cell.column); }
  });
  grid.scroller.addEventListener("focus", () => { grid.focused = true; draw(grid); });
  grid.scroller.addEventListener("blur", () => { grid.focused = false; draw(grid); });
  grid.scroller.addEventListener("keydown", (event) => onKey(grid, event));
  new ResizeObserver(() => { measure(grid); draw(grid); }).observe(grid.scroller);
  return grid;
}

function measure(grid) {
  const { rows } = grid.data;
  const columns = rows.reduce((most, row) => Math.max(most, row.letters.length), 1);
  const context = grid.canvas.getContext("2d");
  context.font = "12px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";
  const longest = rows.reduce((most, row) => Math.max(most, context.measureText(row.label).width), 40);
  grid.columns = columns;
  grid.labelWidth = Math.min(Math.ceil(longest) + GAP, Math.max(230, Math.floor(grid.scroller.clientWidth / 3)));
  grid.left = grid.labelWidth + (grid.data.rates ? BAR + COUNT : 28) + GAP;
  grid.space.style.width = `${grid.left + columns * CELL + 2}px`;
  grid.space.style.height = `${HEAD + rows.length * CELL + 2}px`;
  grid.scroller.style.height = `${Math.min(grid.data.height, HEAD + rows.length * CELL + 16)}px`;
  grid.cursor.row = Math.min(grid.cursor.row, Math.max(0, rows.length - 1));
  const width = grid.scroller.clientWidth, height = grid.scroller.clientHeight, ratio = window.devicePixelRatio || 1;
  grid.canvas.width = width * ratio;
  grid.canvas.height = height * ratio;
  grid.canvas.style.width = `${width}px`;
  grid.canvas.style.height = `${height}px`;
}

function at(grid, event) {
  const box = grid.canvas.getBoundingClientRect();
  const x = event.clientX - box.left, y = event.clientY - box.top;
  if (y < HEAD) return null;
  const row = Math.floor((y - HEAD + grid.scroller.scrollTop) / CELL);
  if (row < 0 || row >= grid.data.rows.length) return null;
  if (x < grid.left) return { row, column: -1 };
  const column = Math.floor((x - grid.left + grid.scroller.scrollLeft) / CELL);
  return column < grid.data.rows[row].letters.length ? { row, column } : null;
}

function onKey(grid, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { rows } = grid.data, cursor = grid.cursor;
  const page = Math.max(1, Math.floor((grid.scroller.clientHeight - HEAD) / CELL) - 1);
  const moves = {
    ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], k: [-1, 0], j: [1, 0],
    PageUp: [-page, 0], PageDown: [page, 0], Home: [0, -1e9], End: [0, 1e9],
  };
  if (event.key === "Enter") {
    if (rows.length) grid.send(cursor.row, Math.min(cursor.column, rows[cursor.row].letters.length - 1));
  } else if (moves[event.key]) {
    const [down, right] = moves[event.key];
    cursor.row = clamp(cursor.row + down, rows.length);
    cursor.column = clamp(cursor.column + right, Math.max(1, rows[cursor.row].letters.length));
    reveal(grid);
    draw(grid);
  } else return;
  event.preventDefault();
  event.stopPropagation();
}

const clamp = (value, count) => Math.max(0, Math.min(count - 1, value));

function reveal(grid) {
  const { scroller, cursor } = grid;
  const top = cursor.row * CELL, left = cursor.column * CELL;
  const high = scroller.clientHeight - HEAD - CELL, wide = scroller.clientWidth - grid.left - CELL;
  scroller.scrollTop = Math.max(Math.min(scroller.scrollTop, top), top - high);
  scroller.scrollLeft = Math.max(Math.min(scroller.scrollLeft, left), left - wide);
}

function draw(grid) {
  const { data, canvas, scroller, left } = grid;
  const context = canvas.getContext("2d"), ratio = window.devicePixelRatio || 1;
  const style = getComputedStyle(grid.root);
  const colours = {
    text: style.getPropertyValue("--st-text-color") || "#222", page: style.getPropertyValue("--st-background-color") || "#fff",
    line: style.getPropertyValue("--st-border-color") || "#ccc", accent: style.getPropertyValue("--st-primary-color") || "#00f",
  };
  const width = scroller.clientWidth, height = scroller.clientHeight;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = "12px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";
  context.textBaseline = "middle";
  const firstRow = Math.floor(scroller.scrollTop / CELL);
  const lastRow = Math.min(data.rows.length - 1, Math.ceil((scroller.scrollTop + height) / CELL));
  const firstColumn = Math.floor(scroller.scrollLeft / CELL);
  const lastColumn = Math.min(grid.columns - 1, Math.ceil((scroller.scrollLeft + width) / CELL));
  context.save();
  context.beginPath();
  context.rect(left - 2, HEAD, width, height);
  context.clip();
  for (let row = firstRow; row <= lastRow; row++)
    for (let column = firstColumn; column <= Math.min(lastColumn, data.rows[row].letters.length - 1); column++)
      drawCell(grid, context, colours, row, column);
  context.restore();
  drawLabels(grid, context, colours, firstRow, lastRow);
  drawHead(grid, context, colours, firstColumn, lastColumn, width);
  grid.status.textContent = describe(grid);
}

function drawCell(grid, context, colours, row, column) {
  const { data, scroller, left } = grid;
  const line = data.rows[row], letter = line.letters[column], look = data.palette[letter] ?? data.palette["?"];
  const x = left + column * CELL - scroller.scrollLeft, y = HEAD + row * CELL - scroller.scrollTop, size = CELL - 2;
  context.globalAlpha = line.mask && line.mask[column] === "0" ? 0.22 : 1;
  if (letter === ".") {
    context.strokeStyle = colours.line;
    context.lineWidth = 1;
    context.strokeRect(x + 0.5, y + 0.5, size - 1, size - 1);
    context.fillStyle = colours.text;
    context.textAlign = "center";
    context.fillText(letter, x + size / 2, y + size / 2);
  } else {
    context.fillStyle = look.colour;
    context.fillRect(x, y, size, size);
    if (look.hatched) hatch(context, x, y, size);
    context.fillStyle = look.ink;
    context.textAlign = "center";
    context.font = "bold 12px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";
    context.fillText(letter, x + size / 2, y + size / 2 + 1);
  }
  if (line.corners && line.corners[column] === "1") corner(context, x + size, y, look.ink);
  context.globalAlpha = 1;
  const cursor = grid.focused && grid.cursor.row === row && grid.cursor.column === column;
  const hover = grid.hover && grid.hover.row === row && grid.hover.column === column;
  if (cursor || hover) {
    context.strokeStyle = cursor ? colours.text : colours.accent;
    context.lineWidth = 2;
    context.strokeRect(x, y, size, size);
  }
}

// The mark of a rollout that is not verified: a triangle in the upper right corner, in the letter's ink.
function corner(context, right, top, ink) {
  context.fillStyle = ink;
  context.beginPath();
  context.moveTo(right - CORNER, top);
  context.lineTo(right, top);
  context.lineTo(right, top + CORNER);
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
  const { data, scroller, labelWidth, left } = grid;
  context.save();
  context.beginPath();
  context.rect(0, HEAD, left - 2, scroller.clientHeight);
  context.clip();
  context.font = "12px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";
  context.textAlign = "left";
  for (let row = firstRow; row <= lastRow; row++) {
    const line = data.rows[row], y = HEAD + row * CELL - scroller.scrollTop, middle = y + CELL / 2;
    context.fillStyle = grid.hover && grid.hover.row === row && grid.hover.column < 0 ? colours.accent : colours.text;
    context.fillText(shortened(context, line.label, labelWidth - GAP), 2, middle);
    if (data.rates) {
      const share = line.graded ? line.passed / line.graded : 0;
      context.fillStyle = colours.line;
      context.fillRect(labelWidth, y + 5, BAR - 10, CELL - 12);
      context.fillStyle = data.palette.P.colour;
      context.fillRect(labelWidth, y + 5, (BAR - 10) * share, CELL - 12);
      context.fillStyle = colours.text;
      context.textAlign = "right";
      context.fillText(`${line.passed}/${line.graded}`, labelWidth + BAR + COUNT - GAP, middle);
      context.textAlign = "left";
    } else {
      const look = data.palette[line.verdict] ?? data.palette["?"];
      context.fillStyle = look.colour;
      context.fillRect(labelWidth, y, CELL - 2, CELL - 2);
      context.fillStyle = look.ink;
      context.textAlign = "center";
      context.fillText(line.verdict, labelWidth + CELL / 2 - 1, middle);
      if (line.corner) corner(context, labelWidth + CELL - 2, y, look.ink);
      context.textAlign = "left";
    }
  }
  context.restore();
}

function drawHead(grid, context, colours, firstColumn, lastColumn, width) {
  const { data, scroller, left } = grid;
  context.save();
  context.beginPath();
  context.rect(left - 2, 0, width, HEAD);
  context.clip();
  context.font = "10px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";
  context.textAlign = "center";
  for (let column = firstColumn; column <= lastColumn; column++) {
    const mark = data.marks ? data.marks[column] : "";
    context.fillStyle = mark === "0" ? data.palette.W.colour : colours.text;
    const number = String(column + data.base);
    const every = number.length > 2 ? 5 : 1;
    if (mark === "0") context.fillText("!", left + column * CELL - scroller.scrollLeft + CELL / 2 - 1, HEAD / 2);
    else if ((column + data.base) % every === 0 || column === 0)
      context.fillText(number, left + column * CELL - scroller.scrollLeft + CELL / 2 - 1, HEAD / 2);
  }
  context.restore();
}

function shortened(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let cut = text;
  while (cut.length > 1 && context.measureText(`…${cut}`).width > width) cut = cut.slice(1);
  return `…${cut}`;
}

function describe(grid) {
  const cell = grid.hover ?? (grid.focused ? grid.cursor : null), { data } = grid;
  if (!cell || !data.rows[cell.row]) return data.hint;
  const line = data.rows[cell.row];
  if (cell.column < 0) return `${line.label} · ${data.rowHint}`;
  const letter = line.letters[cell.column];
  const word = letter ? (data.palette[letter] ?? data.palette["?"]).word : "nothing";
  const mark = data.marks && data.marks[cell.column] === "0" ? " · no rollout passes this test case" : "";
  const outside = line.mask && line.mask[cell.column] === "0" ? " · outside the filter" : "";
  const about = line.cells ? line.cells[cell.column] : line.about;
  const said = about ? ` · ${about}` : "";
  return `${line.label} · ${data.noun} ${cell.column + data.base} · ${word}${said}${mark}${outside}`;
}
