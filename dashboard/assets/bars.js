// Rows of a chip, a label, a bar and a count; a row with an address is a link to its rollouts.

export default function (component) {
  const { data, parentElement } = component;
  const list = parentElement.querySelector(".bars");
  list.replaceChildren(...data.rows.map((row) => line(row, data)));
}

function line(row, data) {
  const element = link("row", row.href);
  element.title = row.about || row.label;
  const look = data.palette[row.letter];
  if (look) element.append(chip(row.letter, data.palette, data.recorded));
  element.append(part("span", "label", row.label));
  if (data.bars) element.append(track(row.share, look));
  element.append(part("span", "count", row.count));
  if (row.note) element.append(part("span", "note", row.note));
  return element;
}

function track(share, look) {
  const fill = painted(part("span", "fill", ""), look);
  fill.style.width = `${Math.max(share * 100, 0.6)}%`;
  const element = part("span", "track", "");
  element.append(fill);
  return element;
}

function painted(element, look) {
  element.style.background = look.colour;
  if (look.hatched) element.style.backgroundImage = "repeating-linear-gradient(45deg, #0004 0 2px, #0000 2px 5px)";
  return element;
}
