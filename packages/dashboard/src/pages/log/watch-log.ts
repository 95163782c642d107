import { queryOptions } from "@tanstack/react-query";
import { ProofError } from "@attestore/proof";
import { api } from "../../api/client.ts";
import { browserStorage } from "../../verification/browser-storage.ts";
import {
  type SplitView,
  type HeldHead,
  keepHead,
  recordSplitView,
  readSplitView,
  readHeldHead,
} from "../../verifier/held-head.ts";
import { SplitViewError, type Observation, observeHead } from "../../verification/observe-head.ts";
import { consistencySource, readHead } from "./queries.ts";

export interface LogWatch {
  keys: Awaited<ReturnType<typeof readKeys>>;
  head: Awaited<ReturnType<typeof readHead>>;
  /** Null if the log contradicted itself, or the stored head cannot be read. */
  observation: Observation | null;
  splitView: SplitView | null;
  /** The head this browser stores now. */
  held: HeldHead | null;
  /** Why the stored head proves nothing any more. */
  damage: string | null;
}

/**
 * Compares the log's head with the one this browser stored. A newer head is stored as soon as it is
 * proven. The page also looks by itself, and then the same head again is no news: what the look
 * before found stays on the page.
 */
export function logWatchQuery(orgID: string) {
  return queryOptions({
    queryKey: ["orgs", orgID, "log", "watch"],
    queryFn: async ({ client, queryKey }): Promise<LogWatch> => {
      const [keys, head] = await Promise.all([readKeys(orgID), readHead(orgID)]);
      // With two tabs open, the slower one must not store an older head.
      const seen = await navigator.locks.request(`attestore.log-head.${orgID}`, () =>
        watch(orgID, keys, head),
      );
      const shown = client.getQueryData<LogWatch>(queryKey)?.observation ?? seen.observation;
      const observation = seen.observation?.outcome === "same" ? shown : seen.observation;
      return { keys, head, ...seen, observation };
    },
  });
}

async function readKeys(orgID: string) {
  return (await api.call("get", "/api/orgs/{orgID}/log", { path: { orgID } })).body;
}

async function watch(
  orgID: string,
  { verifier_key }: LogWatch["keys"],
  { checkpoint }: LogWatch["head"],
): Promise<Pick<LogWatch, "observation" | "splitView" | "held" | "damage">> {
  const storage = browserStorage();
  const held = readHeldHead(storage, orgID);
  const offered = { checkpoint, verifier_key };
  try {
    const observation = await observeHead(offered, held, consistencySource(orgID), new Date());
    const splitView = readSplitView(storage, orgID);
    // After a split view, the log is not trusted again until a person says so.
    if (splitView !== null) return { observation: null, splitView, held, damage: null };
    keepHead(storage, orgID, observation.keep);
    return { observation, splitView: null, held: observation.keep, damage: null };
  } catch (error) {
    if (error instanceof ProofError)
      return { observation: null, splitView: null, held, damage: error.message };
    if (!(error instanceof SplitViewError)) throw error;
    const seen: SplitView = {
      raised_at: new Date().toISOString(),
      reason: error.reason,
      detail: error.message,
      kept: held,
      offered,
    };
    recordSplitView(storage, orgID, seen);
    return {
      observation: null,
      splitView: readSplitView(storage, orgID) ?? seen,
      held,
      damage: null,
    };
  }
}
