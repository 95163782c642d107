import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { leafHash, formatLeaf, toHex, utf8 } from "@attestore/proof";
import { GenerationsLog } from "../../proof/test/generations-fixture.ts";
import { ids } from "../../proof/test/receipt-fixture.ts";
import { attestoreVerify, checksOf, report, type JsonReport } from "./cli.ts";
import { log, otherLog, usualEvidence, vkey } from "./evidence.ts";
import { type Answers, logAnswers, LogService, TOKEN } from "./log-service.ts";

const { files, passed, envelope, key, bundle } = await usualEvidence();
const honest = logAnswers(bundle, log, 300);
const service = new LogService(files.directory, honest);
const url = await service.listen();
afterAll(async () => {
  await service.close();
  files.remove();
});
beforeEach(() => {
  service.answers = honest;
  service.raw = null;
  service.requests = [];
});

const prove = ["--prove", url, "--ca", service.caFile, "--key", key, "--log-key", vkey];
const env = { ATTESTORE_TOKEN: TOKEN };
const ask = (...args: string[]): Promise<JsonReport> => report([...args, ...prove], { env });
const lie = (change: Partial<Answers>): void => {
  service.answers = { ...honest, ...change };
};

/** The log has lost all but `left` entries since, and went on. */
async function rolledBack(left: number, named: readonly number[]): Promise<Partial<Answers>> {
  const { leaf, inclusion_proof } = bundle;
  const index = inclusion_proof.log_index;
  const after = new GenerationsLog(log, 20, { leaf, index });
  const lost = named.map((size) => ({ size, rootHash: after.root(size) }));
  await after.rollBack(left, lost);
  for (let n = 0; n < 20; n++) after.append(leafHash(utf8(`a new leaf ${n}`)));
  const checkpoint = await after.checkpoint();
  return {
    head: async () => ({ log_id: after.origin, tree_size: after.size, checkpoint }),
    proof: async (_leaf, to, from) => ({
      inclusion: { log_index: index, tree_size: to, hashes: after.inclusion(index, to).map(toHex) },
      consistency: { from, to, hashes: after.consistency(from, to).map(toHex) },
      checkpoint: await after.checkpoint(to),
    }),
    generations: async () => ({ began: after.events, lost: [] }),
  };
}

describe("a bundle, proven again in a log that lost entries since", () => {
  const lineOf = async () => {
    const answer = await ask(passed);
    const line = answer.receipts[0]?.checks.find(({ id }) => id === "generation");
    return { verdict: answer.verdict, result: line?.result, detail: line?.detail ?? "" };
  };

  it("is true if its checkpoint was left, and the verdict names the generation and the event", async () => {
    lie(await rolledBack(11, [20]));
    const { verdict, result, detail } = await lineOf();
    expect({ verdict, result }).toEqual({ verdict: "true", result: "held" });
    expect(detail).toMatch(/generation 2 began with evt_\w+ .*11 entries left, 1 lost head named/);
    expect(service.requests).toContain("/v1/log/generations?tree_size=11");
  });

  it("cannot be told from a checkpoint that was lost, which the answer says whether an event names", async () => {
    lie(await rolledBack(8, [11, 20]));
    const named = await lineOf();
    expect(named).toMatchObject({ verdict: "cannot_tell", result: "not_checked" });
    expect(named.detail).toContain(
      "lost the head of 11 entries that proves this receipt, and its events name it",
    );
    lie(await rolledBack(8, [20]));
    expect((await lineOf()).detail).toContain("and none of its events names it");
  });

  it("is false if the events of the generations do not hold, or were left out", async () => {
    const answers = await rolledBack(8, [11]);
    lie({ ...answers, generations: async () => ({ began: [{}], lost: [] }) });
    expect((await lineOf()).verdict).toBe("false");
    const other = await rolledBack(9, [11]);
    const began = await other.generations?.(11);
    lie({ ...answers, generations: async () => ({ ...(began as object), lost: [{}] }) });
    expect((await lineOf()).verdict).toBe("false");
    lie({ ...answers, generations: async () => ({ began: [], lost: [] }) });
    expect((await lineOf()).verdict).toBe("false");
  });
});

