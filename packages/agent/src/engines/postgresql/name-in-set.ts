/** A table of a set: its database comes first, as `orders.public.items`. */
export function nameInSet(database: string, table: string): string {
  return `${/^[a-z_][a-z0-9_$]*$/.test(database) ? database : `"${database.replaceAll('"', '""')}"`}.${table}`;
}
