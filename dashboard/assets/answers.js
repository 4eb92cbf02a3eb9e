// The answers to one test case, each with the samples that gave it. Of many samples, a click shows the rest.

const SHOWN = 8;

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const box = parentElement.querySelector(".answers");
  box.replaceChildren(...data.rows.map((row, index) => line(row, data.palette, (place) => setTriggerValue("pick", [index, place]))));
}

function line(row, palette, pick) {
  const element = part("div", row.here ? "row here" : "row", "");
  element.setAttribute("role", "listitem");
  const look = palette[row.letter];
  const chip = part("span", "chip", row.letter);
  if (look && row.letter !== ".") {
    chip.title = look.word;
    chip.style.background = look.colour;
    chip.style.color = look.ink;
  }
  if (look?.hatched) chip.style.backgroundImage = "repeating-linear-gradient(45deg, #0004 0 2px, #0000 2px 5px)";
  const answer = part("span", "answer", row.answer.trim() || "nothing");
  answer.title = row.answer;
  const marks = [row.mark, row.here ? "this one" : ""].filter(Boolean).join(" · ");
  const samples = part("div", "samples", "");
  const all = (row.samples ?? []).map((sample, place) => {
    const made = link("sample", sample.href, () => pick(place));
    made.textContent = sample.name;
    if (sample.here) made.setAttribute("aria-current", "true");
    return made;
  });
  samples.append(...all.slice(0, SHOWN));
  const left = row.times - Math.min(SHOWN, all.length);
  if (left > 0) {
    const more = part("button", "more", `${left.toLocaleString("en")} more`);
    more.type = "button";
    more.onclick = () => {
      more.replaceWith(...all.slice(SHOWN), ...(row.times > all.length ? [part("span", "rest", `and ${(row.times - all.length).toLocaleString("en")} more`)] : []));
    };
    samples.append(more);
  }
  element.append(chip, answer, part("span", "count", `× ${row.times.toLocaleString("en")}`), part("span", "marks", marks), samples);
  return element;
}
