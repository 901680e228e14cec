// Classes of values, such as Send or Wait. They are fetched when the reader first chooses them as colours.
/** @import { Data } from "./types" */
/** @import { Paints } from "./paints.js" */

/** @type {WeakMap<Data, Promise<void>>} */
const loading = new WeakMap();

/**
 * Fetches the classes, unless they have been fetched.
 * @param {Data} data
 * @param {Paints} paints
 */
export function loadClasses(data, paints) {
  const before = loading.get(data);
  if (before) return before;
  const now = data.source.classes().then((all) => {
    for (const [type, names] of all) {
      data.model.types[type].classes = names;
      paints.forget(type);
    }
  });
  now.catch(() => loading.delete(data));
  loading.set(data, now);
  return now;
}
