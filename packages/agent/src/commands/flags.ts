import type { Defaults } from "../root/config-schema.ts";
import { UserError } from "../root/user-error.ts";

interface Flag {
  readonly form: string;
  readonly env: string;
  readonly about: string;
}

/** Every flag and its environment twin. A `<value>` in the form makes it take one; the others are switches. */
export const FLAGS = {
  root: { form: "--root <dir>", env: "ATTESTORE_HOME", about: "the install root" },
  json: { form: "--json", env: "ATTESTORE_JSON", about: "print JSON to stdout" },
  source: { form: "--source <name>", env: "ATTESTORE_SOURCE", about: "a source of config.yaml" },
  backup: { form: "--backup <id>", env: "ATTESTORE_BACKUP", about: "a backup, bkp_…; else the newest" },
  file: {
    form: "--file <path>",
    env: "ATTESTORE_FILE",
    about: "a ciphertext at hand, instead of a stored one",
  },
  output: { form: "--output <path>", env: "ATTESTORE_OUTPUT", about: "the file to write; it must not exist" },
  identity: {
    form: "--identity <path>",
    env: "ATTESTORE_IDENTITY",
    about: "an age identity file; else the root's",
  },
  wait: { form: "--no-wait", env: "ATTESTORE_WAIT", about: "fail at once if another run is under way" },
  service: {
    form: "--service <url>",
    env: "ATTESTORE_SERVICE",
    about: "the orchestrator, https://HOST[:PORT]",
  },
  caFile: {
    form: "--ca-file <path>",
    env: "ATTESTORE_CA_FILE",
    about: "PEM of the CA that the service has to show",
  },
  caSha256: {
    form: "--ca-sha256 <hex>",
    env: "ATTESTORE_CA_SHA256",
    about: "instead: its SHA-256 fingerprint",
  },
  authKeyFile: {
    form: "--auth-key-file <path>",
    env: "ATTESTORE_AUTH_KEY_FILE",
    about: "a file with the auth key, - for stdin; or put the key into ATTESTORE_AUTH_KEY",
  },
  name: {
    form: "--name <text>",
    env: "ATTESTORE_NAME",
    about: "what the service calls this agent; else the host name",
  },
  recipient: {
    form: "--recipient <age1…>",
    env: "ATTESTORE_RECIPIENT",
    about: "encrypt to this key (several: separated by commas); else a new key pair in the root",
  },
  because: { form: "--because <text>", env: "ATTESTORE_BECAUSE", about: "why; kept with the alarm" },
  forgetHead: {
    form: "--forget-head",
    env: "ATTESTORE_FORGET_HEAD",
    about: "take the next head as the first",
  },
} as const satisfies Record<string, Flag>;

export type FlagName = keyof typeof FLAGS;

/** What was given on the command line, by flag name. */
export type GivenFlags = Readonly<Record<string, unknown>>;

/** The values of flags: the command line, then the environment, then `defaults:` of config.yaml. */
export class Flags {
  readonly #given: GivenFlags;
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #defaults: Readonly<Record<string, unknown>>;

  constructor(given: GivenFlags, env: Readonly<Record<string, string | undefined>>, defaults: Defaults = {}) {
    this.#given = given;
    this.#env = env;
    this.#defaults = defaults;
  }

  withDefaults(defaults: Defaults): Flags {
    return new Flags(this.#given, this.#env, defaults);
  }

  /** From the command line alone. */
  typed(name: FlagName): string | undefined {
    const given = this.#given[name];
    return typeof given === "string" ? given : undefined;
  }

  /** Undefined if nobody gave it. An empty environment variable gives nothing. */
  text(name: FlagName): string | undefined {
    const typed = this.typed(name);
    if (typed !== undefined) return typed;
    const fromEnv = this.#env[FLAGS[name].env];
    if (fromEnv !== undefined && fromEnv !== "") return fromEnv;
    const fallback = this.#defaults[name];
    return typeof fallback === "string" ? fallback : undefined;
  }

  /** @throws UserError usage if the environment variable is neither true nor false */
  isOn(name: FlagName, builtIn = false): boolean {
    const given = this.#given[name];
    if (typeof given === "boolean") return given;
    const { env } = FLAGS[name];
    const fromEnv = this.#env[env]?.toLowerCase();
    if (fromEnv !== undefined && fromEnv !== "") {
      if (["1", "true", "yes", "on"].includes(fromEnv)) return true;
      if (["0", "false", "no", "off"].includes(fromEnv)) return false;
      throw new UserError("usage", `${env} is "${fromEnv}"; it takes true or false`);
    }
    const fallback = this.#defaults[name];
    return typeof fallback === "boolean" ? fallback : builtIn;
  }
}
