type Child = Node | string | null | undefined | false;
type Listeners = { [Name in keyof HTMLElementEventMap as `on${Name}`]?: (event: HTMLElementEventMap[Name]) => void };
type Attributes = Record<string, string | number | boolean | undefined | ((event: never) => void)> & Listeners;

/** Makes an element. Text stays text: nothing is ever parsed as HTML. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === 'function') made.addEventListener(name.slice(2), value as EventListener);
    else made.setAttribute(name, value === true ? '' : String(value));
  }
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

const drawn = new WeakMap<Element, string>();

/** Draws into a place anew, but only when its data changed, so that focus and open parts stay. */
export function draw<Data>(place: Element, data: Data, render: (data: Data) => Child[]): void {
  const key = JSON.stringify(data) ?? '';
  if (drawn.get(place) === key) return;
  drawn.set(place, key);
  place.replaceChildren(...render(data).filter((child) => child !== null && child !== undefined && child !== false));
}
