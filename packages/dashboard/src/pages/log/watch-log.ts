import { queryOptions } from "@tanstack/react-query";
import { ProofError, type Rollback } from "@attestore/proof";
import { api } from "../../api/client.ts";
import { browserStorage } from "../../verification/browser-storage.ts";
import {
  type SplitView,
  type HeldHead,
  keepAndEndAlarm,
  keepHead,
  openHeldHead,
  recordSplitView,
  readSplitView,
  readHeldHead,
} from "../../verifier/held-head.ts";
import { SplitViewError, type Observation, observeHead } from "../../verification/observe-head.ts";
import { logSource, readHead } from "./queries.ts";

export interface LogWatch {
  keys: Awaited<ReturnType<typeof readKeys>>;
  head: Awaited<ReturnType<typeof readHead>>;
  /** Null if the log contradicted itself, or the stored head cannot be read. */
  observation: Observation | null;
  splitView: SplitView | null;
  /** The head this browser stores now. */
  held: HeldHead | null;
  /** How the log's later generations began, as this browser has verified. */
  rollbacks: readonly Rollback[];
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

type Watched = Pick<LogWatch, "observation" | "splitView" | "held" | "rollbacks" | "damage">;

async function watch(
  orgID: string,
  { verifier_key }: LogWatch["keys"],
  { checkpoint }: LogWatch["head"],
): Promise<Watched> {
  const storage = browserStorage();
  const held = readHeldHead(storage, orgID);
  const alarm = readSplitView(storage, orgID);
  const offered = { checkpoint, verifier_key };
  try {
    const observation = await observeHead(offered, { held, alarm }, logSource(orgID), new Date());
    const { outcome, keep, rollbacks } = observation;
    if (outcome === "followed") keepAndEndAlarm(storage, orgID, keep);
    // After a split view, the log is not trusted again until a person says so, or until the next
    // generation accounts for it.
    else if (alarm !== null) return { observation: null, splitView: alarm, held, rollbacks, damage: null };
    else keepHead(storage, orgID, keep);
    return { observation, splitView: null, held: keep, rollbacks, damage: null };
  } catch (error) {
    const rollbacks = await followedRollbacks(held);
    if (error instanceof ProofError)
      return { observation: null, splitView: null, held, rollbacks, damage: error.message };
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
      rollbacks,
      damage: null,
    };
  }
}

async function followedRollbacks(held: HeldHead | null): Promise<readonly Rollback[]> {
  try {
    return held === null ? [] : (await openHeldHead(held)).rollbacks;
  } catch (error) {
    if (error instanceof ProofError) return [];
    throw error;
  }
}
