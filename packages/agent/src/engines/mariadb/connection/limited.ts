import { productOf } from "./programs.ts";

/** Adds a time limit that the server itself enforces. A count that takes longer is left out. */
export function limited(version: string, select: string, seconds: number): string {
  return productOf(version) === "MariaDB"
    ? `set statement max_statement_time = ${Math.max(0.1, seconds).toFixed(1)} for ${select}`
    : select.replace("select", `select /*+ max_execution_time(${Math.ceil(seconds * 1000)}) */`);
}
