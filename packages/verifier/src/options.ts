import { plural } from "@attestore/proof";
import { parseArgs } from "node:util";
import { CannotTell } from "./cannot-tell.ts";

export interface Options {
  /** Files or `-`; with `prove` also receipt ids. */
  receipts: string[];
  /** Files of agents' keys, one key each. */
  keys: string[];
  /** A file of agents' keys, one per line. */
  keyList: string | undefined;
  /** The key that signs the list of keys. */
  ownerKey: string | undefined;
  /** Files that each hold a rotation of the agent's signing key. */
  rotations: string[];
  logKey: string | undefined;
  witnessKeys: string[];
  /** Undefined: all of them. */
  witnesses: number | undefined;
  ciphertext: string | undefined;
  prove: URL | undefined;
  ca: string | undefined;
  json: boolean;
  quiet: boolean;
  verbose: boolean;
  expectPassed: boolean;
  /** Undefined: the default for each kind of file. */
  requireLog: boolean | undefined;
  help: boolean;
  version: boolean;
}

const OPTIONS = {
  key: { type: "string", multiple: true },
  keys: { type: "string", multiple: true },
  "owner-key": { type: "string", multiple: true },
  rotation: { type: "string", multiple: true },
  "log-key": { type: "string", multiple: true },
  "witness-key": { type: "string", multiple: true },
  witnesses: { type: "string", multiple: true },
  ciphertext: { type: "string", multiple: true },
  prove: { type: "string", multiple: true },
  ca: { type: "string", multiple: true },
  json: { type: "boolean" },
  quiet: { type: "boolean" },
  verbose: { type: "boolean" },
  "expect-passed": { type: "boolean" },
  "require-log": { type: "boolean" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean" },
} as const;

/** Parses the command line. Throws CannotTell with code `usage`. */
export function parseOptions(args: string[]): Options {
  const { values, positionals } = parse(args);
  const options: Options = {
    receipts: positionals,
    keys: values.key ?? [],
    keyList: once("keys", values.keys),
    ownerKey: once("owner-key", values["owner-key"]),
    rotations: values.rotation ?? [],
    logKey: once("log-key", values["log-key"]),
    witnessKeys: values["witness-key"] ?? [],
    witnesses: wholeNumber("witnesses", once("witnesses", values.witnesses)),
    ciphertext: once("ciphertext", values.ciphertext),
    prove: serviceUrl(once("prove", values.prove)),
    ca: once("ca", values.ca),
    json: values.json ?? false,
    quiet: values.quiet ?? false,
    verbose: values.verbose ?? false,
    expectPassed: values["expect-passed"] ?? false,
    requireLog: values["require-log"],
    help: values.help ?? false,
    version: values.version ?? false,
  };
  if (options.help || options.version) return options;
  if (positionals.length === 0) throw usage("no receipt given");
  if (options.quiet && options.json) throw usage("with --json there is always an answer: leave out --quiet");
  if (options.quiet && options.verbose) throw usage("give --quiet or --verbose, not both");
  const { keys, rotations, witnessKeys, witnesses } = options;
  if (keys.includes("")) throw usage("--key is empty");
  if (rotations.includes("")) throw usage("--rotation is empty");
  if (rotations.length > 0 && keys.length === 0 && options.keyList === undefined)
    throw usage("--rotation starts from a key that you trust: it needs --key or --keys");
  if (options.ownerKey !== undefined && options.keyList === undefined)
    throw usage("--owner-key is the key that signed a list of keys: it needs --keys");
  if (options.ownerKey !== undefined && options.keyList === "-")
    throw usage("with --owner-key, --keys must be a file, with its signature next to it");
  if (witnessKeys.includes("")) throw usage("--witness-key is empty");
  if (witnesses !== undefined && witnesses > witnessKeys.length)
    throw usage(
      `--witnesses ${witnesses} needs that many --witness-key, but only ${witnessKeys.length} were given`,
    );
  const files = [
    ...positionals,
    ...options.keys,
    ...options.rotations,
    options.keyList,
    options.ownerKey,
    options.logKey,
    options.ciphertext,
    options.ca,
    ...options.witnessKeys,
  ];
  if (files.filter((name) => name === "-").length > 1) throw usage("standard input can be read only once");
  if (options.ca !== undefined && options.prove === undefined) throw usage("--ca is only used with --prove");
  return options;
}

type Parsed = ReturnType<
  typeof parseArgs<{ options: typeof OPTIONS; allowPositionals: true; allowNegative: true }>
>;

function parse(args: string[]): Parsed {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true, allowNegative: true });
  } catch (error) {
    throw usage(error instanceof Error ? error.message : String(error));
  }
}

/**
 * Refuses an option given twice: if one of two keys silently won, the answer would be to another
 * question.
 */
function once(name: string, values: string[] | undefined): string | undefined {
  if (values && values.length > 1) throw usage(`--${name} was given ${plural(values.length, "time")}`);
  if (values?.[0] === "") throw usage(`--${name} is empty`);
  return values?.[0];
}

function wholeNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d?$/.test(text)) throw usage(`--${name} takes a whole number from 1 to 99, not ${text}`);
  return Number(text);
}

const NOT_OF_PACKS = {
  ciphertext: "--ciphertext",
  prove: "--prove",
  requireLog: "--[no-]require-log",
} as const;

/**
 * Throws for options that do not apply to packs: a user would believe that an ignored option had
 * worked.
 */
export function requireOptionsOfPacks(options: Options): void {
  if (options.rotations.length > 0)
    throw usage("--rotation applies to receipts only: an evidence pack has its agents' rotations in its log");
  for (const [name, option] of Object.entries(NOT_OF_PACKS))
    if (options[name as keyof typeof NOT_OF_PACKS] !== undefined)
      throw usage(`${option} applies to receipts, not to evidence packs`);
}

function serviceUrl(text: string | undefined): URL | undefined {
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "https:" || url.username || url.search || url.hash)
    throw usage(`--prove takes the service's https:// address, not ${text}`);
  return url;
}

export function usage(message: string): CannotTell {
  return new CannotTell("usage", `${message}. See attestore-verify --help`);
}
