let taken = "";

/**
 * The secret of the address's fragment, which is taken out of the address at once: neither the history nor whoever looks at the screen
 * keeps it. Remembered until the page goes, since React may ask twice.
 */
export function takeSecret(): string {
  const { hash, pathname } = window.location;
  if (hash.length > 1) {
    taken = hash.slice(1);
    window.history.replaceState(window.history.state, "", pathname);
  }
  return taken;
}
