import type { Schemas } from "@attestore/contract/client";
import { useMutation } from "@tanstack/react-query";
import { api } from "./client.ts";
import { useOrgId } from "./session.ts";

type Asked = Schemas["ConfigRequestRecord"];
export type ConfigRequest = Asked["request"];
type Result = NonNullable<Asked["result"]>;
export type ResultOf<Kind extends Result["kind"]> = Extract<Result, { kind: Kind }>;

/** The host did not do it, and says why. */
export class HostRefused extends Error {
  readonly reason: string;

  constructor({ reason, message }: NonNullable<Asked["refusal"]>) {
    super(message);
    this.name = "HostRefused";
    this.reason = reason;
  }
}

/** The agent did not even fetch the request. */
export class HostSilent extends Error {
  constructor() {
    super("the agent did not fetch the request");
    this.name = "HostSilent";
  }
}

const EVERY_MS = 500;
/** An agent that waits for requests fetches one within a second, any other within a minute. */
const FETCHED_WITHIN_MS = 70_000;

/**
 * Asks an agent, and waits for what it did. `id` names the answer in later requests. Throws
 * HostRefused, HostSilent.
 */
export function useAskAgent<Kind extends Result["kind"]>(agentID: string, kind: Kind) {
  const orgID = useOrgId();
  return useMutation({
    mutationFn: async (
      request: Omit<Extract<ConfigRequest, { kind: Kind }>, "kind">,
    ): Promise<{ id: string; result: ResultOf<Kind> }> => {
      const answered = await ask(orgID, agentID, { kind, ...request } as unknown as ConfigRequest);
      return { id: answered.id, result: answered.result as ResultOf<Kind> };
    },
  });
}

async function ask(orgID: string, agentID: string, request: ConfigRequest): Promise<Asked> {
  const path = { orgID, agentID };
  const call = "/api/orgs/{orgID}/agents/{agentID}/config-requests";
  // The typed client takes one form of a body, and all forms are this call's.
  const body = request as Extract<ConfigRequest, { kind: "add_check" }>;
  const asked = await api.call("post", call, { path, body, idempotencyKey: crypto.randomUUID() });
  const until = performance.now() + FETCHED_WITHIN_MS;
  for (let record = asked.body; ;) {
    if (record.refusal !== null) throw new HostRefused(record.refusal);
    if (record.result !== null) return record;
    if (record.status === "expired") throw new HostSilent();
    if (record.status === "queued" && performance.now() > until) throw new HostSilent();
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    const path = { requestID: record.id };
    record = (await api.call("get", "/api/config-requests/{requestID}", { path })).body;
  }
}
