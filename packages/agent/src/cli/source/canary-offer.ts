import { shellWord } from "@attestore/proof";
import { join } from "node:path";
import type { SourceConfig } from "../../config/source-config.ts";

/** How a person puts a canary into a source. The agent never writes to one. */
export interface CanaryOffer {
  /** Makes the secret, in a file that the check names. */
  readonly make: string;
  readonly sql: readonly string[];
  readonly check: { readonly id: string; readonly query: string; readonly canary: string };
}

const TABLE = "attestore_canary";
/** Engines whose sources take SQL. */
const SQL_ENGINES: ReadonlySet<string> = new Set(["postgresql", "mariadb", "mysql", "sqlite"]);

/** The secret itself is not in it, because printed text ends up in logs. */
export function canaryOffer({ engine, slug }: SourceConfig, root: string): CanaryOffer | null {
  if (!SQL_ENGINES.has(engine)) return null;
  const file = `keys/${slug}.canary`;
  const path = join(root, file);
  return {
    make: `(umask 077; od -An -N24 -tx1 /dev/urandom | tr -d ' \\n' >${shellWord(path)})`,
    sql: [
      `create table ${TABLE} (token text not null);`,
      `insert into ${TABLE} values ('the text in ${path}');`,
    ],
    check: { id: "canary", query: `select token from ${TABLE}`, canary: `file:${file}` },
  };
}
