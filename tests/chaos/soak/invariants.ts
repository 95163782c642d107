import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../../e2e/harness/programs.ts";
import { SeenHeads } from "../seen-heads.ts";
import type { Bundle, Load } from "./load.ts";
import type { Acknowledged } from "../receipt-stream.ts";
import type { World } from "./worlds/world.ts";

export const INVARIANTS = {
  kept: "every acknowledged receipt is in the log at its place",
  verified: "attestore-verify says TRUE",
  noFork: "all heads that anybody saw are one log's",
  fsck: "fsck finds nothing",
  once: "no command is carried out twice",
  missed: "no schedule is reported as missed that was kept",
  memory: "memory is flat",
} as const;
export type Invariant = keyof typeof INVARIANTS;

export type Check = (invariant: Invariant, problem: string) => void;

interface Known {
  log_index: number;
  envelope: string;
}

/** Looks, after each round and at the end, whether what is promised holds. */
export class Invariants {
  readonly #world: World;
  readonly #load: Load;
  readonly #base: string;
  readonly #violate: Check;
  readonly #known = new Map<string, Known>();
  readonly #places = new Set<string>();
  readonly #heads: Map<string, SeenHeads>;
  readonly #verified = new Set<string>();
  readonly counts: Record<Invariant, number> = {
    kept: 0,
    verified: 0,
    noFork: 0,
    fsck: 0,
    once: 0,
    missed: 0,
    memory: 0,
  };

