const YEAR_S = 365 * 86_400;

/**
 * `Strict-Transport-Security` (RFC 6797): a browser that was here once uses HTTPS for a year,
 * whatever link or network brings it back. For this name only: what its owner serves on names below
 * it is not ours to decide.
 * None for `localhost`, where it would apply to every program on the machine, on every port.
 */
export function strictTransport(publicUrl: string): { "strict-transport-security"?: string } {
  const { hostname } = new URL(publicUrl);
  const isLocal = hostname === "localhost" || hostname.endsWith(".localhost");
  return isLocal ? {} : { "strict-transport-security": `max-age=${YEAR_S}` };
}
