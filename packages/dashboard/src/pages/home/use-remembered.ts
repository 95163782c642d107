import { useCallback, useSyncExternalStore } from "react";
import { browserStorage } from "../../verification/browser-storage.ts";

/** Also what a browser that stores nothing is to remember until the page is left. */
const values = new Map<string, boolean>();
const readers = new Set<() => void>();

function read(key: string): boolean {
  const known = values.get(key) ?? browserStorage().getItem(key) !== null;
  values.set(key, known);
  return known;
}

function write(key: string, value: boolean): void {
  values.set(key, value);
  if (value) browserStorage().setItem(key, "yes");
  else browserStorage().removeItem(key);
  for (const tell of readers) tell();
}

/**
 * A yes or no that this browser remembers. Every component that shows it follows a change, also one
 * that a toast's Undo makes when the page that set it was left and opened again.
 */
export function useRemembered(key: string): [boolean, (value: boolean) => void] {
  const value = useSyncExternalStore(subscribe, () => read(key));
  return [value, useCallback((next: boolean) => write(key, next), [key])];
}

function subscribe(reader: () => void): () => void {
  readers.add(reader);
  return () => void readers.delete(reader);
}
