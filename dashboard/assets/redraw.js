// Asks for the page to be drawn again when it shows what has changed since, but not while that would take something out of
// the visitor's hands: a dialog or a list that is open, or a text that is half typed.

const LOOK_MS = 150, LOST_MS = 4000;
const OPEN = "[role=dialog], [role=listbox], [data-testid=stPopoverBody], [data-testid=stDialog]";

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const host = parentElement.host ?? parentElement;
  host.__send = (due) => setTriggerValue("free", due);
  host.__due = data.due;
  const typing = (window.__rollscopeTyping ??= listen());
  if (!host.__looking) host.__looking = setInterval(() => look(host, typing), LOOK_MS);
  look(host, typing);
  return () => { clearInterval(host.__looking); host.__looking = 0; };
}

function look(host, typing) {
  if (!host.__due || document.querySelector(OPEN) || typing.field?.isConnected) return;
  // An order may be lost where the script is busy with another one.
  if (host.__sent === host.__due && performance.now() - host.__at < LOST_MS) return;
  host.__sent = host.__due;
  host.__at = performance.now();
  host.__send(host.__due);
}

// The field with a text that was typed and not taken over yet.
function listen() {
  const typing = { field: null };
  const on = (name, act) => document.addEventListener(name, act, true);
  on("input", (event) => {
    const field = event.composedPath()[0];
    if (field.matches?.("textarea, input:not([type=checkbox], [type=radio], [type=range])")) typing.field = field;
  });
  on("focusout", () => { typing.field = null; });
  on("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey || !typing.field?.matches("textarea"))) typing.field = null;
  });
  return typing;
}
