// Shared by the components that draw verdicts as letters; put after links.js, before their own script.

// A letter on its verdict's colour. `recorded`: the verdict that the rollout came with, which is only outlined.
function chip(letter, palette, recorded = false, unverified = false) {
  const look = palette[letter] ?? palette["?"], element = part("span", recorded ? "chip recorded" : "chip", letter);
  element.title = recorded ? `recorded: ${look.about}` : unverified ? look.unverified : look.about;
  if (letter === ".") {
    element.style.boxShadow = "inset 0 0 0 1px var(--st-border-color)";
    return element;
  }
  if (recorded) {
    element.style.outline = `2px ${look.hatched ? "dashed" : "solid"} ${look.colour}`;
    element.style.outlineOffset = "-2px";
    return element;
  }
  element.style.background = look.colour;
  element.style.color = look.ink;
  if (look.hatched) element.style.backgroundImage = "repeating-linear-gradient(45deg, #0004 0 2px, #0000 2px 5px)";
  if (unverified) element.style.backgroundImage = `linear-gradient(225deg, ${look.ink} 0 6px, #0000 6px)`;
  return element;
}
