// Rows of a chip, a label, a bar and a count. Text is set as text; a click is told to Python, and the
// address on each row serves "open in a new tab".

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const list = parentElement.querySelector(".bars");
  list.replaceChildren(...data.rows.map((row, index) => line(row, data, () => setTriggerValue("pick", index))));
}

function line(row, data, pick) {
  const link = document.createElement(row.href ? "a" : "div");
  link.className = "row";
  link.title = row.label;
  if (row.href) link.href = row.href;
  if (row.href) link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    pick();
  });
  const look = data.palette[row.letter];
  const chip = part("chip", row.letter);
  chip.style.background = look.colour;
  chip.style.color = look.ink;
  if (look.hatched) chip.style.backgroundImage = "repeating-linear-gradient(45deg, #0004 0 2px, #0000 2px 5px)";
  const track = part("track", "");
  const fill = part("fill", "");
  fill.style.width = `${Math.max(row.share * 100, 0.6)}%`;
  fill.style.background = look.colour;
  if (look.hatched) fill.style.backgroundImage = "repeating-linear-gradient(45deg, #0004 0 2px, #0000 2px 5px)";
  track.append(fill);
  link.append(chip, part("label", row.label), ...(data.bars ? [track] : []), part("count", row.count));
  if (row.note) link.append(part("note", row.note));
  return link;
}

function part(name, text) {
  const element = document.createElement("span");
  element.className = name;
  element.textContent = text;
  return element;
}
