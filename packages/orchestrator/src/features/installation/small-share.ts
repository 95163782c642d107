const SHARE = 0.05;
const ALWAYS = 10;

/**
 * Whether so few of all objects may be taken without asking a person: 5 %, or 10 objects in a small
 * store.
 */
export function isSmallShare(taken: number, all: number): boolean {
  return taken <= Math.max(ALWAYS, all * SHARE);
}
