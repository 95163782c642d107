import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { REPOSITORY, type Release } from "./release.ts";

export interface Contents {
  /** The agent's executable. */
  readonly executable: string;
  /** Licences of what is in it. */
  readonly notices: string;
  /** Where this distribution keeps units. */
  readonly unitDirectory: string;
}

/** The agent's, what its restores run in, and what holds its key. */
export const UNITS = [
  "attestore.service",
  "attestore-sandbox.socket",
  "attestore-sandbox@.service",
  "attestore-signer.socket",
  "attestore-signer.service",
] as const;

/** Lays out the files that both packages install below a directory. */
export function layOutTree(root: string, contents: Contents, release: Release): void {
  const place = (path: string, text: string | Buffer, mode = 0o644): void => {
    const target = join(root, path);
    makeDirectories(dirname(target));
    writeFileSync(target, text);
    chmodSync(target, mode);
  };
  makeDirectories(join(root, "usr/bin"));
  copyFileSync(contents.executable, join(root, "usr/bin/attestore"));
  chmodSync(join(root, "usr/bin/attestore"), 0o755);
  place("usr/lib/attestore/migrate", readPackaging("migrate.sh"), 0o755);
  for (const unit of UNITS) place(join(contents.unitDirectory, unit), readPackaging(unit));
  place("usr/lib/tmpfiles.d/attestore-sandbox.conf", readPackaging("attestore-sandbox.tmpfiles"));
  place("usr/share/man/man1/attestore.1.gz", zip(readPackaging("attestore.1", release)));
  place("usr/share/doc/attestore/CHANGELOG.md.gz", zip(readFileSync(join(REPOSITORY, "CHANGELOG.md"))));
  place("usr/share/doc/attestore/LICENCES.gz", zip(contents.notices));
  const docs = join(REPOSITORY, "docs");
  for (const page of readdirSync(docs).filter((name) => name.endsWith(".md")))
    place(`usr/share/doc/attestore/${page}`, readFileSync(join(docs, page)));
}

/** A file of packaging/, with the release's version in the places marked for it. */
export function readPackaging(name: string, release?: Release): string {
  const text = readFileSync(join(REPOSITORY, "packaging", name), "utf8");
  return release === undefined ? text : text.replaceAll("@VERSION@", release.version);
}

/** Directories of mode 0755 whatever the umask. */
export function makeDirectories(path: string): void {
  const first = mkdirSync(path, { recursive: true });
  if (first === undefined) return;
  for (let each = path; ; each = dirname(each)) {
    chmodSync(each, 0o755);
    if (each === first) return;
  }
}

/** gzip without a time in it. */
export function zip(content: string | Buffer): Buffer {
  return gzipSync(content, { level: 9 });
}
