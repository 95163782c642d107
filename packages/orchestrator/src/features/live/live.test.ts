import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeHistory } from "../../../test/history.ts";
import {
  heartbeat,
  type Replica,
  startTestService,
  type TestOrg,
  type TestService,
  type TestUser,
} from "../../../test/service.ts";
import { silentLogger } from "../../platform/logging/logger.ts";
import { LiveHub } from "./live-hub.ts";

let service: TestService;
let org: TestOrg;
beforeAll(async () => {
  service = await startTestService();
  org = await service.addOrg();
});
afterAll(() => service.close());

interface MessageFields {
  event: string;
  id: string;
  topics: string[];
}

/** A connection that reads events as a browser does. */
interface Watching {
  response: IncomingMessage;
  /** The next event; rejects where the stream ends before it. */
  next(): Promise<MessageFields>;
  /** Resolves when the service has ended the stream, whatever it says before. */
  ended(): Promise<void>;
  leave(): void;
}

async function watch(
  user: TestUser,
  { at = service, lastEventId, ofOrg = org }: { at?: Replica; lastEventId?: string; ofOrg?: TestOrg } = {},
): Promise<Watching> {
  const outgoing = request({
    host: "127.0.0.1",
    servername: "localhost",
    port: at.port,
    ca: service.ca,
    agent: false,
    path: `/api/orgs/${ofOrg.id}/live`,
    headers: {
      authorization: `Bearer ${user.token}`,
      ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
    },
  });
  outgoing.on("error", () => undefined);
  outgoing.end();
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  const events = eventsIn(response);
  // Leaving ends it with an error, which is what was meant.
  response.on("error", () => undefined);
  return {
    response,
    next: async () => {
      const { value, done } = await events.next();
      if (done === true) throw new Error("the stream ended");
      return value;
    },
    ended: async () => {
      while ((await events.next()).done !== true) continue;
    },
    leave: () => outgoing.destroy(),
  };
}

async function* eventsIn(response: IncomingMessage): AsyncGenerator<MessageFields, undefined> {
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) {
    text += String(chunk);
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const field = (name: string): string => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1] ?? "";
      if (!block.includes("event:")) continue;
      const { topics } = JSON.parse(field("data")) as { topics: string[] };
      yield { event: field("event"), id: field("id"), topics };
    }
  }
  return undefined;
}

describe("a client that watches an organisation", () => {
  test("learns what changed, on every replica", async () => {
    const replica = await service.listen();
    const [owner, auditor] = [await service.signIn(org), await service.signIn(org, "auditor")];
    const [here, there] = [await watch(owner), await watch(auditor, { at: replica })];
    expect(here.response.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
    expect(await here.next()).toMatchObject({ event: "ready", topics: [] });
    expect(await there.next()).toMatchObject({ event: "ready", topics: [] });
    await owner.post(`/api/orgs/${org.id}/auth-keys`, {});
    expect(await here.next()).toMatchObject({ event: "change", topics: ["auth_keys"] });
    expect(await there.next()).toMatchObject({ event: "change", topics: ["auth_keys"] });
    here.leave();
    // Stopping ends what is being watched, rather than wait for it.
    await replica.close();
    await there.ended();
  });

  test("learns after reconnecting what changed meanwhile", async () => {
    const owner = await service.signIn(org);
    const first = await watch(owner);
    const { id } = await first.next();
    first.leave();
    const agent = await service.attach(org);
    await agent.post("/v1/heartbeat", heartbeat({ sources: [{ slug: "seen-later", engine: "sqlite" }] }));
    const second = await watch(owner, { lastEventId: id });
    const ready = await second.next();
    expect(ready).toMatchObject({ event: "ready", topics: ["log", "sources", "agents", "auth_keys"] });
    second.leave();
    const third = await watch(owner, { lastEventId: ready.id });
    expect((await third.next()).topics).toEqual([]);
    third.leave();
    const stranger = await watch(owner, { lastEventId: "../../etc" });
    expect((await stranger.next()).topics).toEqual([]);
    stranger.leave();
  });

  test("hears of backups, receipts and commands, but not of heartbeats", async () => {
    const own = await service.addOrg();
    const owner = await service.signIn(own);
    const { agent, sourceId } = await makeHistory(service, own);
    const watching = await watch(owner, { ofOrg: own });
    await watching.next();
    const heard = async (): Promise<Set<string>> => new Set((await watching.next()).topics);
    await agent.post("/v1/heartbeat", heartbeat({ sources: [{ slug: "orders", engine: "postgresql" }] }));
    await owner.post(`/api/orgs/${own.id}/sources/${sourceId}/trigger`, { kind: "backup" });
    expect(await heard()).toEqual(new Set(["commands"]));
    await makeHistory(service, own, { agent });
    const topics = new Set<string>();
    while (!topics.has("log") || !topics.has("backups")) for (const topic of await heard()) topics.add(topic);
    expect([...topics].toSorted()).toEqual(["backups", "commands", "log", "sources"]);
    watching.leave();
  });

  test("is let go when the session is signed out", async () => {
    const owner = await service.signIn(org);
    const watching = await watch(owner);
    await watching.next();
    expect((await owner.post("/api/auth/logout")).status).toBe(200);
    expect(await watching.next()).toMatchObject({ event: "end" });
    await watching.ended();
    expect((await watch(owner)).response.statusCode).toBe(401);
  });

  test("has at most eight streams per session", async () => {
    const owner = await service.signIn(org);
    const watching = await Promise.all(Array.from({ length: 8 }, () => watch(owner)));
    for (const { response } of watching) expect(response.statusCode).toBe(200);
    const ninth = await watch(owner);
    expect(ninth.response).toMatchObject({ statusCode: 429, headers: { "retry-after": "30" } });
    for (const one of [...watching, ninth]) one.leave();
  });

  test("has at most 24 streams over all sessions; an organisation has 200", async () => {
    const hub = new LiveHub({ db: service.database, logger: silentLogger });
    const leave = new AbortController();
    const { signal } = leave;
    const watched = async (personId: string, ofOrg = org): Promise<string> => {
      const watch = {
        orgId: ofOrg.id,
        personId,
        credential: randomBytes(32),
        lastEventId: undefined,
        signal,
      };
      try {
        (await hub.watch(watch)).resume();
        return "watches";
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    const all = (of: string[]): Promise<string[]> => Promise.all(of.map((person) => watched(person)));
    try {
      const one = await all(Array.from({ length: 30 }, () => "person"));
      expect(one.filter((outcome) => outcome === "watches")).toHaveLength(24);
      expect(one.filter((outcome) => outcome === "rate_limited")).toHaveLength(6);
      const rest = await all(Array.from({ length: 200 }, (_, n) => `other ${Math.floor(n / 20)}`));
      expect(rest.filter((outcome) => outcome === "watches")).toHaveLength(200 - 24);
      expect(await watched("another", await service.addOrg())).toBe("watches");
    } finally {
      leave.abort();
    }
  });

  test("gets no stream from HEAD", async () => {
    const owner = await service.signIn(org);
    for (let n = 0; n < 10; n += 1) {
      const answer = await owner.get(`/api/orgs/${org.id}/live`, { method: "HEAD" });
      expect([answer.status, answer.headers["content-type"]]).toEqual([
        200,
        "text/event-stream; charset=utf-8",
      ]);
    }
  });

  test("must be a member of the organisation", async () => {
    const stranger = await service.signIn(await service.addOrg());
    expect((await watch(stranger)).response.statusCode).toBe(404);
    expect((await watch(await service.signIn(null))).response.statusCode).toBe(403);
  });
});
