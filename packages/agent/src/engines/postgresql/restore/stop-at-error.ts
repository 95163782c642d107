import type { Child, Exit } from "../../../processes/child.ts";

const EXISTS = /^pg_restore: error: could not execute query: ERROR: +schema "(.*)" already exists$/;
const DUPLICATE_SCHEMA = "42P06";
const ENDS_WITH = /^pg_restore: warning: errors ignored on restore: ([0-9]+)$/;
const MAX_LINE = 1_000;

export interface StopAtError {
  /** Whether every error may be passed over. */
  onlyPassedOver(): boolean;
  /** Whether one of the errors passed over has that SQLSTATE. */
  passed(sqlstate: string): boolean;
  /** The exit, with the message of the first error that counts. */
  first(exit: Exit): Exit;
}

/**
 * For pg_restore without `--exit-on-error`, which can't pass over certain errors: stops it at the
 * first error that counts. `schemas` existed before the dump creates them.
 */
export function stopAtError(schemas: ReadonlySet<string>, child: Child): StopAtError {
  let passed = 0;
  let ignored = 0;
  let context: string[] = [];
  let counts = null as string | null;
  let line = "";
  const look = (each: string): void => {
    if (counts !== null) {
      counts = `${counts}\n${each}`.slice(0, 10_000);
      return;
    }
    const schema = EXISTS.exec(each)?.[1];
    const ends = ENDS_WITH.exec(each)?.[1];
    if (schema !== undefined && schemas.has(schema)) {
      passed += 1;
      context = [];
    } else if (each.startsWith("pg_restore: error: ")) {
      counts = [...context, each].join("\n");
      void child.stop();
    } else if (ends !== undefined) ignored = Number(ends);
    else context = [...context, each].slice(-5);
  };
  if (schemas.size > 0)
    child.stderr.on("data", (part: string) => {
      const lines = (line + part).split("\n");
      line = (lines.pop() ?? "").slice(0, MAX_LINE);
      for (const each of lines) look(each);
    });
  return {
    onlyPassedOver: () => counts === null && passed > 0 && passed === ignored,
    passed: (sqlstate) => passed > 0 && sqlstate === DUPLICATE_SCHEMA,
    first: (exit) => (counts === null ? exit : { code: 1, signal: null, stderr: counts }),
  };
}
