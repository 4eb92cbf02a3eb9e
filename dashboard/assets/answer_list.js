// The answers to one test case: a chip, the answer, how many samples gave it, and a link to each of them.

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const list = parentElement.querySelector(".answers");
  list.style.maxHeight = data.height;
  list.replaceChildren(
    ...data.rows.map((row, index) => answer(row, data.palette, (sample) => setTriggerValue("pick", [index, sample]))),
  );
}

function answer(row, palette, pick) {
  const element = part("div", "row", "");
  const look = palette[row.letter];
  const chip = part("span", "chip", row.letter);
  chip.title = look.word;
  chip.style.background = look.colour;
  chip.style.color = look.ink;
  if (look.hatched) chip.style.backgroundImage = "repeating-linear-gradient(45deg, #0004 0 2px, #0000 2px 5px)";
  const count = link("count", row.samples[0].href, () => pick(0));
  count.textContent = row.count;
  count.title = "the first of them";
  const samples = part("div", "samples", "");
  samples.append(...row.samples.map((sample, index) => one(sample, () => pick(index))));
  if (row.more) samples.append(part("span", "more", row.more));
  element.append(chip, part("span", row.words ? "text words" : "text", row.text), count, samples);
  return element;
}

function one(sample, pick) {
  const element = link("sample", sample.href, pick);
  element.textContent = sample.label;
  element.title = sample.title;
  return element;
}
