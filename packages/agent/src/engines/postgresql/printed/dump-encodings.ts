/**
 * Names of encodings for TextDecoder, by PostgreSQL's names. It has no decoder for EUC_TW,
 * EUC_JIS_2004 and MULE_INTERNAL.
 */
const DECODERS: ReadonlyMap<string, string> = new Map([
  ["LATIN2", "iso-8859-2"],
  ["LATIN3", "iso-8859-3"],
  ["LATIN4", "iso-8859-4"],
  ["LATIN5", "windows-1254"],
  ["LATIN6", "iso-8859-10"],
  ["LATIN7", "iso-8859-13"],
  ["LATIN8", "iso-8859-14"],
  ["LATIN9", "iso-8859-15"],
  ["LATIN10", "iso-8859-16"],
  ["ISO_8859_5", "iso-8859-5"],
  ["ISO_8859_6", "iso-8859-6"],
  ["ISO_8859_7", "iso-8859-7"],
  ["ISO_8859_8", "iso-8859-8"],
  ["KOI8R", "koi8-r"],
  ["KOI8U", "koi8-u"],
  ["WIN866", "ibm866"],
  ["WIN874", "windows-874"],
  ...[1250, 1251, 1252, 1253, 1254, 1255, 1256, 1257, 1258].map(
    (page) => [`WIN${page}`, `windows-${page}`] as const,
  ),
  ["EUC_JP", "euc-jp"],
  ["EUC_KR", "euc-kr"],
  ["EUC_CN", "gbk"],
]);

/**
 * Reads names in a dump of that encoding as the database itself gives them to a client in UTF-8. A
 * name that is read as another one is not found, so its table is not compared.
 */
export function decoderOf(encoding: string): (bytes: Buffer) => string {
  if (encoding === "LATIN1") return (bytes) => bytes.toString("latin1");
  const decoder = new TextDecoder(DECODERS.get(encoding) ?? "utf-8", { ignoreBOM: true });
  return (bytes) => decoder.decode(bytes);
}

/** The same for pg_dump's SQL, which begins with its encoding. */
export function decodeSql(sql: Buffer): string {
  const [, encoding = "UTF8"] = ENCODING.exec(sql.toString("latin1", 0, 4096)) ?? [];
  return decoderOf(encoding)(sql);
}

const ENCODING = /^SET client_encoding = '([A-Za-z0-9_]{1,32})';$/m;