  constructor(world: World, load: Load, base: string, violate: Check) {
    this.#world = world;
    this.#load = load;
    this.#base = join(base, "verify");
    this.#violate = violate;
    this.#heads = new Map(load.agents.map((agent) => [agent.id, new SeenHeads(agent)]));
    mkdirSync(this.#base);
  }

  async afterRound(): Promise<void> {
    const { receipts, bundles } = this.#load.takeFresh();
    await this.#requireKept(receipts);
    await this.#requireNoFork(receipts);
    this.#requireOnce();
    await this.#requireHostsOnce();
    await this.#requireNoFalseMiss();
    await this.#verify(bundles);
  }

  /** All again, from the whole log. */
  async atEnd(): Promise<void> {
    await this.afterRound();
    const rows = await this.#world.query<{ id: string; log_index: string; envelope: string }>(
      "select id, log_index, encode(sha256(envelope), 'hex') as envelope from receipts where agent_id = any($1)",
      [this.#load.agents.map(({ id }) => id)],
    );
    const stored = new Map(
      rows.map(({ id, log_index, envelope }) => [id, { log_index: Number(log_index), envelope }]),
    );
    for (const [id, { log_index, envelope }] of this.#known) {
      const found = stored.get(id);
      if (found?.log_index !== log_index || found.envelope !== envelope)
        this.#violate("kept", `${id} was acknowledged at ${log_index}, and is ${JSON.stringify(found)}`);
    }
    // Each submission was repeated until it was acknowledged, so there is nothing else either.
    for (const id of stored.keys())
      if (!this.#known.has(id)) this.#violate("kept", `${id} is there twice, or was never acknowledged`);
    for (const seen of this.#heads.values())
      await this.#guard("noFork", () => seen.requireExtended(spread(seen.sizes.filter((size) => size > 0))));
    await this.#fsck();
  }

  async #fsck(): Promise<void> {
    this.counts.fsck++;
    await this.#guard("fsck", async () => {
      const { ok, findings } = await this.#world.replicas[0].cliJson<{ ok: boolean; findings: unknown[] }>(
        "fsck",
      );
      if (!ok) throw new Error(JSON.stringify(findings));
    });
  }

  async #requireKept(receipts: readonly Acknowledged[]): Promise<void> {
    const ids = receipts.map(({ receipt }) => receipt.receipt_id);
    const rows = await this.#world.query<{ id: string; log_index: string; envelope: string }>(
      "select id, log_index, encode(sha256(envelope), 'hex') as envelope from receipts where id = any($1)",
      [ids],
    );
    const stored = new Map(rows.map((row) => [row.id, row]));
    for (const { agent, receipt, envelopeSha256 } of receipts) {
      this.counts.kept++;
      const { receipt_id: id, log_index } = receipt;
      const found = stored.get(id);
      if (Number(found?.log_index ?? NaN) !== log_index || found?.envelope !== envelopeSha256)
        this.#violate("kept", `${id} was acknowledged at ${log_index}, and is ${JSON.stringify(found)}`);
      const place = `${agent.orgId} ${log_index}`;
      if (this.#places.has(place)) this.#violate("kept", `two receipts were acknowledged at ${place}`);
      this.#places.add(place);
      this.#known.set(id, { log_index, envelope: envelopeSha256 });
    }
  }

  async #requireNoFork(receipts: readonly Acknowledged[]): Promise<void> {
    for (const one of receipts) {
      this.counts.noFork++;
      await this.#guard("noFork", async () => this.#heads.get(one.agent.id)?.take(one));
    }
    for (const seen of this.#heads.values())
      await this.#guard("noFork", () =>
        seen.requireExtended(seen.sizes.filter((size) => size > 0).slice(-3)),
      );
  }

  /** Each command was handed out once for each attempt. */
  #requireOnce(): void {
    const { delivered, asked } = this.#load.commands;
    this.counts.once = asked.length;
    if (new Set(delivered).size !== delivered.length)
      this.#violate("once", "an attempt of a command was handed out twice");
    if (new Set(asked).size !== asked.length) this.#violate("once", "two calls made one command");
  }

  /** Each receipt of the real agent is the outcome of a command of its own. */
  async #requireHostsOnce(): Promise<void> {
    const twice = await this.#world.query<{ id: string; kind: string }>(
      `select id, kind from receipts where source_id = $1 and created_at < now() - interval '10 seconds'
       and not exists (select from commands where source_id = $1 and outcome ->> 'receipt_id' = receipts.id)`,
      [this.#load.host.sourceId],
    );
    if (twice.length > 0)
      this.#violate("once", `receipts that no command asked for: ${JSON.stringify(twice)}`);
  }

  async #requireNoFalseMiss(): Promise<void> {
    // Without the receipts of this source alone, each run would look through those of all.
    const kept = `exists (select from mine where mine.kind = scheduled_runs.kind
      and mine.created_at between scheduled_at and deadline_at and mine.happened_at >= scheduled_at)`;
    const runs = await this.#world.query<{ isFalse: boolean; scheduled_at: Date }>(
      `with mine as materialized (select kind, created_at, happened_at from receipts where source_id = $1)
       select scheduled_at, status = 'missed' and ${kept} as "isFalse" from scheduled_runs where source_id = $1`,
      [this.#load.host.sourceId],
    );
    this.counts.missed = runs.length;
    for (const { isFalse, scheduled_at } of runs)
      if (isFalse)
        this.#violate("missed", `the run of ${scheduled_at.toISOString()} was kept, and is called missed`);
  }

  /** Some of the streams' receipts, and all of the real agent's. */
  async #verify(bundles: readonly Bundle[]): Promise<void> {
    for (const agent of this.#load.agents) {
      const of = bundles.filter(({ one }) => one.agent.id === agent.id);
      if (of.length === 0) continue;
      const key = join(this.#base, `${agent.id}.pub`);
      const pem = agent.signer.publicKey.export({ type: "spki", format: "pem" });
      writeFileSync(key, pem);
      const files = of.map(({ one: { receipt }, body }) => {
        const { leaf, inclusion_proof, checkpoint } = receipt;
        const file = join(this.#base, `${receipt.receipt_id}.json`);
        const bundle = { public_key: agent.signer.wire, leaf, inclusion_proof, checkpoint, log: agent.log };
        writeFileSync(file, JSON.stringify({ envelope: JSON.parse(body) as unknown, ...bundle }));
        return file;
      });
      await this.#requireTrue(files, key, agent.log.verifier_key);
      for (const file of files) rmSync(file);
    }
    const { host } = this.#load.host;
    const settled = host
      .receipts((file) => !this.#verified.has(file))
      .filter(({ bundle }) => bundle.inclusion_proof !== undefined)
      .map(({ file }) => file);
    const keys = join(host.root, "keys");
    if (settled.length > 0) await this.#requireTrue(settled, join(keys, "agent.pub"), join(keys, "log.vkey"));
    for (const file of settled) this.#verified.add(file);
  }

  async #requireTrue(files: readonly string[], key: string, logKey: string): Promise<void> {
    this.counts.verified += files.length;
    const { code, stdout, stderr } = await run("attestore-verify", [
      ...files,
      "--key",
      key,
      "--log-key",
      logKey,
    ]);
    if (code !== 0) this.#violate("verified", `${code} ${stdout.slice(-1500)}${stderr.slice(-500)}`);
  }

  async #guard(invariant: Invariant, look: () => Promise<unknown>): Promise<void> {
    try {
      await look();
    } catch (error) {
      this.#violate(invariant, error instanceof Error ? error.message : String(error));
    }
  }
}

/** At most 300, from the first to the last. */
function spread(sizes: readonly number[]): number[] {
  const step = Math.max(1, Math.ceil(sizes.length / 300));
  return sizes.filter((_, index) => index % step === 0 || index === sizes.length - 1);
}
