// Shared by the components that draw links; put before their own script. Text is set as text. A plain click goes to
// Python; the address is for "open in a new tab".

function link(className, href, pick) {
  const element = document.createElement(href ? "a" : "div");
  element.className = className;
  if (!href) return element;
  element.href = href;
  element.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    pick();
  });
  return element;
}

function part(tag, name, text) {
  const element = document.createElement(tag);
  element.className = name;
  element.textContent = text;
  return element;
}
