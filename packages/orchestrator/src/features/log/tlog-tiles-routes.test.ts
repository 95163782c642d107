import {
  decodeEntryBundle,
  leafHash,
  nodeFromTile,
  openCheckpoint,
  parseVerifierKey,
  toHex,
} from "@attestore/proof";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestService, type TestAgent, type TestOrg, type TestService } from "../../../test/service.ts";

let service: TestService;
let org: TestOrg;
let agent: TestAgent;
beforeAll(async () => {
  service = await startTestService();
  org = await service.addOrg();
  agent = await service.attach(org);
  await agent.post("/v1/events", {
    kind: "backup_failed",
    occurred_at: "2026-11-21T08:00:00.000Z",
    detail: {},
  });
});
afterAll(() => service.close());

const get = (path: string, token?: string) => service.call({ method: "GET", path, token });

test("an agent reads its log: checkpoint, tile and entries agree", async () => {
  const checkpoint = await agent.get(`/log/${org.id}/checkpoint`);
  expect(checkpoint.headers["content-type"]).toBe("text/plain; charset=utf-8");
  const opened = await openCheckpoint(checkpoint.body.toString(), parseVerifierKey(agent.log.verifier_key));
  expect(opened.size).toBe(2n);
  const tile = await agent.get(`/log/${org.id}/tile/0/000.p/2`);
  expect(tile.status).toBe(200);
  expect(nodeFromTile(tile.body, { offset: 0, count: 2 })).toEqual(opened.rootHash);
  const bundle = await agent.get(`/log/${org.id}/tile/entries/000.p/2`);
  const hashes = decodeEntryBundle(bundle.body, 2).map((entry) => toHex(leafHash(entry)));
  expect(hashes.join("")).toBe(tile.body.toString("hex"));
});

test("a private log answers 401 without a credential, and 404 to another organisation, as if it did not exist", async () => {
  const stranger = await service.attach(await service.addOrg());
  const absent = "org_2x4y6z8a0b1c2d3e4f5g6h7j8k";
  for (const path of ["checkpoint", "tile/0/000.p/1", "tile/entries/000.p/1"])
    for (const [id, token, status] of [
      [org.id, undefined, 401],
      [absent, undefined, 401],
      [org.id, "ats_" + "A".repeat(43), 401],
      [org.id, stranger.token, 404],
      [absent, stranger.token, 404],
      ["org_1", stranger.token, 404],
    ] as const)
      expect((await get(`/log/${id}/${path}`, token)).status, `${id} ${path}`).toBe(status);
});

test("people of the organisation read it with their session, as token and as cookie, and nobody else", async () => {
  const path = `/log/${org.id}/tile/entries/000.p/1`;
  const auditor = await service.signIn(org, "auditor");
  expect((await auditor.get(path)).status).toBe(200);
  const cookie = `__Host-attestore_session=${auditor.token}`;
  expect((await service.call({ method: "GET", path, headers: { cookie } })).status).toBe(200);
  const stranger = await service.signIn(await service.addOrg());
  expect((await stranger.get(path)).status).toBe(404);
  expect((await get(path, `atss_${"A".repeat(43)}`)).status).toBe(401);
  const operator = await service.signIn(null);
  expect((await operator.get(path)).status).toBe(403);
  await auditor.post("/api/auth/logout");
  expect((await auditor.get(path)).json["error"]).toBe("session_expired");
});

test("an operator who reads the log as a user is recorded in it", async () => {
  const other = await service.addOrg();
  const user = await service.signIn(other, "auditor");
  const operator = await service.signIn(null);
  const acting = await operator.post("/api/auth/impersonate", { user_id: user.id, reason: "ticket 1" });
  const path = `/log/${other.id}/checkpoint`;
  expect((await get(path, String(acting.json["session_token"]))).status).toBe(200);
  const { rows } = await service.pool.query<{ body: Buffer }>(
    "select body from events where org_id = $1 and kind = 'impersonation_call' order by log_index desc limit 1",
    [other.id],
  );
  expect(JSON.parse(rows[0]?.body.toString() ?? "{}")).toMatchObject({ detail: { path, user_id: user.id } });
});

test("a public log needs no credential, and its tiles may be kept", async () => {
  const open = await service.addOrg();
  await service.attach(open);
  await service.pool.query("update orgs set public_log = true where id = $1", [open.id]);
  expect((await get(`/log/${open.id}/checkpoint`)).status).toBe(200);
  const tile = await get(`/log/${open.id}/tile/0/000.p/1`);
  expect(tile.status).toBe(200);
  expect(tile.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
});

test("a request for anything that the log does not have is 404", async () => {
  for (const path of [
    "tile/0/000",
    "tile/0/000.p/3",
    "tile/0/0",
    "tile/1/000.p/1",
    "tile/64/000.p/1",
    "tile/entries/001.p/1",
    "tile/0/000.p/0",
    "tile/0/x000/000.p/1",
    "tile/",
  ])
    expect((await agent.get(`/log/${org.id}/${path}`)).status, path).toBe(404);
});
