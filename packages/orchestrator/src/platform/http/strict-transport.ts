const YEAR_S = 365 * 86_400;

/**
 * `Strict-Transport-Security` (RFC 6797): a browser that was here once asks by HTTPS for a year,
 * whatever link or network leads it back. Of this name alone: what else its owner serves below it
 * is not ours to decide.
 *
 * None for `localhost`: there it would be about every program of that machine, on every port.
 */
export function strictTransport(publicUrl: string): { "strict-transport-security"?: string } {
  const { hostname } = new URL(publicUrl);
  const isLocal = hostname === "localhost" || hostname.endsWith(".localhost");
  return isLocal ? {} : { "strict-transport-security": `max-age=${YEAR_S}` };
}
