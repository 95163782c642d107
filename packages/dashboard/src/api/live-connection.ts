import { topicsIn } from "./live-topics.ts";

export interface LiveHandlers {
  onChange: (topics: string[]) => void;
  /** Events arrive from now on; data fetched before may be older. */
  onOpened: () => void;
  /** Changes may have been missed. */
  onGap: () => void;
  onConnected: (connected: boolean) => void;
  onSessionEnd: () => void;
}

/** What the connected tab tells the others. */
type Told =
  | { is: "change"; topics: string[] }
  | { is: "opened" }
  | { is: "gap" }
  | { is: "connected"; connected: boolean }
  | { is: "session_end" };

/**
 * Listens to an organisation's events until the returned function is called. Only one tab connects
 * and tells the others: a browser opens at most six connections to a service, and each idle stream
 * would leave one fewer for all tabs.
 */
export function openLiveConnection(orgId: string, handlers: LiveHandlers): () => void {
  const over = new AbortController();
  const channel = new BroadcastChannel(`attestore-live-${orgId}`);
  const take = (told: Told): void => {
    if (over.signal.aborted) return;
    if (told.is === "change") handlers.onChange(told.topics);
    else if (told.is === "opened") handlers.onOpened();
    else if (told.is === "gap") handlers.onGap();
    else if (told.is === "connected") handlers.onConnected(told.connected);
    else handlers.onSessionEnd();
  };
  channel.addEventListener("message", ({ data }) => take(data as Told));
  const tell = (told: Told): void => {
    if (over.signal.aborted) return;
    channel.postMessage(told);
    take(told);
  };
  navigator.locks
    .request(`attestore-live-${orgId}`, { signal: over.signal }, () => listen(orgId, tell, over.signal))
    // This tab stopped listening before its turn came.
    .catch(() => undefined);
  return () => {
    over.abort();
    channel.close();
    handlers.onConnected(false);
  };
}

const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 60_000;

/** Resolves when the signal fires. */
async function listen(orgId: string, tell: (told: Told) => void, signal: AbortSignal): Promise<void> {
  let heard = false;
  let failures = 0;
  while (!signal.aborted) {
    const gone = await hear(orgId, signal, {
      onReady: () => {
        tell({ is: "connected", connected: true });
        tell({ is: heard ? "gap" : "opened" });
        heard = true;
        failures = 0;
      },
      onChange: (topics) => tell({ is: "change", topics }),
    });
    if (gone === "session_end") return tell({ is: "session_end" });
    if (gone === "stopped") return;
    tell({ is: "connected", connected: false });
    if (await isSignedOut()) return tell({ is: "session_end" });
    failures += 1;
    await pause(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1)), signal);
  }
}

/**
 * One connection. After a network failure the browser reopens it and sends the id of the last event
 * it got.
 */
function hear(
  orgId: string,
  signal: AbortSignal,
  on: { onReady: () => void; onChange: (topics: string[]) => void },
): Promise<"session_end" | "refused" | "stopped"> {
  const source = new EventSource(`/api/orgs/${orgId}/live`);
  return new Promise((resolve) => {
    const end = (why: "session_end" | "refused" | "stopped"): void => {
      source.close();
      resolve(why);
    };
    let reopened = false;
    source.addEventListener("ready", ({ data }) => {
      // After a reconnect, the service has compared with the last event, so these are all the
      // changes.
      if (reopened) on.onChange(topicsIn(data as string));
      else on.onReady();
      reopened = true;
    });
    source.addEventListener("change", ({ data }) => on.onChange(topicsIn(data as string)));
    source.addEventListener("end", () => end("session_end"));
    source.addEventListener("error", () => {
      if (source.readyState === EventSource.CLOSED) end("refused");
    });
    if (signal.aborted) end("stopped");
    signal.addEventListener("abort", () => end("stopped"), { once: true });
  });
}

/** EventSource does not say why it was refused. */
async function isSignedOut(): Promise<boolean> {
  try {
    return (await fetch("/api/auth/me", { credentials: "same-origin" })).status === 401;
  } catch {
    return false;
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
