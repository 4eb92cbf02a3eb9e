// Opens an address as a link inside the page does: one entry in the browser's history, or none when the
// present one is replaced. Streamlit hears of it the way it hears of the back button.

export default function (component) {
  const { data } = component;
  const tab = (window.__rollscopeTab ??= keepHistory({ went: {}, wanted: null }));
  // The order stays until the next one, for a script that is interrupted may not get it here: carried out once a tab.
  if (data.address && tab.went[data.key] !== data.number) {
    tab.went[data.key] = data.number;
    open(tab, new URL(data.address, window.location.href), data.replace);
  }
  // Of a link to the page that is shown, Streamlit draws the target and leaves the address as it was.
  const onClick = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    const link = event.target.closest?.("a[data-testid='stPageLink-NavLink']");
    if (!link) return;
    // The front page's link has a query alone, which the browser would take for the shown page's.
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

function open(tab, address, replace) {
  // A page that gives itself its full address may have been left before that comes.
  if (replace && address.pathname !== window.location.pathname) return;
  tab.wanted = address.pathname;
  if (replace) window.history.replaceState({}, "", address);
  else window.history.pushState({}, "", address);
  window.dispatchEvent(new PopStateEvent("popstate", { state: {} }));
}

// Streamlit adds an entry for a page whose drawing begins while the address says another: also for one that was left
// again, by the back button, before the server came to it. Only the page that was wanted last is to have one.
function keepHistory(tab) {
  const push = window.history.pushState;
  window.history.pushState = (state, unused, address) => {
    const { pathname } = new URL(address ?? "", window.location.href);
    const isWanted = tab.wanted === null || pathname === tab.wanted || pathname === window.location.pathname;
    if (isWanted) push.call(window.history, state, unused, address);
  };
  window.addEventListener("popstate", () => { tab.wanted = window.location.pathname; });
  return tab;
}
