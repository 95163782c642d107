import { ENGINE_SETTINGS } from "../../config/engines/engine-settings.ts";
import { SLUG, type EngineName } from "../../config/source-config.ts";
import type { FlagName } from "../../config/flag-table.ts";
import { UserError } from "../../errors/user-error.ts";
import { ask, canAsk } from "../terminal/ask.ts";
import { askSecret } from "../terminal/ask-secret.ts";
import { text as readAll } from "node:stream/consumers";
import { nearestName } from "@attestore/host/nearest-name";
import type { Call } from "../command.ts";

/** A source as the user describes it, for config.yaml. */
export interface DescribedSource {
  readonly name: string;
  readonly entry: Readonly<Record<string, unknown>>;
  /** A URL with a password. It goes into a file of its own, and `entry` names that file. */
  readonly secret: { readonly file: string; readonly text: string } | null;
}

const ENGINE_NAMES = Object.keys(ENGINE_SETTINGS) as EngineName[];

/**
 * Reads the command line, and asks for missing parts if there is a terminal.
 * @throws UserError usage
 */
export async function describeSource(
  call: Call,
  given: string | undefined,
  taken: readonly string[],
): Promise<DescribedSource> {
  const { flags } = call;
  const engine = await engineOf(call);
  const name = await nameOf(call, given, engine, taken);
  const { fields } = ENGINE_SETTINGS[engine];
  refuseForeign(call, engine, fields);
  const entry: Record<string, unknown> = { engine };
  let secret: DescribedSource["secret"] = null;
  if (fields.includes("connection")) {
    const { connection, text } = await connectionOf(call, name);
    entry["connection"] = connection;
    if (text !== null) secret = { file: secretFile(name), text };
  }
  if (fields.includes("path")) entry["path"] = await wanted(call, "path", PATHS[engine] ?? "Path:");
  if (fields.includes("repository"))
    entry["repository"] = await wanted(call, "repository", "Repository (as restic --repo takes it):");
  if (fields.includes("password"))
    entry["password"] = await wanted(
      call,
      "passwordFrom",
      "Where its password is (env:NAME, file:PATH, credential:NAME):",
    );
  const databases = flags.text("databases");
  if (databases !== undefined)
    entry["databases"] = databases === "all" ? "all" : databases.split(",").map((each) => each.trim());
  if (flags.isOn("globals")) entry["globals"] = true;
  const pattern = flags.text("pattern");
  if (pattern !== undefined) entry["pattern"] = pattern;
  return { name, entry, secret };
}

/** Relative to the root. */
function secretFile(name: string): string {
  return `keys/${name}.url`;
}

const PATHS: Readonly<Partial<Record<EngineName, string>>> = {
  sqlite: "Path of the database file:",
  files: "Path of the directory:",
  dumps: "Path of the directory with the dumps:",
};

async function engineOf({ flags, signal }: Call): Promise<EngineName> {
  const typed = flags.text("engine") ?? (canAsk() ? await askEngine(signal) : undefined);
  if (typed === undefined) throw missing("engine", `one of ${ENGINE_NAMES.join(", ")}`);
  const engine = ENGINE_NAMES.find((each) => each === typed);
  if (engine !== undefined) return engine;
  const near = nearestName(typed, ENGINE_NAMES);
  const hint = near === null ? `There are ${ENGINE_NAMES.join(", ")}.` : `Did you mean "${near}"?`;
  throw new UserError("usage", `there is no engine "${typed}". ${hint}`);
}

async function askEngine(signal: AbortSignal): Promise<string> {
  return ask(`What do you want to back up? (${ENGINE_NAMES.join(", ")})`, "postgresql", signal);
}

async function nameOf(
  { signal }: Call,
  given: string | undefined,
  engine: string,
  taken: readonly string[],
): Promise<string> {
  const proposal = taken.includes(engine) ? "" : engine;
  const name = given ?? (canAsk() ? await ask("What should it be called?", proposal, signal) : undefined);
  if (name === undefined) throw new UserError("usage", "which name? attestore source add NAME …");
  if (!SLUG.test(name))
    throw new UserError(
      "usage",
      `"${name}" is not a valid source name: use up to 63 characters of a-z, 0-9, - and _, starting with a letter or digit`,
    );
  if (taken.includes(name))
    throw new UserError(
      "usage",
      `there is already a source ${name}: choose another name, or remove it first`,
    );
  return name;
}

/**
 * A URL with a password comes from a terminal, without echo, or from stdin. It never comes from the
 * command line.
 */
async function connectionOf(
  { flags, signal }: Call,
  name: string,
): Promise<{ connection: string; text: string | null }> {
  let typed = flags.text("connection");
  let isPrivate = false;
  if (typed === "-") {
    typed = (await readAll(process.stdin)).split(/\r?\n/)[0]?.trim() ?? "";
    isPrivate = true;
  } else if (typed === undefined) {
    const asked = await askSecret(
      `URL (not shown; kept in ${secretFile(name)}), or env:NAME, file:PATH, credential:NAME: `,
      signal,
    );
    if (asked === null) throw missing("connection", "env:NAME, file:PATH, … or - to read a URL from stdin");
    typed = asked.trim();
    isPrivate = true;
  }
  if (typed === "") throw new UserError("usage", "no connection was given");
  if (isPrivate && /^[a-z][a-z0-9+.-]*:\/\//.test(typed))
    return { connection: `file:${secretFile(name)}`, text: typed };
  return { connection: typed, text: null };
}

async function wanted({ flags, signal }: Call, name: FlagName, question: string): Promise<string> {
  const value = flags.text(name) ?? (canAsk() ? await ask(question, "", signal) : undefined);
  if (value === undefined || value === "") throw missing(name, "see --help");
  return value;
}

/** The user meant a flag of another engine for something, so don't ignore it silently. */
function refuseForeign({ flags }: Call, engine: EngineName, fields: readonly string[]): void {
  const ofFields: readonly [FlagName, string][] = [
    ["connection", "connection"],
    ["path", "path"],
    ["databases", "databases"],
    ["pattern", "pattern"],
    ["repository", "repository"],
    ["passwordFrom", "password"],
  ];
  for (const [flag, field] of ofFields)
    if (flags.typed(flag) !== undefined && !fields.includes(field))
      throw new UserError("usage", `--${dashed(flag)} does not apply to ${engine}`);
  if (flags.isOn("globals") && !fields.includes("globals"))
    throw new UserError("usage", `--globals does not apply to ${engine}`);
}

function missing(flag: FlagName, hint: string): UserError {
  return new UserError("usage", `give --${dashed(flag)} (${hint})`);
}

function dashed(flag: FlagName): string {
  return flag.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
