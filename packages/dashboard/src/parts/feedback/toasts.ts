import { useSyncExternalStore } from "react";

/** Something that was done, shown for some seconds; or that was not, shown until it is closed. */
export interface Toast {
  id: number;
  text: string;
  action?: { label: string; run: () => void };
  isFailure?: boolean;
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

/** Says what was done, or was not, with a button for what can be done about it. */
export function showToast(text: string, more: Omit<Toast, "id" | "text"> = {}): void {
  const id = ++lastId;
  set([...toasts.slice(-2), { id, text, ...more }]);
  if (more.isFailure !== true) setTimeout(() => closeUnused(id), SHOWN_MS);
}

/** A toast that somebody points at, or whose button has the focus, stays as long as that. */
function closeUnused(id: number): void {
  if (document.querySelector(`[data-toast="${id}"]:is(:hover, :focus-within)`) === null) closeToast(id);
  else setTimeout(() => closeUnused(id), SHOWN_MS);
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
