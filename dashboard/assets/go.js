// Opens an address as a link inside the page does: one entry in the browser's history, or none when the
// present one is replaced. Streamlit hears of it the way it hears of the back button.

export default function (component) {
  const { data } = component;
  // The order stays until the next one, for a script that is interrupted may not get it here: carried out once a tab.
  const went = (window.__rollscopeWent ??= {});
  if (data.address && went[data.key] !== data.number) {
    went[data.key] = data.number;
    open(new URL(data.address, window.location.href), data.replace);
  }
  // Of a link to the page that is shown, Streamlit draws the target and leaves the address as it was.
  const onClick = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    const link = event.target.closest?.("a[data-testid='stPageLink-NavLink']");
    if (!link || link.pathname !== window.location.pathname) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (link.href !== window.location.href) open(link.href, false);
  };
  document.addEventListener("click", onClick, true);
  return () => document.removeEventListener("click", onClick, true);
}

function open(address, replace) {
  if (replace) window.history.replaceState({}, "", address);
  else window.history.pushState({}, "", address);
  window.dispatchEvent(new PopStateEvent("popstate", { state: {} }));
}
