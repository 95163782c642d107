/** The outcome of a query or command that took too long, and how to continue. */
export function notInTime(what: "query" | "command", seconds: number): string {
  return `the ${what} did not end within ${seconds} s: give the source's checks more time (check_timeout_s in config.yaml) or make it cheaper`;
}
