/** What may be journalled: values that come back from JSON as they went in. */

const DEEPEST = 200;

/**
 * JSON text of `value`. An undefined field is left out, as JSON does. What JSON would silently turn into something else
 * (NaN, infinities, undefined items, typed arrays, maps, dates, class instances) is a TypeError that names `name` and the path.
 */
export function toJson(name: string, value: unknown): string {
  check(name, value, []);
  return JSON.stringify(value);
}

function check(name: string, value: unknown, path: (string | number)[]): void {
  const refuse = (what: string): never => {
    const at = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
    throw new TypeError(`${name}: value${at} is ${what}, which JSON cannot hold`);
  };
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return;
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) refuse(String(value));
    return;
  }
  if (typeof value !== 'object') {
    refuse(value === undefined ? 'undefined' : `a ${typeof value}`);
    return;
  }
  if (path.length > DEEPEST)
    throw new TypeError(`${name}: value is nested deeper than ${DEEPEST} levels, or in a circle`);
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      path.push(i);
      check(name, value[i], path);
      path.pop();
    }
    return;
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    refuse(`a ${value.constructor?.name ?? 'class instance'}`);
  }
  for (const [field, item] of Object.entries(value)) {
    if (item === undefined) continue;
    path.push(field);
    check(name, item, path);
    path.pop();
  }
}

/** JSON text that does not depend on the order of object keys; "absent" for undefined. */
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, item) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  ) ?? 'absent';
