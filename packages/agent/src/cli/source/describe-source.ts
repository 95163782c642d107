import { ENGINE_SETTINGS } from "../../config/engines/engine-settings.ts";
import { SLUG, type EngineName } from "../../config/source-config.ts";
import type { FlagName } from "../../config/flag-table.ts";
import { UserError } from "../../errors/user-error.ts";
import { askUntil, canAsk } from "../terminal/ask.ts";
import { resolve } from "node:path";
import { text as readAll } from "node:stream/consumers";
import { nearestName } from "@attestore/host/nearest-name";
import type { Call } from "../invocation/command.ts";
import type { TypedAnswers } from "./typed-answers.ts";

export interface ChosenSource {
  readonly engine: EngineName;
  readonly name: string;
}

/** A source as the user describes it, for config.yaml. */
export interface DescribedSource {
  readonly name: string;
  readonly entry: Readonly<Record<string, unknown>>;
  /** A URL with a password. It goes into a file of its own, and `entry` names that file. */
  readonly secret: { readonly file: string; readonly text: string } | null;
}

const ENGINE_NAMES = Object.keys(ENGINE_SETTINGS) as EngineName[];

/**
 * Reads the command line, and asks for missing values if there is a terminal. An invalid answer is
 * asked for again.
 * @throws UserError usage
 */
export async function chooseSource(
  call: Call,
  given: string | undefined,
  taken: readonly string[],
): Promise<ChosenSource> {
  const engine = await engineOf(call);
  refuseForeign(call, engine, ENGINE_SETTINGS[engine].fields);
  return { engine, name: await nameOf(call, given, engine, taken) };
}

/**
 * Where the source is, from the command line and from the person.
 * @throws UserError usage
 */
export async function describeSource(
  call: Call,
  { engine, name }: ChosenSource,
  answers: TypedAnswers,
): Promise<DescribedSource> {
  const { flags } = call;
  const { fields } = ENGINE_SETTINGS[engine];
  const entry: Record<string, unknown> = { engine };
  let secret: DescribedSource["secret"] = null;
  if (fields.includes("connection")) {
    const { connection, text } = await connectionOf(call, { engine, name }, answers);
    entry["connection"] = connection;
    if (text !== null) secret = { file: secretFile(name), text };
  }
  const wanted = (flag: FlagName, question: string): Promise<string> =>
    flagOrAnswer(call, answers, flag, question);
  // A person means it from where they are; in config.yaml it would be relative to the root.
  if (fields.includes("path"))
    entry["path"] = resolve(call.cwd, await wanted("path", PATHS[engine] ?? "Path:"));
  if (fields.includes("repository"))
    entry["repository"] = await wanted("repository", "Repository (as restic --repo takes it):");
  if (fields.includes("password"))
    entry["password"] = await wanted(
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

async function engineOf({ flags, signal, terminal }: Call): Promise<EngineName> {
  const typed = flags.text("engine");
  if (typed === undefined && !canAsk()) throw missing("engine", `one of ${ENGINE_NAMES.join(", ")}`);
  if (typed === undefined)
    return (await askUntil(`What do you want to back up? (${ENGINE_NAMES.join(", ")})`, {
      proposal: "postgresql",
      problem: wrongEngine,
      say: terminal.say,
      signal,
    })) as EngineName;
  const problem = wrongEngine(typed);
  if (problem !== null) throw new UserError("usage", problem);
  return typed as EngineName;
}

function wrongEngine(typed: string): string | null {
  if (ENGINE_NAMES.some((each) => each === typed)) return null;
  const near = nearestName(typed, ENGINE_NAMES);
  const hint = near === null ? `There are ${ENGINE_NAMES.join(", ")}.` : `Did you mean "${near}"?`;
  return `there is no engine "${typed}". ${hint}`;
}

async function nameOf(
  { signal, terminal }: Call,
  given: string | undefined,
  engine: string,
  taken: readonly string[],
): Promise<string> {
  const problemOf = (name: string): string | null => wrongName(name, taken);
  if (given === undefined && !canAsk())
    throw new UserError("usage", "which name? attestore source add NAME …");
  if (given === undefined)
    return askUntil("What should it be called?", {
      proposal: taken.includes(engine) ? "" : engine,
      problem: problemOf,
      say: terminal.say,
      signal,
    });
  const problem = problemOf(given);
  if (problem !== null) throw new UserError("usage", problem);
  return given;
}

function wrongName(name: string, taken: readonly string[]): string | null {
  if (!SLUG.test(name))
    return `"${name}" is not a valid source name: use up to 63 characters of a-z, 0-9, - and _, starting with a letter or digit`;
  return taken.includes(name)
    ? `there is already a source ${name}: choose another name, or remove it first`
    : null;
}

/**
 * A URL with a password comes from a terminal, without echo, or from stdin. It never comes from the
 * command line.
 */
async function connectionOf(
  { flags }: Call,
  { engine, name }: ChosenSource,
  answers: TypedAnswers,
): Promise<{ connection: string; text: string | null }> {
  let typed = flags.text("connection");
  let isPrivate = false;
  if (typed === "-") {
    typed = (await readAll(process.stdin)).split(/\r?\n/)[0]?.trim() ?? "";
    isPrivate = true;
  } else if (typed === undefined) {
    const asked = await answers.askSecret(
      "connection",
      `URL (not shown; kept in ${secretFile(name)}), such as ${exampleUrl(engine)}; or env:NAME, file:PATH, credential:NAME:`,
    );
    if (asked === null) throw missing("connection", "env:NAME, file:PATH, … or - to read a URL from stdin");
    if (asked !== "" && !/^([a-z][a-z0-9+.-]*:\/\/|(env|file|credential|service):)/.test(asked))
      throw new UserError("usage", `connection: that is not a URL such as ${exampleUrl(engine)}`);
    typed = asked;
    isPrivate = true;
  }
  if (typed === "") throw new UserError("usage", "no connection was given");
  if (isPrivate && /^[a-z][a-z0-9+.-]*:\/\//.test(typed))
    return { connection: `file:${secretFile(name)}`, text: typed };
  return { connection: typed, text: null };
}

function exampleUrl(engine: EngineName): string {
  const scheme = engine === "mariadb" || engine === "mysql" ? "mysql" : engine;
  return `${scheme}://USER:PASSWORD@HOST/DATABASE`;
}

async function flagOrAnswer(
  { flags }: Call,
  answers: TypedAnswers,
  name: FlagName,
  question: string,
): Promise<string> {
  const value = flags.text(name) ?? (await answers.ask(name, question));
  if (value === null || value === "") throw missing(name, "see --help");
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
