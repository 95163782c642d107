const URL_FORM = /^((?:postgres(?:ql)?|mysql|mariadb):\/\/[^/?#]*)(?:\/[^?#]*)?(?:\?([^#]*))?$/;

/**
 * The URL of another database of the same server, for the same user; null if it is no URL of one of
 * these engines.
 */
export function urlOfDatabase(url: string, database: string): string | null {
  const [, server, query = ""] = URL_FORM.exec(url) ?? [];
  if (server === undefined) return null;
  const kept = query.split("&").filter((each) => each !== "" && !each.startsWith("dbname="));
  return `${server}/${encodeURIComponent(database)}${kept.length === 0 ? "" : `?${kept.join("&")}`}`;
}
