import { MakersReceipt, newId, ReceiptBundle, ReceiptDetail, ReceiptRecord } from "@attestore/contract";
import {
  formatTlogProof,
  leafHash,
  openCheckpoint,
  parseBundle,
  parsePublicKeyWire,
  parseTlogProof,
  parseVerifierKey,
  toHex,
  verifyInclusion,
  verifyReceipt,
} from "@attestore/proof";
import { bundleFromJSON } from "@sigstore/bundle";
import { createPublicKey } from "node:crypto";
import { toSignedEntity, toTrustMaterial, Verifier } from "@sigstore/verify";
import { Value } from "typebox/value";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type History, makeHistory } from "../../../test/history.ts";
import {
  startTestService,
  type TestAgent,
  type TestOrg,
  type TestService,
  type TestUser,
} from "../../../test/service.ts";

let service: TestService;
let org: TestOrg;
let history: History;
let failing: History;
let auditor: TestUser;
let stranger: TestUser;
beforeAll(async () => {
  service = await startTestService();
  org = await service.addOrg();
  history = await makeHistory(service, org, { backups: 3 });
  failing = await makeHistory(service, org, { slug: "users", result: "failed" });
  auditor = await service.signIn(org, "auditor");
  stranger = await service.signIn(await service.addOrg());
});
afterAll(() => service.close());

const list = async (query = "") => {
  const answer = await auditor.get(`/api/orgs/${org.id}/receipts${query}`);
  expect(answer.status, answer.body.toString()).toBe(200);
  return answer.json as { items: ReceiptRecord[]; next_cursor: string | null };
};
const ids = async (query: string) => (await list(query)).items.map(({ id }) => id);
const newestFirst = () =>
  [...history.backups, ...failing.backups]
    .flatMap(({ receipts }) => [receipts.backup, receipts.restore_test])
    .toReversed();

