import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canonicalJson } from "./harness/canonical-json.ts";
import { openCheckpoint, parseVerifierKey } from "./harness/checkpoint.ts";
import { expectError, expectRefusal } from "./harness/errors.ts";
import { isConsistent, leafHash, rootFromInclusion, rootOf } from "./harness/merkle.ts";
import { api, exchange } from "./harness/https.ts";
import { attach, createOrganisation, type WireAgent } from "./harness/organisation.ts";
import { TIMESTAMP } from "./harness/patterns.ts";
import { startServer, type Server } from "./harness/server.ts";
import type { EventAccepted } from "./harness/statements.ts";

interface Head {
  log_id: string;
  tree_size: number;
  root_hash: string;
  timestamp: string;
  checkpoint: string;
}

interface Proof {
  inclusion: { log_index: number; tree_size: number; hashes: string[] };
  consistency: { from: number; to: number; hashes: string[] } | null;
  checkpoint: string;
}

let server: Server;
/** Several agents of one organisation: each has 600 calls a minute. */
let agents: WireAgent[];
let stranger: WireAgent;

/**
 * Leaf hashes by index, rebuilt from the answers' leaves; the first entries are the service's own.
 */
const leaves: string[] = [];
/** Every head seen: size to root. */
const heads = new Map<number, string>();

let turn = 0;
function next(): WireAgent {
  const agent = agents[turn++ % agents.length];
  if (!agent) throw new Error("no agent");
  return agent;
}

function keepHead(checkpoint: string): { size: number; rootHash: string } {
  const agent = next();
  const opened = openCheckpoint(checkpoint, agent.log.verifier_key);
  expect(opened.origin).toBe(agent.log.origin);
  const before = heads.get(opened.size);
  if (before !== undefined) expect(opened.rootHash, `two roots of size ${opened.size}`).toBe(before);
  heads.set(opened.size, opened.rootHash);
  return opened;
}

async function head(): Promise<Head> {
  const answer = await next().call("GET", "/v1/log/head");
  expect(answer.status, answer.body.toString()).toBe(200);
  const read = answer.json<Head>();
  keepHead(read.checkpoint);
  return read;
}

async function proof(leaf: number | string, treeSize: number, from?: number): Promise<Proof> {
  const query = `leaf=${leaf}&tree_size=${treeSize}${from === undefined ? "" : `&from=${from}`}`;
  const answer = await next().call("GET", `/v1/log/proof?${query}`);
  expect(answer.status, `${query} ${answer.body.toString()}`).toBe(200);
  return answer.json<Proof>();
}

async function append(n: number): Promise<void> {
  const body = { kind: "backup_failed", occurred_at: "2026-11-21T08:00:00.000Z", detail: { n } };
  const answer = await next().call("POST", "/v1/events", body);
  expect(answer.status, answer.body.toString()).toBe(201);
  const placed = answer.json<EventAccepted>();
  leaves[placed.log_index] = leafHash(canonicalJson(placed.leaf));
  keepHead(placed.checkpoint);
}

/**
 * Entries that the service wrote itself are known only by hash, which the proofs of others must
 * agree on.
 */
const ENTRIES = 300;

beforeAll(async () => {
  server = await startServer();
  const org = await createOrganisation(server);
  agents = await Promise.all(Array.from({ length: 6 }, () => attach(org)));
  stranger = await attach(await createOrganisation(server));
});
afterAll(() => server.remove());

describe("the head of the log", () => {
  it("is a signed checkpoint that agrees with the fields", async () => {
    const answer = await head();
    const agent = next();
    expect(Object.keys(answer).toSorted()).toEqual(
      ["checkpoint", "log_id", "root_hash", "timestamp", "tree_size"].toSorted(),
    );
    const checkpoint = openCheckpoint(answer.checkpoint, agent.log.verifier_key);
    expect(answer.log_id).toBe(agent.log.origin);
    expect(answer.tree_size).toBe(checkpoint.size);
    expect(answer.root_hash).toBe(checkpoint.rootHash);
    expect(answer.timestamp).toMatch(TIMESTAMP);
    expect(agent.log.origin).toMatch(new RegExp(`^[^\\s+/]+/${agent.orgId}$`));
    expect(parseVerifierKey(agent.log.verifier_key).name).toBe(agent.log.origin);
  });

  it("counts the attaches of agents, which are events in the log", async () => {
    expect((await head()).tree_size).toBeGreaterThanOrEqual(agents.length);
  });

  it("differs between organisations, and so does the name of the key", async () => {
    expect(stranger.log.origin).not.toBe(next().log.origin);
    expect(() => openCheckpoint("", stranger.log.verifier_key)).toThrow();
  });
});

