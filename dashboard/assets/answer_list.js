// The answers to one test case: a chip, the answer, how many samples gave it, and a link to each of them. Of many
// samples the first few are shown; a click shows the rest.

const SHOWN = 24;

export default function (component) {
  const { data, parentElement } = component;
  const list = parentElement.querySelector(".answers");
  list.style.maxHeight = data.height;
  list.replaceChildren(...data.rows.map((row) => answer(row, data.palette)));
}

function answer(row, palette) {
  const element = part("div", row.here ? "row here" : "row", "");
  element.setAttribute("role", "listitem");
  const text = part("span", row.words ? "text words" : "text", row.text);
  text.title = row.text;
  element.append(chip(row.letter, palette[row.letter]), text, counts(row), samples(row));
  return element;
}

function chip(letter, look) {
  const element = part("span", "chip", letter);
  if (!look) return element;
  element.title = look.about;
  element.style.background = look.colour;
  element.style.color = look.ink;
  if (look.hatched) element.style.backgroundImage = "repeating-linear-gradient(45deg, #0004 0 2px, #0000 2px 5px)";
  return element;
}

function counts(row) {
  const element = part("div", "counts", "");
  if (row.mark) element.append(part("span", "mark", row.mark));
  const count = link("count", row.samples.length ? row.samples[0].href : "");
  count.textContent = row.count;
  if (row.samples.length) count.title = "the first of them";
  element.append(count);
  return element;
}

function samples(row) {
  const element = part("div", "samples", "");
  const all = row.samples.map(one);
  const rest = all.slice(SHOWN);
  if (row.unlisted) rest.push(part("span", "unlisted", row.unlisted));
  element.append(...all.slice(0, SHOWN));
  if (rest.length) element.append(folded(rest, row.rollouts - SHOWN));
  return element;
}

function folded(rest, samples) {
  const more = part("button", "more", `${samples.toLocaleString("en")} more`);
  more.type = "button";
  more.onclick = () => more.replaceWith(...rest);
  return more;
}

function one(sample) {
  const element = link("sample", sample.href);
  element.textContent = sample.label;
  element.title = sample.title;
  if (sample.here) element.setAttribute("aria-current", "true");
  return element;
}
