import { useSyncExternalStore } from "react";

/** Something that was done, shown for some seconds. */
export interface Toast {
  id: number;
  text: string;
  undo?: () => void;
}

/** Long enough to read it and to reach its button. */
const SHOWN_MS = 10_000;

let toasts: readonly Toast[] = [];
let lastId = 0;
const readers = new Set<() => void>();

function set(next: readonly Toast[]): void {
  toasts = next;
  for (const read of readers) read();
}

/** Says that something was done, with a button that undoes it where it can be. */
export function showToast(text: string, undo?: () => void): void {
  const id = ++lastId;
  set([...toasts.slice(-2), { id, text, ...(undo === undefined ? {} : { undo }) }]);
  setTimeout(() => closeToast(id), SHOWN_MS);
}

export function closeToast(id: number): void {
  set(toasts.filter((toast) => toast.id !== id));
}

export function useToasts(): readonly Toast[] {
  return useSyncExternalStore(
    (reader) => {
      readers.add(reader);
      return () => void readers.delete(reader);
    },
    () => toasts,
  );
}
