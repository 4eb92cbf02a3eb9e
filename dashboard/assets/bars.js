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
  if (look) link.append(chip(row.letter, look));
  link.append(part("label", row.label));
  if (data.bars) link.append(track(row.share, look));
  link.append(part("count", row.count));
  if (row.note) link.append(part("note", row.note));
  return link;
}

function chip(letter, look) {
  const element = painted(part("chip", letter), look);
  element.style.color = look.ink;
  return element;
}

function track(share, look) {
  const fill = painted(part("fill", ""), look);
  fill.style.width = `${Math.max(share * 100, 0.6)}%`;
  const element = part("track", "");
  element.append(fill);
  return element;
}

function painted(element, look) {
  element.style.background = look.colour;
  if (look.hatched) element.style.backgroundImage = "repeating-linear-gradient(45deg, #0004 0 2px, #0000 2px 5px)";
  return element;
}

function part(name, text) {
  const element = document.createElement("span");
  element.className = name;
  element.textContent = text;
  return element;
}
