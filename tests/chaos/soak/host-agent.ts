import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { attachedHost, type Host } from "../../e2e/harness/host.ts";
import { api } from "../../e2e/harness/https.ts";
import type { Running } from "../../e2e/harness/programs.ts";
import { createAuthKey } from "../../e2e/harness/organisation.ts";
import { until } from "../../e2e/harness/wait.ts";
import { SmallDisk } from "../../../packages/host/test/small-disk.ts";
import type { World } from "./worlds/world.ts";

/** Each receipt of the agent takes some of it for good. */
const DISK_BYTES = 512 * 1024 ** 2;
const SETTLED_WITHIN_S = 120;

export interface Person {
  token: string;
  orgId: string;
}

/**
 * The real agent on a host of its own with a small disk, which backs up and tests one source by a
 * schedule of every minute and whenever somebody asks.
 */
export class HostAgent {
  readonly host: Host;
  readonly disk: SmallDisk;
  readonly sourceId: string;
  readonly #world: World;
  readonly #person: Person;
  #running: Running;

  private constructor(options: {
    host: Host;
    disk: SmallDisk;
    sourceId: string;
    world: World;
    person: Person;
    running: Running;
  }) {
    this.host = options.host;
    this.disk = options.disk;
    this.sourceId = options.sourceId;
    this.#world = options.world;
    this.#person = options.person;
    this.#running = options.running;
  }

  static async start(world: World, person: Person, base: string): Promise<HostAgent> {
    const directory = join(base, "host");
    mkdirSync(directory);
    const disk = new SmallDisk(directory, { bytes: DISK_BYTES, mode: "0755" });
    const [entrance] = world.entrances;
    const authKey = await createAuthKey(world.replicas[0], person.orgId);
    const outside = process.env["TMPDIR"];
    process.env["TMPDIR"] = directory;
    const host = await attachedHost(
      { server: entrance, id: person.orgId, authKey },
      { NODE_EXTRA_CA_CERTS: world.hostEnvironment["NODE_EXTRA_CA_CERTS"] },
    );
    if (outside === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = outside;
    const file = join(host.base, "invoices.db");
    const invoices = new DatabaseSync(file);
    invoices.exec(`
      create table invoices (number integer primary key, customer text not null, cents integer not null);
      with recursive n (i) as (select 1 union all select i + 1 from n where i < 20000)
      insert into invoices select i, hex(randomblob(20)), 500 + i from n;
    `);
    invoices.close();
    host.addSources(`  invoices:
    engine: sqlite
    path: ${file}
    checks:
      - { id: has-invoices, query: "select count(*) as n from invoices", expect: "n = 20000" }
`);
    const running = host.start("run");
    const sourceId = await until("the agent's source is known", async () => {
      const rows = await world.query<{ id: string }>("select id from sources where slug = 'invoices'");
      return rows[0]?.id;
    });
    const agent = new HostAgent({ host, disk, sourceId, world, person, running });
    const configured = await api(world.replicas[0], {
      method: "POST",
      path: `/api/orgs/${person.orgId}/sources/${sourceId}/configure`,
      token: person.token,
      json: { schedule: { backup_cron: "* * * * *", restore_test_cron: "* * * * *" } },
      idempotencyKey: randomUUID(),
    });
    if (configured.status !== 200) throw new Error(`configure: ${configured.body.toString()}`);
    await agent.ask("backup");
    await agent.settled();
    return agent;
  }

  get pid(): number {
    return this.#running.child.pid ?? NaN;
  }

  /** Has somebody ask for a run. */
  async ask(kind: "backup" | "restore_test"): Promise<void> {
    const asked = await api(this.#world.replicas[0], {
      method: "POST",
      path: `/api/orgs/${this.#person.orgId}/sources/${this.sourceId}/trigger`,
      token: this.#person.token,
      json: { kind },
      idempotencyKey: randomUUID(),
    });
    if (asked.status !== 202) throw new Error(`trigger: ${asked.status} ${asked.body.toString()}`);
  }

  async kill(): Promise<void> {
    this.#running.child.kill("SIGKILL");
    await this.#running.finished;
    await until("nothing of the agent runs", () => this.host.processes().length === 0, 30);
  }

  start(): void {
    this.#running = this.host.start("run");
  }

  /** Waits until every command has an outcome. Throws if the agent ended by itself. */
  async settled(): Promise<void> {
    let open: unknown[] = [];
    await until(
      "every command of the agent has an outcome",
      async () => {
        if (this.#running.child.exitCode !== null)
          throw new Error(`the agent ended: ${this.#running.talk().slice(-2000)}`);
        open = await this.#world.query(
          "select id, kind, status, attempts, created_at from commands where source_id = $1 and outcome = '{}' and ended_at is null",
          [this.sourceId],
        );
        if (open.length > 0) await delay(200);
        return open.length === 0;
      },
      SETTLED_WITHIN_S,
    ).catch((error: Error) => {
      throw new Error(`${error.message}: ${JSON.stringify(open)}\n${this.talk().slice(-3000)}`);
    });
  }

  async close(): Promise<void> {
    this.#running.child.kill("SIGTERM");
    await this.#running.finished;
    this.host.remove();
  }

  /** What it printed since its last start. */
  talk(): string {
    return this.#running.talk();
  }
}
