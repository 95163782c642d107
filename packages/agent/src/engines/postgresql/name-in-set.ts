import { quotedName } from "../quoted-name.ts";

/** The name of a table in a set. The database comes first: `orders.public.items`. */
export function nameInSet(database: string, table: string): string {
  return `${/^[a-z_][a-z0-9_$]*$/.test(database) ? database : quotedName(database)}.${table}`;
}
