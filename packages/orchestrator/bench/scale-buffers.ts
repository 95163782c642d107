/** How many of the database's pages each call that reads looks at, as PostgreSQL counts them. */
import type { Pool } from "pg";
import { exchange } from "../../../tests/e2e/harness/https.ts";
import { callsOf } from "./scale-calls.ts";
import type { Reading } from "./scale-reading.ts";

/** After so many, a connection's prepared statements have plans that stay. */
const WARM_UP = 30;

/** One statement of a call. Means of one call. */
export interface Statement {
  text: string;
  runs: number;
  rows: number;
  /** Pages of 8 KiB. */
  pages: number;
  /** Of these, pages that PostgreSQL's own cache did not have. */
  read: number;
}

export interface Looked {
  name: string;
  statements: Statement[];
}

/** Has PostgreSQL count, from its next start on. */
export async function countFromNextStart(pool: Pool): Promise<void> {
  await pool.query("alter system set shared_preload_libraries = 'pg_stat_statements'");
}

export async function measureBuffers(
  { server, history, operator, times }: Reading,
  pool: Pool,
): Promise<Looked[]> {
  await pool.query("create extension if not exists pg_stat_statements");
  const looked: Looked[] = [];
  for (const call of callsOf(history, operator)) {
    const ask = async (n: number): Promise<void> => {
      const answer = await exchange(server, { method: "GET", path: call.path(n), token: call.token });
      if (answer.status !== 200) throw new Error(`${call.name}: ${answer.status} ${answer.body.toString()}`);
    };
    for (let n = 0; n < WARM_UP; n += 1) await ask(n);
    await pool.query("select pg_stat_statements_reset()");
    for (let n = WARM_UP; n < WARM_UP + times; n += 1) await ask(n);
    const one = { name: call.name, statements: await readStatements(pool, times) };
    process.stderr.write(`${one.name}: ${JSON.stringify(one.statements)}\n`);
    looked.push(one);
  }
  return looked;
}

/** What the service's requests ran since the counts began: not its jobs, and not this program. */
async function readStatements(pool: Pool, calls: number): Promise<Statement[]> {
  const { rows } = await pool.query<Statement>(
    `select query as text, calls::float / $1 as runs, rows::float / $1 as rows,
      (shared_blks_hit + shared_blks_read)::float / $1 as pages, shared_blks_read::float / $1 as read
     from pg_stat_statements join pg_roles on pg_roles.oid = userid
     where rolname in ('attestore_tenant', 'attestore_requests') and query !~* '^(insert|update|delete)'
     order by pages desc`,
    [calls],
  );
  return rows;
}

/** A line of Markdown for each call. */
export function buffersTable(before: readonly Looked[], after: readonly Looked[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const head = ["", "pages", "with many receipts", "of these not in PostgreSQL's cache"];
  const lines = [line(head), line(head.map(() => "---"))];
  for (const [n, { name, statements }] of after.entries()) {
    const then = before[n]?.statements ?? [];
    const counts = [pagesOf(then), pagesOf(statements), sum(statements, ({ read }) => read)];
    lines.push(line([name, ...counts.map((count) => count.toFixed(1))]));
  }
  return lines.join("\n");
}

const pagesOf = (statements: readonly Statement[]): number => sum(statements, ({ pages }) => pages);

function sum(statements: readonly Statement[], of: (one: Statement) => number): number {
  return statements.reduce((total, one) => total + of(one), 0);
}
