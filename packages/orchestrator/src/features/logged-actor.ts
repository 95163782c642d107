/**
 * Who did something, for the log: a leaf names a record or the service. What was done at the
 * service's own console is the service's doing, and the detail says so.
 */
export function loggedActor(
  actorId: string,
  detail: Record<string, unknown>,
): { actorId: string; detail: Record<string, unknown> } {
  return actorId === "console"
    ? { actorId: "service", detail: { ...detail, by: "console" } }
    : { actorId, detail };
}
