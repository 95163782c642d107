import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { formatBytes } from "@attestore/proof";
import type { EngineName } from "../../config/source-config.ts";
import { type ConnectionReference, SourceFields } from "../../config/source-fields.ts";
import { readIdentities } from "../../crypto/age-identity.ts";
import { DamagedCiphertext } from "../../crypto/damaged.ts";
import { openTarget } from "../../engines/index.ts";
import { isDatabaseName, type Target } from "../../engines/target.ts";
import { UserError } from "../../errors/user-error.ts";
import { restoreIntoTarget } from "../../runs/restore-into-target.ts";
import { makeScratchDirectory } from "../../sandboxes/process/scratch-directory.ts";
import type { Call, ExitCode } from "../invocation/command.ts";
import { chosenSource, openBackend, openRoot } from "../invocation/open-root.ts";
import { downloadInto, ReadAgain } from "./read-again.ts";
import { takeWorkLock } from "../invocation/work-lock.ts";

/** `restore --into DATABASE`: into a database of a running server. */
export async function restoreInto(call: Call): Promise<ExitCode> {
  if (call.flags.text("output") !== undefined)
    throw new UserError("usage", "give --output or --into, not both");
  requireDatabaseName(call);
  const file = call.flags.text("file");
  return file === undefined ? storedInto(call) : localInto(call, resolve(call.cwd, file));
}

async function storedInto(call: Call): Promise<ExitCode> {
  const { terminal, signal } = call;
  const root = await openBackend(call);
  const { backend, config, layout, flags } = root;
  const source = chosenSource(root);
  const engine = requireEngine(source.engine);
  const line = terminal.progress();
  try {
    using _ = await takeWorkLock(layout, "restore", {
      signal,
      wait: flags.isOn("wait", true),
      say: terminal.say,
    });
    const backup = await backend.find(config, source, { backupId: flags.text("backup"), signal });
    const request = {
      connection: serverOf(call, engine) ?? ("connection" in source ? source.connection : missingServer()),
      database: requireDatabaseName(call),
      mayHaveContent: flags.isOn("nonEmpty"),
    };
    // Look at the server first, before a long download that might be useless.
    const target = await openTarget(engine, request, backup.sourceMetadata, {
      scratchDir: layout.scratch,
      signal,
    });
    const scratch = await makeScratchDirectory(layout.scratch, null).catch(async (error: unknown) => {
      await target.close();
      throw error;
    });
    try {
      announce(call, target, backup.id);
      const path = join(scratch.path, "ciphertext.age");
      const download = downloadInto(path, backup, line, signal);
      await download();
      const identity = flags.text("identity");
      const identityFiles = identity === undefined ? config.identityFiles : [resolve(call.cwd, identity)];
      const { sha256, id } = backup;
      return await load(call, target, { path, downloadAgain: download, sha256, identityFiles, id });
    } finally {
      await target.close();
      await scratch.remove();
    }
  } finally {
    line.clear();
    backend.close();
  }
}

/** Works on a host that was never attached. */
async function localInto(call: Call, file: string): Promise<ExitCode> {
  const { flags, signal } = call;
  const engine = requireEngine(flags.text("engine"));
  const identity = flags.text("identity");
  const identityFiles =
    identity === undefined ? openRoot(call).config.identityFiles : [resolve(call.cwd, identity)];
  const scratch = await mkdtemp(join(tmpdir(), "attestore-restore-"));
  try {
    const target = await openTarget(
      engine,
      {
        connection: serverOf(call, engine) ?? missingServer(),
        database: requireDatabaseName(call),
        mayHaveContent: flags.isOn("nonEmpty"),
      },
      {},
      { scratchDir: scratch, signal },
    );
    try {
      announce(call, target, file);
      return await load(call, target, { path: file, identityFiles });
    } finally {
      await target.close();
    }
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

function announce({ terminal }: Call, target: Target, what: string): void {
  for (const warning of target.warnings) terminal.say(`${terminal.onTalk.warn("!")} ${warning}`);
  terminal.note(`Restoring ${what} into ${target.described}.`);
}

interface Ciphertext {
  readonly path: string;
  /** Absent for a file that somebody gave. */
  readonly downloadAgain?: () => Promise<void>;
  readonly sha256?: string;
  readonly id?: string;
  readonly identityFiles: readonly string[];
}

async function load(
  call: Call,
  target: Target,
  { path, downloadAgain, sha256, id, identityFiles }: Ciphertext,
): Promise<ExitCode> {
  const { terminal, signal, flags } = call;
  const line = terminal.progress();
  const again = new ReadAgain(terminal, line, downloadAgain);
  const identities = await readIdentities(identityFiles);
  try {
    const { sizeBytes } = await again.reading.orAgain(() =>
      restoreIntoTarget({
        ciphertext: { path },
        ...(sha256 === undefined ? {} : { sha256 }),
        identities,
        target,
        signal,
        onProgress: ({ phase, bytes, totalBytes }) => line.update(phase, bytes, totalBytes),
      }),
    );
    line.clear();
    again.sayIfSecondWasRight();
    const database = requireDatabaseName(call);
    if (flags.isOn("json"))
      terminal.data(JSON.stringify({ backup_id: id ?? null, database, size_bytes: sizeBytes }));
    else
      terminal.data(`${terminal.onData.good("✓")} ${target.described}: ${formatBytes(sizeBytes)} restored`);
    for (const step of target.afterwards) terminal.note(step);
    return 0;
  } catch (error) {
    line.clear();
    const left = await target.discard();
    if (left !== null) terminal.say(`${terminal.onTalk.warn("!")} ${left}`);
    if (!(error instanceof DamagedCiphertext)) throw error;
    if (flags.isOn("json"))
      terminal.data(JSON.stringify({ error: error.code, message: error.message, backup_id: id ?? null }));
    again.sayDamaged(error, ", so nothing was restored");
    return 1;
  }
}

type ServerEngine = "postgresql" | "mariadb" | "mysql";

function requireEngine(name: string | undefined): EngineName & ServerEngine {
  if (name === "postgresql" || name === "mariadb" || name === "mysql") return name;
  throw new UserError(
    "usage",
    name === undefined
      ? "with --file, --into needs --engine postgresql, mariadb or mysql, and --server"
      : `--into restores PostgreSQL, MariaDB and MySQL, not ${name}: restore with --output, and then as docs/recover.md says`,
  );
}

function requireDatabaseName({ flags }: Call): string {
  const name = flags.text("into") ?? "";
  if (isDatabaseName(name)) return name;
  throw new UserError(
    "usage",
    "--into takes the name of a database: up to 63 letters, digits, _ $ . - and blanks",
  );
}

const FORMS = {
  postgresql: { schemes: ["postgresql", "postgres"], services: true },
  mariadb: { schemes: ["mysql", "mariadb"], services: false },
  mysql: { schemes: ["mysql", "mariadb"], services: false },
} as const;

function serverOf({ flags, cwd }: Call, engine: ServerEngine): ConnectionReference | null {
  const given = flags.text("server");
  if (given === undefined) return null;
  const fields = new SourceFields({ server: given }, "--server", cwd);
  const reference = fields.connection("server", FORMS[engine]);
  if (reference !== null) return reference;
  throw new UserError("usage", `--server ${fields.issues[0]?.message ?? "is not a connection"}`);
}

function missingServer(): never {
  throw new UserError(
    "usage",
    "--server is missing: env:NAME, file:PATH, service:NAME, or a URL without a password",
  );
}
