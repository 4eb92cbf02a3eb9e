// Figures in a row. A figure with an address is a link to its rollouts; "?" opens the documentation beside the page.

export default function (component) {
  const { data, parentElement } = component;
  const row = parentElement.querySelector(".cards");
  row.replaceChildren(...data.cards.map(figure));
}

function figure(card) {
  const element = link("card", card.href), name = part("div", "name", card.name);
  element.title = card.about;
  element.append(name, part("div", "value", card.value), part("div", "note", card.note || "\u00a0"));
  if (!card.doc) return element;
  const box = part("div", "with", ""), more = part("a", "more", "?");
  Object.assign(more, { href: card.doc, target: "_blank", title: `${card.about} Click for more.` });
  more.setAttribute("aria-label", `what ${card.name} means`);
  box.append(element, more);
  return box;
}
