// Creates and changes elements, without markup in strings.
//
// Rule: text is set as text, never as markup. Styles are set by class, or by property if they are numbers.

const SVG = "http://www.w3.org/2000/svg";

/** Creates an element: `make("button.quiet", {type: "button", onclick}, "Text", child)`. Classes follow the name. */
export function make(name, attributes = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes)) set(element, key, value);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function set(element, key, value) {
  if (key.startsWith("on")) element[key] = value;
  else if (value === null || value === undefined || value === false) element.removeAttribute(key);
  else element.setAttribute(key, value === true ? "" : value);
}

/** Change a text only if it differs: screen readers read a live region again when it is written. */
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function show(element, visible) {
  if (element.hidden === visible) element.hidden = !visible;
}

let icons = "icons.svg#";

/** Take icons from another place, such as "#icon-" if their symbols are in the tree itself. */
export function takeIconsFrom(place) {
  icons = place;
}

export function iconAddress(name) {
  return `${icons}${name}`;
}

export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", iconAddress(name));
  svg.append(use);
  return svg;
}

/** Synchronize the children of a list with its items. `create` makes an item's element, `update` shows the item in it. */
export function keyed(list, items, keyOf, create, update) {
  const old = new Map([...list.children].map((child) => [child.dataset.key, child]));
  let place = list.firstElementChild;
  for (const item of items) {
    const key = String(keyOf(item));
    let element = old.get(key);
    old.delete(key);
    if (!element) {
      element = create(item);
      element.dataset.key = key;
    }
    update(element, item);
    if (element === place) place = place.nextElementSibling;
    else list.insertBefore(element, place);
  }
  for (const element of old.values()) element.remove();
}
