/** Answers that have no stream and are read at intervals. */

import { get } from './api.js';
import { fill } from './dom.js';

const PERIOD_MS = 5000;

/**
 * Reads a path now and at intervals, until the result is called. `taken` gets each answer, and `refused` each problem.
 * @param {string} path
 * @param {Function} taken
 * @param {Function} refused
 */
export function poll(path, taken, refused) {
  let timer = 0;
  let isClosed = false;
  const read = async () => {
    const use = await get(path).then((answer) => () => taken(answer), (problem) => () => refused(problem));
    if (isClosed) return;
    use();
    timer = setTimeout(read, PERIOD_MS);
  };
  read();
  return () => {
    isClosed = true;
    clearTimeout(timer);
  };
}

/** The data that each element shows, as text. */
const shown = new WeakMap();

/** Replaces the content of an element if its data differ, so that an unchanged element keeps the focus and a selection. */
export function redraw(element, data, draw) {
  const text = JSON.stringify(data ?? null);
  if (shown.get(element) === text) return;
  shown.set(element, text);
  fill(element, draw(data));
}
