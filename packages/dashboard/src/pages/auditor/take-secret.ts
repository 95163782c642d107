let taken = "";

/**
 * Takes the secret from the URL fragment and removes it from the URL at once, so that it stays
 * neither in the history nor on the screen. Remembered until the page closes, because React may
 * call this twice.
 */
export function takeSecret(): string {
  const { hash, pathname } = window.location;
  if (hash.length > 1) {
    taken = hash.slice(1);
    window.history.replaceState(window.history.state, "", pathname);
  }
  return taken;
}
