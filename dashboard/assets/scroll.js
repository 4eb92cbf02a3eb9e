// Scrolls a line to the middle of the code view: once when the page shows another line, and on a click on a link to
// a line, or to a turn. Only the box scrolls, never the page. A plain click on the title's task goes to Python.

const WAIT_MS = 60_000;

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const host = parentElement.host ?? parentElement;
  if (host.__shown !== data.key) {
    host.__shown = data.key;
    let isTouched = false;  // who scrolls the code by hand is not moved
    const touch = () => { isTouched = true; };
    for (const kind of ["wheel", "pointerdown", "keydown"])
      document.addEventListener(kind, touch, { capture: true, once: true });
    keepInSight(data.anchor, () => host.__shown === data.key && !isTouched, performance.now() + WAIT_MS);
  }
  const onClick = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    const link = event.target.closest?.(".rs-task, :is(.rs-frames, .rs-flags, .rs-jump) a[href^='#']");
    if (!link) return;
    event.preventDefault();
    if (link.matches(".rs-task")) setTriggerValue("task", true);
    else centre(link.getAttribute("href").slice(1));
  };
  document.addEventListener("click", onClick, true);
  return () => document.removeEventListener("click", onClick, true);
}

// The code may be drawn a while after this, on a busy machine or with a slow connection; at first without a height, and
// then once more: a box that is drawn anew is at its top again.
function keepInSight(anchor, isWanted, deadline, centred = null) {
  if (!anchor || !isWanted() || performance.now() > deadline) return;
  const line = document.getElementById(anchor);
  const next = line && line !== centred && centre(anchor) ? line : centred;
  setTimeout(() => keepInSight(anchor, isWanted, deadline, next), 50);
}

// Whether the line is in sight now.
function centre(anchor) {
  const line = document.getElementById(anchor), box = line?.closest(".rs-code, .rs-transcript");
  if (!box) return false;
  const offset = line.getBoundingClientRect().top - box.getBoundingClientRect().top;
  const middle = box.matches(".rs-code") ? box.clientHeight / 2 - line.clientHeight / 2 : 0;  // a turn goes to the top
  box.scrollTop += offset - middle;
  const shown = line.getBoundingClientRect(), frame = box.getBoundingClientRect();
  return frame.height > 0 && frame.height < window.innerHeight && shown.top >= frame.top && shown.bottom <= frame.bottom;
}
