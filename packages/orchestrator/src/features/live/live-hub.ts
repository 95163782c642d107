import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { errorMessage } from "@attestore/host/errno";
import type { Database } from "../../platform/database/schema.ts";
import { ApiError, unavailable } from "../../platform/errors/api-error.ts";
import { liveSessions } from "../../platform/http/credentials/session-credentials.ts";
import type { Logger } from "../../platform/logging/logger.ts";
import { changedTopics, eventId, type Markers, markersOf, readMarkers, type Topic } from "./markers.ts";

const LOOK_EVERY_MS = 1000;
const SESSIONS_EVERY_MS = 5000;
/** Proxies end connections on which nothing comes for about a minute. */
const COMMENT_EVERY_MS = 15_000;
/** How long a browser waits before it connects again. */
const RETRY_MS = 3000;
/**
 * Bytes that may wait for a client that does not read. Beyond that it is disconnected, and fetches
 * what it missed when it returns.
 */
const MAX_WAITING = 64 * 1024;
const MAX_OF_PROCESS = 2000;
const MAX_OF_SESSION = 8;
/** Limits for a person with several sessions, and for all people of an organisation. */
const MAX_OF_PERSON = 24;
const MAX_OF_ORG = 200;

interface Watcher {
  orgId: string;
  personId: string;
  /** SHA-256 of the session's token, base64. */
  session: string;
  /** Null until they are known for the first time. */
  seen: Markers | null;
  stream: Readable;
  /** Nothing is pushed into a stream after its end. */
  isOpen: boolean;
}

/**
 * Tells everybody who watches an organisation what changed in it. One loop for all of them, which
 * ends when nobody watches.
 */
export class LiveHub {
  readonly #db: Database;
  readonly #logger: Logger;
  readonly #watchers = new Set<Watcher>();
  #running = false;

  constructor({ db, logger }: { db: Database; logger: Logger }) {
    this.#db = db;
    this.#logger = logger;
  }

  /**
   * A stream of server-sent events (HTML Standard section 9.2) until `signal` fires or the session
   * ends: `ready` at once, with what changed since the event that `lastEventId` names, then
   * `change` after each change, and `end` when the session ends. Throws `rate_limited` and
   * `unavailable` if too many watch.
   */
  async watch(watch: {
    orgId: string;
    personId: string;
    credential: Buffer;
    lastEventId: string | undefined;
    signal: AbortSignal;
  }): Promise<Readable> {
    const { orgId, personId, signal } = watch;
    const session = watch.credential.toString("base64");
    this.#requireRoom({ orgId, personId, session });
    const stream = new Readable({ read: () => undefined, highWaterMark: MAX_WAITING });
    const watcher: Watcher = { orgId, personId, session, seen: null, stream, isOpen: true };
    const end = (): void => this.#end(watcher);
    // Counted before anything is awaited, so that many at once can't exceed the limit.
    this.#watchers.add(watcher);
    stream.once("close", end);
    signal.addEventListener("abort", end, { once: true });
    try {
      watcher.seen = await this.#markersOf(orgId);
    } catch (error) {
      end();
      throw error;
    }
    if (signal.aborted) end();
    send(watcher, `retry: ${RETRY_MS}\n\n`);
    sendEvent(watcher, "ready", changedTopics(markersOf(watch.lastEventId), watcher.seen));
    if (!this.#running) void this.#run();
    return stream;
  }

  #requireRoom(own: Pick<Watcher, "orgId" | "personId" | "session">): void {
    if (this.#watchers.size >= MAX_OF_PROCESS)
      throw unavailable("More pages are open than the service can update.");
    for (const [who, whose, limit] of [
      ["A session", "session", MAX_OF_SESSION],
      ["A person", "personId", MAX_OF_PERSON],
      ["An organisation", "orgId", MAX_OF_ORG],
    ] as const) {
      const open = [...this.#watchers].filter((watcher) => watcher[whose] === own[whose]).length;
      if (open >= limit)
        throw new ApiError(
          "rate_limited",
          `${who} can have at most ${limit} such connections at once. Close some.`,
          { limit },
          { "retry-after": "30" },
        );
    }
  }

  async #markersOf(orgId: string): Promise<Markers> {
    const markers = (await readMarkers(this.#db, [orgId])).get(orgId);
    if (markers === undefined) throw new Error("an organisation that is watched does not exist");
    return markers;
  }

  #end(watcher: Watcher): void {
    if (!watcher.isOpen) return;
    watcher.isOpen = false;
    this.#watchers.delete(watcher);
    if (!watcher.stream.destroyed) watcher.stream.push(null);
  }

  async #run(): Promise<void> {
    this.#running = true;
    let sessionsAt = performance.now();
    let commentAt = performance.now();
    let failed = false;
    try {
      for (;;) {
        await delay(LOOK_EVERY_MS, undefined, { ref: false });
        if (this.#watchers.size === 0) return;
        try {
          if (performance.now() - sessionsAt >= SESSIONS_EVERY_MS) {
            await this.#endSessions();
            sessionsAt = performance.now();
          }
          await this.#tell();
          failed = false;
        } catch (error) {
          // Pages also ask again on their own. Clients stay connected, and hear of changes once the
          // database is back.
          if (!failed)
            this.#logger.warn({ reason: errorMessage(error) }, "live updates for pages could not be read");
          failed = true;
        }
        if (performance.now() - commentAt >= COMMENT_EVERY_MS) {
          for (const watcher of this.#watchers) send(watcher, ":\n\n");
          commentAt = performance.now();
        }
      }
    } finally {
      this.#running = false;
    }
  }

  async #tell(): Promise<void> {
    const orgIds = new Set([...this.#watchers].map(({ orgId }) => orgId));
    if (orgIds.size === 0) return;
    const markers = await readMarkers(this.#db, [...orgIds]);
    for (const watcher of this.#watchers) {
      const now = markers.get(watcher.orgId);
      if (now === undefined || watcher.seen === null) continue;
      const topics = changedTopics(watcher.seen, now);
      watcher.seen = now;
      if (topics.length > 0) sendEvent(watcher, "change", topics);
    }
  }

  async #endSessions(): Promise<void> {
    const watchers = [...this.#watchers];
    if (watchers.length === 0) return;
    const credentials = [...new Set(watchers.map(({ session }) => session))];
    const live = await liveSessions(
      this.#db,
      credentials.map((session) => Buffer.from(session, "base64")),
    );
    for (const watcher of watchers) {
      if (live.has(watcher.session)) continue;
      sendEvent(watcher, "end", []);
      this.#end(watcher);
    }
  }
}

function sendEvent(watcher: Watcher, event: "ready" | "change" | "end", topics: readonly Topic[]): void {
  const id = watcher.seen === null ? "" : `id: ${eventId(watcher.seen)}\n`;
  send(watcher, `event: ${event}\n${id}data: ${JSON.stringify({ topics })}\n\n`);
}

function send({ stream, isOpen }: Watcher, text: string): void {
  if (!isOpen || stream.destroyed) return;
  if (stream.readableLength > MAX_WAITING) stream.destroy();
  else stream.push(text);
}
