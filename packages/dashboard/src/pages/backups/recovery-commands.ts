import type { Schemas } from "@attestore/contract/client";
import { shellWord } from "@attestore/proof";
import { backups } from "../../text/backups.ts";

const text = backups.download;

export interface RecoveryStep {
  title: string;
  /** Shell commands; null if there is nothing to run. */
  commands: string | null;
  note?: string;
}

type Backup = Schemas["BackupRecord"];

/**
 * docs/recover.md for one backup: the commands for a host without an agent and without us. All of
 * the backup's metadata is quoted, because a compromised agent can write anything there and people
 * paste this into a shell.
 */
export function recoverySteps(backup: Backup, downloadUrl: string | null): RecoveryStep[] {
  return [
    {
      title: text.step.fetch,
      commands: downloadUrl === null ? null : `curl --fail --output backup.age ${shellWord(downloadUrl)}`,
      note: downloadUrl === null ? text.placeholder : text.ca,
    },
    { title: text.step.check, commands: `echo '${backup.sha256}  backup.age' | sha256sum --check` },
    {
      title: text.step.decrypt,
      commands: [
        "umask 077",
        "age --decrypt -i age.key --output backup.zst backup.age &&",
        "  zstd --decompress --rm backup.zst -o backup.dump",
      ].join("\n"),
      note: text.step.decryptNote,
    },
    restoreStep(backup),
  ];
}

const { restore } = text.step;

function restoreStep({ source_metadata: metadata }: Backup): RecoveryStep {
  const { dump_format: format } = metadata;
  if (format.startsWith("reference:"))
    return { title: restore.reference, commands: "cat backup.dump", note: text.referenceNote };
  switch (format) {
    case "pg_dump-custom":
      return { title: restore.postgresql, commands: postgresqlCommands(metadata) };
    case "pg_dump-set":
      return { title: restore["pg_dump-set"], commands: setCommands(metadata) };
    case "mysqldump-sql":
      return { title: restore.mariadb, commands: "mariadb --binary-mode < backup.dump" };
    case "mongodump-archive":
      return {
        title: restore.mongodb,
        commands: "mongorestore --archive=backup.dump --bypassDocumentValidation",
      };
    case "sqlite3-file":
      return {
        title: restore.sqlite,
        commands: "mv backup.dump restored.sqlite\nsqlite3 restored.sqlite 'pragma integrity_check'",
      };
    case "tar":
      return {
        title: restore.files,
        commands: [
          "mkdir restored",
          "tar --extract --file=backup.dump --directory=restored \\",
          "  --preserve-permissions --numeric-owner --acls --xattrs --xattrs-include='*' --delay-directory-restore",
        ].join("\n"),
      };
    default:
      return { title: restore.other, commands: null, note: text.otherNote };
  }
}

function postgresqlCommands(metadata: Record<string, unknown>): string {
  return [
    createDatabase(metadata, "restored"),
    ...createRoles(metadata),
    "pg_restore --exit-on-error --no-owner --no-privileges --dbname=restored backup.dump",
  ].join("\n");
}

/**
 * The host controls globals.sql, and psql runs a `\\!` in it as a shell command unless `\\restrict`
 * forbids that (in psql since August 2025; an older psql stops here).
 */
const WITHOUT_COMMANDS = [
  String.raw`psql --no-psqlrc --dbname=postgres --command='\restrict try' &&`,
  String.raw`  { printf '\\restrict %s\n' "$(openssl rand -hex 16)"; grep -v '^\\' set/globals.sql; } |`,
  "  psql --no-psqlrc --dbname=postgres",
];

/** docs/engines.md, PostgreSQL: a tar of globals.sql and a directory for each database. */
function setCommands(metadata: Record<string, unknown>): string {
  const databases = listOf(metadata["databases"]);
  const hasGlobals = metadata["globals"] !== null && metadata["globals"] !== undefined;
  const options = `--exit-on-error${hasGlobals ? "" : " --no-owner --no-privileges"}`;
  return [
    "mkdir set && tar --extract --file=backup.dump --directory=set",
    ...(hasGlobals ? WITHOUT_COMMANDS : databases.flatMap((database) => createRoles(database))),
    // The set may include a database that every server already has.
    ...databases.map((database) => `${createDatabase(database, textOf(database["name"]))} || true`),
    ...databases.flatMap((database, index) => {
      const name = textOf(database["name"]);
      const directory = `set/${String(index + 1).padStart(3, "0")}-*`;
      return [
        `# ${name.replaceAll(/[^\w-]/g, "_")}`,
        `if [ -e ${directory}/toc.dat ]; then`,
        `  pg_restore ${options} --format=directory --dbname=${intoDatabase(name)} ${directory}`,
        `else cat ${directory}/dump.* | pg_restore ${options} --dbname=${intoDatabase(name)}; fi`,
      ];
    }),
  ].join("\n");
}

function createDatabase(metadata: Record<string, unknown>, name: string): string {
  const encoding = typeof metadata["encoding"] === "string" ? metadata["encoding"] : "UTF8";
  const options = [`--encoding=${encoding}`, ...localeOptions(metadata["locale"])].map(shellWord).join(" ");
  return `createdb --template=template0 ${options} -- ${shellWord(name)}`;
}

/** Constraints and ranges of text may hold in the source's locale only. */
function localeOptions(locale: unknown): string[] {
  if (typeof locale !== "object" || locale === null) return [];
  const { provider, collate, ctype, locale: own, icu_rules } = locale as Record<string, unknown>;
  const options: [string, unknown][] = [
    ["--lc-collate", collate],
    ["--lc-ctype", ctype],
    ["--locale-provider", provider === "libc" ? null : provider],
    [provider === "icu" ? "--icu-locale" : "--builtin-locale", own],
    ["--icu-rules", icu_rules],
  ];
  return options.flatMap(([name, value]) => (typeof value === "string" ? [`${name}=${value}`] : []));
}

/**
 * libpq reads a name with `=`, or one that begins like a URI, as a whole connection string. The
 * restored data and the person's password would then go to a host that the backup's metadata names.
 */
function intoDatabase(name: string): string {
  if (!/=|:\/\//.test(name)) return shellWord(name);
  return shellWord(`dbname='${name.replaceAll(/['\\]/g, String.raw`\$&`)}'`);
}

/** A role that already exists does no harm. */
function createRoles(metadata: Record<string, unknown>): string[] {
  const roles = Array.isArray(metadata["named_roles"]) ? metadata["named_roles"] : [];
  return roles
    .filter((role): role is string => typeof role === "string")
    .map((role) => `createuser --no-login -- ${shellWord(role)} || true`);
}

function listOf(value: unknown): Record<string, unknown>[] {
  if (!Array.isArray(value)) return [];
  return value.filter((item): item is Record<string, unknown> => typeof item === "object" && item !== null);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
