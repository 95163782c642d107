import type { ConfigRequest, ConfigResult } from "@attestore/contract";
import { findRequest } from "../../journal/config-requests.ts";
import type { Layout } from "../../state/layout.ts";
import { refused } from "./refused.ts";

type Kind = "try_source" | "try_check";

export interface Earlier<K extends Kind> {
  readonly request: Extract<ConfigRequest, { kind: K }>;
  readonly result: Extract<ConfigResult, { kind: K }>;
}

/**
 * An earlier request and what this host answered, from this host's own disk.
 * @throws UserError request_refused
 */
export async function earlierRequest<K extends Kind>(
  layout: Layout,
  kind: K,
  id: string,
  { longest_ms, now = new Date() }: { readonly longest_ms: number; readonly now?: Date },
): Promise<Earlier<K>> {
  const entry = await findRequest(layout, id);
  const { request = null, answer = null, received_at = "" } = entry ?? {};
  const isOf = request?.kind === kind && answer !== null && "result" in answer && answer.result.kind === kind;
  if (!isOf) throw refused("this host does not know the earlier try: try it again");
  if (now.getTime() - Date.parse(received_at) > longest_ms)
    throw refused("the earlier try is too old: try it again");
  return { request, result: answer.result } as unknown as Earlier<K>;
}
