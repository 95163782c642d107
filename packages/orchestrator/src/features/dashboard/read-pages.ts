import { readdir, readFile } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";
import { nullIfMissing } from "@attestore/host/null-if-missing";

/** One file of the dashboard's build. */
export interface PageFile {
  type: string;
  bytes: Buffer;
  /** The same bytes as `br`; absent if that is not shorter. */
  brotli?: Buffer;
  /** Its name contains a hash of its bytes. */
  immutable: boolean;
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
  ".txt": "text/plain; charset=utf-8",
};

const compress = promisify(brotliCompress);

/**
 * The whole build in memory, by URL path: some hundred kilobytes, and no path of a request ever
 * reaches the file system. Empty if the dashboard is not built.
 */
export async function readPages(directory: string): Promise<Map<string, PageFile>> {
  const entries = await nullIfMissing(readdir(directory, { recursive: true, withFileTypes: true }));
  const names = (entries ?? [])
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const files = await Promise.all(
    names
      .filter((name) => extname(name) in TYPES)
      .map(async (name) => {
        const path = `/${relative(directory, name).split(sep).join("/")}`;
        return [path, await pageFile(name, path)] as const;
      }),
  );
  return new Map(files);
}

async function pageFile(name: string, path: string): Promise<PageFile> {
  const bytes = await readFile(name);
  const brotli = await compress(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
  return {
    type: TYPES[extname(name)] ?? "",
    bytes,
    ...(brotli.length < bytes.length ? { brotli } : {}),
    immutable: path.startsWith("/assets/"),
  };
}
