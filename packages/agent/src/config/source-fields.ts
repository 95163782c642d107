import { resolve } from "node:path";
import { credentialPath, isCredentialName } from "../secrets/credential.ts";
import type { SecretReference } from "../secrets/secret-reference.ts";
import { holdsPassword } from "./connection-url.ts";

export interface SourceConfigIssue {
  /** Such as `sources.orders-db.checks[0].expect`. */
  readonly path: string;
  readonly message: string;
}

/** The person who wrote the configuration can fix this. */
export class SourceConfigError extends Error {
  readonly code = "source_config_invalid";
  readonly issues: readonly SourceConfigIssue[];
  constructor(issues: readonly SourceConfigIssue[]) {
    super(issues.map((issue) => `${issue.path}: ${issue.message}`).join("\n"));
    this.name = "SourceConfigError";
    this.issues = issues;
  }
}

/**
 * How to reach a database. The configuration never contains the secret itself, only where it is.
 */
export type ConnectionReference =
  | SecretReference
  /** An entry of `pg_service.conf`. */
  | { readonly kind: "service"; readonly name: string }
  /** A URL without a password. */
  | { readonly kind: "url"; readonly url: string };

/** The schemes of an engine's URLs; messages use the first. */
export interface ConnectionForms {
  readonly schemes: readonly [string, ...string[]];
  /** Whether `service:NAME` is accepted too. */
  readonly services: boolean;
}

/**
 * Reads the fields of one entry of `sources:` one by one. Collects all mistakes, so that a person
 * sees them all at once. A reader then returns null or the built-in value, which nobody gets to
 * use.
 */
export class SourceFields {
  readonly issues: SourceConfigIssue[] = [];
  readonly #value: Readonly<Record<string, unknown>>;
  readonly #at: string;
  readonly #baseDir: string;

  /**
   * `at` is the entry's own path, such as `sources.orders`. Relative paths are relative to
   * `baseDir`.
   */
  constructor(value: Readonly<Record<string, unknown>>, at: string, baseDir: string) {
    this.#value = value;
    this.#at = at;
    this.#baseDir = baseDir;
  }

  has(name: string): boolean {
    return this.#value[name] !== undefined && this.#value[name] !== null;
  }

  isText(name: string, text: string): boolean {
    return this.#value[name] === text;
  }

  issue(name: string, message: string): null {
    this.issues.push({ path: `${this.#at}.${name}`, message });
    return null;
  }

  /** One line of text. */
  text(name: string, what: string): string | null {
    const value = this.#value[name];
    if (typeof value === "string" && value.trim() !== "" && value.length <= 4096 && !/[\0\n]/.test(value))
      return value;
    return this.issue(name, `must be ${what}`);
  }

  /** Null if it is missing. */
  optionalText(name: string, what: string): string | null {
    return this.has(name) ? this.text(name, what) : null;
  }

  path(name: string, what: string): string | null {
    const path = this.text(name, what);
    return path === null ? null : resolve(this.#baseDir, path);
  }

  /** Texts, each only once. Null if it is missing. */
  texts(name: string, what: string): string[] | null {
    if (!this.has(name)) return null;
    const value = this.#value[name];
    const isList =
      Array.isArray(value) &&
      value.length > 0 &&
      value.every(
        (each) => typeof each === "string" && each !== "" && each.length <= 1024 && !/[\0\n]/.test(each),
      );
    if (isList && new Set(value).size === value.length) return value as string[];
    return this.issue(name, `must be a list of ${what}, without duplicates`);
  }

  flag(name: string, builtIn: boolean): boolean {
    if (!this.has(name)) return builtIn;
    const value = this.#value[name];
    if (typeof value === "boolean") return value;
    this.issue(name, "must be true or false");
    return builtIn;
  }

  count(
    name: string,
    builtIn: number,
    { min, max, what }: { min: number; max: number; what: string },
  ): number {
    if (!this.has(name)) return builtIn;
    const value = this.#value[name];
    if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) return value;
    this.issue(name, `must be ${what} from ${min} to ${max}`);
    return builtIn;
  }

  /**
   * A message never repeats the value itself: somebody who mistook the field for the secret has it
   * there.
   */
  secret(name: string): SecretReference | null {
    const value = this.#value[name];
    return (
      (typeof value === "string" ? this.#reference(name, value) : null) ??
      this.issue(name, "must be env:NAME, file:PATH or credential:NAME")
    );
  }

  connection(name: string, { schemes, services }: ConnectionForms): ConnectionReference | null {
    const forms = `env:NAME, file:PATH, credential:NAME, ${services ? "service:NAME, " : ""}or a ${schemes[0]}:// URL without a password`;
    const value = this.#value[name];
    if (typeof value !== "string") return this.issue(name, `must be ${forms}`);
    const before = this.issues.length;
    const reference = this.#reference(name, value);
    if (reference !== null || this.issues.length > before) return reference;
    const [, service] = (services ? /^service:(.+)$/s.exec(value) : null) ?? [];
    if (service !== undefined) {
      if (/^[A-Za-z0-9_.-]+$/.test(service)) return { kind: "service", name: service };
      return this.issue(name, "service: takes the name of a section in pg_service.conf");
    }
    const isSecret = holdsPassword(value, schemes);
    if (isSecret === null) return this.issue(name, `must be ${forms}`);
    if (!isSecret) return { kind: "url", url: value };
    // The message does not repeat the value itself, because it contains a password.
    return this.issue(
      name,
      "must not hold a password: put the URL into an environment variable or a file and name it (env:NAME, file:PATH)",
    );
  }

  #reference(name: string, value: string): SecretReference | null {
    const [, kind, rest = ""] = /^(env|file|credential):(.+)$/s.exec(value) ?? [];
    if (kind === "credential") {
      if (isCredentialName(rest)) return { kind: "file", path: credentialPath(rest) };
      return this.issue(name, "credential: takes the name of a systemd credential");
    }
    if (kind === "file") return { kind, path: resolve(this.#baseDir, rest) };
    if (kind !== "env") return null;
    if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(rest)) return { kind, name: rest };
    return this.issue(name, "env: takes the name of an environment variable");
  }
}
