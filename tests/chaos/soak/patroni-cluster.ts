import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../e2e/harness/free-port.ts";
import { descendants, type Process } from "../../e2e/harness/processes.ts";
import { until } from "../../e2e/harness/wait.ts";
import { postgresAccount, PROGRAMS } from "./postgres-pair.ts";

/** Patroni's shortest lease: so long nobody takes over from a primary that says nothing. */
const LEASE_S = 20;

export interface PatroniMember {
  readonly name: string;
  readonly directory: string;
  readonly port: number;
  /** Patroni's own address, which HAProxy asks who the primary is. */
  readonly statusPort: number;
  process: ChildProcess | null;
}

/**
 * Debian's Patroni with etcd and two PostgreSQL servers, of which one is the primary. A commit
 * always waits for the other (`synchronous_mode_strict`).
 */
export class PatroniCluster {
  readonly members: readonly [PatroniMember, PatroniMember];
  readonly #base: string;
  readonly #etcd: ChildProcess;

  private constructor(base: string, etcd: ChildProcess, members: [PatroniMember, PatroniMember]) {
    this.#base = base;
    this.#etcd = etcd;
    this.members = members;
  }

  static async start(base: string): Promise<PatroniCluster> {
    mkdirSync(base, { recursive: true });
    const owner = postgresAccount();
    if (owner !== null) chownSync(base, owner.uid, owner.gid);
    const etcdPort = await freePort();
    const etcd = startEtcd(base, etcdPort, await freePort());
    const member = async (name: string): Promise<PatroniMember> => {
      const directory = join(base, name);
      const [port, statusPort] = [await freePort(), await freePort()];
      const file = `${directory}.json`;
      writeFileSync(file, JSON.stringify(settings({ name, base, directory, port, statusPort, etcdPort })));
      return { name, directory, port, statusPort, process: null };
    };
    const cluster = new PatroniCluster(base, etcd, [await member("a"), await member("b")]);
    for (const one of cluster.members) cluster.startMember(one);
    try {
      await cluster.settled();
    } catch (error) {
      await cluster.close();
      throw error;
    }
    return cluster;
  }

