// Counts by two verdicts: a row for each recorded one, a column for each of ours. A count is a link to its rollouts.

export default function (component) {
  const { data, parentElement } = component;
  const table = document.createElement("table");
  const head = table.createTHead().insertRow();
  head.append(part("th", "", data.corner), ...data.head.map((letter) => holding(chip(letter, data.palette))), part("th", "", "all"));
  const body = table.createTBody();
  for (const row of data.rows) {
    const line = body.insertRow();
    const name = part("td", "label", "");
    name.title = row.note;
    name.append(chip(row.letter, data.palette, true), ` ${row.label}`, part("span", "note", row.note));
    line.append(name);
    for (const cell of row.cells) {
      const element = part("td", cell.href ? "" : "none", "");
      const number = link("number", cell.href);
      number.textContent = cell.text;
      element.append(number);
      line.append(element);
    }
  }
  parentElement.querySelector(".counts").replaceChildren(table);
}

function holding(child) {
  const element = part("th", "", "");
  element.append(child);
  return element;
}
