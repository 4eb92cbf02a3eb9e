// Shared by the components that draw links; put before their own script. Text is set as text. A plain click opens the
// address with one history entry, without asking Python: Streamlit forgets what a component sends while a page changes.

function link(className, href) {
  const element = document.createElement(href ? "a" : "div");
  element.className = className;
  if (!href) return element;
  element.href = href;
  element.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    window.__rollscopeTab.open(href);
  });
  return element;
}

function part(tag, name, text) {
  const element = document.createElement(tag);
  element.className = name;
  element.textContent = text;
  return element;
}

// A name of which both ends stay where it does not fit: they tell it apart. One that was cut in the middle is cut there.
const TAIL = 10, CUT = " … ";
function named(element, text) {
  element.classList.add("cut");
  const [head, tail] = ends(text);
  element.replaceChildren(part("span", "", head), part("span", "", tail));
  return element;
}

function ends(text) {
  const cut = text.lastIndexOf(CUT);
  const tail = cut > 0 ? text.length - cut - CUT.length + 1 : text.length > TAIL + 3 ? TAIL : text.length;
  return [text.slice(0, -tail), text.slice(-tail)];
}

// A list of rows has the focus on arrival, unless the visitor is in a field or a dialog.
function takeFocus(element) {
  if (document.activeElement === document.body || document.activeElement?.matches("a, button, .st-key-nav *")) element.focus({ preventScroll: true });
}
