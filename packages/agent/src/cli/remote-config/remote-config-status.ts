import type { Config } from "../../config/config.ts";
import { journaledRequests } from "../../journal/config-requests.ts";
import type { Layout } from "../../state/layout.ts";
import type { Addition } from "./change-config.ts";

/** Whether people of the organisation may change config.yaml, and what they changed. */
export interface RemoteConfigStatus {
  readonly allowed: boolean;
  /** The newest last. `by` is the user as the service named them. */
  readonly added: readonly { readonly at: string; readonly by: string; readonly what: string }[];
}

const MOST = 5;

export async function readRemoteConfigStatus(layout: Layout, config: Config): Promise<RemoteConfigStatus> {
  const added = (await journaledRequests(layout)).flatMap(({ received_at, asked_by, writes, answer }) => {
    if (writes === null || answer === null || !("result" in answer)) return [];
    const addition = writes as Addition;
    const what =
      addition.kind === "source"
        ? `source ${addition.source}`
        : `check ${addition.entry.id} of ${addition.source}`;
    return [{ at: received_at, by: asked_by ?? "unknown", what }];
  });
  return { allowed: config.allowRemoteConfig, added: added.slice(-MOST) };
}
