/** The form of an address of a service or an object store, for people. */
export const HTTPS_ORIGIN = "https://HOST or https://HOST:PORT";

/** An address of this form; null for any other text. */
export function httpsOrigin(text: string): URL | null {
  if (!/^https:\/\/[^\s/?#@]+\/?$/.test(text) || !URL.canParse(text)) return null;
  return new URL(text);
}