  get etcd(): Process[] {
    return [{ pid: this.#etcd.pid ?? NaN, command: "etcd" }];
  }

  startMember(member: PatroniMember): void {
    const log = openSync(`${member.directory}.log`, "a");
    member.process = spawn("patroni", [`${member.directory}.json`], {
      ...postgresAccount(),
      cwd: this.#base,
      stdio: ["ignore", log, log],
    });
    closeSync(log);
  }

  /** Patroni and PostgreSQL at once, as when a machine loses its power. */
  async killMember(member: PatroniMember): Promise<void> {
    const child = member.process;
    const all = [...this.patroniOf(member), ...this.postgresOf(member)];
    member.process = null;
    const ended = child === null ? null : once(child, "exit");
    for (const { pid } of all) kill(pid);
    await ended;
    await until("its processes have ended", () => this.postgresOf(member).length === 0);
  }

  patroniOf({ process: child }: PatroniMember): Process[] {
    return child?.pid === undefined ? [] : [{ pid: child.pid, command: "patroni" }];
  }

  /** The postmaster, which is no child of Patroni's, and its children. */
  postgresOf({ directory }: PatroniMember): Process[] {
    const pid = postmasterOf(directory);
    return pid === null ? [] : [{ pid, command: "postgres" }, ...descendants(pid)];
  }

  /** The member that holds the lease; null while none does. */
  async primary(): Promise<PatroniMember | null> {
    for (const member of this.members) if (await isAnswered(member, "primary")) return member;
    return null;
  }

  other({ name }: PatroniMember): PatroniMember {
    return this.members[name === this.members[0].name ? 1 : 0];
  }

  /** Waits for a primary and a standby that commits wait for. @returns the primary */
  settled(): Promise<PatroniMember> {
    return until(
      "Patroni has a primary and a synchronous standby",
      async () => {
        const primary = await this.primary();
        return primary !== null && (await isAnswered(this.other(primary), "synchronous")) && primary;
      },
      180,
    ).catch((error: Error) => {
      const said = this.members.map(({ directory }) => readFileSync(`${directory}.log`, "utf8").slice(-3000));
      throw new Error(`${error.message}: ${said.join("\n")}`);
    });
  }

  /** Once that one is the primary; a lease has to end first, if nobody gave it back. */
  async takenOverBy(member: PatroniMember): Promise<void> {
    await until(`${member.name} is the primary`, () => isAnswered(member, "primary"), 6 * LEASE_S);
  }

  /** A planned change of roles. */
  async switchOver(from: PatroniMember): Promise<void> {
    const body = JSON.stringify({ leader: from.name, candidate: this.other(from).name });
    const address = `http://127.0.0.1:${from.statusPort}/switchover`;
    const answer = await fetch(address, { method: "POST", body, signal: AbortSignal.timeout(90_000) });
    if (answer.status !== 200) throw new Error(`Patroni: ${answer.status} ${await answer.text()}`);
  }

  async close(): Promise<void> {
    for (const member of this.members) await this.killMember(member);
    const ended = once(this.#etcd, "exit");
    this.#etcd.kill("SIGKILL");
    await ended;
  }
}

function startEtcd(base: string, port: number, peerPort: number): ChildProcess {
  const own = `http://127.0.0.1:${port}`;
  const peer = `http://127.0.0.1:${peerPort}`;
  const args = [
    ["--name", "only"],
    ["--data-dir", join(base, "etcd")],
    ["--listen-client-urls", own, "--advertise-client-urls", own],
    ["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer],
    ["--initial-cluster", `only=${peer}`],
    // The lease is what is tested, not this disk.
    ["--unsafe-no-fsync"],
    ["--enable-v2"],
  ];
  return spawn("etcd", args.flat(), { stdio: "ignore" });
}

interface MemberSettings {
  readonly name: string;
  readonly base: string;
  readonly directory: string;
  readonly port: number;
  readonly statusPort: number;
  readonly etcdPort: number;
}

/**
 * patroni.readthedocs.io, "YAML configuration": JSON is YAML. Over the third version of etcd's API,
 * Debian 12's Patroni 3.0.2 gives the lease to a former primary that stood still, although another
 * has it (patroni/patroni#2689), and commits then wait for ever. So this is the second version.
 */
function settings({ name, base, directory, port, statusPort, etcdPort }: MemberSettings): object {
  return {
    scope: "attestore",
    name,
    restapi: { listen: `127.0.0.1:${statusPort}`, connect_address: `127.0.0.1:${statusPort}` },
    etcd: { host: `127.0.0.1:${etcdPort}` },
    bootstrap: {
      dcs: {
        ttl: LEASE_S,
        loop_wait: 2,
        retry_timeout: 5,
        synchronous_mode: true,
        synchronous_mode_strict: true,
        postgresql: { use_pg_rewind: true },
      },
      initdb: [{ encoding: "UTF8" }, "no-locale", { auth: "trust" }],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: directory,
      bin_dir: PROGRAMS,
      pgpass: join(base, `${name}.pgpass`),
      authentication: {
        superuser: { username: "postgres", password: "unused" },
        replication: { username: "replicator", password: "unused" },
      },
      // A member whose data cannot be wound back is made anew.
      remove_data_directory_on_diverged_timelines: true,
      remove_data_directory_on_rewind_failure: true,
      parameters: { unix_socket_directories: base, max_connections: 200, wal_keep_size: "256MB" },
      pg_hba: [
        "local all all trust",
        "host all all 127.0.0.1/32 trust",
        "host replication all 127.0.0.1/32 trust",
      ],
    },
  };
}

/** Whether Patroni says that the member has the role; false if it says nothing. */
async function isAnswered({ statusPort }: PatroniMember, role: "primary" | "synchronous"): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${statusPort}/${role}`, {
      signal: AbortSignal.timeout(1000),
    });
    return answer.status === 200;
  } catch {
    return false;
  }
}

function postmasterOf(directory: string): number | null {
  try {
    const pid = Number(readFileSync(join(directory, "postmaster.pid"), "utf8").split("\n")[0]);
    // The file outlives a server that was killed, and its number may be another's.
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(directory) ? pid : null;
  } catch {
    return null;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended with its parent.
  }
}
