import type { Defaults } from "../../config/config-schema.ts";
import { FLAGS, settingName, type FlagName } from "../../config/flag-table.ts";
import { UserError } from "../../errors/user-error.ts";

/** The flags on the command line, by name. */
export type GivenFlags = Readonly<Record<string, unknown>>;

/**
 * The values of flags. The command line takes precedence over the environment, and that over
 * `defaults:` of config.yaml.
 */
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

  /** From the command line only. */
  typed(name: FlagName): string | undefined {
    const given = this.#given[name];
    return typeof given === "string" ? given : undefined;
  }

  /** Whether the command line has the switch, on or off. */
  isTyped(name: FlagName): boolean {
    return typeof this.#given[name] === "boolean";
  }

  /** Undefined if it is not set. An empty environment variable does not count. */
  text(name: FlagName): string | undefined {
    const typed = this.typed(name);
    if (typed !== undefined) return typed;
    const fromEnv = this.#env[FLAGS[name].env];
    if (fromEnv !== undefined && fromEnv !== "") return fromEnv;
    const fallback = this.#defaults[settingName(name)];
    return typeof fallback === "string" || typeof fallback === "number" ? String(fallback) : undefined;
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
    const fallback = this.#defaults[settingName(name)];
    return typeof fallback === "boolean" ? fallback : builtIn;
  }

  /** A whole number. @throws UserError usage */
  count(name: FlagName, { least = 0, most = 1_000_000 } = {}): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    const [flag] = FLAGS[name].form.split(" ");
    throw new UserError("usage", `${flag} takes a whole number from ${least} to ${most}, not "${text}"`);
  }
}
