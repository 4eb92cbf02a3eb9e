// Rows of a label, cells of letters and a note. A row is a link.

export default function (component) {
  const { data, parentElement } = component;
  const table = parentElement.querySelector(".letters");
  const top = table.scrollTop, columns = data.head.length - 2;
  const middle = columns ? `repeat(${columns}, auto)` : "";
  table.style.gridTemplateColumns = `minmax(8.6em, 1fr) ${middle} ${data.wide ? "minmax(5em, 1fr)" : "max-content"}`;
  table.style.maxHeight = `max(300px, calc(100vh - ${data.room}px))`;
  const head = part("div", "row head", "");
  head.append(...data.head.map((name) => part("span", "name", name)));
  table.replaceChildren(head, ...data.rows.map((row) => line(row, data)));
  table.scrollTop = top;
  const selected = table.querySelector("[aria-current]");
  if (selected) reveal(table, selected, head.offsetHeight);
}

function line(row, data) {
  const element = link("row", row.href);
  element.title = row.label;
  if (row.selected) element.setAttribute("aria-current", "true");
  const note = part("span", "note", row.note);
  note.title = row.note;
  element.append(named(part("span", "label", ""), row.label), ...row.cells.map((letters, column) => cells(letters, data, data.recorded[column])), note);
  return element;
}

function cells(letters, data, recorded) {
  const element = part("span", "cells", letters.length ? "" : "–");
  for (const [letter, number] of letters) {
    element.append(chip(letter, data.palette, recorded));
    if (number) element.append(part("span", "number", number));
  }
  return element;
}

function reveal(table, row, head) {
  const above = row.offsetTop - head, below = row.offsetTop + row.offsetHeight - table.clientHeight;
  if (table.scrollTop > above) table.scrollTop = above;
  else if (table.scrollTop < below) table.scrollTop = below;
}
