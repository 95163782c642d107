/**
 * What `new URL` refuses and the databases' programs take: a user without a host, because a
 * parameter names a socket, and several hosts with ports. A port is digits, and nothing after the
 * hosts has an @: otherwise a part of a password could be taken for something else.
 */
const HOST = String.raw`(?:\[[0-9A-Fa-f:.%]+\]|[^:@/?#\s,[\]]*)(?::[0-9]{0,5})?`;
const SEVERAL_HOSTS = new RegExp(
  String.raw`^[a-z][a-z0-9+.-]*://(?:[^:@/?#\s]*(?::([^@/?#\s]*))?@)?${HOST}(?:,${HOST})*(?:[/?#][^@\s]*)?$`,
);

/** Whether it holds a password; null if it is no URL of a database. */
export function holdsPassword(url: string, schemes: readonly string[]): boolean | null {
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//.exec(url) ?? [];
  if (scheme === undefined || !schemes.includes(scheme)) return null;
  if (URL.canParse(url)) {
    const { password, searchParams } = new URL(url);
    return password !== "" || searchParams.has("password");
  }
  const match = SEVERAL_HOSTS.exec(url);
  if (match === null) return null;
  const [, query = ""] = /\?([^#]*)/.exec(url) ?? [];
  return (match[1] ?? "") !== "" || new URLSearchParams(query).has("password");
}
