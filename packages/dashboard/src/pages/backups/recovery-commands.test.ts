import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { recoverySteps } from "./recovery-commands.ts";

const backup = (source_metadata: Record<string, unknown>) => ({
  id: "bkp_01jd3gqp7yc03q0r9z4q1g9x7e",
  created_at: "2026-11-21T08:00:00.000Z",
  org_id: "org_01jd3gqk7vfx0t6r4t9m2c8w5a",
  source_id: "src_01jd3gqn5xdz2r9q8y3p0f8w6d",
  agent_id: "agent_01jd3gqm3wey1s8p6x2n9d7v4c",
  sha256: "ab".repeat(32),
  size_bytes: 1000,
  cipher: { name: "age-v1" as const, recipients: ["age1"] },
  source_metadata: {
    engine: "postgresql",
    engine_version: "15.14",
    dump_format: "pg_dump-custom",
    schema_hash: "cd".repeat(32),
    ...source_metadata,
  },
  status: "available" as const,
  proven_at: null,
  expires_at: null,
});

const all = (source_metadata: Record<string, unknown>, url: string | null = null): string =>
  recoverySteps(backup(source_metadata), url)
    .map(({ commands }) => commands ?? "")
    .join("\n");

describe("the recovery commands", () => {
  test.each([
    ["pg_dump-custom", "pg_restore --exit-on-error"],
    ["pg_dump-set", "tar --extract --file=backup.dump --directory=set"],
    ["mysqldump-sql", "mariadb --binary-mode"],
    ["mongodump-archive", "mongorestore --archive=backup.dump --bypassDocumentValidation"],
    ["sqlite3-file", "pragma integrity_check"],
    ["tar", "tar --extract"],
    ["reference:pg_dump-custom", "cat backup.dump"],
  ])("of a backup in the format %s restore it", (dump_format, words) => {
    expect(all({ dump_format })).toContain(words);
  });

  test("point to the guide if the format is unknown", () => {
    const step = recoverySteps(backup({ dump_format: "other" }), null).at(-1);
    expect(step).toMatchObject({ commands: null, note: expect.stringContaining("docs/recover.md") });
  });

  test("run nothing from a hostile agent's metadata", () => {
    const evil = "x'; touch pwned; '$(touch pwned)`touch pwned`\n touch pwned #";
    for (const metadata of [
      { encoding: evil, named_roles: [evil] },
      { locale: { provider: evil, collate: evil, ctype: evil, locale: evil, icu_rules: evil } },
      {
        dump_format: "pg_dump-set",
        globals: null,
        databases: [{ name: evil, encoding: evil, named_roles: [evil] }],
      },
    ]) {
      // Every program here only prints. If metadata runs as a command, a file appears.
      const names = [
        "curl",
        "sha256sum",
        "age",
        "zstd",
        "createdb",
        "createuser",
        "pg_restore",
        "psql",
        "tar",
        "mkdir",
        "ls",
        "cat",
      ];
      const stubs = names.map((name) => `${name}() { :; }`).join("\n");
      const script = `cd "$(mktemp -d)"\n${stubs}\n${all(metadata, `https://x/?${evil}`)}\ncommand ls`;
      const { stdout } = spawnSync("sh", ["-c", script]);
      expect(stdout.toString()).not.toContain("pwned");
    }
  });

  test("make a PostgreSQL database with the source's locale", () => {
    const icu = { provider: "icu", collate: "C", ctype: "C", locale: "de-DE", icu_rules: "&a < b" };
    const libc = { provider: "libc", collate: "de_DE.UTF-8", ctype: "C", locale: null, icu_rules: null };
    expect(all({ locale: icu })).toContain(
      "--lc-collate=C --lc-ctype=C --locale-provider=icu --icu-locale=de-DE '--icu-rules=&a < b' -- restored\n",
    );
    expect(all({ locale: libc })).toContain("=UTF8 --lc-collate=de_DE.UTF-8 --lc-ctype=C -- restored\n");
  });

  test.each([
    ["orders", "--dbname=orders"],
    ["host=evil.example dbname=x", "--dbname=dbname='host=evil.example dbname=x'"],
    ["postgresql://evil.example/x", "--dbname=dbname='postgresql://evil.example/x'"],
    [String.raw`it's a\b=c`, String.raw`--dbname=dbname='it\'s a\\b=c'`],
  ])(
    "restore into the database named %s, and never follow the name as a connection string",
    (name, argument) => {
      const commands = all({ dump_format: "pg_dump-set", globals: null, databases: [{ name }] });
      const stubs = String.raw`createdb() { :; }; tar() { :; }; pg_restore() { printf '%s\n' "$@" >> given; }`;
      const restoring = commands.slice(commands.indexOf("mkdir set"));
      const { stdout } = spawnSync("sh", [
        "-c",
        `cd "$(mktemp -d)"\n${stubs}\n${restoring}\ncommand cat given`,
      ]);
      expect(stdout.toString().split("\n")).toContain(argument);
    },
  );
});
