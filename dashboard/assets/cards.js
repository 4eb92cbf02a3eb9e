// Figures in a row. A figure with an address is a link to its rollouts.

export default function (component) {
  const { data, parentElement } = component;
  const row = parentElement.querySelector(".cards");
  row.replaceChildren(...data.cards.map(figure));
}

function figure(card) {
  const element = link("card", card.href);
  element.append(part("div", "name", card.name), part("div", "value", card.value), part("div", "note", card.note || "\u00a0"));
  return element;
}
