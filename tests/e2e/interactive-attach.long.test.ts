import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { heartbeatBody } from "./harness/backups.ts";
import { expectError } from "./harness/errors.ts";
import { api, ownAddress, type Answer } from "./harness/https.ts";
import { ed25519, type Signer } from "./harness/keys.ts";
import { attachBody, createOrganisation, type Attached, type Organisation } from "./harness/organisation.ts";
import { AGENT_TOKEN, CODE, idOf, POLL_TOKEN, TIMESTAMP } from "./harness/patterns.ts";
import { startServer, type Server } from "./harness/server.ts";

let server: Server;
let org: Organisation;

beforeAll(async () => {
  // The limit of 30, and no hour that ends meanwhile.
  server = await startServer({ ATTESTORE_RATE_BOOTSTRAP_START: "30/9999999" });
  org = await createOrganisation(server);
});
afterAll(() => server.remove());

interface Started {
  code: string;
  poll_token: string;
  attach_url: string;
  expires_at: string;
  interval_s: number;
}

async function begin(signer: Signer = ed25519(), from = ownAddress()): Promise<Started> {
  const answer = await api(server, {
    method: "POST",
    path: "/api/bootstrap/start",
    json: attachBody(signer),
    from,
  });
  expect(answer.status, answer.body.toString()).toBe(201);
  return answer.json<Started>();
}

const poll = (started: Pick<Started, "poll_token">): Promise<Answer> =>
  api(server, { method: "GET", path: `/api/bootstrap/${started.poll_token}`, from: ownAddress() });

const beat = (token: string): Promise<Answer> =>
  api(server, { method: "POST", path: "/v1/heartbeat", token, json: heartbeatBody() });

async function decide(what: "approve" | "deny", code: string): Promise<void> {
  const done = await server.cli("bootstrap", what, code, "--org", org.id);
  expect(done.code, done.stderr + done.stdout).toBe(0);
}

describe("an interactive attach", () => {
  let held: Promise<{ answer: Answer; held_s: number }>;

  // Held for as long as it takes, while the other tests go on.
  beforeAll(async () => {
    const started = await begin();
    const asked = performance.now();
    held = poll(started).then((answer) => ({ answer, held_s: (performance.now() - asked) / 1000 }));
  });

  it("returns a code to type, a token to poll with and an address to open", async () => {
    const before = Date.now();
    const started = await begin();
    expect(started).toEqual({
      code: expect.stringMatching(CODE),
      poll_token: expect.stringMatching(POLL_TOKEN),
      attach_url: expect.stringMatching(new RegExp(`^${server.url}/`)),
      expires_at: expect.stringMatching(TIMESTAMP),
      interval_s: expect.any(Number),
    });
    const lifetime = Date.parse(started.expires_at) - before;
    expect(lifetime).toBeGreaterThan(14.5 * 60_000);
    expect(lifetime).toBeLessThan(15.5 * 60_000);
    expect(started.attach_url).not.toContain(started.poll_token);
  });

  it("returns the agent's token to a waiting poll once it is approved, until the agent's first call", async () => {
    const started = await begin();
    const waiting = poll(started);
    await decide("approve", started.code);
    const answer = await waiting;
    expect(answer.status, answer.body.toString()).toBe(200);
    const attached = answer.json<Attached>();
    expect(attached).toEqual({
      agent_id: expect.stringMatching(idOf("agent")),
      org_id: org.id,
      api_token: expect.stringMatching(AGENT_TOKEN),
      log: { origin: expect.any(String), verifier_key: expect.any(String) },
      heartbeat_interval_s: expect.any(Number),
    });
    expect((await poll(started)).json()).toEqual(attached);
    expect((await beat(attached.api_token)).status).toBe(200);
    const late = await poll(started);
    expect(late.status).toBe(410);
    expect(late.body.toString()).not.toContain(attached.api_token);
  });

  it("accepts its code in lower case and without the hyphen", async () => {
    const started = await begin();
    await decide("approve", started.code.toLowerCase().replace("-", ""));
    expect((await poll(started)).status).toBe(200);
  });

  it("answers a waiting poll with attach_denied once it is denied, and creates no agent", async () => {
    const started = await begin();
    const waiting = poll(started);
    await decide("deny", started.code);
    expectError(await waiting, "attach_denied");
    expectError(await poll(started), "attach_denied");
  });

  it("is decided only once", async () => {
    const approved = await begin();
    await decide("approve", approved.code);
    expect((await server.cli("bootstrap", "deny", approved.code, "--org", org.id)).code).not.toBe(0);
    expect((await poll(approved)).status).toBe(200);
    const denied = await begin();
    await decide("deny", denied.code);
    expect((await server.cli("bootstrap", "approve", denied.code, "--org", org.id)).code).not.toBe(0);
    expectError(await poll(denied), "attach_denied");
  });

  it("is approved once when two people approve it at the same time", async () => {
    const started = await begin();
    const both = await Promise.all(
      [0, 1].map(() => server.cli("bootstrap", "approve", started.code, "--org", org.id)),
    );
    expect(both.some(({ code }) => code === 0)).toBe(true);
    const [first, second] = [await poll(started), await poll(started)];
    expect(first.status).toBe(200);
    expect(second.json()).toEqual(first.json());
  });

  it("is not found by an unknown code or token", async () => {
    expect((await server.cli("bootstrap", "approve", "ABCD-EFGH", "--org", org.id)).code).not.toBe(0);
    expectError(await poll({ poll_token: `atp_${"A".repeat(43)}` }), "not_found");
    expectError(await poll({ poll_token: "nonsense" }), "not_found");
  });

  it("may be started 30 times an hour from one address", async () => {
    const from = ownAddress();
    const answers: Answer[] = [];
    for (let n = 0; n < 31; n++) {
      answers.push(
        await api(server, {
          method: "POST",
          path: "/api/bootstrap/start",
          json: attachBody(ed25519()),
          from,
        }),
      );
    }
    expect(answers.slice(0, 30).every(({ status }) => status === 201)).toBe(true);
    const [limited] = answers.slice(-1);
    if (!limited) throw new Error("no answer");
    expectError(limited, "rate_limited");
    expect(limited.headers["retry-after"]).toMatch(/^[1-9]\d*$/);
  });

  it("holds a poll for 25 s at most, and then answers pending", async () => {
    const { answer, held_s } = await held;
    expect(answer.status).toBe(202);
    expect(answer.json()).toEqual({ status: "pending" });
    expect(held_s).toBeGreaterThan(15);
    // A busy machine takes a while itself.
    expect(held_s).toBeLessThan(40);
  });

  it("survives a restart of the service between approval and poll", async () => {
    const started = await begin();
    await decide("approve", started.code);
    await server.kill();
    await server.start();
    const answer = await poll(started);
    expect(answer.status).toBe(200);
    expect((await beat(answer.json<Attached>().api_token)).status).toBe(200);
  });

  it("never has its poll token in the service's output", async () => {
    const started = await begin();
    await decide("approve", started.code);
    await poll(started);
    expect(server.talk()).not.toContain(started.poll_token);
  });
});
