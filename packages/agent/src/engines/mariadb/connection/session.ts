import { randomBytes } from "node:crypto";
import type { Child } from "../../../processes/child.ts";
import type { ProgramRequest } from "../../../processes/run-program.ts";

export type Statement =
  | { readonly ok: true; readonly rows: readonly (readonly string[])[] }
  /**
   * `message` is the server's own and may quote data, so it must not go into a receipt as it is.
   */
  | { readonly ok: false; readonly code: number; readonly message: string };

/** The client ended, because it could not reach the server or lost the connection. */
export class SessionEnded extends Error {
  readonly code = "session_ended";
  /** The client's own messages. They contain host and user at most. */
  readonly stderr: string;
  constructor(stderr: string) {
    super("the mariadb client ended");
    this.name = "SessionEnded";
    this.stderr = stderr;
  }
}

/** Makes a text of the bytes of a cell. */
export type Decode = (bytes: string) => string;

export const asText: Decode = (bytes) => Buffer.from(bytes, "latin1").toString("utf8");

/** UTF-8, or else one byte. */
const SEQUENCE =
  /[\0-\x7f]+|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}|([\x80-\xff])/g;

/**
 * Two different rows of bytes give two different texts: a byte that is not UTF-8 becomes a
 * surrogate.
 */
export const asBytes: Decode = (bytes) => {
  const text = asText(bytes);
  if (!text.includes("\u{fffd}")) return text;
  return bytes.replaceAll(SEQUENCE, (sequence, odd: string | undefined) =>
    odd === undefined ? asText(sequence) : String.fromCharCode(0xdc00 + odd.charCodeAt(0)),
  );
};

const MAX_OUTPUT = 64 << 20;
/**
 * Errors about the connection: the client's own, such as 2006, 2013 and 2026 (TLS), and 4031, which
 * the server sends when it closes the connection. The client does not end after an error, so it and
 * we would wait for each other for ever.
 */
const LOST = /^ERROR (?:2[0-9]{3}|4031) \(HY000\)/;

/**
 * In binary mode, the client has only one command of its own, `delimiter`. It continues after an
 * error, and we ask the server which error it was.
 */
const ARGUMENTS = [
  "--batch",
  "--skip-column-names",
  "--unbuffered",
  "--force",
  "--binary-mode",
  "--skip-reconnect",
  "--default-character-set=utf8mb4",
  // Otherwise a server may ask for any file that we can read, whatever the statement is.
  "--local-infile=0",
  // Newer clients then refuse commands that reach a file or a shell. Older ones do not know the
  // option, and in binary mode they have no such commands.
  "--loose-sandbox",
];

/** Reads a table that is empty and needs no privilege. */
const FORGET_ERRORS = "select 1 from (select 1) q where false";

/**
 * One connection, through a client that keeps running. It gets statements through stdin, one at a
 * time.
 */
export class MariadbSession {
  readonly #child: Child;
  #output = "";
  #arrived: () => void = () => undefined;
  #ended = false;

  private constructor(child: Child) {
    this.#child = child;
    // Byte for byte. Each cell is decoded on its own.
    child.stdout.setEncoding("latin1");
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
   * `start` runs the mariadb client, with these arguments after those for the connection.
   * `settings` are statements without a result, which come before all others. If the server cannot
   * be reached, the first statement fails.
   * @throws RunError `tool_missing`.
   */
  static async open(
    start: (request: ProgramRequest) => Promise<Child>,
    signal: AbortSignal,
    settings: readonly string[] = [],
  ): Promise<MariadbSession> {
    const session = new MariadbSession(await start({ args: ARGUMENTS, signal }));
    for (const sql of settings) session.#child.stdin.write(`${sql};\n`);
    return session;
  }

  /**
   * Runs one of our own statements. It may contain texts of others only as a `literal`. We ask for
   * its error at once, because MySQL forgets it with the next statement. MariaDB keeps an error
   * until a statement reads a table, so a statement that reads none would seem to fail like the one
   * before it.
   * @throws SessionEnded
   */
  async run(sql: string, decode: Decode = asText): Promise<Statement> {
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
    const rows = linesOf(this.#output.slice(0, -end.length), decode);
    const [errors] = rows.pop() ?? [];
    if (errors === "0") return { ok: true, rows };
    const [, code = "", message = ""] = rows.at(-1) ?? [];
    return { ok: false, code: Number(code), message };
  }

  /**
   * Runs one statement that contains texts of others, such as names that a server returned. The
   * client only gets it as hex digits. The server makes a prepared statement of it, so it is one
   * statement, whatever it contains. `asText` loses bytes that are not UTF-8; `asBytes` keeps them.
   * @throws SessionEnded
   */
  async runForeign(sql: string, decode: Decode = asText): Promise<Statement> {
    const set = await this.run(`set @attestore = ${literal(sql)}`);
    const prepared = set.ok ? await this.run("prepare attestore from @attestore") : set;
    return prepared.ok ? this.run("execute attestore", decode) : prepared;
  }

  async close(): Promise<void> {
    this.#child.stdin.end();
    await this.#child.stop();
  }
}

const ESCAPED: Readonly<Record<string, string>> = { "\\n": "\n", "\\t": "\t", "\\0": "\0", "\\\\": "\\" };

/**
 * Parses the client's batch format. NULL looks like the text NULL there, so statements that may
 * return NULL must tell the two apart themselves.
 */
function linesOf(output: string, decode: Decode): string[][] {
  return output
    .split("\n")
    .slice(0, -1)
    .map((line) =>
      line
        .split("\t")
        .map((cell) => decode(cell).replaceAll(/\\[nt0\\]/g, (escape) => ESCAPED[escape] ?? escape)),
    );
}

/** A string literal for any text, in any SQL mode. */
export function literal(text: string): string {
  return text === "" ? "''" : `convert(x'${Buffer.from(text).toString("hex")}' using utf8mb4)`;
}

export function quoted(name: string): string {
  return `\`${name.replaceAll("`", "``")}\``;
}
