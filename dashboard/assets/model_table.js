// A row per model. The interval is drawn on an axis from 0 to 1, the verdicts as shares of the model's rollouts.

export default function (component) {
  const { data, parentElement } = component;
  const table = parentElement.querySelector(".models");
  const heads = ["model", "n", "pass@1", "95%", "", "reward", "verdicts"].map((name) => part("span", "head", name));
  table.replaceChildren(...heads, ...data.rows.flatMap((row) => line(row, data.palette)));
}

function line(row, palette) {
  const name = named(cell("name", row, "model", ""), row.model);
  name.title = row.selected ? `${row.model}: show all models` : `${row.model}: show this model alone`;
  if (row.selected) name.classList.add("selected");
  return [name, cell("number", row, "n", row.n), part("span", "number", row.rate), part("span", "range", row.range),
    axis(row), part("span", "number", row.reward), stack(row, palette)];
}

function cell(look, row, name, text) {
  const element = link(look, row.hrefs[name]);
  element.textContent = text;
  return element;
}

function axis(row) {
  const element = part("span", "axis", "");
  if (!row.interval) return element;
  const [low, value, high] = row.interval.map((share) => `${share * 100}%`);
  const whisker = part("span", "whisker", ""), bar = part("span", "bar", ""), dot = part("span", "dot", "");
  bar.style.width = dot.style.left = value;
  whisker.style.left = low;
  whisker.style.right = `calc(100% - ${high})`;
  element.append(bar, whisker, dot);
  return element;
}

function stack(row, palette) {
  const element = part("span", "stack", "");
  for (const each of row.parts) {
    const look = palette[each.letter], piece = link("piece", row.hrefs[each.cell]);
    piece.textContent = each.share >= 0.08 ? each.letter : "";
    piece.title = each.title;
    piece.style.flexGrow = each.share;
    piece.style.background = look.colour;
    piece.style.color = look.ink;
    if (look.hatched) piece.style.backgroundImage = "repeating-linear-gradient(45deg, #0004 0 2px, #0000 2px 5px)";
    element.append(piece);
  }
  return element;
}
