/** `1 backup`, `3 backups`; `many` for what does not just get an s. */
export function plural(count: number | bigint | string, one: string, many: string = `${one}s`): string {
  return `${count} ${numbered(count, one, many)}`;
}

/** `backup` or `backups`, where the count is written in another way. */
export function numbered(count: number | bigint | string, one: string, many: string = `${one}s`): string {
  return String(count) === "1" ? one : many;
}
