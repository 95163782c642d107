/**
 * Owners and rights name roles that do not exist here. pg_restore leaves them out, but a dump in
 * SQL contains them.
 */
const MISSING_ROLE =
  /^ERROR: +(?:42704: role "|42501: (?:must be (?:able to SET ROLE|member of role) "|permission denied to change default privileges))/;
/** A throw-away server publishes to nobody and subscribes to nothing. */
const REPLICATION =
  /^ERROR: +(?:42501: (?:must be superuser to create (?:FOR ALL TABLES publication|subscriptions)|permission denied to create subscription)|42704: (?:publication|subscription) "[^"]*" does not exist)/;
const EXISTS = /^ERROR: +42P06: schema "(.*)" already exists$/;
/**
 * Lines that belong to an error, and lines that are not errors. Everything else from psql is an
 * error; psql's own errors have no prefix.
 */
const NO_PROBLEM = /^(?:LOCATION|DETAIL|HINT|CONTEXT|QUERY|NOTICE|WARNING|INFO|LINE [0-9]+):|^[ ^]*$/;
/**
 * An error has one of these if it is about a row or an expression, and none for owners and rights.
 */
const OF_A_VALUE = /^(?:CONTEXT|LINE [0-9]+):/;

const OF_SERVER = /^(?:ERROR|FATAL|PANIC): +[0-9A-Z]{5}:/;

/** Finds the first error that counts in what psql says while it loads a dump. */
export class PlainErrors {
  readonly #schemas: ReadonlySet<string>;
  #first: string | null = null;
  #ofRole: string | null = null;
  /** How many errors of the server came up to the first that counts. */
  #seen = 0;

  /** `schemas` exist before the dump creates them. */
  constructor(schemas: ReadonlySet<string>) {
    this.#schemas = schemas;
  }

  /** It may quote data. */
  get first(): string | null {
    return this.#first;
  }

  /** Its place among the server's errors. */
  get at(): number {
    return Math.max(0, this.#seen - 1);
  }

  look(line: string): void {
    if (this.#first !== null) return;
    if (this.#ofRole !== null && OF_A_VALUE.test(line)) this.#first = this.#ofRole;
    if (NO_PROBLEM.test(line)) return;
    if (OF_SERVER.test(line)) this.#seen += 1;
    this.#ofRole = MISSING_ROLE.test(line) ? line : null;
    const schema = EXISTS.exec(line)?.[1];
    const passesOver =
      this.#ofRole !== null || REPLICATION.test(line) || (schema !== undefined && this.#schemas.has(schema));
    if (!passesOver) this.#first = line;
  }
}
