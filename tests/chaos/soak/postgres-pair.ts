import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../e2e/harness/free-port.ts";
import { descendants, type Process } from "../../e2e/harness/processes.ts";
import { until } from "../../e2e/harness/wait.ts";

export const PROGRAMS = "/usr/lib/postgresql/15/bin";
const USER = "postgres";

interface Member {
  directory: string;
  port: number;
  process: ChildProcess | null;
}

/**
 * Debian's PostgreSQL as a primary and a standby, on TCP. A commit always waits for the standby,
 * unless `awaited` is false. After a failover the former primary is made anew as the standby of the
 * other.
 */
export class PostgresPair {
  readonly #base: string;
  readonly #members: [Member, Member];
  readonly #awaited: boolean;
  #primary: 0 | 1 = 0;

  private constructor(base: string, members: [Member, Member], awaited: boolean) {
    this.#base = base;
    this.#awaited = awaited;
    this.#members = members;
  }

  static async start(base: string, { awaited = true } = {}): Promise<PostgresPair> {
    mkdirSync(base, { recursive: true });
    const owner = postgresAccount();
    if (owner !== null) chownSync(base, owner.uid, owner.gid);
    const member = async (name: string): Promise<Member> => ({
      directory: join(base, name),
      port: await freePort(),
      process: null,
    });
    const pair = new PostgresPair(base, [await member("a"), await member("b")], awaited);
    pair.#run(
      "initdb",
      "-D",
      pair.#members[0].directory,
      "-A",
      "trust",
      "-U",
      USER,
      "-E",
      "UTF8",
      "--no-locale",
    );
    await pair.#start(pair.#members[0]);
    await pair.#makeStandby();
    return pair;
  }

  get ports(): [number, number] {
    return [this.#members[0].port, this.#members[1].port];
  }

  /** Where whoever is the primary now listens. */
  get primaryPort(): number {
    return this.#members[this.#primary].port;
  }

  sql(database: string, text: string): string {
    return this.#run(
      "psql",
      "-X",
      "-qAt",
      "-v",
      "ON_ERROR_STOP=1",
      "-h",
      "127.0.0.1",
      "-p",
      String(this.primaryPort),
      "-U",
      USER,
      "-d",
      database,
      "-c",
      text,
    );
  }

  processesOf(role: "primary" | "standby"): Process[] {
    const pid = this.#member(role).process?.pid ?? NaN;
    return [{ pid, command: "postgres" }, ...descendants(pid)];
  }

  /** SIGKILL, SIGQUIT (stop immediately) or SIGINT (stop fast, without waiting for the clients). */
  async endPrimary(signal: NodeJS.Signals): Promise<void> {
    await this.#end(this.#member("primary"), signal);
  }

  startPrimary(): Promise<void> {
    return this.#start(this.#member("primary"));
  }

  /** The standby takes over. The primary has to have ended. */
  async promote(): Promise<void> {
    this.#run("pg_ctl", "promote", "-w", "-D", this.#member("standby").directory);
    this.#primary = this.#primary === 0 ? 1 : 0;
    await this.#makeStandby();
  }

  /** Once the standby has all that was committed; from now on it gets nothing. */
  async cutStandbyOff(): Promise<void> {
    await until(
      "the standby has everything",
      () =>
        this.sql(
          "postgres",
          "select pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn) = 0 from pg_stat_replication",
        ).trim() === "t",
    );
    await this.#end(this.#member("standby"), "SIGINT");
  }

  /**
   * The primary is gone for good, and the standby that was cut off takes over: what was committed
   * since is lost. If commits wait for a standby, there is a new one.
   */
  async loseTail(): Promise<void> {
    await this.endPrimary("SIGQUIT");
    await this.#start(this.#member("standby"));
    this.#run("pg_ctl", "promote", "-w", "-D", this.#member("standby").directory);
    this.#primary = this.#primary === 0 ? 1 : 0;
    if (this.#awaited) await this.#makeStandby();
  }

  async close(): Promise<void> {
    for (const member of this.#members) await this.#end(member, "SIGQUIT");
    rmSync(this.#base, { recursive: true, force: true });
  }

  #member(role: "primary" | "standby"): Member {
    return this.#members[role === "primary" ? this.#primary : this.#primary === 0 ? 1 : 0];
  }

  async #makeStandby(): Promise<void> {
    const standby = this.#member("standby");
    rmSync(standby.directory, { recursive: true, force: true });
    const from = ["-h", "127.0.0.1", "-p", String(this.primaryPort), "-U", USER];
    this.#run("pg_basebackup", "-D", standby.directory, "-R", "-X", "stream", "-c", "fast", ...from);
    await this.#start(standby);
    await until(
      "the standby follows",
      () =>
        this.sql(
          "postgres",
          `select count(*) from pg_stat_replication where sync_state = '${this.#awaited ? "sync" : "async"}'`,
        ).trim() === "1",
    );
  }

  async #end(member: Member, signal: NodeJS.Signals): Promise<void> {
    const { process: child } = member;
    member.process = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const left = descendants(child.pid ?? NaN);
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
    // Its children notice by themselves that it is gone.
    await until("its processes have ended", () => left.every(({ pid }) => !isAlive(pid)));
  }

  async #start(member: Member): Promise<void> {
    const settings = [
      "listen_addresses=127.0.0.1",
      `synchronous_standby_names=${this.#awaited ? "*" : ""}`,
      "wal_level=replica",
      "max_connections=200",
      "wal_keep_size=256MB",
      "wal_retrieve_retry_interval=200ms",
    ];
    await until("PostgreSQL answers", async () => {
      if (member.process === null || member.process.exitCode !== null)
        member.process = spawn(
          join(PROGRAMS, "postgres"),
          [
            "-D",
            member.directory,
            "-p",
            String(member.port),
            "-k",
            this.#base,
            ...settings.flatMap((one) => ["-c", one]),
          ],
          { ...postgresAccount(), cwd: this.#base, stdio: "ignore" },
        );
      const args = ["-h", "127.0.0.1", "-p", String(member.port), "-U", USER];
      return spawnSync(join(PROGRAMS, "pg_isready"), args).status === 0;
    });
  }

  #run(program: string, ...args: string[]): string {
    const { status, stdout, stderr, error } = spawnSync(join(PROGRAMS, program), args, {
      ...postgresAccount(),
      cwd: this.#base,
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`${program}: ${error?.message ?? stderr}`);
    return stdout;
  }
}

/** PostgreSQL refuses root. */
export function postgresAccount(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const id = (option: string): number =>
    Number(spawnSync("id", [option, "postgres"], { encoding: "utf8" }).stdout);
  return { uid: id("-u"), gid: id("-g") };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
