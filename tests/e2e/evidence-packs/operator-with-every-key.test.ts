import { createHash } from "node:crypto";
import { parsePublicKeyWire, parseVerifierKey, type Predecessor, sshFingerprint } from "@attestore/proof";
import { describe, expect, test } from "vitest";
import { sizesToCompare } from "../../../packages/verifier/src/pack/files/log-sizes.ts";
import { answerOfPacks } from "../../../packages/verifier/src/pack/answer-of-packs.ts";
import type { PackOutcome } from "../../../packages/verifier/src/pack/verify-pack.ts";
import { verifyPackFile } from "../../../packages/verifier/src/pack/verify-pack-file.ts";
import { openFileSource } from "../../../packages/verifier/src/zip/file-source.ts";
import {
  restoreTestStatement as restoreTestOf,
  signedEnvelope,
} from "../../../packages/orchestrator/test/log/signed-receipt.ts";
import { type History, makeHistory } from "../../../packages/orchestrator/test/history.ts";
import type { TestAgent } from "../../../packages/orchestrator/test/service.ts";
import { editJson, emit, filesOf, save, withManifest, writeZip } from "../harness/packs.ts";
import { idsOf, makeGoodPack, pinned } from "./good-pack.ts";

const { organisation, file, verify } = await makeGoodPack();

