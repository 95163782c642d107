import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, beforeEach } from "vitest";
import { type SourceConfigOf } from "../../../src/config/source-config.ts";
import { initRestic } from "../restic-repository.ts";
import { directory, place, run, useDumpsDirectory } from "./dumps-directory.ts";

export const SECRET = "hush-hush";

export const restic = (more: Partial<SourceConfigOf<"restic">> = {}): SourceConfigOf<"restic"> => ({
  slug: "archive",
  engine: "restic",
  sandbox: "process",
  checkTimeout_s: 60,
  checks: [],
  repository: join(directory, "repo"),
  password: { kind: "env", name: "TEST_RESTIC_PASSWORD" },
  tags: [],
  host: null,
  file: null,
  max_age_s: null,
  as_agent: false,
  ...more,
});
export const cli = (args: string, of = directory): Buffer =>
  run(
    `restic --quiet --no-cache ${args}`,
    { RESTIC_REPOSITORY: join(of, "repo"), RESTIC_PASSWORD: SECRET },
    of,
  );

/** Of a file whose tests each have a repository of restic with a tree and a dump. */
export function useResticArchive(): void {
  useDumpsDirectory();
  let whole: string;

  beforeAll(() => {
    whole = join(place.dir, "restic");
    mkdirSync(join(whole, "tree"), { recursive: true });
    run("pg_dump -Fc -f tree/a.dump postgres; seq 1 100000 >tree/numbers", {}, whole);
    initRestic(join(whole, "repo"), SECRET);
    cli("backup --tag nightly,db tree", whole);
  });

  beforeEach(() => {
    process.env["TEST_RESTIC_PASSWORD"] = SECRET;
    run(`cp -a ${whole}/. .`);
  });
}
