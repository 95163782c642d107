type BrowserStorage = Pick<Storage, "getItem" | "setItem" | "removeItem">;

/** Where a browser that keeps nothing leaves what is written. */
const NOWHERE: BrowserStorage = {
  getItem: () => null,
  setItem: () => undefined,
  removeItem: () => undefined,
};

/** localStorage; where the browser is set to keep nothing, a place that forgets. */
export function browserStorage(): BrowserStorage {
  try {
    return window.localStorage;
  } catch {
    return NOWHERE;
  }
}

/** Whether what is written now can be read at the next visit. */
export function keepsAnything(): boolean {
  const probe = "attestore.probe";
  try {
    window.localStorage.setItem(probe, "1");
    window.localStorage.removeItem(probe);
    return true;
  } catch {
    return false;
  }
}
