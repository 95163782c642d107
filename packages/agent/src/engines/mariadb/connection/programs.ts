import { dirname } from "node:path";
import { text } from "node:stream/consumers";
import { startChild } from "../../../processes/child.ts";
import { findProgram, isExecutable } from "../../../processes/find-program.ts";
import { RunError } from "../../../errors/run-error.ts";

/** The two products that speak this protocol. Neither loads every dump of the other. */
export type Product = "MariaDB" | "MySQL";

export interface Program {
  readonly path: string;
  readonly product: Product;
  /** For example `10.11.19`. */
  readonly version: string;
}

/** All programs that a scratch server needs, in one place. */
export interface ServerPrograms {
  readonly server: Program;
  readonly client: string;
  /** Creates the data directory of MariaDB. Null for MySQL, whose server creates it itself. */
  readonly installer: string | null;
}

/** Servers are often outside an ordinary user's PATH. */
const SERVER_PLACES = [
  "/usr/sbin",
  "/usr/local/sbin",
  "/usr/libexec",
  "/usr/local/mysql/bin",
  "/usr/local/bin",
];

const INSTALLER = "mariadb-install-db";

/** Finds the first of these programs on the PATH or in one of the places. */
async function firstOf(names: readonly string[], places: readonly string[]): Promise<string | null> {
  for (const name of names) {
    const onPath = await findProgram(name);
    if (onPath !== null) return onPath;
    for (const place of places) if (await isExecutable(`${place}/${name}`)) return `${place}/${name}`;
  }
  return null;
}

/** @throws RunError `tool_missing` */
export async function findClient(): Promise<string> {
  return required(await firstOf(["mariadb", "mysql"], []), "the mariadb client", "mariadb-client");
}

/**
 * Finds a dump program, that of the server's product if it is here.
 * @throws RunError `tool_missing`
 */
export async function findDumper(product: Product): Promise<Program> {
  const names = product === "MariaDB" ? ["mariadb-dump", "mysqldump"] : ["mysqldump", "mariadb-dump"];
  return described(required(await firstOf(names, []), "mariadb-dump", "mariadb-client"));
}

/**
 * Finds a server to restore into, of that product if it is here, and the programs that it needs.
 * @throws RunError `tool_missing`
 */
export async function findServerPrograms(product: Product): Promise<ServerPrograms> {
  const names = product === "MariaDB" ? ["mariadbd", "mysqld"] : ["mysqld", "mariadbd"];
  const path = required(
    await firstOf(names, SERVER_PLACES),
    `a ${product} server to restore into`,
    product === "MariaDB" ? "mariadb-server" : "mysql-server",
  );
  const server = await described(path);
  const client = await findClient();
  if (server.product === "MySQL") return { server, client, installer: null };
  const installer = await firstOf([INSTALLER], [dirname(path)]);
  return { server, client, installer: required(installer, INSTALLER, "mariadb-server-core") };
}

/**
 * A script for `/bin/sh` that finds the same programs in a container. It prints four lines: the
 * path and version of the server, the path of the client, and that of the installer.
 */
export const PRINT_SERVER_PROGRAMS = `PATH="$PATH:${SERVER_PLACES.join(":")}"
server=$(command -v mariadbd || command -v mysqld) && echo "$server" && "$server" --version &&
  { command -v mariadb || command -v mysql; } && { command -v ${INSTALLER} || echo none; }`;

/** Parses the output of that script. Null if a program is missing. */
export function printedServerPrograms(output: string): ServerPrograms | null {
  const [path = "", said = "", client = "", installer = ""] = output.split("\n");
  const server = programOf(path, said);
  if (server === null || !path.startsWith("/") || !client.startsWith("/")) return null;
  if (server.product === "MySQL") return { server, client, installer: null };
  return installer.startsWith("/") ? { server, client, installer } : null;
}

function required(path: string | null, what: string, package_: string): string {
  if (path !== null) return path;
  throw new RunError("tool_missing", `${what} is not installed here: install ${package_}`);
}

async function described(path: string): Promise<Program> {
  const child = await startChild({ command: path, args: ["--version"], signal: AbortSignal.timeout(10_000) });
  child.stdin.end();
  const output = await text(child.stdout);
  await child.exited;
  const program = programOf(path, output);
  if (program === null) throw new RunError("tool_missing", `${path} reports no known version`);
  return program;
}

/** Parses the output of `--version`. Null if it names no version. */
export function programOf(path: string, output: string): Program | null {
  const version = /(?:Distrib|from|Ver) ([0-9]+\.[0-9]+\.[0-9]+)/.exec(
    output.replace(/Ver [0-9.]+ Distrib/, "Distrib"),
  )?.[1];
  return version === undefined ? null : { path, product: productOf(output), version };
}

/** Finds the product in the version that a server or program states. */
export function productOf(text: string): Product {
  return /mariadb/i.test(text) ? "MariaDB" : "MySQL";
}

/**
 * A version's major and minor number as one, such as 1011 for 10.11, so that releases can be
 * compared; 0 if it is not a version.
 */
export function releaseOf(version: unknown): number {
  const [, major, minor] =
    (typeof version === "string" ? /^([0-9]{1,3})\.([0-9]{1,3})/.exec(version) : null) ?? [];
  return major === undefined ? 0 : Number(major) * 100 + Number(minor);
}

/**
 * The release of MariaDB that brought `--dump-history`, servers that accept its output, and rows on
 * lines of their own.
 */
export const DUMPS_HISTORY = 1011;

/** How a dump program writes rows: each on a line, or as many as fit. */
export type RowLayout = "one_a_line" | "many_a_line";

export function rowLayoutOf({ product, version }: Pick<Program, "product" | "version">): RowLayout {
  return product === "MariaDB" && releaseOf(version) >= DUMPS_HISTORY ? "one_a_line" : "many_a_line";
}
