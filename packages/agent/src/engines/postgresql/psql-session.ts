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
 * What every session begins with. A database's time limits are for its applications, and would end
 * the statements that follow. Only the server's own functions and operators are found by their
 * bare names, so that a better match that another user of the database made is not ours to call.
 */
const BEGINNING = [
  "statement_timeout = 0",
  "idle_in_transaction_session_timeout = 0",
  "search_path = pg_catalog, pg_temp",
  "standard_conforming_strings = on",
]
  .map((setting) => `set ${setting};\n`)
  .join("");
const ONLY_READS = "set default_transaction_read_only = on;\n";

export interface SessionOptions {
  /** One that the environment may not say, see `connectionArguments`. */
  readonly database?: string | null;
  /** A session that changes nothing. */
  readonly onlyReads?: boolean;
}

/**
 * One connection, through a psql that is kept: statements go in by its stdin, so that they are in
 * no argument list. One at a time.
 *
 * psql has commands of its own, and `\!` runs a shell. All of them begin with a backslash. So
 * nothing with a backslash in it is ever given to psql but our own `\echo`; texts of others, and of
 * servers most of all, go in as hexadecimal digits.
 */
export class PsqlSession {
  readonly #child: Child;
  #output = "";
  #arrived: () => void = () => undefined;
  #ended = false;
  #foreign = 0;
  #beginning: string;

  private constructor(child: Child, beginning: string) {
    this.#child = child;
    this.#beginning = beginning;
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
   * @throws RunError `tool_missing`. That the server cannot be reached shows with the first statement.
   */
  static async open(
    run: RunProgram,
    env: Readonly<Record<string, string>>,
    signal: AbortSignal,
    { database = null, onlyReads = false }: SessionOptions = {},
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
    const child = await run("psql", { args, env: { PGCLIENTENCODING: "UTF8", ...env }, signal });
    return new PsqlSession(child, onlyReads ? BEGINNING + ONLY_READS : BEGINNING);
  }

  /**
   * Runs one statement of ours. Whatever of others is in it is there by `literal`; one with a backslash is a defect of ours.
   * @throws SessionEnded
   */
  run(sql: string): Promise<Statement> {
    if (sql.includes("\\")) throw new Error("a statement with a backslash is never passed to psql");
    return this.#send(`${sql}\n;\n`);
  }

  /**
   * Runs a query that has texts of others in it, such as names that a server told, or that others wrote. The server itself makes a
   * prepared statement of it: one statement, whatever is in it.
   * @throws SessionEnded
   */
  async runForeign(query: string): Promise<Statement> {
    const name = `foreign_${++this.#foreign}`;
    const prepared = await this.runDynamic(`prepare ${name} as ${query}`);
    if (!prepared.ok) return prepared;
    const executed = await this.run(`execute ${name}`);
    await this.run(`deallocate ${name}`);
    return executed;
  }

  /**
   * The same for what is no query and gives nothing.
   * @throws SessionEnded
   */
  runDynamic(sql: string): Promise<Statement> {
    return this.run(`do $attestore$ begin execute ${literal(sql)}; end $attestore$`);
  }

  async close(): Promise<void> {
    this.#child.stdin.end("\\q\n");
    await this.#child.stop();
  }

  async #send(input: string): Promise<Statement> {
    const mark = `--${randomBytes(12).toString("hex")}--`;
    this.#output = "";
    const beginning = this.#beginning;
    this.#beginning = "";
    this.#child.stdin.write(
      `${beginning}${input}\\echo ${mark} :ERROR :SQLSTATE :LAST_ERROR_MESSAGE\n\\echo ${mark}\n`,
    );
    const end = `${mark}\n`;
    while (!this.#output.endsWith(end)) {
      if (this.#ended) throw new SessionEnded((await this.#child.exited).stderr.trim());
      if (this.#output.length > MAX_OUTPUT)
        throw new Error("one of attestore's own statements returned more than 64 MiB");
      await new Promise<void>((resolve) => (this.#arrived = resolve));
    }
    const at = this.#output.indexOf(mark);
    const output = this.#output.slice(0, at);
    const status = this.#output.slice(at + mark.length + 1, -end.length);
    const [, failed, sqlstate = "", message = ""] = /^(true|false) (\S+) ?([^]*)$/.exec(status) ?? [];
    if (failed === undefined) throw new Error("psql returned no status");
    return failed === "false" ? { ok: true, output } : { ok: false, sqlstate, message: message.trim() };
  }
}

/**
 * A server that is asked, once a minute has passed in silence, and does not answer for another one
 * is gone. Linux itself waits over two hours.
 */
const KEEPALIVES = "keepalives_idle=60 keepalives_interval=10 keepalives_count=6";

/**
 * What psql, pg_dump and pg_dumpall are told of a connection besides `env`. A database that is
 * named here is it, whatever else says which: of PGDATABASE and the `dbname` of a service, libpq
 * takes the service's. Keepalives have no variable. They would win over those of a service's entry,
 * the one place where somebody may have set their own; so a service gets none of ours.
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

/**
 * A text as an expression of SQL in which there is nothing but digits of it: however psql reads
 * what it is given, and whatever the text is.
 */
export function literal(text: string): string {
  return `pg_catalog.convert_from(pg_catalog.decode('${Buffer.from(text).toString("hex")}', 'hex'), 'UTF8')`;
}
