// Groups of rollouts by how they all ended: a line per kind, with a link per group.

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const list = parentElement.querySelector(".signal");
  list.classList.toggle("whole", data.whole);
  list.replaceChildren(...data.kinds.map((kind, index) => line(kind, (item) => setTriggerValue("pick", { kind: index, item }))));
}

function line(kind, pick) {
  const element = part("div", "kind", ""), tasks = part("div", "tasks", "");
  const title = link("title", kind.href, () => pick(-1));
  title.textContent = kind.title;
  tasks.append(...kind.items.map((item, index) => {
    const task = link("task", item.href, () => pick(index));
    task.textContent = task.title = item.label;
    return task;
  }));
  element.append(title, tasks);
  return element;
}
