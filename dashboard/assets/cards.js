// Figures in a row. A figure with an address is a link to the rollouts behind it.

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const row = parentElement.querySelector(".cards");
  row.replaceChildren(...data.cards.map((card, index) => figure(card, () => setTriggerValue("pick", index))));
}

function figure(card, pick) {
  const element = document.createElement(card.href ? "a" : "div");
  element.className = "card";
  if (card.href) {
    element.href = card.href;
    element.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
      event.preventDefault();
      pick();
    });
  }
  element.append(part("name", card.name), part("value", card.value), part("note", card.note || "\u00a0"));
  return element;
}

function part(name, text) {
  const element = document.createElement("div");
  element.className = name;
  element.textContent = text;
  return element;
}
