// Groups of rollouts by how they all ended: a line per kind, with a link per group.

export default function (component) {
  const { data, parentElement } = component;
  const list = parentElement.querySelector(".signal");
  list.replaceChildren(...data.kinds.map(line));
}

function line(kind) {
  const element = part("div", "kind", ""), tasks = part("div", "tasks", "");
  const title = link("title", kind.href);
  title.textContent = kind.title;
  tasks.append(...kind.items.map((item) => {
    const task = named(link("task", item.href), item.label);
    task.title = item.label;
    return task;
  }));
  element.append(title, tasks);
  return element;
}
