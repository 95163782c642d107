import { randomBytes } from "node:crypto";
import type { Child } from "../../processes/child.ts";
import type { RunProgram } from "../../processes/run-program.ts";

export type Statement =
  | { readonly ok: true; readonly output: string }
  /** The server's own message: it may quote data, so it goes no further than a look. */
  | { readonly ok: false; readonly sqlstate: string; readonly message: string };

/** psql went away: the server was not reachable, or broke the connection. */
export class SessionEnded extends Error {
  readonly code = "session_ended";
  /** psql's own words, which hold host and user at most. */
  readonly stderr: string;
  constructor(stderr: string) {
    super("psql ended");
    this.name = "SessionEnded";
    this.stderr = stderr;
  }
}

const MAX_OUTPUT = 64 << 20;

/**
 * One connection, through a psql that is kept: statements go in by its stdin, so that they are in no argument list.
 * One at a time.
 */
export class PsqlSession {
  readonly #child: Child;
  #output = "";
  #arrived: () => void = () => undefined;
  #ended = false;
  #foreign = 0;

  private constructor(child: Child) {
    this.#child = child;
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (text: string) => {
      this.#output += text;
      this.#arrived();
    });
    void child.exited.then(() => {
      this.#ended = true;
      this.#arrived();
    });
  }

  /**
   * `database` is for one that the environment may not say, see `connectionArguments`.
   * @throws CouldNotRun `tool_missing`. That the server cannot be reached shows with the first statement.
   */
  static async open(
    run: RunProgram,
    env: Readonly<Record<string, string>>,
    signal: AbortSignal,
    database: string | null = null,
  ): Promise<PsqlSession> {
    const args = [
      "--no-psqlrc",
      "--no-align",
      "--tuples-only",
      "--quiet",
      "--no-password",
      "--set=VERBOSITY=sqlstate",
      ...connectionArguments(env, database),
    ];
    return new PsqlSession(await run("psql", { args, env: { PGCLIENTENCODING: "UTF8", ...env }, signal }));
  }

  /**
   * Runs one statement of ours. It must not hold text of others: psql has commands of its own.
   * @throws SessionEnded
   */
  run(sql: string): Promise<Statement> {
    return this.#send(`${sql}\n;\n`);
  }

  /**
   * Runs a query that others wrote. psql only ever sees it as the text of a literal, from which the server itself makes a prepared
   * statement: `\!` and `:name` in it are nothing special. (`\gexec` would do the same, but psql 18 loses the SQLSTATE of what fails there.)
   * @throws SessionEnded
   */
  async runForeign(query: string): Promise<Statement> {
    const name = `foreign_${++this.#foreign}`;
    const prepare = `begin execute ${literal(`prepare ${name} as ${query}`)}; end`;
    const prepared = await this.run(`do ${literal(prepare)}`);
    return prepared.ok ? this.run(`execute ${name}`) : prepared;
  }

  async close(): Promise<void> {
    this.#child.stdin.end("\\q\n");
    await this.#child.stop();
  }

  async #send(input: string): Promise<Statement> {
    const mark = `--${randomBytes(12).toString("hex")}--`;
    this.#output = "";
    this.#child.stdin.write(`${input}\\echo ${mark} :ERROR :SQLSTATE :LAST_ERROR_MESSAGE\n\\echo ${mark}\n`);
    const end = `${mark}\n`;
    while (!this.#output.endsWith(end)) {
      if (this.#ended) throw new SessionEnded((await this.#child.exited).stderr.trim());
      if (this.#output.length > MAX_OUTPUT) throw new Error("a statement of ours gave more than 64 MiB");
      await new Promise<void>((resolve) => (this.#arrived = resolve));
    }
    const at = this.#output.indexOf(mark);
    const output = this.#output.slice(0, at);
    const status = this.#output.slice(at + mark.length + 1, -end.length);
    const [, failed, sqlstate = "", message = ""] = /^(true|false) (\S+) ?([^]*)$/.exec(status) ?? [];
    if (failed === undefined) throw new Error("psql gave no status");
    return failed === "false" ? { ok: true, output } : { ok: false, sqlstate, message: message.trim() };
  }
}

/** A server that is asked, once a minute has passed in silence, and does not answer for another one is gone. Linux itself waits over two hours. */
const KEEPALIVES = "keepalives_idle=60 keepalives_interval=10 keepalives_count=6";

/**
 * What psql, pg_dump and pg_dumpall are told of a connection besides `env`. A database that is named here is it, whatever else says which: of
 * PGDATABASE and the `dbname` of a service, libpq takes the service's. Keepalives have no variable. They would win over those of a
 * service's entry, the one place where somebody may have set their own; so a service gets none of ours.
 */
export function connectionArguments(
  env: Readonly<Record<string, string>>,
  database: string | null = null,
): string[] {
  const parameters = [
    ...((env["PGSERVICE"] ?? "") === "" ? [KEEPALIVES] : []),
    ...(database === null ? [] : [`dbname='${database.replaceAll(/[\\']/g, "\\$&")}'`]),
  ];
  return parameters.length === 0 ? [] : [`--dbname=${parameters.join(" ")}`];
}

/** A string literal under standard_conforming_strings, which is on since 9.1 and which our sessions rely on. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
