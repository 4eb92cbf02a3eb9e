// Opens an address like a link inside the page: with one entry in the browser's history, or none when the current one
// is replaced. Streamlit notices it as it notices the back button.

export default function (component) {
  const { data } = component;
  const tab = (window.__rollscopeTab ??= start({ went: {}, wanted: null, drawn: null, open: openLink }));
  tab.drawn = data.page;
  // The order stays until the next one, as an interrupted script may not send it: it is carried out once per tab.
  if (data.address && tab.went[data.key] !== data.number) {
    tab.went[data.key] = data.number;
    open(tab, new URL(data.address, window.location.href), data.replace);
  }
  // For a link to the current page, Streamlit draws the target but does not change the address.
  const onClick = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    const link = event.target.closest?.("a[data-testid='stPageLink-NavLink']");
    if (!link) return;
    // The Overview's link has only a query, which the browser would apply to the current page.
    const given = link.getAttribute("href") ?? "";
    const target = new URL(given === "" || given.startsWith("?") ? `./${given}` : given, window.location.href);
    tab.wanted = target.pathname;
    if (target.pathname !== window.location.pathname) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (target.href !== window.location.href) open(tab, target, false);
  };
  document.addEventListener("click", onClick, true);
  return () => document.removeEventListener("click", onClick, true);
}

// A link of ours was clicked: see links.js.
function openLink(address) {
  open(this, new URL(address, window.location.href), false);
}

function open(tab, address, replace) {
  // The visitor may have left the page that completes its own address.
  if (replace && address.pathname !== window.location.pathname) return;
  tab.wanted = address.pathname;
  if (replace) window.history.replaceState({}, "", address);
  else window.history.pushState({}, "", address);
  window.dispatchEvent(new PopStateEvent("popstate", { state: {} }));
}

function start(tab) {
  listenForCode();
  listenForCopies();
  keepHistory(tab);
  holdIntervals(tab);
  window.addEventListener("popstate", () => { tab.wanted = window.location.pathname; });
  return tab;
}

// A page that is left may still be sent when Streamlit has stopped its timers, and so begin new ones. Such a timer asks
// for a part of the old page; the server draws that after the new page, and the tab stays white. So nothing that repeats
// runs between two pages.
function holdIntervals(tab) {
  const begin = window.setInterval;
  const isLeaving = () => tab.wanted !== null && (tab.wanted.split("/").pop() || "overview") !== tab.drawn;
  window.setInterval = (act, ...rest) => begin.call(window, (...given) => { if (!isLeaving()) act(...given); }, ...rest);
}

// Streamlit adds an entry when it starts to draw a page other than the address's: also for a page that the visitor has
// already left with the back button. Only the page that was wanted last may get one.
function keepHistory(tab) {
  const push = window.history.pushState;
  window.history.pushState = (state, unused, address) => {
    const { pathname } = new URL(address ?? "", window.location.href);
    const isWanted = tab.wanted === null || pathname === tab.wanted || pathname === window.location.pathname;
    const step = isSameScreen(address) ? window.history.replaceState : push;
    if (isWanted) step.call(window.history, state, unused, address);
  };
}

// Whether only the selected cell or the zoom differs: "back" would be tedious with an entry for each.
function isSameScreen(address) {
  const [here, there] = [window.location.href, address ?? ""].map((each) => new URL(each, window.location.href));
  for (const url of [here, there]) for (const name of ["at", "zoom"]) url.searchParams.delete(name);
  here.searchParams.sort();
  there.searchParams.sort();
  return here.pathname === there.pathname && here.search === there.search;
}
