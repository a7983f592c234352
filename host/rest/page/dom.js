/**
 * Elements of the page. Every text becomes a text node, so no name or message of a cluster is ever read as markup.
 */

/**
 * Makes an element. `props` are attributes; `on…` are listeners, and `undefined` or `false` leaves an attribute out.
 * Children are elements, texts, or lists of both; `null`, `undefined` and `false` are left out.
 * @param {string} tag
 * @param {Object<string, any>} [props]
 * @param {...any} children
 * @returns {HTMLElement}
 */
export function el(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...flat(children));
  return element;
}

/** A name that a cluster or a user chose: isolated, so that right-to-left text changes nothing around it. */
export function name(text, props = {}) {
  return el('bdi', { class: 'name', ...props }, text ?? '');
}

/** A long text that a cluster wrote. */
export function message(text) {
  return text ? el('bdi', { class: 'message' }, text) : null;
}

/** Replaces the content of an element. */
export function fill(parent, ...children) {
  parent.replaceChildren(...flat(children));
}

/** Reads a text to users of a screen reader. */
export function announce(text) {
  document.getElementById('announcements').textContent = text;
}

function flat(children) {
  const all = children.flat(Infinity);
  return all.filter((child) => child !== null && child !== undefined && child !== false);
}
