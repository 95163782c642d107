import { randomBytes } from "node:crypto";
import type { Child } from "../../../processes/child.ts";
import type { RunProgram } from "../../../processes/run-program.ts";

export type Statement =
  | { readonly ok: true; readonly output: string }
  /** The server's own message. It may quote data, so look at it only to decide what to do. */
  | { readonly ok: false; readonly sqlstate: string; readonly message: string };

/** psql ended: the server could not be reached, or it closed the connection. */
export class SessionEnded extends Error {
  readonly code = "session_ended";
  /** psql's own message. It contains at most host and user. */
  readonly stderr: string;
  constructor(stderr: string) {
    super("psql ended");
    this.name = "SessionEnded";
    this.stderr = stderr;
  }
}

const MAX_OUTPUT = 64 << 20;

/**
 * Every session begins with these. A database's time limits are meant for its applications and
 * would end our statements. Bare names find only the server's own functions and operators, so that
 * we never call a better match that another user of the database created.
 */
const BEGINNING = [
  "statement_timeout = 0",
  "idle_in_transaction_session_timeout = 0",
  "search_path = pg_catalog, pg_temp",
  "standard_conforming_strings = on",
  // Names are compared as texts.
  "quote_all_identifiers = off",
]
  .map((setting) => `set ${setting};\n`)
  .join("");
const ONLY_READS = "set default_transaction_read_only = on;\n";

export interface SessionOptions {
  /** A database that the environment can't select; see `connectionArguments`. */
  readonly database?: string | null;
  /** A session that changes nothing. */
  readonly onlyReads?: boolean;
}

/**
 * One connection, through a psql that stays open. Statements reach it by stdin, so they are in no
 * argument list. It runs one at a time.
 * psql has commands of its own, and `\!` runs a shell. All of them begin with a backslash. So psql
 * never gets anything with a backslash except our own `\echo`. Foreign texts, above all those of
 * servers, go in as hexadecimal digits.
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
   * Does not connect yet: if the server can't be reached, the first statement fails.
   * @throws RunError `tool_missing`
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
   * Runs one of our own statements. It contains foreign text only through `literal`. A backslash in
   * it is a bug in our code.
   * @throws SessionEnded
   */
  run(sql: string): Promise<Statement> {
    if (sql.includes("\\")) throw new Error("a statement with a backslash is never passed to psql");
    return this.#send(`${sql}\n;\n`);
  }

  /**
   * Runs a query that contains foreign text, such as names from a server. The server itself
   * prepares it, so it is one statement, whatever the text is.
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
   * The same for a statement that is not a query and returns nothing.
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
 * After 60 s of silence the server is probed, and if it does not answer for another minute, it
 * counts as gone. Linux alone would wait more than two hours.
 */
const KEEPALIVES = "keepalives_idle=60 keepalives_interval=10 keepalives_count=6";

/**
 * Connection arguments for psql, pg_dump and pg_dumpall, besides `env`. A database named here takes
 * precedence: between PGDATABASE and the `dbname` of a service, libpq uses the service's.
 * Keepalives have no variable, and as arguments they would override those in a service's entry,
 * where somebody may have set them on purpose. So a service gets none from us.
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
 * Writes a text as an SQL expression that contains it only as hexadecimal digits, so psql can't
 * interpret anything in it.
 */
export function literal(text: string): string {
  return `pg_catalog.convert_from(pg_catalog.decode('${Buffer.from(text).toString("hex")}', 'hex'), 'UTF8')`;
}
