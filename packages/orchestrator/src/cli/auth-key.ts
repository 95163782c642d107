import type { Command } from "commander";
import { createAuthKey, DEFAULT_EXPIRY_S } from "../features/auth-keys/create-auth-key.ts";
import { commandForHosts } from "../features/auth-keys/command-for-hosts.ts";
import { attachCommand } from "../features/auth-keys/install-command.ts";
import { revokeAuthKey } from "../features/auth-keys/revoke-auth-key.ts";
import { type AuthKey, listActiveKeys, listAllKeys } from "../features/auth-keys/store.ts";
import { hasPackages } from "../features/downloads/has-packages.ts";
import { commandGroup, consoleCommand, runInConsole } from "./console-command.ts";
import { countOption, durationOption } from "./duration.ts";
import { listing } from "./outcome.ts";

interface CreateOptions {
  json?: boolean;
  org: string;
  name?: string;
  expiresIn: number;
  maxUses?: number;
}

/** `attestore-server auth-key create|list|revoke` */
export function authKeyCommand(): Command {
  const create = consoleCommand("create", "Create an auth key, which attaches agents, and print it once")
    .requiredOption("--org <org>", "id or slug of the organisation")
    .option("--name <name>", "a note about its purpose")
    .option("--expires-in <duration>", "30m, 12h or 7d; at most 90 days", durationOption, DEFAULT_EXPIRY_S)
    .option("--max-uses <count>", "number of agents that may attach with it", countOption)
    .action((options: CreateOptions) => runInConsole(options, (console) => runCreate(console, options)));

  const list = consoleCommand("list", "List an organisation's auth keys, without their secrets")
    .requiredOption("--org <org>", "id or slug of the organisation")
    .option("--all", "include keys that are revoked, expired, burned or used up")
    .action((options: { json?: boolean; org: string; all?: boolean }) =>
      runInConsole(options, async (console) => {
        const org = await console.org(options.org);
        const keys = await (options.all === true ? listAllKeys : listActiveKeys)(console.db, org.id);
        return {
          json: keys.map((key) => authKeyJson(key)),
          ...listing(
            ["ID", "NAME", "USES", "WRONG", "EXPIRES", "LAST USED", "STATE"],
            keys.map((key) => authKeyRow(key)),
            "There is no such key.",
          ),
          ...(keys.length === 0 ? { next: `attestore-server auth-key create --org ${org.slug}` } : {}),
        };
      }),
    );

  const revoke = consoleCommand("revoke", "Revoke an auth key; agents that attached with it stay attached")
    .argument("<id>", "key_…")
    .action((id: string, options: { json?: boolean }) =>
      runInConsole(options, async (console) => {
        const key = await console.act("auth-key revoke", async (tx) => {
          const done = await revokeAuthKey(tx, id);
          return { orgId: done.org_id, done };
        });
        return {
          json: authKeyJson(key),
          talk: ["The key is revoked. Agents that attached with it stay attached."],
          result: key.id,
          next: `attestore-server agent list --org ${key.org_id}`,
        };
      }),
    );

  return commandGroup("auth-key", "Keys that attach agents", [create, list, revoke]);
}

async function runCreate(console: Parameters<Parameters<typeof runInConsole>[1]>[0], options: CreateOptions) {
  const org = await console.org(options.org);
  const { record, plaintext } = await console.act("auth-key create", async (tx) => ({
    orgId: org.id,
    done: await createAuthKey(tx, {
      orgId: org.id,
      name: options.name ?? null,
      expiresIn_s: options.expiresIn,
      maxUses: options.maxUses ?? null,
      createdBy: "console",
    }),
  }));
  const isPackaged = await hasPackages(console.downloads);
  const command = await commandForHosts(console, console.downloads);
  return {
    json: { ...authKeyJson(record), auth_key: plaintext, install_command: command },
    talk: [
      `An auth key of "${org.name}", valid until ${record.expires_at.toISOString()}. It is shown only once:`,
      "",
    ],
    result: plaintext,
    next: isPackaged
      ? `on the host, as root, and enter the key when asked:\n  ${command}\nIf the agent is already installed: ${attachCommand(console)}`
      : `on this machine, here, and enter the key when asked:\n  ${command}\nTo install on other hosts, run \`npm run package\` first.`,
  };
}

function authKeyJson(key: AuthKey): object {
  const { created_at, expires_at, last_used_at, revoked_at, ...rest } = key;
  return {
    ...rest,
    created_at: created_at.toISOString(),
    expires_at: expires_at.toISOString(),
    last_used_at: last_used_at?.toISOString() ?? null,
    revoked_at: revoked_at?.toISOString() ?? null,
    state: stateOf(key),
  };
}

function authKeyRow(key: AuthKey): string[] {
  const uses = key.max_uses === null ? String(key.uses) : `${key.uses} of ${key.max_uses}`;
  return [
    key.id,
    key.name ?? "",
    uses,
    String(key.wrong_attempts),
    key.expires_at.toISOString(),
    key.last_used_at?.toISOString() ?? "never",
    stateOf(key),
  ];
}

function stateOf(key: AuthKey): "active" | "revoked" | "burned" | "expired" | "used up" {
  if (key.revoked_at !== null) return "revoked";
  if (key.wrong_attempts >= 5) return "burned";
  if (key.expires_at <= new Date()) return "expired";
  return key.max_uses !== null && key.uses >= key.max_uses ? "used up" : "active";
}
