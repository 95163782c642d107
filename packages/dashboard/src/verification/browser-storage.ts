type BrowserStorage = Pick<Storage, "getItem" | "setItem" | "removeItem">;

/** Takes the place of localStorage in a browser that stores nothing. */
const NOWHERE: BrowserStorage = {
  getItem: () => null,
  setItem: () => undefined,
  removeItem: () => undefined,
};

/** localStorage; if the browser is set to store nothing, a substitute that forgets. */
export function browserStorage(): BrowserStorage {
  try {
    return window.localStorage;
  } catch {
    return NOWHERE;
  }
}

/** Whether data written now can be read at the next visit. */
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