describe("the list", () => {
  test("has every receipt once, newest first, as the contract shows it", async () => {
    const { items, next_cursor } = await list();
    expect(items.map(({ id }) => id)).toEqual(newestFirst());
    expect(next_cursor).toBeNull();
    for (const item of items) expect([...Value.Errors(ReceiptRecord, item)]).toEqual([]);
    expect(items[0]).toMatchObject({ kind: "restore_test", result: "failed", source_id: failing.sourceId });
    expect(items.at(-1)).toMatchObject({ kind: "backup", result: null, source_id: history.sourceId });
  });

  test("comes in pages that miss nothing and repeat nothing", async () => {
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await list(`?limit=3${cursor === null ? "" : `&cursor=${cursor}`}`);
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(seen).toEqual(newestFirst());
  });

  test("is filtered by each field, and by several at once", async () => {
    const tested = history.backups.map(({ receipts }) => receipts.restore_test).toReversed();
    expect(await ids(`?source_id=${history.sourceId}&kind=restore_test`)).toEqual(tested);
    expect(await ids(`?agent_id=${failing.agent.id}&kind=backup`)).toEqual([
      failing.backups[0]?.receipts.backup,
    ]);
    expect(await ids("?result=failed")).toEqual([failing.backups[0]?.receipts.restore_test]);
    expect(await ids(`?backup_id=${history.backups[1]?.id ?? ""}`)).toHaveLength(2);
  });

  test("a period begins with its first moment and ends before its last", async () => {
    const { items } = await list();
    const [moment] = items.slice(3, 4).map(({ created_at }) => created_at);
    const at = encodeURIComponent(moment ?? "");
    const expected = (keep: (at: string) => boolean) =>
      items.filter(({ created_at }) => keep(created_at)).map(({ id }) => id);
    expect(await ids(`?from=${at}`)).toEqual(expected((created) => created >= (moment ?? "")));
    expect(await ids(`?to=${at}`)).toEqual(expected((created) => created < (moment ?? "")));
    expect(await ids(`?from=${at}&to=${at}`)).toEqual([]);
  });

  test.each([
    ["limit=0", "/limit"],
    ["limit=201", "/limit"],
    ["limit=1e1", "/limit"],
    ["limit=", "/limit"],
    ["cursor=AAAA", "/cursor"],
    ["cursor=a%00b", "/cursor"],
    ["from=yesterday", "/from"],
    ["from=2026-02-30T00:00:00Z", "/from"],
    ["to=2026-11-01", "/to"],
    ["from=2026-11-02T00:00:00Z&to=2026-11-01T00:00:00Z", "/to"],
    ["kind=other", "/kind"],
    ["source_id=src_1", "/source_id"],
    ["colour=red", "/colour"],
  ])("?%s is 400 and names %s", async (query, path) => {
    const answer = await auditor.get(`/api/orgs/${org.id}/receipts?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ error: "invalid_request", details: { issues: [{ path }] } });
  });
});

describe("one receipt", () => {
  const id = () => history.backups[0]?.receipts.restore_test ?? "";

  test("with its envelope as it was signed", async () => {
    const { status, json } = await auditor.get(`/api/receipts/${id()}`);
    expect(status).toBe(200);
    expect([...Value.Errors(ReceiptDetail, json)]).toEqual([]);
    const { envelope } = json as unknown as ReceiptDetail;
    const statement = JSON.parse(Buffer.from(envelope.payload, "base64").toString()) as {
      subject: { digest: { sha256: string } }[];
    };
    expect(statement.subject[0]?.digest.sha256).toBe(history.backups[0]?.sha256);
  });

  test("its bundle verifies with keys from elsewhere", async () => {
    const { status, json, body, headers } = await auditor.get(`/api/receipts/${id()}/bundle`);
    expect(status).toBe(200);
    expect([...Value.Errors(ReceiptBundle, json)]).toEqual([]);
    expect(headers["content-disposition"]).toBe(`attachment; filename="${id()}.json"`);
    const { verdict, checks } = await verifyReceipt({
      bundle: parseBundle(body),
      publicKey: parsePublicKeyWire(history.agent.publicKeyWire),
      logKey: parseVerifierKey(history.agent.log.verifier_key),
      ciphertextSha256: history.backups[0]?.sha256,
    });
    expect(checks.filter(({ result }) => result !== "held")).toEqual([]);
    expect(verdict).toBe("true");
  });

  test("its sigstore bundle is one to sigstore's own library", async () => {
    const { status, json } = await auditor.get(`/api/receipts/${id()}/bundle?format=sigstore`);
    expect(status).toBe(200);
    const key = createPublicKey({
      key: Buffer.concat([
        Buffer.from("302a300506032b6570032100", "hex"),
        Buffer.from(history.agent.publicKeyWire, "base64"),
      ]),
      format: "der",
      type: "spki",
    });
    const pem = key.export({ format: "pem", type: "spki" }).toString();
    const verifier = new Verifier(
      toTrustMaterial(
        { mediaType: "", certificateAuthorities: [], ctlogs: [], timestampAuthorities: [], tlogs: [] },
        () => ({ publicKey: createPublicKey(pem), validFor: () => true }),
      ),
      { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0 },
    );
    const entity = toSignedEntity(bundleFromJSON(json));
    expect(() => verifier.verify(entity)).not.toThrow();
    const forged = structuredClone(json) as { dsseEnvelope: { payload: string } };
    forged.dsseEnvelope.payload = Buffer.from("{}").toString("base64");
    expect(() => verifier.verify(toSignedEntity(bundleFromJSON(forged)))).toThrow();
  });

  test("its .tlog-proof proves the leaf", async () => {
    const { json } = await auditor.get(`/api/receipts/${id()}/bundle`);
    const { status, body } = await auditor.get(`/api/receipts/${id()}/bundle?format=tlog-proof`);
    expect(status).toBe(200);
    const proof = parseTlogProof(body.toString());
    expect(formatTlogProof(proof)).toBe(body.toString());
    const head = await openCheckpoint(proof.checkpoint, parseVerifierKey(history.agent.log.verifier_key));
    const { leaf_hash } = (await auditor.get(`/api/receipts/${id()}`)).json as unknown as ReceiptDetail;
    const { leaf } = json as unknown as { leaf: object };
    expect(leaf).toMatchObject({ id: id() });
    verifyInclusion({
      leafIndex: proof.index,
      treeSize: head.size,
      leafHash: Buffer.from(leaf_hash, "hex"),
      rootHash: head.rootHash,
      hashes: proof.hashes,
    });
    expect(toHex(leafHash(Buffer.from(leafBytes(leaf))))).toBe(leaf_hash);
  });

  test("another format is 400", async () => {
    const answer = await auditor.get(`/api/receipts/${id()}/bundle?format=pdf`);
    expect([answer.status, answer.json["error"]]).toEqual([400, "invalid_request"]);
  });
});

test("another organisation's receipts are not found, and operators cannot read any", async () => {
  const id = history.backups[0]?.receipts.backup ?? "";
  const operator = await service.signIn(null);
  for (const path of [`/api/orgs/${org.id}/receipts`, `/api/receipts/${id}`, `/api/receipts/${id}/bundle`]) {
    const refused = await stranger.get(path);
    expect([refused.status, refused.json["error"]], path).toEqual([404, "not_found"]);
    expect((await operator.get(path)).status, path).toBe(403);
    expect((await service.call({ method: "GET", path })).status, path).toBe(401);
  }
  expect((await auditor.get("/api/receipts/rcpt_01k0000000e0000000000000000")).status).toBe(404);
  expect((await auditor.get("/api/receipts/1")).status).toBe(404);
});

/**
 * RFC 8785 of a flat object of ASCII strings and a small number: its members in order, without
 * white space.
 */
function leafBytes(leaf: object): string {
  return JSON.stringify(Object.fromEntries(Object.entries(leaf).toSorted(([a], [b]) => (a < b ? -1 : 1))));
}

describe("for the agent that restores a backup which another one made", () => {
  const of = (id: string, by: TestAgent) => by.get(`/v1/backups/${id}/receipt`);

  test("its maker's receipt comes with its proof, and is true under the maker's key and the log's", async () => {
    const [made] = history.backups;
    const tester = await service.attach(org);
    expect((await of(made?.id ?? "", tester)).status).toBe(403);
    await service.pool.query("update sources set test_agent_id = $2 where id = $1", [
      history.sourceId,
      tester.id,
    ]);
    const answer = await of(made?.id ?? "", tester);
    expect(answer.status, answer.body.toString()).toBe(200);
    expect([...Value.Errors(MakersReceipt, answer.json)]).toEqual([]);
    const { receipt, rotations } = answer.json as unknown as MakersReceipt;
    expect(rotations).toEqual([]);
    const bundle = parseBundle(JSON.stringify(receipt));
    const verified = await verifyReceipt({
      bundle,
      publicKey: parsePublicKeyWire(history.agent.publicKeyWire),
      logKey: parseVerifierKey(bundle.log.verifier_key),
    });
    expect(verified.verdict).toBe("true");
    expect(verified.statement?.predicate.backup_id).toBe(made?.id);
    expect(bundle.leaf.id).toBe(made?.receipts.backup);
    await service.pool.query("update sources set test_agent_id = null where id = $1", [history.sourceId]);
  });

  test("there is none of a backup that nobody made, and none for another organisation", async () => {
    const outsider = await service.attach(await service.addOrg());
    expect((await of(history.backups[0]?.id ?? "", outsider)).status).toBe(404);
    expect((await of(newId("backup"), history.agent)).status).toBe(404);
  });
});
