/**
 * The actor of an entry in the log: a leaf names a record or the service. For actions at the
 * service's own console the actor is the service, and the detail says so.
 */
export function loggedActor(
  actorId: string,
  detail: Record<string, unknown>,
): { actorId: string; detail: Record<string, unknown> } {
  return actorId === "console"
    ? { actorId: "service", detail: { ...detail, by: "console" } }
    : { actorId, detail };
}