describe("a bundle, proven again", () => {
  it("is still in the log, which has only grown", async () => {
    const answer = await ask(passed);
    expect(answer).toMatchObject({ verdict: "true", exit_code: 0 });
    expect(checksOf(answer, "held").slice(-3)).toEqual([
      "current_checkpoint",
      "current_inclusion",
      "consistency",
    ]);
    const hash = toHex(leafHash(formatLeaf(bundle.leaf)));
    expect(service.requests).toEqual(["/v1/log/head", `/v1/log/proof?leaf=${hash}&tree_size=300&from=11`]);
  });

  it("is false when the log was rewritten since", async () => {
    const rewritten = structuredClone(bundle);
    rewritten.leaf.recorded_at = "2026-11-20T02:00:43.000Z";
    lie({ proof: logAnswers(rewritten, log, 300).proof });
    const answer = await ask(passed);
    expect(answer).toMatchObject({ verdict: "false", exit_code: 1 });
    expect(checksOf(answer, "failed")).toEqual(["current_inclusion", "consistency"]);
  });

  it("is false when the log shrank", async () => {
    lie({ head: logAnswers(bundle, log, 6).head });
    const answer = await ask(passed);
    expect(answer.exit_code).toBe(1);
    expect(checksOf(answer, "failed")).toEqual(["consistency"]);
  });

  it("is false when another key signed the present checkpoint", async () => {
    lie({ proof: logAnswers(bundle, otherLog, 300).proof });
    const answer = await ask(passed);
    expect(answer.exit_code).toBe(1);
    expect(checksOf(answer, "failed")).toEqual(["current_checkpoint"]);
  });

  it.each(["inclusion", "consistency"] as const)("is false if its %s proof is invalid", async (part) => {
    lie({
      proof: async (...asked) => {
        const proof = (await honest.proof(...asked)) as {
          inclusion: { hashes: string[] };
          consistency: { hashes: string[] };
        };
        proof[part].hashes.reverse();
        return proof;
      },
    });
    const answer = await ask(passed);
    expect(answer.exit_code).toBe(1);
    expect(checksOf(answer, "failed")).toEqual([part === "inclusion" ? "current_inclusion" : part]);
  });

  it("is false when consistency is left out of the answer", async () => {
    lie({
      proof: async (...asked) => ({ ...((await honest.proof(...asked)) as object), consistency: null }),
    });
    expect(checksOf(await ask(passed), "failed")).toEqual(["consistency"]);
  });

  it.each([
    ["noise", () => Promise.resolve("noise")],
    ["no head", () => Promise.resolve({ hello: 1 })],
    ["nothing", () => Promise.resolve(undefined)],
    ["too much", () => Promise.resolve("x".repeat(2_000_000))],
  ])("cannot be told when the service answers %s", async (_what, head) => {
    lie({ head });
    const answer = await ask(passed);
    expect(answer).toMatchObject({ verdict: "cannot_tell", exit_code: 2 });
    expect(checksOf(answer, "not_checked")).toContain("current_checkpoint");
  });

  it("cannot be told without the log's key", async () => {
    const answer = await report([passed, "--prove", url, "--ca", service.caFile, "--key", key], { env });
    expect(answer.exit_code).toBe(2);
    expect(service.requests).toEqual([]);
  });
});

describe("a receipt's id", () => {
  it("is looked up, and the returned bundle is verified locally", async () => {
    const answer = await ask(ids.receipt);
    expect(answer).toMatchObject({ verdict: "true", receipts: [{ receipt: ids.receipt, result: "passed" }] });
    expect(service.requests).toEqual([`/api/receipts/${ids.receipt}/bundle`]);
  });

  it("is false when the bundle that comes back was tampered with", async () => {
    const changed = structuredClone(bundle);
    changed.inclusion_proof.log_index = 4;
    lie({ bundle: () => changed });
    const answer = await ask(ids.receipt);
    expect(answer.exit_code).toBe(1);
    expect(checksOf(answer, "failed")).toEqual(["inclusion"]);
  });

  it('is "cannot tell" if another receipt comes back, even a true one', async () => {
    const answer = await ask("rcpt_01jd3gqq8zb14p1s0a5r2h0y8g");
    expect(answer.exit_code).toBe(2);
    expect(answer.receipts[0]?.error?.code).toBe("service_refused");
  });

  it('is "cannot tell" if the service does not have it, and without --prove it is a file name', async () => {
    lie({ bundle: () => undefined });
    expect((await ask(ids.receipt)).exit_code).toBe(2);
    const { code, stdout } = await attestoreVerify([ids.receipt, "--key", key]);
    expect(code).toBe(2);
    expect(stdout).toContain("no such file");
  });
});

it.each(["/", "//", "/behind/a/proxy//"])("an address that ends in %s is of the same host", async (path) => {
  const at = ["--prove", `${url}${path}`, "--ca", service.caFile, "--key", key, "--log-key", vkey];
  await report([ids.receipt, ...at], { env });
  const prefix = path.replace(/\/+$/, "");
  expect(service.requests).toEqual([`${prefix}/api/receipts/${ids.receipt}/bundle`]);
});

describe("a service that cannot be trusted or reached", () => {
  it("is not believed under another certificate authority", async () => {
    const answer = await report([ids.receipt, "--prove", url, "--key", key, "--log-key", vkey], { env });
    expect(answer.exit_code).toBe(2);
    expect(answer.receipts[0]?.error?.code).toBe("network");
    expect(service.requests).toEqual([]);
  });

  it('that refuses the token gives "cannot tell", and the token is not printed', async () => {
    const { code, stdout, stderr } = await attestoreVerify([ids.receipt, ...prove], {
      env: { ATTESTORE_TOKEN: "ats_wrong" },
    });
    expect(code).toBe(2);
    expect(stdout).toContain("answered 401 (unauthenticated)");
    expect(stdout + stderr).not.toContain("ats_wrong");
  });

  it.each([
    [
      "in another protocol",
      "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n",
    ],
    ["that more is to come, and nothing more", "HTTP/1.1 103 Early Hints\r\n\r\n"],
    ["with half an answer", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"],
    ["with nothing", ""],
  ])("that answers %s leaves the question open", async (_what, raw) => {
    service.raw = raw;
    for (const receipt of [ids.receipt, passed]) {
      const answer = await ask(receipt);
      expect(answer).toMatchObject({ verdict: "cannot_tell", exit_code: 2 });
    }
  });

  it('that cannot be reached gives "cannot tell"', async () => {
    const gone = ["--prove", "https://localhost:1", "--key", key, "--log-key", vkey];
    expect((await report([passed, ...gone], { env })).exit_code).toBe(2);
  });
});

it("a bare envelope cannot be looked up, and is not true where the log was asked for", async () => {
  const answer = await ask(envelope);
  expect(answer.exit_code).toBe(2);
  expect(service.requests).toEqual([]);
});
