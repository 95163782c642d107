import { randomBytes } from "node:crypto";
import type { Child } from "../../processes/child.ts";
import type { ProgramRequest } from "../../processes/run-program.ts";

export type Statement =
  | { readonly ok: true; readonly rows: readonly (readonly string[])[] }
  /** The server's own message: it may quote data, so it goes no further than a look. */
  | { readonly ok: false; readonly code: number; readonly message: string };

/** The client went away: the server was not reachable, or broke the connection. */
export class SessionEnded extends Error {
  readonly code = "session_ended";
  /** The client's own words, which hold host and user at most. */
  readonly stderr: string;
  constructor(stderr: string) {
    super("the mariadb client ended");
    this.name = "SessionEnded";
    this.stderr = stderr;
  }
}

const MAX_OUTPUT = 64 << 20;
/**
 * The client's own errors, all of them about its connection: 2006 and 2013, and with TLS 2026.
 * Errors do not end it: it would wait for ever for us, and we for it. 4031 is what a server says
 * that closes it.
 */
const LOST = /^ERROR (?:2[0-9]{3}|4031) \(HY000\)/;

/**
 * In binary mode the client has no commands of its own but `delimiter`. An error does not end it;
 * what the error was, the server is asked.
 */
const ARGUMENTS = [
  "--batch",
  "--skip-column-names",
  "--unbuffered",
  "--force",
  "--binary-mode",
  "--skip-reconnect",
  "--default-character-set=utf8mb4",
  // Otherwise a server may ask for any file that we can read, whatever it was asked.
  "--local-infile=0",
  // Newer clients take no command that reaches a file or a shell; older ones do not know the
  // option, and have none in binary mode.
  "--loose-sandbox",
];

/** Reads a table, which is empty and nobody's. */
const FORGET_ERRORS = "select 1 from (select 1) q where false";

/** One connection, through a client that is kept: statements go in by its stdin. One at a time. */
export class MariadbSession {
  readonly #child: Child;
  #output = "";
  #arrived: () => void = () => undefined;
  #ended = false;

  private constructor(child: Child) {
    this.#child = child;
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (text: string) => {
      this.#output += text;
      this.#arrived();
    });
    let line = "";
    child.stderr.on("data", (text: string) => {
      const lines = (line + text).split("\n");
      line = (lines.pop() ?? "").slice(0, 200);
      if (lines.some((each) => LOST.test(each))) void child.stop();
    });
    void child.exited.then(() => {
      this.#ended = true;
      this.#arrived();
    });
  }

  /**
   * `start` runs the mariadb client with these arguments after the one that says how to connect.
   * That the server cannot be reached shows with the first statement.
   * @throws RunError `tool_missing`.
   */
  static async open(
    start: (request: ProgramRequest) => Promise<Child>,
    signal: AbortSignal,
  ): Promise<MariadbSession> {
    return new MariadbSession(await start({ args: ARGUMENTS, signal }));
  }

  /**
   * Runs one statement of ours; whatever of others is in it is there by `literal`. Its error is asked for at once, for MySQL forgets it with the next statement; MariaDB keeps it until one that
   * reads a table, so that a statement which reads none would seem to fail like the one before it.
   * @throws SessionEnded
   */
  async run(sql: string): Promise<Statement> {
    const mark = randomBytes(12).toString("hex");
    this.#output = "";
    this.#child.stdin.write(
      `${FORGET_ERRORS};\n${sql}\n;\nshow errors limit 1;\nshow count(*) errors;\nselect '${mark}';\n`,
    );
    const end = `${mark}\n`;
    while (!this.#output.endsWith(end)) {
      if (this.#ended) throw new SessionEnded((await this.#child.exited).stderr.trim());
      if (this.#output.length > MAX_OUTPUT)
        throw new Error("one of attestore's own statements returned more than 64 MiB");
      await new Promise<void>((resolve) => (this.#arrived = resolve));
    }
    const rows = linesOf(this.#output.slice(0, -end.length));
    const [errors] = rows.pop() ?? [];
    if (errors === "0") return { ok: true, rows };
    const [, code = "", message = ""] = rows.at(-1) ?? [];
    return { ok: false, code: Number(code), message };
  }

  /**
   * Runs one statement that has texts of others in it, such as names that a server told. The client is only ever given its digits; the
   * server makes a prepared statement of it: one statement, whatever is in it.
   * @throws SessionEnded
   */
  async runForeign(sql: string): Promise<Statement> {
    const set = await this.run(`set @attestore = ${literal(sql)}`);
    const prepared = set.ok ? await this.run("prepare attestore from @attestore") : set;
    return prepared.ok ? this.run("execute attestore") : prepared;
  }

  async close(): Promise<void> {
    this.#child.stdin.end();
    await this.#child.stop();
  }
}

const ESCAPED: Readonly<Record<string, string>> = { "\\n": "\n", "\\t": "\t", "\\0": "\0", "\\\\": "\\" };

/**
 * The client's batch format. NULL cannot be told from the text NULL: statements that may give it
 * say so themselves.
 */
function linesOf(output: string): string[][] {
  return output
    .split("\n")
    .slice(0, -1)
    .map((line) =>
      line.split("\t").map((cell) => cell.replaceAll(/\\[nt0\\]/g, (escape) => ESCAPED[escape] ?? escape)),
    );
}

/** A string literal whatever the SQL mode and whatever is in it. */
export function literal(text: string): string {
  return text === "" ? "''" : `convert(x'${Buffer.from(text).toString("hex")}' using utf8mb4)`;
}

export function quoted(name: string): string {
  return `\`${name.replaceAll("`", "``")}\``;
}
