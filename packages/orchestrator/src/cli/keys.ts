import { X509Certificate } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncDirectory } from "@attestore/host/durable-files";
import { nullIfMissing } from "@attestore/host/null-if-missing";
import type { Command } from "commander";
import { type Config, readConfig } from "../platform/config/read-config.ts";
import { connectDatabase } from "../platform/database/database.ts";
import { migrate } from "../platform/database/migrate.ts";
import { UserError } from "../platform/errors/user-error.ts";
import { configuredToken } from "../platform/keys/key-places.ts";
import { type KeySlot, keySlots, leftFiles } from "../platform/keys/key-slots.ts";
import { readIdentity } from "../platform/keys/service-identity.ts";
import type { Token } from "../platform/keys/token/token.ts";
import type { Logger } from "../platform/logging/logger.ts";
import { openConfiguredDatabase } from "../platform/postgres/open-database.ts";
import { commandGroup, type CommonOptions, consoleCommand, logOf } from "./console-command.ts";
import { type MovedKey, moveSigningKey } from "./keys/move-key.ts";
import { moveSealingKey } from "./keys/move-sealing-key.ts";
import { appliedMigrations } from "./doctor/examine-database.ts";
import { listing, printOutcome } from "./outcome.ts";
import { requireExisting } from "./require-existing.ts";

/** `attestore-server keys list|move` */
export function keysCommand(): Command {
  const list = consoleCommand("list", "Show where each of the service's keys is").action(
    async (options: CommonOptions) => {
      const config = readConfig(process.env);
      const token = configuredToken(config);
      try {
        const rows = [];
        for (const slot of keySlots(config)) rows.push(await look(slot, token));
        printOutcome(
          {
            json: rows,
            ...listing(
              ["KEY", "PLACE", "IS THERE", "PUBLIC HALF"],
              rows.map(({ key, place, is_there, public_key }) => [
                key,
                place,
                is_there ? "yes" : "no",
                public_key ?? "-",
              ]),
              "",
            ),
          },
          options,
        );
      } finally {
        await token?.close();
      }
    },
  );

  const move = consoleCommand(
    "move",
    "Move the keys that the settings name into the token; stop the service first",
  )
    .option("--remove-files", "remove the key files of keys that are in the token")
    .option("--new", "for a service that has never started: the token makes its keys")
    .action(async (options: CommonOptions & { removeFiles?: boolean; new?: boolean }) => {
      const config = readConfig(process.env);
      const token = configuredToken(config);
      const slots = keySlots(config);
      if (token === null || slots.every(({ uri }) => uri === undefined))
        throw new UserError(
          "invalid_setting",
          "The settings name no key in a token. Set ATTESTORE_PKCS11_MODULE, ATTESTORE_PKCS11_PIN, and the key to move, such as ATTESTORE_LOG_KEY.",
        );
      try {
        // Else the token would make other keys than those of a service whose settings are missing.
        if (options.new !== true) await requireExisting(config);
        const moved = await moveAll(config, token, slots, {
          isNew: options.new === true,
          log: logOf(options),
        });
        const left = await leftFiles(slots);
        if (options.removeFiles === true) await removeFiles(left);
        printOutcome(
          {
            json: { keys: moved, files_left: options.removeFiles === true ? [] : left },
            talk: moved.map(({ key, uri, is, resealed }) =>
              resealed === undefined
                ? `${key}: ${is}, ${uri}`
                : `${key}: ${is}, ${uri}; ${resealed} encrypted again`,
            ),
            result: told(left, options.removeFiles === true),
            ...(left.length === 0 || options.removeFiles === true
              ? {}
              : { next: "attestore-server keys move --remove-files" }),
          },
          options,
        );
      } finally {
        await token.close();
      }
    });

  return commandGroup("keys", "The service's own keys, and a PKCS#11 token for them", [list, move]);
}

interface Moved {
  key: string;
  uri: string;
  is: MovedKey;
  resealed?: number;
}

/** Meanwhile the data directory belongs to this command alone, as it would to a service. */
async function moveAll(
  config: Config,
  token: Token,
  slots: readonly KeySlot[],
  { isNew, log }: { isNew: boolean; log: Logger },
): Promise<Moved[]> {
  const opened = await openConfiguredDatabase(config, { role: "serve", log });
  // As the tables' owner, because the service's role may not lock them.
  const access = connectDatabase({ connection: opened.connection, log, connections: 1 });
  try {
    if (!isNew && (await appliedMigrations(access.pool)) === null)
      throw new UserError(
        "database_unusable",
        "The database has no service's tables, so there are no keys to move. Check DATABASE_URL. For a service that has never started, give --new.",
      );
    await migrate(opened.connection, log, undefined, opened);
    const identity = await readIdentity(access.pool);
    const pinned = async (name: KeySlot["name"]): Promise<Uint8Array | null> => {
      if (name === "ca") return certifiedKey(join(config.data, "tls", "ca.pem"));
      const text = name === "log" ? identity?.log_key : identity?.cosigner_key;
      return text === undefined ? null : Buffer.from(text, "base64");
    };
    const moved: Moved[] = [];
    for (const { uri, kind, ...slot } of slots) {
      if (uri === undefined) continue;
      if (kind === "aes256") {
        const sealing = { ...slot, kind, uri };
        const check = identity?.sealing_key_check ?? null;
        moved.push({
          key: slot.name,
          uri,
          ...(await moveSealingKey({ token, db: access.database }, sealing, check)),
        });
      } else {
        const is = await moveSigningKey(token, { ...slot, kind, uri }, await pinned(slot.name));
        moved.push({ key: slot.name, uri, is });
      }
    }
    return moved;
  } finally {
    await access.close();
    await opened.close();
  }
}

/** The public half in the CA's certificate, an uncompressed point; null if there is none yet. */
async function certifiedKey(file: string): Promise<Uint8Array | null> {
  const certificate = await nullIfMissing(readFile(file));
  if (certificate === null) return null;
  return new X509Certificate(certificate).publicKey.export({ format: "der", type: "spki" }).subarray(-65);
}

/** Removes the name; the disk and its backups may still have the content. */
async function removeFiles(files: readonly string[]): Promise<void> {
  for (const file of files) {
    await rm(file);
    await syncDirectory(dirname(file));
  }
}

async function look({ name, kind, file, uri }: KeySlot, token: Token | null) {
  if (uri === undefined || token === null) {
    const isThere = await readFile(file).then(
      () => true,
      () => false,
    );
    return { key: name, place: file, is_there: isThere, public_key: null };
  }
  const found = await token.find(uri, kind);
  const publicKey =
    found === null || kind === "aes256" ? null : Buffer.from(found.publicKey).toString("base64");
  return { key: name, place: uri, is_there: found !== null, public_key: publicKey };
}

function told(left: readonly string[], removed: boolean): string {
  if (left.length === 0) return "The keys are in the token only.";
  const files = left.map((file) => `  ${file}`).join("\n");
  return removed
    ? `The keys are in the token. Removed:\n${files}`
    : `The keys are in the token, and still in these files:\n${files}\nCopy the files to a safe place off this machine, and remove them here.`;
}
