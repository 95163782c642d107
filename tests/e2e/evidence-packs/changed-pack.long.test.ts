import { isDeepStrictEqual } from "node:util";
import { formatSummary, indexPage, type Manifest, type PackAgents, type PackPolicy } from "@attestore/proof";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FORGERIES, later } from "../harness/forgeries.ts";
import { editJson, filesOf, MINUTE_MS, save, withManifest, writeZip } from "../harness/packs.ts";
import { idsOf, makeGoodPack } from "./good-pack.ts";

const { organisation, good, logKey, file, verify, verifyChanged, verifyForged } = await makeGoodPack();

describe("a pack changed by somebody who has only the file", () => {
  test("is false after any changed byte, and the file is named", async () => {
    for (const [path, bytes] of good) {
      const changed = Buffer.from(bytes);
      const at = Math.floor(bytes.length / 2);
      changed[at] = (changed[at] ?? 0) ^ 1;
      const outcome = await verifyChanged(new Map(good).set(path, changed));
      expect(outcome.verdict, path).toBe("false");
      const detail = outcome.checks.find(({ id }) => id === "manifest")?.detail ?? "";
      if (!path.startsWith("manifest")) expect(detail, path).toContain(`${path} differs from the file`);
      else expect(idsOf(outcome, "failed"), path).toContainEqual(expect.stringMatching(/^manifest/));
    }
  });

  test("is false with a missing, an added or a repeated file, and the file is named", async () => {
    for (const path of good.keys()) {
      const files = new Map(good);
      files.delete(path);
      const outcome = await verifyChanged(files);
      expect(outcome.verdict, path).toBe("false");
      expect(
        outcome.checks
          .filter(({ result }) => result === "failed")
          .map(({ detail }) => detail)
          .join(),
        path,
      ).toContain(path);
    }
    const outcome = await verifyChanged(new Map(good).set("receipts/more.txt", Buffer.from("x")));
    expect([outcome.verdict, idsOf(outcome, "failed")]).toEqual(["false", ["manifest"]]);
  });

  test("is false if its manifest was changed to agree, because the signature does not match", async () => {
    const files = new Map(good);
    files.set("README.txt", Buffer.from("all is well"));
    const outcome = await verifyChanged(await withManifest(files));
    expect([outcome.verdict, idsOf(outcome, "failed")]).toEqual(["false", ["manifest_signature"]]);
  });
});

describe("a pack changed and signed again by the service", () => {
  test.each(FORGERIES)("is false with %s: %j", async (_what, failing, forge) => {
    const files = new Map(good);
    forge(files);
    const outcome = await verifyForged(files);
    expect(outcome.verdict).toBe("false");
    expect(idsOf(outcome, "failed")).toEqual(failing);
  });
});

test("a pack that lists a source as younger than its log entries leaves open when its backups had to begin", async () => {
  const files = new Map(good);
  const { exported_at, generator } = JSON.parse(String(good.get("manifest.json"))) as Manifest;
  const verdictOf = async (created_at: string): Promise<unknown> => {
    editJson<PackPolicy>(files, "policy.json", ({ sources }) => {
      for (const source of sources) source.created_at = created_at;
    });
    const summary = (await verifyForged(files)).summary ?? expect.unreachable();
    files.set("summary.json", Buffer.from(formatSummary(summary)));
    files.set("index.html", Buffer.from(indexPage(summary, generator)));
    const outcome = await verifyForged(files);
    expect(idsOf(outcome, "failed")).toEqual([]);
    return [outcome.verdict, idsOf(outcome, "not_checked")];
  };
  expect(await verdictOf(exported_at)).toEqual(["true", []]);
  expect(await verdictOf(later(exported_at, 61 * MINUTE_MS))).toEqual(["cannot_tell", ["summary"]]);
});

test('a pack with an agent whose key is not in the log is "cannot tell" without that key from its host', async () => {
  await save(file("later.zip"), await organisation.pack(`from=${new Date().toISOString()}`));
  const files = await filesOf(file("later.zip"));
  editJson<PackAgents>(files, "keys/agents.json", ({ agents: [agent = expect.unreachable()] }) => {
    files.delete(`events/${agent.attached_event_id}.json`);
    agent.attached_event_id = null;
  });
  const { signer } = organisation.service;
  await writeZip(
    file("unbound.zip"),
    await withManifest(files, (origin, text) => signer.signText(origin, text)),
  );
  const without = await verify(file("unbound.zip"), logKey, []);
  expect([without.verdict, idsOf(without, "not_checked")]).toEqual(["cannot_tell", ["agents", "agent_keys"]]);
  expect((await verify(file("unbound.zip"))).verdict).toBe("true");
});

/** The same bytes, or the same JSON with other space around its parts. */
function saysTheSame(one: Buffer, other: Buffer): boolean {
  if (one.equals(other)) return true;
  try {
    return isDeepStrictEqual(JSON.parse(one.toString()), JSON.parse(other.toString()));
  } catch {
    return false;
  }
}

test("the verifier survives noise in any file, and a changed entry of the log is always false", async () => {
  const paths = [...good.keys()].filter((path) => !path.startsWith("manifest"));
  const noise = fc.record({
    path: fc.constantFrom(...paths),
    at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 4 }),
    cut: fc.nat(4),
  });
  await fc.assert(
    fc.asyncProperty(noise, async ({ path, at, bytes, cut }) => {
      const whole = good.get(path) ?? Buffer.alloc(0);
      const place = Math.floor(at * whole.length);
      const changed = Buffer.concat([whole.subarray(0, place), bytes, whole.subarray(place + cut)]);
      const outcome = await verifyForged(new Map(good).set(path, changed));
      const isLogged = /^(receipts|events|log)\//.test(path) && !saysTheSame(whole, changed);
      if (isLogged) expect(outcome.verdict, `${path} at ${place}`).toBe("false");
    }),
    { numRuns: 50 },
  );
});
