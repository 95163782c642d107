import { randomInt } from "node:crypto";
import { declareSource, writeEncryptedDump } from "../../e2e/harness/backups.ts";
import { attach, createAuthKey, createOrganisation, type WireAgent } from "../../e2e/harness/organisation.ts";
import { signUp } from "../../e2e/harness/session.ts";
import { until } from "../../e2e/harness/wait.ts";
import { CommandFlow } from "../command-flow.ts";
import { ReceiptStream, type Acknowledged } from "../receipt-stream.ts";
import { Gap } from "./gap.ts";
import { HostAgent } from "./host-agent.ts";
import type { World } from "./worlds/world.ts";

const ORGANISATIONS = 2;
/** As long as nobody is in the way. */
const PAUSE_MS = 40;
/** After that an agent tries again; a real one waits for up to 60 seconds. */
const IDLE_MS = 5000;
/** One of so many goes to attestore-verify. */
const VERIFIED = 100;
/** After the longest fault, with the database's limits of time. */
const RECOVERED_WITHIN_S = 150;

/** A receipt as its agent has it: whole, to be verified by others. */
export interface Bundle {
  one: Acknowledged;
  body: string;
}

/** What goes on meanwhile: receipts of two organisations, commands to two agents, a real agent. */
export class Load {
  readonly agents: readonly WireAgent[];
  readonly host: HostAgent;
  readonly commands: CommandFlow;
  readonly worker: WireAgent;
  readonly commandSource: string;
  readonly gap = new Gap();
  /** Acknowledged since they were last taken. */
  #fresh: Acknowledged[] = [];
  #bundles: Bundle[] = [];
  readonly #stream: ReceiptStream;
  readonly #counts = new Map<string, number>();
  #failure: Error | null = null;

  private constructor(
    world: World,
    parts: {
      submitters: readonly { agent: WireAgent; backup: Awaited<ReturnType<typeof writeEncryptedDump>> }[];
      host: HostAgent;
      worker: WireAgent;
      source: string;
      session: string;
    },
  ) {
    this.agents = parts.submitters.map(({ agent }) => agent);
    this.host = parts.host;
    this.worker = parts.worker;
    this.commandSource = parts.source;
    this.#stream = new ReceiptStream(parts.submitters, 2, {
      replicas: world.entrances,
      pause_ms: PAUSE_MS,
      idle_ms: IDLE_MS,
      onAcknowledged: (one, body) => this.#take(one, body),
    });
    const trigger = `/api/orgs/${parts.worker.orgId}/sources/${parts.source}/trigger`;
    this.commands = new CommandFlow(world.entrances, parts.worker, parts.session, trigger, {
      pause_ms: 500,
      idle_ms: IDLE_MS,
    });
  }

  static async start(world: World, base: string): Promise<Load> {
    const [direct] = world.replicas;
    const submitters = [];
    for (let n = 0; n < ORGANISATIONS; n++) {
      const agent = await attach(await createOrganisation(direct));
      submitters.push({ agent, backup: await writeEncryptedDump(agent, await declareSource(agent)) });
    }
    const person = await signUp(world.replicas);
    const authKey = await createAuthKey(direct, person.orgId);
    const worker = await attach({ server: direct, id: person.orgId, authKey });
    const source = await declareSource(worker);
    const host = await HostAgent.start(world, person, base);
    return new Load(world, { submitters, host, worker, source, session: person.token });
  }

  get acknowledged(): number {
    return [...this.#counts.values()].reduce((sum, one) => sum + one, 0);
  }

  /** What was acknowledged since the last call. */
  takeFresh(): { receipts: Acknowledged[]; bundles: Bundle[] } {
    const taken = { receipts: this.#fresh, bundles: this.#bundles };
    [this.#fresh, this.#bundles] = [[], []];
    return taken;
  }

  /** Waits until each organisation has some more receipts. */
  async recovered(): Promise<void> {
    const before = new Map(this.#counts);
    await until(
      "receipts are acknowledged again",
      () => {
        if (this.#failure !== null) throw this.#failure;
        return this.agents.every(({ id }) => (this.#counts.get(id) ?? 0) >= (before.get(id) ?? 0) + 5);
      },
      RECOVERED_WITHIN_S,
    );
  }

  /** Ends the streams; throws if one got an answer that it must never get. */
  async stop(): Promise<void> {
    await this.#stream.stop();
    await this.commands.stop();
    await this.host.settled();
  }

  async close(): Promise<void> {
    await this.#stream[Symbol.asyncDispose]();
    await this.commands[Symbol.asyncDispose]();
    await this.host.close();
  }

  #take(one: Acknowledged, body: string): void {
    this.gap.mark();
    this.#fresh.push(one);
    if (randomInt(VERIFIED) === 0) this.#bundles.push({ one, body });
    this.#counts.set(one.agent.id, (this.#counts.get(one.agent.id) ?? 0) + 1);
  }
}
