/** The `code` of an error of the operating system, such as ENOENT, or null. */
export function systemCode(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error)) return null;
  return typeof error.code === "string" ? error.code : null;
}
