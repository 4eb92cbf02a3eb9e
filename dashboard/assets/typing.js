// Shared by the component that is on every page; put before its script. What code is typed in, and what a click copies.

const EDITORS = { rerun_editor: "rerun_one", trial_editor: "trial_one" };

// Tab is four spaces in an editor of code, and Ctrl+Enter runs it. Escape leaves it, so that Tab leads on from there.
function listenForCode() {
  document.addEventListener("keydown", (event) => {
    const box = event.target.closest?.(Object.keys(EDITORS).map((key) => `.st-key-${key}`).join());
    if (!box || !event.target.matches("textarea")) return;
    const isCommand = event.ctrlKey || event.metaKey;
    if (event.key === "Escape") event.target.blur();
    else if (event.key === "Tab" && !event.shiftKey && !isCommand && !event.altKey) {
      event.preventDefault();
      document.execCommand("insertText", false, "    ");
    } else if (event.key === "Enter" && isCommand) {
      const button = Object.keys(EDITORS).find((key) => box.matches(`.st-key-${key}`));
      // Streamlit takes the text over when the editor loses the focus, as with a click on the button.
      event.preventDefault();
      event.stopImmediatePropagation();
      event.target.blur();
      setTimeout(() => {
        document.querySelector(`.st-key-${EDITORS[button]} button:not(:disabled)`)?.click();
        event.target.focus({ preventScroll: true });
      }, 50);
    }
  }, true);
}

// A click on a name copies the whole of it, also where its middle is cut out.
function listenForCopies() {
  document.addEventListener("click", async (event) => {
    const name = event.target.closest?.(".rs-name");
    if (!name || !navigator.clipboard || String(window.getSelection())) return;
    await navigator.clipboard.writeText(name.textContent);
    name.dataset.copied = "copied";
    setTimeout(() => delete name.dataset.copied, 1200);
  });
}
