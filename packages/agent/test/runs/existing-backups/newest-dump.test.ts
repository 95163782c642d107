import { renameSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseSourceConfig, type SourceConfigOf } from "../../../src/config/source-config.ts";
import { back, directory, place, run, source, testIt, useDumpsDirectory } from "./dumps-directory.ts";

useDumpsDirectory();

test("the newest file is taken that matches, is complete, large enough and not too old", async () => {
  run(
    "mkdir -p 2026-11-20 2026-11-21; pg_dump -Fc -f 2026-11-20/a.dump postgres; cp 2026-11-20/a.dump 2026-11-21/a.dump; echo x >2026-11-21/b.dump",
  );
  const at = (name: string, age_s: number): void => {
    const time = Date.now() / 1000 - age_s;
    utimesSync(join(directory, name), time, time);
  };
  at("2026-11-20/a.dump", 90_000);
  at("2026-11-21/a.dump", 3_600);
  at("2026-11-21/b.dump", 30);
  const chosen = async (more: Partial<SourceConfigOf<"dumps">>): Promise<unknown> =>
    (await back(source({ pattern: "*/?.dump", ...more }))).sourceMetadata["original"];
  expect(await chosen({ min_age_s: 60 })).toMatchObject({
    modified_at: statSync(join(directory, "2026-11-21/a.dump")).mtime.toISOString(),
  });
  expect(await chosen({ min_age_s: 7_200 })).toMatchObject({
    modified_at: statSync(join(directory, "2026-11-20/a.dump")).mtime.toISOString(),
  });
  expect(await chosen({ min_bytes: 100 })).toMatchObject({ name: "a.dump" });
  await expect(chosen({})).rejects.toMatchObject({ code: "dump_failed" });
  await expect(chosen({ min_age_s: 60, max_age_s: 60 })).rejects.toMatchObject({ code: "source_missing" });
  await expect(chosen({ min_age_s: 100_000 })).rejects.toMatchObject({ code: "source_changed" });
  await expect(chosen({ min_bytes: 1 << 30 })).rejects.toMatchObject({ code: "source_missing" });
  await expect(chosen({ pattern: "*.gone" })).rejects.toMatchObject({ code: "source_missing" });
  // A file of the future would be the newest, and new, for ever.
  at("2026-11-20/a.dump", -90_000);
  await expect(chosen({ min_bytes: 100, max_age_s: 60 })).rejects.toMatchObject({
    code: "source_missing",
    message: expect.stringContaining("in the future"),
  });
  at("2026-11-20/a.dump", -60);
  expect(await chosen({ min_bytes: 100, max_age_s: 60 })).toMatchObject({ name: "a.dump" });
});

test("a newest file that is dated in the future, or empty, is not passed over for an older one", async () => {
  run("pg_dump -Fc -f orders-20.dump postgres; cp orders-20.dump orders-21.dump; touch orders-21.done");
  const at = (name: string, age_s: number): void => {
    const time = Date.now() / 1000 - age_s;
    utimesSync(join(directory, name), time, time);
  };
  const chosen = (): Promise<unknown> =>
    back(source({ pattern: "*", min_age_s: 60, max_age_s: 90_000 })).then(
      ({ sourceMetadata }) => (sourceMetadata["original"] as { name: string }).name,
    );
  at("orders-20.dump", 86_400);
  at("orders-21.dump", -7_200);
  await expect(chosen()).rejects.toMatchObject({
    code: "source_missing",
    message: expect.stringContaining("orders-21.dump, is dated 7"),
  });
  at("orders-21.dump", 3_600);
  writeFileSync(join(directory, "orders-21.dump"), "");
  at("orders-21.dump", 3_600);
  await expect(chosen()).rejects.toMatchObject({
    code: "dump_failed",
    message: expect.stringMatching(
      /orders-21\.dump is empty, and newer than the newest dump, orders-20\.dump: the job/,
    ),
  });
  // Files of other kinds are often empty.
  run("cp orders-20.dump orders-21.dump");
  at("orders-21.dump", 3_600);
  at("orders-21.done", 3_500);
  expect(await chosen()).toBe("orders-21.dump");
});

test.each([
  ["pg_dumpall >a.dump", "by pg_dumpall: dump each database separately"],
  ["pg_dump postgres | age -r $RECIPIENT >a.dump", "encrypted with age: decrypt it first"],
  ["pg_dump postgres | age -a -r $RECIPIENT >a.dump", "encrypted with age: decrypt it first"],
  ["pg_dump postgres | $GPG --symmetric >a.dump", "encrypted with GnuPG: decrypt it first"],
  ["pg_dump postgres | $GPG --armor --symmetric >a.dump", "encrypted with GnuPG: decrypt it first"],
  ["pg_dump postgres | openssl enc -aes-256-ctr -pbkdf2 -pass pass:x >a.dump", "with openssl: decrypt it"],
  ["pg_dump postgres | xz >a.dump", "xz: use gzip or zstd"],
  ["python3 -m zipfile -c a.dump /etc/hostname", "zip archive"],
  ["sqlite3 a.db 'create table t (n)' .dump >a.dump", "(.dump): copy the database"],
  ["pg_dump postgres | iconv -t UTF-16 >a.dump", "a byte order mark"],
  [": | gzip >a.dump", "it is empty"],
  ["echo 0123 a.sql >a.dump", "If it is not a dump, choose another"],
])(
  "a file that cannot be restored here is not registered, and the message says what it is: %s",
  async (command, what) => {
    const gpg = "gpg --batch --quiet --homedir . --passphrase x --pinentry-mode loopback";
    run(command, { RECIPIENT: place.recipient, GPG: gpg });
    run("gpgconf --homedir . --kill all");
    await expect(back(source({ pattern: "a.dump" }))).rejects.toMatchObject({
      code: "dump_failed",
      message: expect.stringContaining(what),
    });
  },
);

test("a file of eight days ago is no backup, unless any age is allowed", async () => {
  run("pg_dump -Fc -f a.dump postgres");
  const as = (max_age_s?: unknown): SourceConfigOf<"dumps"> =>
    parseSourceConfig(
      "legacy",
      { engine: "dumps", path: directory, ...(max_age_s === undefined ? {} : { max_age_s }) },
      place.dir,
    ) as SourceConfigOf<"dumps">;
  const at = (age_s: number): void => {
    const time = Date.now() / 1000 - age_s;
    utimesSync(join(directory, "a.dump"), time, time);
  };
  at(8 * 86_400 - 60);
  await back(as());
  at(8 * 86_400 + 60);
  await expect(back(as())).rejects.toMatchObject({
    code: "source_missing",
    message: expect.stringMatching(/a\.dump, is from 20.*Z, but may be at most 8 days old: .* max_age_s/),
  });
  await back(as(9 * 86_400));
  await back(as("any"));
  expect(() => as("never")).toThrow("max_age_s: must be any, or a whole number of seconds from 1");
});

test("a file whose place was taken by another, or by a link out of the directory, is not read", async () => {
  run("pg_dump -Fc -f a.dump postgres");
  const backup = await back(source());
  renameSync(join(directory, "a.dump"), join(place.dir, "elsewhere.dump"));
  symlinkSync(join(place.dir, "elsewhere.dump"), join(directory, "a.dump"));
  await expect(testIt(source(), backup)).rejects.toMatchObject({ code: "ciphertext_unavailable" });
});