describe("a log that grew past one tile", () => {
  let first = 0;
  let size = 0;

  beforeAll(async () => {
    first = (await head()).tree_size;
    // One at a time around the sizes that are awkward for trees and tiles, so that each has a head;
    // else many at once, so that batches form.
    const alone = (n: number): boolean => n < 68 || Math.abs(n - 128) < 4 || Math.abs(n - 256) < 4;
    for (let n = 0; n < ENTRIES;) {
      const batch = [append(n++)];
      while (batch.length < 20 && n < ENTRIES && !alone(first + n)) batch.push(append(n++));
      await Promise.all(batch);
    }
    size = (await head()).tree_size;
  });

  it("holds every accepted entry once, without a gap", () => {
    expect(size).toBe(first + ENTRIES);
    for (let index = first; index < size; index++) expect(leaves[index], String(index)).toBeDefined();
    expect(new Set(leaves.slice(first)).size).toBe(ENTRIES);
  });

  it("proves the inclusion of its leaves in trees of many sizes, by index and by hash", async () => {
    const sizes = [...heads.keys()].filter((n) => n > first).toSorted((a, b) => a - b);
    const awkward = [first + 1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, size];
    for (const treeSize of awkward) expect(sizes, "a head of every awkward size").toContain(treeSize);
    const samples = [...awkward, ...sizes.filter((_, n) => n % 7 === 0)];
    for (const treeSize of new Set(samples)) {
      const roots = new Set<string>();
      for (const index of new Set([first, Math.floor((first + treeSize - 1) / 2), treeSize - 1])) {
        const hash = leaves[index] ?? "";
        for (const leaf of [index, hash]) {
          const { inclusion, consistency } = await proof(leaf, treeSize);
          expect(inclusion).toMatchObject({ log_index: index, tree_size: treeSize });
          expect(consistency).toBeNull();
          roots.add(rootFromInclusion(hash, index, treeSize, inclusion.hashes));
        }
      }
      expect(roots).toEqual(new Set([heads.get(treeSize)]));
    }
  });

  it("gives a right proof or none for a size whose head it never signed", async () => {
    const missing = Array.from({ length: size - first }, (_, n) => first + n + 1).filter(
      (n) => !heads.has(n),
    );
    expect(missing.length, "batches formed").toBeGreaterThan(0);
    for (const treeSize of missing.slice(0, 10)) {
      const path = `/v1/log/proof?leaf=${first}&tree_size=${treeSize}`;
      const answer = await next().call("GET", path);
      if (answer.status !== 200) expectError(answer, "not_found");
      else expect(answer.json<Proof>().inclusion.tree_size).toBe(treeSize);
    }
  });

  it("has the root that its leaves result in", async () => {
    // The service's own first entries come as siblings: leaf 1's proof begins with leaf 0, and so
    // on.
    for (let index = 0; index < first; index++) {
      const sibling = index % 2 === 0 ? index + 1 : index - 1;
      leaves[index] = (await proof(sibling, size)).inclusion.hashes[0] ?? "";
    }
    for (const [treeSize, root] of heads)
      expect(rootOf(leaves.slice(0, treeSize)), String(treeSize)).toBe(root);
    for (let index = 0; index < first; index++) {
      const { inclusion } = await proof(leaves[index] ?? "", size);
      expect(inclusion.log_index).toBe(index);
    }
  });

  it("proves that each head that it showed extends every earlier one", async () => {
    const sizes = [...heads.keys()].filter((n) => n > 0).toSorted((a, b) => a - b);
    expect(sizes.length).toBeGreaterThan(40);
    const picked = new Set([
      ...sizes.slice(0, 20),
      ...sizes.slice(-8),
      ...sizes.filter((_, n) => n % 9 === 0),
    ]);
    const pairs = [...picked].flatMap((from) =>
      [...picked].filter((to) => to >= from).map((to) => [from, to] as const),
    );
    const broken: string[] = [];
    const queue = [...pairs];
    const worker = async (): Promise<void> => {
      for (let pair = queue.pop(); pair; pair = queue.pop()) {
        const [from, to] = pair;
        const { consistency } = await proof(to - 1, to, from);
        expect(consistency).toMatchObject({ from, to });
        const held = isConsistent(
          from,
          to,
          heads.get(from) ?? "",
          heads.get(to) ?? "",
          consistency?.hashes ?? [],
        );
        if (!held) broken.push(`${from}..${to}`);
      }
    };
    await Promise.all(Array.from({ length: 6 }, worker));
    expect(broken).toEqual([]);
  });

  it("sends a checkpoint of that tree or of a later one with each proof", async () => {
    const { checkpoint, inclusion } = await proof(first, size);
    const opened = keepHead(checkpoint);
    expect(opened.size).toBe(size);
    expect(rootFromInclusion(leaves[first] ?? "", first, size, inclusion.hashes)).toBe(opened.rootHash);
  });

  it("shows the same heads after a crash of the service", async () => {
    const before = await head();
    await server.kill();
    await server.start();
    const after = await head();
    expect(after.tree_size).toBe(before.tree_size);
    expect(after.root_hash).toBe(before.root_hash);
    await append(ENTRIES);
    const { consistency } = await proof(0, size + 1, size);
    expect(
      isConsistent(
        size,
        size + 1,
        heads.get(size) ?? "",
        heads.get(size + 1) ?? "",
        consistency?.hashes ?? [],
      ),
    ).toBe(true);
    const fsck = await server.cli("fsck");
    expect(fsck.code, fsck.stdout + fsck.stderr).toBe(0);
  });

  it.each([
    ["no leaf", "tree_size=1"],
    ["no size", "leaf=0"],
    ["a size of nothing", "leaf=0&tree_size=0"],
    ["a negative leaf", "leaf=-1&tree_size=5"],
    ["a leaf in hexadecimal notation", "leaf=0x1&tree_size=5"],
    ["a leaf with a leading zero", "leaf=01&tree_size=5"],
    ["a hash in upper case", `leaf=${"AB".repeat(32)}&tree_size=5`],
    ["a fraction", "leaf=1.0&tree_size=5"],
    ["an exponent", "leaf=0&tree_size=1e1"],
    ["a blank", "leaf=%200&tree_size=5"],
    ["a leaf given twice", "leaf=0&leaf=1&tree_size=5"],
    ["a parameter that is not known", "leaf=0&tree_size=5&verbose=1"],
    ["an earlier size of nothing", "leaf=0&tree_size=5&from=0"],
    ["an empty parameter", "leaf=0&tree_size=5&from="],
  ])("refuses a query with %s", async (_what, query) => {
    expectError(await next().call("GET", `/v1/log/proof?${query}`), "invalid_request");
  });

  it.each([
    ["a leaf outside the tree", () => "leaf=5&tree_size=5"],
    ["a tree larger than the log", () => `leaf=0&tree_size=${size + 1000}`],
    ["a tree larger than any log", () => "leaf=0&tree_size=9007199254740991"],
    ["a number that JavaScript cannot hold", () => "leaf=0&tree_size=9999999999999999"],
    ["an earlier tree larger than the later", () => "leaf=0&tree_size=5&from=6"],
    ["a leaf that is none", () => `leaf=${"ab".repeat(32)}&tree_size=5`],
    ["a leaf that came later", () => `leaf=${leaves[size - 1]}&tree_size=${first}`],
  ])("has no proof for %s", async (_what, query) => {
    const answer = await next().call("GET", `/v1/log/proof?${query()}`);
    expectRefusal(answer);
    expectError(answer, "invalid_request", "not_found");
  });

  it("is served as C2SP tiles, with its leaves and their hashes", async () => {
    const { checkpoint, tree_size } = await head();
    const read = async (path: string): Promise<Buffer> => {
      const { token, orgId } = next();
      const answer = await exchange(server, { method: "GET", path: `/log/${orgId}/${path}`, token });
      expect(answer.status, `${path} ${answer.body.toString()}`).toBe(200);
      return answer.body;
    };
    const served = openCheckpoint((await read("checkpoint")).toString(), next().log.verifier_key);
    expect(served.size).toBeGreaterThanOrEqual(openCheckpoint(checkpoint, next().log.verifier_key).size);

    const entries: string[] = [];
    const hashes: string[] = [];
    for (let tile = 0; tile * 256 < tree_size; tile++) {
      const width = Math.min(256, tree_size - tile * 256);
      const name = `${String(tile).padStart(3, "0")}${width < 256 ? `.p/${width}` : ""}`;
      const bundle = await read(`tile/entries/${name}`);
      for (let at = 0; at < bundle.length;) {
        const length = bundle.readUInt16BE(at);
        entries.push(leafHash(bundle.subarray(at + 2, at + 2 + length)));
        at += 2 + length;
      }
      const tileHashes = await read(`tile/0/${name}`);
      expect(tileHashes).toHaveLength(width * 32);
      for (let n = 0; n < width; n++) hashes.push(tileHashes.subarray(n * 32, n * 32 + 32).toString("hex"));
    }
    expect(entries).toEqual(hashes);
    expect(entries).toEqual(leaves.slice(0, tree_size));
    const top = await read(`tile/1/000.p/${Math.floor(tree_size / 256)}`);
    expect(top.subarray(0, 32).toString("hex")).toBe(rootOf(leaves.slice(0, 256)));
  });

  it("is served as tiles only to its own organisation", async () => {
    const { orgId } = next();
    for (const token of [undefined, stranger.token]) {
      for (const path of ["checkpoint", "tile/0/000", "tile/entries/000"]) {
        const answer = await api(server, { method: "GET", path: `/log/${orgId}/${path}`, token });
        expectError(answer, "not_found", "unauthenticated");
      }
    }
  });

  it("shows none of itself to another organisation", async () => {
    const answer = await stranger.call("GET", `/v1/log/proof?leaf=${leaves[first]}&tree_size=1`);
    expectError(answer, "not_found");
    const own = (await stranger.call("GET", "/v1/log/head")).json<Head>();
    expect(() => openCheckpoint(own.checkpoint, next().log.verifier_key)).toThrow();
  });

  it("accepts no parameter for its head", async () => {
    expectError(await next().call("GET", "/v1/log/head?size=3"), "invalid_request");
  });
});
