// Figures in a row. A figure with an address is a link to its rollouts.

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const row = parentElement.querySelector(".cards");
  row.replaceChildren(...data.cards.map((card, index) => figure(card, () => setTriggerValue("pick", index))));
}

function figure(card, pick) {
  const element = link("card", card.href, pick);
  element.append(part("div", "name", card.name), part("div", "value", card.value), part("div", "note", card.note || "\u00a0"));
  return element;
}
