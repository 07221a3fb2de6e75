/** Elements of the page. Text from outside gets in only as text: nothing here or in the pages parses markup. */

/**
 * Return a new element. Properties that start with `on` listen to events, `true` sets an attribute without a value, and
 * null, undefined or false leaves it away. Children are elements or text; empty ones are left away.
 */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    name.startsWith('on') ? element.addEventListener(name.slice(2), value) : setAttribute(element, name, value);
  }
  element.append(...children.flat().filter((child) => child || child === 0));
  return element;
}

/** Return the element with this id. */
export const byId = (id) => document.getElementById(id);

/** Return text from outside as an element that keeps its direction of writing to itself. */
export const outside = (text, properties = {}) => make('bdi', properties, String(text));

/** Change an attribute only if it differs. */
export function setAttribute(element, name, value) {
  const wanted = value === true ? '' : value;
  if (wanted === null || wanted === undefined || wanted === false) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(wanted)) element.setAttribute(name, wanted);
}

/** Change the text of an element only if it differs: a screen reader hears only news, and no layout is made anew. */
export function setText(element, text) {
  if (element.textContent !== String(text)) element.textContent = text;
}

/**
 * Make the children of `parent` show `items` in their order. An item keeps its element as long as its key stays, so
 * that focus and selection survive. `create(item)` returns a new element, `update(element, item)` fills it in, and
 * `close(element)` hears that it leaves the page.
 */
export function showList(parent, items, key, create, update = () => {}, close = () => {}) {
  const known = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  const wanted = new Map([...items].map((item) => [String(key(item)), item]));
  for (const [name, element] of known) {
    if (!wanted.has(name)) {
      close(element);
      element.remove();       // first, as an element that is moved to close a gap would lose the focus
    }
  }
  let next = parent.firstElementChild;
  for (const [name, item] of wanted) {
    const element = known.get(name) ?? create(item);
    element.dataset.key = name;
    if (element !== next) parent.insertBefore(element, next);
    next = element.nextElementSibling;
    update(element, item);
  }
}
