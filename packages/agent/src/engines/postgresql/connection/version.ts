/** Of a version such as `15.20`; 0 for any other text. */
export function majorOf(version: unknown): number {
  return typeof version === "string" && /^[0-9]{1,3}(?:\.|$)/.test(version)
    ? Number.parseInt(version, 10)
    : 0;
}
