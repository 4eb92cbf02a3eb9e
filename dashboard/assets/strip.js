// A row of letters, one per test case. A click or Enter goes to Python; arrows move inside the row.

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const strip = parentElement.querySelector(".strip");
  const hadFocus = strip.contains(parentElement.activeElement ?? document.activeElement);
  strip.replaceChildren(...data.cases.map((item) => cell(item, data, () => setTriggerValue("pick", item.index))));
  const current = strip.querySelector("[aria-current]");
  if (current) {
    strip.scrollTop = Math.max(0, current.offsetTop - strip.offsetTop - 30);
    if (hadFocus) current.focus({ preventScroll: true });
  }
  strip.onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step || !event.target.matches("button")) return;
    const next = step > 0 ? event.target.nextElementSibling : event.target.previousElementSibling;
    if (next) next.focus();
    event.preventDefault();
  };
}

function cell(item, data, pick) {
  const button = document.createElement("button");
  const look = data.palette[item.letter] ?? data.palette["?"];
  button.type = "button";
  button.textContent = item.letter;
  button.title = `test ${item.index} · ${look.about}`;
  button.setAttribute("aria-label", button.title);
  if (item.index === data.current) button.setAttribute("aria-current", "true");
  if (item.letter !== ".") {
    button.style.background = look.colour;
    button.style.color = look.ink;
  }
  if (look.hatched) button.style.backgroundImage = "repeating-linear-gradient(45deg, #0004 0 2px, #0000 2px 5px)";
  button.addEventListener("click", pick);
  return button;
}