describe("a pack made by an operator who has every key of the service", () => {
  const failure = () => ({ kind: "backup_failed", occurred_at: new Date().toISOString(), detail: {} });

  /**
   * Makes restore tests' receipts that follow on each other, as the host does; `submit` is what the
   * operator may refuse.
   */
  function hostOf(agent: TestAgent, history: History) {
    const key = parsePublicKeyWire(agent.publicKeyWire);
    const signer = { ...agent, publicKey: key.bytes, keyFingerprint: sshFingerprint(key) };
    const [{ id, sha256 } = expect.unreachable()] = history.backups;
    return (previous: string | null, result: "passed" | "failed" = "passed") => {
      const body = signedEnvelope(
        signer,
        restoreTestOf(
          signer,
          { id, sha256, sourceId: history.sourceId, sizeBytes: 64 },
          { previous_receipt_sha256: previous, result, finished_at: new Date().toISOString() },
        ),
      );
      const { payload } = JSON.parse(String(body)) as { payload: string };
      const digest = createHash("sha256").update(Buffer.from(payload, "base64")).digest("hex");
      const submit = async (): Promise<void> => {
        const headers = { "content-type": "application/json" };
        const sent = await agent.post("/v1/receipts", undefined, { body, headers });
        expect(sent.status, String(sent.body)).toBe(201);
      };
      return { digest, submit };
    };
  }

  test(`with 64 random bytes as a backup, signed with the operator's own key, is "cannot tell"`, async () => {
    const { service } = organisation;
    const org = await service.addOrg("Made up");
    const from = new Date().toISOString();
    const { agent } = await makeHistory(service, org);
    const owner = await service.signIn(org);
    await save(file("made.zip"), (await owner.get(`/api/orgs/${org.id}/evidence?from=${from}`)).body);
    const outcome = await verify(file("made.zip"), parseVerifierKey(agent.log.verifier_key), []);
    expect([outcome.verdict, idsOf(outcome, "not_checked")]).toEqual(["cannot_tell", ["agent_keys"]]);
    expect(outcome.basis?.agent_keys).toMatchObject([{ agent_id: agent.id, from: "operator", receipts: 2 }]);
    const compared = await verify(file("made.zip"), parseVerifierKey(agent.log.verifier_key), [agent]);
    expect(compared.verdict).toBe("true");
  });

  test("shows a gap where a receipt is not in the period, and the log took it afterwards", async () => {
    const { service } = organisation;
    const org = await service.addOrg("Held back");
    const owner = await service.signIn(org);
    const from = new Date().toISOString();
    const history = await makeHistory(service, org);
    const make = hostOf(history.agent, history);
    const first = make(null);
    const heldBack = make(first.digest, "failed");
    const next = make(heldBack.digest);
    await first.submit();
    await next.submit();
    const to = new Date().toISOString();
    await heldBack.submit();
    const verdictOf = async (name: string, query: string) => {
      await save(file(name), (await owner.get(`/api/orgs/${org.id}/evidence?${query}`)).body);
      const logKey = parseVerifierKey(history.agent.log.verifier_key);
      const outcome = await verify(file(name), logKey, [history.agent]);
      return [outcome.verdict, idsOf(outcome, "not_checked"), outcome.summary?.totals.restore_tests.failed];
    };
    expect(await verdictOf("held-back.zip", `from=${from}&to=${to}`)).toEqual(["cannot_tell", ["chains"], 0]);
    expect(await verdictOf("with-it.zip", `from=${from}`)).toEqual(["true", [], 1]);
  });

  test("shows a gap where a receipt was refused at the boundary of two packs", async () => {
    const { service } = organisation;
    const org = await service.addOrg("Boundary");
    const owner = await service.signIn(org);
    const begin = new Date();
    const history = await makeHistory(service, org);
    const { agent } = history;
    const make = hostOf(agent, history);
    const first = make(null);
    await first.submit();
    const hour = Math.floor(Date.now() / 3_600_000) * 3_600_000;
    const others = Array.from({ length: 256 }, () => agent.post("/v1/events", failure()));
    await Promise.all(others);
    await emit(service, new Date(hour));
    // Signed, and never taken into the log.
    const refused = make(first.digest, "failed");
    const boundary = new Date();
    const second = make(refused.digest);
    await second.submit();
    const given = { logKey: parseVerifierKey(agent.log.verifier_key), keys: [pinned(agent)] };
    const take = async (name: string, query: string): Promise<string> =>
      save(file(name), (await owner.get(`/api/orgs/${org.id}/evidence?${query}`)).body);
    const [a, b] = [
      await take("a.zip", `from=${begin.toISOString()}&to=${boundary.toISOString()}`),
      await take("b.zip", `from=${boundary.toISOString()}`),
    ];
    expect((await verifyPackFile(a, given)).checks.filter(({ result }) => result !== "held")).toEqual([]);
    const outcome = await verifyPackFile(b, given);
    expect([outcome.verdict, idsOf(outcome, "not_checked")]).toEqual(["cannot_tell", ["chains"]]);
    // A chain without a gap: what the first receipt follows on is told of by its leaf, and by
    // nothing of its content.
    const honest = make(first.digest);
    const later_ = new Date();
    await honest.submit();
    const c = await take("c.zip", `from=${later_.toISOString()}`);
    expect((await verifyPackFile(c, given)).checks.filter(({ result }) => result !== "held")).toEqual([]);
    const files = await filesOf(c);
    const [path = ""] = [...files.keys()].filter((name) => name.startsWith("predecessors/"));
    const { leaf } = JSON.parse(String(files.get(path))) as Predecessor;
    expect([path, leaf.body_sha256]).toEqual([`predecessors/${leaf.id}.json`, first.digest]);
    // Together: one log that only grew, and what lies between their periods is told.
    const join = async (...paths: string[]) => {
      const sizes = await sizesToCompare(paths.map((path) => () => openFileSource(path)));
      const outcomes: PackOutcome[] = [];
      for (const each of paths) outcomes.push(await verifyPackFile(each, { ...given, sizes }));
      return outcomes;
    };
    const resultsOf = (outcomes: PackOutcome[]) =>
      answerOfPacks(outcomes, false).joined.map(({ verdict, checks }) => [
        verdict,
        ...checks.map(({ id, result }) => `${id} ${result}`),
      ]);
    expect(resultsOf(await join(b, a))).toEqual([
      ["true", "one_log held", "periods held", "overlaps held", "settings held"],
    ]);
    const apart = await join(a, c);
    expect(resultsOf(apart)).toEqual([
      ["cannot_tell", "one_log held", "periods not_checked", "overlaps held", "settings held"],
    ]);
    const twice = answerOfPacks(await join(a, await take("whole.zip", `from=${begin.toISOString()}`)), false);
    expect(twice.joined[0]?.checks[1]?.detail).toContain("; in two packs: ");
    const [older = expect.unreachable(), newer = expect.unreachable()] = apart;
    const size = older.manifest?.log.tree_size ?? 0;
    const forked = [older, { ...newer, roots: new Map([...(newer.roots ?? []), [size, "00".repeat(32)]]) }];
    expect(resultsOf(forked)).toEqual([
      ["false", "one_log failed", "periods not_checked", "overlaps held", "settings held"],
    ]);
    const unrelated = [older, { ...newer, roots: new Map([[newer.manifest?.log.tree_size ?? 0, "00"]]) }];
    expect(resultsOf(unrelated)).toEqual([
      ["cannot_tell", "one_log not_checked", "periods not_checked", "overlaps held", "settings held"],
    ]);
    // The leaf is the log's: another one in its place has no proof.
    const forged = new Map(files);
    editJson<Predecessor>(forged, path, (each) => {
      each.leaf.body_sha256 = refused.digest;
    });
    await writeZip(
      file("d.zip"),
      await withManifest(forged, (origin, text) => service.signer.signText(origin, text)),
    );
    const failed = await verifyPackFile(file("d.zip"), given);
    expect([failed.verdict, idsOf(failed, "failed")]).toEqual(["false", ["chains"]]);
  });
});
